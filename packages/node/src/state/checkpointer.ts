import { beginCheckpoint, RecordKind, type RecordSink } from '@althing/engine';
import type { Checkpoint } from '@althing/storage';
import type { Clock } from '../base/clock.js';
import type { Applied, Consensus, GroupId } from '../between/protocol.js';
import { encodeContext } from '../groups/applied.js';
import type { GroupSession } from '../groups/group-session.js';
import type { TableCapture } from '../groups/session-table.js';
import type { State } from '../groups/state.js';
import { sliceLength } from './slice-length.js';

export interface CheckpointSettings {
  /** Time between checkpoints of a group that changed, in milliseconds. */
  readonly checkpointIntervalMs: number;
  /** Bytes of changes after which a checkpoint does not wait for its time. */
  readonly checkpointBytes: number;
  /** Memory for things, of which half is meant for those that no checkpoint holds yet. */
  readonly cacheBytes: number;
}

export interface CheckpointerOptions {
  readonly state: State;
  readonly consensus: Pick<Consensus, 'send'>;
  readonly settings: CheckpointSettings;
  readonly clock: Pick<Clock, 'now'>;
  /** True if things are taken out of memory now, which those that a checkpoint writes can't be. */
  readonly evicting: () => boolean;
  /** The index behind which the log is kept when a checkpoint is durable, with so many bytes of changes since the last; missing: that of the checkpoint. */
  readonly keptFrom?: (group: GroupId, index: number, bytes: number) => number | undefined;
  /** True if no checkpoint of a group can be made now. */
  readonly blocked: (session: GroupSession) => boolean;
  /** Lets other work go first. */
  readonly yield: () => Promise<void>;
  /** True while those wait who came during a long run. */
  readonly isBehindLongRun: () => boolean;
  /** Things encoded between two looks at the clock. */
  readonly thingsPerLook?: number;
  /**
   * The clock of the encoding, if it is another one: in a simulation it moves with each thing that is
   * encoded.
   */
  readonly workClock?: () => number;
  /** Called when a checkpoint failed. The next one writes what it should have written. */
  readonly onFailure: (session: GroupSession, error: unknown) => void;
  /** Called after a checkpoint, when what was written may leave memory. */
  readonly onDone: (session: GroupSession, report: CheckpointReport) => void;
}

export interface CheckpointReport {
  readonly things: number;
  readonly durationMs: number;
  /** Bytes of the records that were written. */
  readonly bytes: number;
}

/**
 * Milliseconds of encoding between two yields at most: at first; of a checkpoint that has taken as long as the time between two, or that frees
 * half of the memory for things; and in any case. In between, others run for up to 40 ms: so the last number leaves them a third of the time. It
 * is no longer since a query that takes a second may begin behind it, and nobody should wait for more than both and a little.
 */
const SLICE_MS = 1;
const SLICE_LATE_MS = 16;
const SLICE_MAX_MS = 64;
/** The part of the time between two checkpoints that lies between them at least, unless too much waits for the next one. */
const GAP_PART = 0.25;
/** A thing takes about so many times as many bytes in memory as the change that made it. */
const MEMORY_FACTOR = 3;
/** Things, or pieces of large ones. */
const THINGS_PER_LOOK = 32;

/**
 * Writes what changed to the state on disk, group by group, off the request path: in slices, while queries go
 * on. Each checkpoint is one atomic batch with the log position that it stands for; then the log may be cut.
 */
export class Checkpointer {
  private readonly running = new Map<GroupSession, Promise<boolean>>();
  private readonly doneAt = new Map<GroupSession, number>();
  /** When the oldest change of a group came that is in no checkpoint, as far as it was noticed. */
  private readonly dirtySince = new Map<GroupSession, number>();
  /** When the disk last had all that a group holds. */
  private readonly wholeAt = new Map<GroupSession, number>();
  /** Bytes of the changes that a running checkpoint writes. */
  private readonly frozenBytes = new Map<GroupSession, number>();
  /** The number of calls of `hold` that are not released. */
  private holds = 0;
  private restsUntil = 0;

  constructor(private readonly options: CheckpointerOptions) {}

  /** Starts a checkpoint of a group when it is due. To be called now and then. */
  consider(session: GroupSession): void {
    this.noteAge(session);
    if (!this.isDirty(session) || this.running.has(session) || !this.allowed(session)) return;
    const { settings, clock } = this.options;
    const now = clock.now();
    if (now < this.restsUntil) return;
    const { checkpointIntervalMs: intervalMs, checkpointBytes } = settings;
    const since = now - (this.doneAt.get(session) ?? 0);
    const isMuch = session.changedBytes >= checkpointBytes || this.share(session.changedBytes) >= 0.5;
    // The oldest change is old already behind a checkpoint that took long.
    const isOld = now - (this.dirtySince.get(session) ?? now) >= intervalMs;
    const isEarly = isMuch || (isOld && since >= GAP_PART * intervalMs);
    // Written things leave memory first: where one follows the other without a gap nothing ever would.
    if (since >= intervalMs || (isEarly && !this.options.evicting())) this.start(session);
  }

  /** Age of the oldest change that is in no checkpoint, in milliseconds; 0 when there is none. */
  get ageMs(): number {
    const oldest = Math.min(...this.dirtySince.values());
    return Number.isFinite(oldest) ? this.options.clock.now() - oldest : 0;
  }

  /** Writes everything that changed until now; settles when it is durable. */
  async flush(session: GroupSession): Promise<void> {
    await this.running.get(session);
    if (this.isDirty(session) && this.allowed(session)) await this.start(session);
  }

  /**
   * True if a group holds what no checkpoint does, or none that has begun. Not all of it makes something
   * dirty: rights and counters are written with every checkpoint.
   */
  isDirty({ group, changedBytes }: GroupSession): boolean {
    return changedBytes > 0 || group.dirty.size > 0;
  }

  /** True if the disk has all of a group, and this noticed it. */
  isResting(session: GroupSession): boolean {
    return !this.isDirty(session) && !this.dirtySince.has(session);
  }

  /** Where the state of a group on the disk stands; null while that can't be told, or nothing is stored. */
  placeOf(session: GroupSession): {
    readonly storedIndex: number;
    readonly index: number;
    readonly ageMs: number;
  } | null {
    const storedIndex = this.options.state.storedIndex(session.id);
    if (storedIndex === 0) return null;
    if (!this.isDirty(session) && !this.running.has(session))
      return { storedIndex, index: Math.max(storedIndex, session.appliedIndex), ageMs: 0 };
    this.noteAge(session);
    const now = this.options.clock.now();
    const since = this.wholeAt.get(session) ?? this.dirtySince.get(session) ?? now;
    return { storedIndex, index: storedIndex, ageMs: now - since };
  }

  /**
   * Writes a first checkpoint of a group of which nothing is stored yet. Where something is, this waits for
   * nothing: a checkpoint under way may need the very member that what is stored is to be sent to.
   */
  async ensureStored(session: GroupSession): Promise<void> {
    if (this.isStored(session)) return;
    // Several may wait for one that comes to nothing: the first of them starts the next.
    while (this.running.has(session)) await this.running.get(session);
    if (!this.isStored(session) && this.allowed(session)) await this.start(session);
  }

  /** Starts no more checkpoints until `release`; resolves when none runs. */
  async hold(): Promise<void> {
    this.holds += 1;
    await Promise.all(this.running.values());
  }

  /**
   * Writes the present state of some groups, all of the same moment. No others are started until `release`,
   * which must follow in any case.
   *
   * @returns whether all are durable
   */
  async cut(sessions: readonly GroupSession[]): Promise<boolean> {
    await this.hold();
    if (this.holds > 1 || !sessions.every((session) => session.isOpen && !this.options.blocked(session)))
      return false;
    const due = sessions.filter(
      (session) => this.isDirty(session) || this.options.state.store.applied(session.id) === undefined,
    );
    return (await Promise.all(due.map((session) => this.start(session)))).every((durable) => durable);
  }

  /**
   * Writes the state of a group as it is in this very moment, and opens something before anything else of the
   * group is written.
   *
   * @param placed told the index that the state stands for, as soon as that is known
   * @returns what `open` gave; null when the state could not be written now, or some of it was taken back
   */
  async capture<T>(
    session: GroupSession,
    placed: (index: number) => void,
    open: () => Promise<T>,
  ): Promise<T | null> {
    if (this.running.has(session) || !this.allowed(session)) return null;
    this.holds += 1;
    try {
      const durable = this.isDirty(session)
        ? this.start(session, placed)
        : new Promise<boolean>((resolve) =>
            session.mark(
              () => resolve(this.isStored(session)),
              () => resolve(false),
              placed,
            ),
          );
      return (await durable) ? await open() : null;
    } finally {
      this.holds -= 1;
    }
  }

  /** Starts no checkpoint by itself for so many milliseconds. */
  rest(ms: number): void {
    this.restsUntil = this.options.clock.now() + ms;
  }

  /** Checkpoints may be made again, and are made at once. */
  release(): void {
    this.holds -= 1;
    if (this.holds === 0) this.doneAt.clear();
  }

  /** Waits for a checkpoint that runs, and forgets the group. */
  async forget(session: GroupSession): Promise<void> {
    await this.running.get(session);
    this.doneAt.delete(session);
    this.dirtySince.delete(session);
    this.wholeAt.delete(session);
  }

  get active(): boolean {
    return this.running.size > 0;
  }

  private noteAge(session: GroupSession): void {
    if (!this.isDirty(session) && !this.running.has(session)) {
      this.dirtySince.delete(session);
      this.wholeAt.set(session, this.options.clock.now());
    } else if (!this.dirtySince.has(session)) this.dirtySince.set(session, this.options.clock.now());
  }

  private isStored({ id }: GroupSession): boolean {
    return this.options.state.store.applied(id) !== undefined;
  }

  private allowed(session: GroupSession): boolean {
    return this.holds === 0 && session.isOpen && !this.options.blocked(session);
  }

  /** @returns whether it is durable */
  private start(session: GroupSession, placed?: (index: number) => void): Promise<boolean> {
    const { onDone, onFailure, clock } = this.options;
    const begin = clock.now();
    const things = session.group.dirty.size;
    const run = this.write(session, placed)
      .then(
        (bytes) => {
          // Changes that came meanwhile are not older than the beginning.
          if (this.dirtySince.has(session)) this.dirtySince.set(session, begin);
          if (bytes > 0) this.wholeAt.set(session, begin);
          onDone(session, { things, durationMs: clock.now() - begin, bytes });
          return bytes > 0;
        },
        (error: unknown) => {
          onFailure(session, error);
          return false;
        },
      )
      .finally(() => {
        this.running.delete(session);
        this.doneAt.set(session, clock.now());
      });
    this.running.set(session, run);
    return run;
  }

  /** @returns bytes of what was written; 0 if some of it was taken back */
  private async write(session: GroupSession, placed: ((index: number) => void) | undefined): Promise<number> {
    const { group, changedBytes } = session;
    const abandon = (): void => {
      group.abandonCheckpoint();
      session.changedBytes += changedBytes;
    };
    this.frozenBytes.set(session, changedBytes);
    const checkpoint = this.options.state.store.beginCheckpoint(session.id);
    try {
      const bytes = await this.fill(checkpoint, session, placed);
      if (bytes > 0) group.dirty.release();
      else abandon();
      return bytes;
    } catch (error) {
      abandon();
      throw error;
    } finally {
      this.frozenBytes.delete(session);
      // Nothing is left to abort after a commit. What went wrong before is told already.
      await checkpoint.abort().catch(() => {});
    }
  }

  /** @returns bytes of the checkpoint, which is durable then; 0 if some of it was taken back */
  private async fill(
    checkpoint: Checkpoint,
    session: GroupSession,
    placed: ((index: number) => void) | undefined,
  ): Promise<number> {
    const { group } = session;
    const sink = new CheckpointSink(checkpoint);
    // Nothing may come between this and the mark, which stands for what is frozen.
    const pace = this.pace(session, sink);
    const steps = beginCheckpoint(group, sink);
    const meta = group.encodeMeta();
    const table = new Promise<TableCapture | null>((resolve) => session.captureTable(resolve));
    const place = new Promise<Applied | null>((resolve) =>
      session.mark(resolve, () => resolve(null), placed),
    );
    const { changedBytes } = session;
    session.changedBytes = 0;
    await this.inSlices(steps, pace);
    sink.put(RecordKind.META, 0, 0, meta);
    const applied = await place;
    if (applied === null) return 0;
    const sessions = await table;
    if (sessions === null) return 0;
    sessions.write(sink);
    const { index, term } = applied;
    await checkpoint.commit({ index, term, context: encodeContext(applied) });
    sessions.written();
    const keptFrom = this.options.keptFrom?.(session.id, index, changedBytes);
    this.options.consensus.send({ kind: 'checkpointed', group: session.id, applied, keptFrom });
    return sink.bytes;
  }

  /**
   * The turns that the work of a checkpoint which begins now takes with all other. The longer it takes, and the more memory waits for it, the
   * larger the part of the time that its slices take: so it slows those down who change more than can be written, and comes to its end.
   */
  private pace(session: GroupSession, sink: CheckpointSink): Pace {
    const { settings, clock, isBehindLongRun } = this.options;
    const intervalMs = Math.max(1, settings.checkpointIntervalMs);
    const begun = clock.now();
    const sliceMs = (othersMs: number): number => {
      const waiting = session.changedBytes + (this.frozenBytes.get(session) ?? 0);
      const lateness = Math.max((clock.now() - begun) / intervalMs, this.share(waiting));
      const mayMs =
        lateness <= 1
          ? SLICE_MS + lateness * (SLICE_LATE_MS - SLICE_MS)
          : Math.min(SLICE_LATE_MS * 2 ** (lateness - 1), SLICE_MAX_MS);
      return sliceLength(mayMs, othersMs, lateness, isBehindLongRun());
    };
    return { sink, sliceMs };
  }

  /** The share that changes take in memory of what is meant for those that wait for a checkpoint. */
  private share(changedBytes: number): number {
    return (MEMORY_FACTOR * changedBytes) / (this.options.settings.cacheBytes / 2);
  }

  /** Does the steps of a checkpoint, in slices of time. */
  private async inSlices(steps: Generator<void>, { sink, sliceMs }: Pace): Promise<void> {
    const { clock, workClock = clock.now, thingsPerLook = THINGS_PER_LOOK } = this.options;
    let end = workClock() + sliceMs(0);
    let count = 0;
    while (steps.next().done !== true) {
      count += 1;
      if (count % thingsPerLook !== 0) continue;
      await sink.roomForMore();
      if (workClock() < end) continue;
      const yielded = clock.now();
      await this.options.yield();
      end = workClock() + sliceMs(clock.now() - yielded);
    }
    await sink.roomForMore();
  }
}

interface Pace {
  readonly sink: CheckpointSink;
  /** Milliseconds of the next slice, before which others had the thread for so many. */
  readonly sliceMs: (othersMs: number) => number;
}

/** Hands records to a checkpoint, and knows when it asks to wait. */
class CheckpointSink implements RecordSink {
  bytes = 0;
  private full = false;

  constructor(private readonly checkpoint: Checkpoint) {}

  put(kind: number, id: number, part: number, value: Uint8Array): void {
    this.bytes += value.length;
    if (!this.checkpoint.put(kind, id, part, value)) this.full = true;
  }

  delete(kind: number, id: number, part: number): void {
    if (!this.checkpoint.delete(kind, id, part)) this.full = true;
  }

  async roomForMore(): Promise<void> {
    if (!this.full) return;
    this.full = false;
    await this.checkpoint.drained();
  }
}
