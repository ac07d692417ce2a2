import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Engine, Environment, QueryError } from '@althing/engine';
import { DiskFullError } from '@althing/storage';
import type { Calls } from '../cluster/calls.js';
import type { ClusterRecord } from '../cluster/cluster-record.js';
import type { Config } from '../config/index.js';
import type { Consensus, GroupId, NodeId } from '../consensus/protocol.js';
import { delay } from '../life/timers.js';
import type { Logger } from '../logger.js';
import type { EngineMetrics } from '../metrics/engine-metrics.js';
import { Checkpointer, type CheckpointReport } from './checkpointer.js';
import type { DiskKeeper } from './disk-keeper.js';
import { GarbageCollector } from './garbage-collector.js';
import type { GroupSession } from './group-session.js';
import { MemoryKeeper } from './memory-keeper.js';
import { Reopening } from './reopening.js';
import { Sessions } from './sessions.js';
import { Snapshots } from './snapshots.js';
import type { State } from './state.js';
import { type StateCheck, StateChecks } from './state-checks.js';

export interface NodeScopesOptions {
  readonly config: Pick<
    Config,
    'checkpointIntervalMs' | 'checkpointSizeMb' | 'cacheSizeMb' | 'garbageIntervalMs' | 'stateCheckIntervalMs'
  >;
  readonly engine: Engine;
  readonly state: State;
  readonly consensus: Consensus;
  readonly calls: Calls;
  readonly nodeId: NodeId;
  readonly cluster: ClusterRecord;
  readonly disk: DiskKeeper;
  readonly clocks: Pick<Environment, 'now' | 'monotonic'>;
  readonly figures: EngineMetrics;
  readonly log: Logger;
  /** Told when a session changed: its role, its membership, its state. */
  readonly changed: (session: GroupSession) => void;
  /** A search for garbage or the opening of a group failed, or what should be sent to another node is damaged. */
  readonly onDefect: (error: unknown) => void;
  /** The state of a group is another one than that of the majority. */
  readonly onDiverged: (group: GroupId, index: number) => void;
  /** The node can't go on. */
  readonly onFailure: (message: string, error: unknown) => void;
}

const MiB = 1024 * 1024;

/** Pause between two slices of a search for garbage, in milliseconds. */
const GARBAGE_PAUSE_MS = 5;

/**
 * The scopes of a node: the sessions of their groups, and who writes them to the disk, takes them over from other nodes,
 * and frees them of what is not used.
 */
export class NodeScopes {
  readonly sessions: Sessions;
  readonly checkpointer: Checkpointer;
  private readonly options: NodeScopesOptions;
  private readonly snapshots: Snapshots;
  private readonly memory: MemoryKeeper;
  private readonly garbage: GarbageCollector;
  private readonly stateChecks: StateChecks;
  private readonly reopening: Reopening;

  constructor(options: NodeScopesOptions) {
    this.options = options;
    const { config, engine, disk, clocks } = options;
    this.snapshots = this.makeSnapshots();
    this.sessions = this.makeSessions();
    this.sessions.setDisk(disk.level);
    this.checkpointer = this.makeCheckpointer();
    this.sessions.useCheckpointer(this.checkpointer);
    this.reopening = new Reopening({
      state: options.state,
      checkpointer: this.checkpointer,
      sessions: this.sessions,
    });
    this.memory = new MemoryKeeper(engine, config.cacheSizeMb * MiB, clocks.monotonic, (work) =>
      setImmediate(work),
    );
    this.garbage = this.makeGarbageCollector();
    this.stateChecks = this.makeStateChecks();
  }

  /** Does what is due. To be called several times a second. */
  consider(): void {
    for (const session of this.sessions.all) {
      this.checkpointer.consider(session);
      this.garbage.consider(session);
      this.stateChecks.consider(session);
    }
    this.memory.consider();
  }

  /** See `Reopening.attempt`. */
  reopenState(makeRoom: () => Promise<boolean>): Promise<boolean> {
    return this.reopening.attempt(makeRoom);
  }

  /** Answers whatever waits with an error, and resolves when nothing is written to the state any more. */
  async abandon(error: QueryError): Promise<void> {
    for (const session of this.sessions.all) {
      session.abandon(error);
      await this.checkpointer.forget(session);
    }
  }

  private makeSnapshots(): Snapshots {
    const { state, consensus, calls, disk, figures, log, onDefect, onFailure } = this.options;
    return new Snapshots({
      state,
      consensus,
      calls,
      ensureStored: (session) => this.checkpointer.ensureStored(session),
      replace: (session, applied) => this.sessions.replace(session, applied),
      session: (group) => this.sessions.ofGroup(group),
      delay,
      onDiskFull: () => disk.noteStateFull(),
      onDamage: onDefect,
      onFailure: (error) => onFailure('a snapshot could not be installed', error),
      onInstalled: (session, index) =>
        log.info({ event: 'snapshot_installed', group: session.id, index }, 'a snapshot became the state'),
      figures,
    });
  }

  private makeSessions(): Sessions {
    const { engine, state, consensus, nodeId, cluster, clocks, changed, onDefect } = this.options;
    return new Sessions({
      engine,
      state,
      consensus,
      nodeId,
      cluster,
      snapshots: this.snapshots,
      now: clocks.now,
      changed,
      onDiskFull: () => this.options.disk.noteStateFull(),
      onFailure: onDefect,
    });
  }

  private makeCheckpointer(): Checkpointer {
    const { config, state, consensus, disk, clocks } = this.options;
    return new Checkpointer({
      state,
      consensus,
      intervalMs: config.checkpointIntervalMs,
      sizeBytes: config.checkpointSizeMb * MiB,
      monotonic: clocks.monotonic,
      yield: nextTurn,
      blocked: (session) => disk.isStateFull || session.isImposing || this.snapshots.isReceiving(session.id),
      onFailure: (session, error) => this.checkpointFailed(session, error),
      onDone: (session, report) => this.checkpointDone(session, report),
    });
  }

  private makeGarbageCollector(): GarbageCollector {
    const { config, engine, clocks, onDefect } = this.options;
    return new GarbageCollector({
      engine,
      intervalMs: config.garbageIntervalMs,
      monotonic: clocks.monotonic,
      pause: (work) => {
        delay(GARBAGE_PAUSE_MS, work);
      },
      propose: (session, change) => session.propose(change, { ok: true, result: '' }, () => {}),
      onFailure: onDefect,
    });
  }

  private makeStateChecks(): StateChecks {
    const { config, state, calls, nodeId, clocks, onDiverged, onDefect } = this.options;
    return new StateChecks({
      nodeId,
      state,
      checkpointer: this.checkpointer,
      calls,
      session: (group) => this.sessions.ofGroup(group),
      intervalMs: config.stateCheckIntervalMs,
      monotonic: clocks.monotonic,
      delay,
      report: (check) => this.stateChecked(check),
      onDiverged,
      onDamage: onDefect,
    });
  }

  private stateChecked({ group, index, outcome, minority }: StateCheck): void {
    const { figures, log } = this.options;
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

  private checkpointDone(session: GroupSession, { things, durationMs, bytes }: CheckpointReport): void {
    const { figures, log } = this.options;
    figures.checkpointed(durationMs, bytes);
    log.debug({ event: 'checkpoint', group: session.id, things, ms: Math.round(durationMs) }, 'checkpoint');
    this.sessions.checkpointed(session);
  }

  private checkpointFailed(session: GroupSession, error: unknown): void {
    const { disk, log, onFailure } = this.options;
    if (!(error instanceof DiskFullError)) {
      onFailure(`the checkpoint of group ${session.id} failed`, error);
      return;
    }
    log.error(
      { event: 'checkpoint_disk_full', group: session.id },
      'no room on the disk for a checkpoint; it will be tried again',
    );
    disk.noteStateFull();
  }
}
