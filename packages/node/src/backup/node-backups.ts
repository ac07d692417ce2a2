import { backgroundClock } from '../base/clock.js';
import type { Config } from '../config/index.js';
import type { GroupSession } from '../groups/group-session.js';
import type { Sessions } from '../groups/sessions.js';
import type { AuditLog } from '../telemetry/audit-log.js';
import type { EngineMetrics } from '../telemetry/engine-metrics.js';
import type { Logger } from '../telemetry/logger.js';
import { Backups, type BackupsOptions } from './backup.js';
import { Imports } from './import.js';
import { Replacements } from './replace.js';
import { Schedule } from './schedule.js';
import { ScheduledBackups, type ScheduledEvent, type ScheduledOptions } from './scheduled.js';
import { Staging, type StagingOptions } from './staging.js';
import { turnOf } from './standing.js';
import { type TransferEvent, Transfers, type TransfersOptions } from './transfers.js';

export interface NodeBackupsOptions
  extends Pick<BackupsOptions, 'version' | 'clusterId' | 'root' | 'state' | 'checkpointer'>,
    Pick<StagingOptions, 'nodeId' | 'calls'>,
    Pick<TransfersOptions, 'freshenRoot'>,
    Pick<ScheduledOptions, 'changes'> {
  readonly config: Pick<
    Config,
    | 'backupPath'
    | 'backupIntervalMs'
    | 'backupKeep'
    | 'checkpointSizeMb'
    | 'maxCollections'
    | 'maxProcedures'
    | 'maxTasks'
  >;
  /** The data folder. */
  readonly path: string;
  readonly sessions: Sessions;
  readonly figures: Pick<EngineMetrics, 'backedUp' | 'backupIsThere'>;
  readonly audit: Pick<AuditLog, 'transferred'>;
  readonly log: Logger;
  readonly onFailure: (error: unknown) => void;
}

const MiB = 1024 * 1024;

/**
 * The backups of a node: those that are taken and restored over the API, and those that it takes by itself.
 * The outcome of each is told in the log, the audit log and the figures.
 */
export class NodeBackups {
  /** Transfers over the API. */
  readonly transfers: Transfers;
  /** Backups that were ordered in the scope of the node. */
  readonly scheduled: ScheduledBackups;
  /** Restores, which take the place of everything. */
  readonly replacements: Replacements;
  private readonly staging: Staging;
  private readonly schedule: Schedule;
  private readonly imports: Imports;

  /** @throws ScheduleFileError, errors of the file system */
  constructor(private readonly options: NodeBackupsOptions) {
    const { config, nodeId, root, freshenRoot, changes, figures, onFailure } = options;
    this.schedule = new Schedule(options.path);
    figures.backupIsThere(this.schedule.newest);
    const backups = this.makeBackups();
    this.scheduled = new ScheduledBackups({
      schedule: this.schedule,
      backups,
      standing:
        config.backupIntervalMs === 0
          ? null
          : {
              repeat: Math.round(config.backupIntervalMs / 1000),
              maxFiles: config.backupKeep,
              turn: () => turnOf(root.members.values(), nodeId),
            },
      folder: config.backupPath,
      changes,
      report: (event) => this.tookScheduled(event),
      onFailure,
      now: Date.now,
      clock: backgroundClock,
    });
    this.staging = this.makeStaging();
    this.imports = this.makeImports();
    this.replacements = this.makeReplacements();
    this.transfers = new Transfers({
      root,
      backups,
      imports: this.imports,
      replacements: this.replacements,
      freshenRoot,
      report: (event) => this.transferred(event),
      onDefect: onFailure,
      clock: backgroundClock,
    });
  }

  /** Does what is due. To be called now and then. */
  consider(): void {
    this.scheduled.consider();
    this.imports.consider();
  }

  /** Begins nothing more; resolves when no backup is being taken. */
  stop(): Promise<void> {
    this.staging.stop();
    return this.scheduled.stop();
  }

  private makeBackups(): Backups {
    const { version, clusterId, root, state, checkpointer, sessions } = this.options;
    return new Backups({
      version,
      clusterId,
      root,
      state,
      checkpointer,
      sessions: () => sessions.complete,
      ended: (outcome, begunAt) => this.backedUp(outcome, begunAt),
      now: Date.now,
      clock: backgroundClock,
    });
  }

  private makeStaging(): Staging {
    const { config, nodeId, root, calls, sessions } = this.options;
    return new Staging({
      nodeId,
      root,
      calls,
      limits: config,
      session: (group) => sessions.ofGroup(group),
      voters: () => sessions.voters,
      unload: (session) => this.unload(session),
      now: Date.now,
      clock: backgroundClock,
    });
  }

  private makeImports(): Imports {
    const { config, nodeId, root, sessions, onFailure } = this.options;
    return new Imports({
      nodeId,
      root,
      staging: this.staging,
      limits: config,
      session: (group) => sessions.ofGroup(group),
      onFailure,
      now: Date.now,
    });
  }

  private makeReplacements(): Replacements {
    const { config, nodeId, root, sessions } = this.options;
    return new Replacements({
      nodeId,
      root,
      staging: this.staging,
      limits: config,
      folder: config.backupPath,
      session: (group) => sessions.ofGroup(group),
    });
  }

  private async unload(session: GroupSession): Promise<void> {
    const { config, checkpointer } = this.options;
    if (session.changedBytes >= config.checkpointSizeMb * MiB) await checkpointer.flush(session);
  }

  private backedUp(outcome: 'ok' | 'failed', begunAt: number): void {
    const { figures, onFailure } = this.options;
    figures.backedUp(outcome);
    if (outcome === 'failed') return;
    try {
      this.schedule.noteNewest(begunAt);
    } catch (error) {
      onFailure(error);
    }
    figures.backupIsThere(this.schedule.newest);
  }

  private tookScheduled({ id, path, isBegun, error, bytes, ms }: ScheduledEvent): void {
    const { log, figures, audit } = this.options;
    const fields = { backup: id, path, bytes, ms };
    if (!isBegun) figures.backedUp('failed');
    audit.transferred('backup', error === null, { by: `backup ${id}`, path });
    if (error === null) log.info({ event: 'backup', ...fields }, `backup ${id} done`);
    else log.error({ event: 'backup_failed', ...fields, error }, `backup ${id} failed`);
  }

  private transferred({ kind, collection, user, id, error, fault, bytes, ms }: TransferEvent): void {
    const { log, audit } = this.options;
    const what = collection === null ? {} : { collection };
    const fields = { user: user.name, request: id, ...what, bytes, ms };
    audit.transferred(kind, error === null, { by: user.name, request: id, ...what });
    if (error === null) log.info({ event: kind, ...fields }, `${kind} done`);
    else if (fault === 'request') log.info({ event: `${kind}_refused`, ...fields, error }, `${kind} refused`);
    else if (fault === 'client_gone')
      log.warn({ event: `${kind}_failed`, ...fields, error }, `${kind} failed`);
    else log.error({ event: `${kind}_failed`, ...fields, error }, `${kind} failed`);
  }
}
