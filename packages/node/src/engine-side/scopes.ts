import {
  type Behind,
  type Change,
  type Engine,
  isBeingFilled,
  type QueryError,
  type SlicedWork,
} from '@althing/engine';
import { isDiskFull } from '@althing/storage';
import type { Calls } from '../calls/calls.js';
import type { GroupSession } from '../groups/group-session.js';
import { type RoomsOfGroups, Sessions } from '../groups/sessions.js';
import { Checkpointer } from '../state/checkpointer.js';
import type { DiskKeeper } from '../state/disk-keeper.js';
import { GarbageCollector } from '../state/garbage-collector.js';
import { LeaderWork } from '../state/leader-work.js';
import { LogKeeping } from '../state/log-keeping.js';
import { MemoryKeeper } from '../state/memory-keeper.js';
import { Reopening } from '../state/reopening.js';
import { Snapshots } from '../state/snapshots.js';
import { StateChecks } from '../state/state-checks.js';
import type { EnginePorts, EngineSettings } from './ports.js';

/**
 * Groups of which the disk has all are looked at in turns, once there are as many as this: one more turn for each such number of them,
 * up to `SHARES_MAX`.
 */
const GROUPS_PER_SHARE = 64;
const SHARES_MAX = 8;

/** The parts that the engine side has made already. */
export interface ScopesParts {
  readonly engine: Engine;
  readonly calls: Calls;
  readonly disk: DiskKeeper;
  readonly rooms: RoomsOfGroups;
  /** True while those wait who came during a long run. */
  readonly isBehindLongRun: () => boolean;
  /** Called when a session changed: its role, its membership, its state. */
  readonly changed: (session: GroupSession) => void;
  /**
   * A search for garbage, the build of an index, the expiry of things, a job, or the opening of a group failed, or what should be sent to another node is damaged.
   */
  readonly onDefect: (error: unknown) => void;
}

/**
 * The scopes of a node: the sessions of their groups, and who writes them to the disk, takes them over from
 * other nodes, and frees them of what is not used.
 */
export class Scopes {
  readonly sessions: Sessions;
  readonly checkpointer: Checkpointer;
  readonly snapshots: Snapshots;
  private readonly logKeeping: LogKeeping;
  private readonly memory: MemoryKeeper;
  private readonly garbage: GarbageCollector;
  private readonly indexes: LeaderWork;
  private readonly expiry: LeaderWork;
  private readonly jobs: LeaderWork;
  private readonly stateChecks: StateChecks;
  private readonly reopening: Reopening;
  private turn = 0;

  constructor(
    private readonly settings: EngineSettings,
    private readonly ports: EnginePorts,
    private readonly parts: ScopesParts,
  ) {
    const { clock, disk } = ports;
    this.snapshots = this.makeSnapshots();
    this.sessions = this.makeSessions();
    this.sessions.setDisk(parts.disk.level);
    this.logKeeping = new LogKeeping({
      keepOf: (group) => parts.engine.root.feedKeeping.of(group),
      isDiskLow: () => parts.disk.level !== 'ok',
      now: clock.now,
    });
    this.checkpointer = this.makeCheckpointer();
    this.reopening = new Reopening({
      state: disk.state,
      checkpointer: this.checkpointer,
      sessions: this.sessions,
    });
    this.memory = new MemoryKeeper(
      parts.engine.collections,
      settings,
      clock.now,
      clock.soon,
      parts.isBehindLongRun,
    );
    this.garbage = this.makeGarbageCollector();
    const { upkeep } = parts.engine;
    this.indexes = this.makeWork(upkeep.indexes);
    this.expiry = this.makeWork(upkeep.expiry);
    this.jobs = this.makeWork(upkeep.jobs);
    this.stateChecks = this.makeStateChecks();
  }

  /** Does what is due. To be called several times a second. */
  consider(): void {
    const { sessions, checkpointer, memory } = this;
    const shares = Math.min(1 + Math.floor(sessions.count / GROUPS_PER_SHARE), SHARES_MAX);
    this.turn += 1;
    let at = this.turn;
    for (const session of sessions.all) {
      // Looks at a thousand that nobody uses would cost more than all else that an idle node does.
      if (at++ % shares === 0 || !checkpointer.isResting(session)) this.considerGroup(session);
    }
    memory.consider();
  }

  private considerGroup(session: GroupSession): void {
    this.checkpointer.consider(session);
    if (!isBeingFilled(this.parts.engine.root, session.id)) {
      this.garbage.consider(session);
      this.indexes.consider(session);
      this.expiry.consider(session);
      this.jobs.consider(session);
    }
    this.stateChecks.consider(session);
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
    const { clock, disk, line, reports, figures } = this.ports;
    const { calls, onDefect } = this.parts;
    return new Snapshots({
      state: disk.state,
      consensus: line,
      calls,
      ensureStored: (session) => this.checkpointer.ensureStored(session),
      replace: (session, applied, store) => {
        this.ports.readers?.endGroup(session.id);
        return this.sessions.replace(session, applied, store);
      },
      session: (group) => this.sessions.ofGroup(group),
      clock,
      onDiskFull: () => this.parts.disk.noteStateFull(),
      onDamage: onDefect,
      onFailure: (error) => reports.failed('a snapshot could not be installed', error),
      onInstalled: reports.snapshotInstalled,
      onLost: reports.snapshotLost,
      ...(figures === undefined ? {} : { figures }),
    });
  }

  private makeSessions(): Sessions {
    const { nodeId, cluster } = this.settings;
    const { clock, environment, disk, line } = this.ports;
    const { engine, rooms, changed, onDefect } = this.parts;
    return new Sessions({
      engine,
      rooms,
      state: disk.state,
      consensus: line,
      nodeId,
      cluster,
      snapshots: this.snapshots,
      now: () => environment.now(),
      monotonic: clock.now,
      soon: clock.soon,
      failed: (error) => this.ports.reports.failed('an event of the log could not be taken', error),
      changed,
      closing: (session) => this.forget(session),
      onDiskFull: () => this.parts.disk.noteStateFull(),
      onFailure: onDefect,
    });
  }

  private makeCheckpointer(): Checkpointer {
    const { clock, line } = this.ports;
    const { disk } = this.parts;
    const { encoding } = clock;
    return new Checkpointer({
      state: this.ports.disk.state,
      consensus: line,
      settings: this.settings,
      clock,
      yield: () => new Promise((resolve) => clock.soon(resolve)),
      isBehindLongRun: this.parts.isBehindLongRun,
      ...(encoding === undefined ? {} : { workClock: encoding.now, thingsPerLook: encoding.thingsPerLook }),
      keptFrom: (group, index, bytes) => this.logKeeping.keptFrom(group, index, bytes),
      evicting: () => this.memory.isWorking,
      blocked: (session) =>
        disk.isStateFull ||
        session.isImposing ||
        session.delay !== null ||
        this.snapshots.isReceiving(session.id),
      onFailure: (session, error) => this.checkpointFailed(session, error),
      onDone: (session, report) => {
        this.ports.reports.checkpointed(session, report);
        this.ports.readers?.noteWritten(report.bytes);
        this.sessions.checkpointed(session);
        this.memory.consider();
      },
    });
  }

  private makeGarbageCollector(): GarbageCollector {
    const { clock } = this.ports;
    const { engine, onDefect } = this.parts;
    return new GarbageCollector({
      engine,
      settings: this.settings,
      clock,
      propose: (session, change, done) => session.propose(change, { ok: true, result: '' }, done),
      onFailure: onDefect,
    });
  }

  private makeWork(task: SlicedWork<Behind | Change>): LeaderWork {
    const { clock, disk } = this.ports;
    const { onDefect } = this.parts;
    return new LeaderWork({
      task,
      clock,
      workClock: clock.encoding?.now ?? (() => clock.now() - disk.state.store.waitedMs),
      busyClock: clock.encoding?.now ?? clock.busy ?? clock.now,
      propose: (session, change, done) => session.propose(change, { ok: true, result: '' }, done),
      confirm: (group, done) => {
        const session = this.sessions.ofGroup(group);
        if (session === undefined) done(true);
        else session.readIndex(done);
      },
      onFailure: onDefect,
    });
  }

  private makeStateChecks(): StateChecks {
    const { clock, disk, reports } = this.ports;
    const { calls, onDefect } = this.parts;
    return new StateChecks({
      nodeId: this.settings.nodeId,
      state: disk.state,
      checkpointer: this.checkpointer,
      calls,
      session: (group) => this.sessions.ofGroup(group),
      settings: this.settings,
      clock,
      report: reports.stateChecked,
      onDiverged: reports.diverged,
      onDamage: onDefect,
    });
  }

  /** Ends the work for a session whose collection is gone, and waits for work that can't be ended. */
  private async forget(session: GroupSession): Promise<void> {
    this.ports.readers?.endGroup(session.id);
    // It would find things missing.
    this.garbage.forget(session);
    this.indexes.forget(session);
    this.expiry.forget(session);
    this.jobs.forget(session);
    await Promise.all([this.checkpointer.forget(session), this.snapshots.forget(session)]);
  }

  private checkpointFailed(session: GroupSession, error: unknown): void {
    const { reports } = this.ports;
    if (!isDiskFull(error)) {
      reports.failed(`the checkpoint of group ${session.id} failed`, error);
      return;
    }
    reports.checkpointHadNoRoom(session);
    this.parts.disk.noteStateFull();
  }
}
