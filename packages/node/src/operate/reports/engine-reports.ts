import type { EngineReports } from '../../engine-side/ports.js';
import type { Counters } from '../../requests/counters.js';
import type { TaskReport } from '../../requests/tasks.js';
import type { DiskEvent } from '../../state/disk-keeper.js';
import type { StateCheck } from '../../state/state-checks.js';
import type { AuditLog } from '../../telemetry/audit-log.js';
import type { EngineMetrics } from '../../telemetry/engine-metrics.js';
import type { Logger } from '../../telemetry/logger.js';

export interface EngineReportsOptions extends Pick<EngineReports, 'defect' | 'diverged' | 'failed'> {
  readonly counters: () => Pick<Counters, 'countTask'>;
  readonly log: Logger;
  readonly figures: EngineMetrics;
  readonly audit: Pick<AuditLog, 'changedItself'>;
}

/** Writes what happens in the engine side into the logs, and counts it. */
export function engineReports({
  log,
  figures,
  audit,
  counters,
  ...ends
}: EngineReportsOptions): EngineReports {
  return {
    ...ends,
    disk: (event) => reportDisk(log, event),
    members: (level, event, message) => log[level]({ event }, message),
    changedItself: (events) => audit.changedItself(events),
    snapshotInstalled: ({ id }, index) =>
      log.info({ event: 'snapshot_installed', group: id, index }, 'a snapshot became the state'),
    snapshotLost: ({ id }, index) =>
      log.warn(
        { event: 'snapshot_lost', group: id, index },
        'a snapshot could not become the state, which had no room or was opened again; it is sent once more',
      ),
    checkpointed: ({ id }, { things, durationMs, bytes }) => {
      figures.checkpointed(durationMs, bytes);
      log.debug({ event: 'checkpoint', group: id, things, ms: Math.round(durationMs) }, 'checkpoint');
    },
    checkpointHadNoRoom: ({ id }) =>
      log.error(
        { event: 'checkpoint_disk_full', group: id },
        'no room on the disk for a checkpoint; it will be tried again',
      ),
    stateChecked: (check) => reportStateCheck(log, figures, check),
    taskRan: (run) => {
      counters().countTask(run.error === null);
      figures.taskRan(run);
      reportTask(log, run);
    },
  };
}

function reportTask(log: Logger, { scope, task, error, lateMs, durationMs }: TaskReport): void {
  const fields = { scope, task, late_ms: Math.round(lateMs), ms: Math.round(durationMs) };
  if (error === null) log.debug({ event: 'task', ...fields }, 'a task ran');
  else log.warn({ event: 'task_failed', ...fields, code: error.code, error: error.message }, 'a task failed');
}

function reportStateCheck(
  log: Logger,
  figures: EngineMetrics,
  { group, index, outcome, minority }: StateCheck,
): void {
  const event = { event: 'state_check', group, index, outcome };
  if (outcome === 'equal') figures.checked('ok');
  else figures.checked(outcome === 'different' ? 'mismatch' : 'incomplete');
  if (outcome !== 'different') {
    log.debug(event, 'the states of the members were compared');
    return;
  }
  const who = minority.length === 0 ? 'none has a majority' : `the minority is ${minority.join(', ')}`;
  log.error({ ...event, minority }, `the members of a group hold different states: ${who}`);
}

function reportDisk(log: Logger, event: DiskEvent): void {
  switch (event.kind) {
    case 'level':
      if (event.level === 'ok') log.info({ event: 'disk', level: event.level }, LEVEL_TEXT[event.level]);
      else log.error({ event: 'disk', level: event.level }, LEVEL_TEXT[event.level]);
      return;
    case 'reserve_released':
      log.warn({ event: event.kind }, 'the reserve was given up to make room for a checkpoint');
      return;
    case 'reserve_restored':
      log.info({ event: event.kind }, 'the reserve is there again');
      return;
    case 'state_shut':
      log.error({ event: event.kind }, 'no room on the disk to open the data again: requests are refused');
      return;
    case 'state_reopened':
      log.info({ event: event.kind }, 'the state was opened again and takes checkpoints');
  }
}

const LEVEL_TEXT = {
  ok: 'the disk has room again: changes are taken',
  low: 'the disk is almost full: changes are refused, but for those of the root scope',
  full: 'the disk is full: changes are refused',
} as const;
