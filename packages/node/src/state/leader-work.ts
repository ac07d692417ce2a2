import type { Behind, Change, SlicedWork } from '@althing/engine';
import type { Clock } from '../base/clock.js';
import type { GroupId } from '../between/protocol.js';
import type { GroupSession } from '../groups/group-session.js';

export interface LeaderWorkOptions {
  /** Work that a leader does in its collections by itself. */
  readonly task: SlicedWork<Change | Behind>;
  readonly clock: Pick<Clock, 'after'>;
  /** The clock of slices, which stands still while one waits for records: in a simulation another one, which moves with each thing. */
  readonly workClock: () => number;
  /**
   * The processor time of this process: where others take the processor, a slice lasts longer than it works, and the next one need not be
   * smaller or later for that.
   */
  readonly busyClock: () => number;
  /** Replicates what was done; `done` is called when that is decided. */
  readonly propose: (session: GroupSession, change: Change, done: () => void) => void;
  /** Calls back once this node has all that was acknowledged in a group; with false where that can't be known now. */
  readonly confirm: (group: GroupId, done: (isConfirmed: boolean) => void) => void;
  readonly onFailure: (error: unknown) => void;
}

/** Milliseconds for which one slice looks at things. */
const SLICE_MS = 2;

/** Milliseconds of work that all of a slice should take: looking at things, changing them, and packing that. */
const WORK_MS = 5;

/** Things of one slice at most: those that are in memory here may have to be read by followers. */
const SLICE_THINGS = 600;

/**
 * Things of the first slice: code that has not run for long takes up to fifty times as long. The next one may have twice as many, or a quarter
 * more where that took long.
 */
const FIRST_THINGS = 16;

/** Work that takes long with as few things as this would not be shorter with fewer, such as a long list from which they are taken. */
const LEAST_THINGS = 128;

/** The time of other work behind a slice, as a multiple of that of its work, and its least and most milliseconds. */
const PAUSE_TIMES = 3;
const PAUSE_MIN_MS = 1;
const PAUSE_MAX_MS = 24;

/** Milliseconds until a slice is tried again that needs what this node has not heard of. */
const BEHIND_MS = 20;

/** Does a task in the collections that this node leads: slowly, beside the requests, a slice at a time. */
export class LeaderWork {
  /** The groups in which a slice is under way, or waits for its turn, with the number of things that it may have. */
  private readonly working = new Map<GroupSession, number>();

  constructor(private readonly options: LeaderWorkOptions) {}

  /** Goes on in a collection where something is due. To be called now and then. */
  consider(session: GroupSession): void {
    if (this.working.has(session) || !this.mayWork(session)) return;
    this.working.set(session, FIRST_THINGS);
    this.options.clock.after(0, () => this.work(session));
  }

  /** Gives up what is to be done in a group that is going away. */
  forget(session: GroupSession): void {
    this.working.delete(session);
  }

  private mayWork(session: GroupSession): boolean {
    return session.leading && session.refusal() === null && this.options.task.isDue(session.id);
  }

  /** @param fresh the groups of which this node is known to have all that was acknowledged */
  private work(session: GroupSession, fresh: ReadonlySet<GroupId> = NONE): void {
    const things = this.working.get(session);
    if (things === undefined) return;
    const { task, clock, workClock, busyClock, propose, onFailure } = this.options;
    try {
      if (!this.mayWork(session)) {
        this.working.delete(session);
        return;
      }
      const [began, busy] = [workClock(), busyClock()];
      let looked = 0;
      const isOver = (): boolean => ++looked >= things || workClock() >= began + SLICE_MS;
      const done = task.slice(session.id, isOver, { isFresh: (group) => fresh.has(group) });
      if (done !== null && 'kind' in done) {
        this.confirm(session, done.collection, fresh);
        return;
      }
      const end = workClock();
      const ms = Math.min(end - began, busyClock() - busy);
      this.working.set(session, nextThings(things, looked, ms));
      const resumeAt = end + Math.min(PAUSE_TIMES * ms, PAUSE_MAX_MS);
      // The next slice waits until this one is decided: so the work is never faster than the cluster. That time is part of the pause.
      const next = (): unknown =>
        clock.after(Math.max(PAUSE_MIN_MS, resumeAt - workClock()), () => this.work(session));
      if (done !== null) propose(session, done, next);
      else next();
    } catch (error) {
      this.working.delete(session);
      onFailure(error);
    }
  }

  /** Does the slice again, once this node has all that was acknowledged in another group. */
  private confirm(session: GroupSession, group: GroupId, fresh: ReadonlySet<GroupId>): void {
    const { clock, confirm } = this.options;
    const again = (isConfirmed: boolean): void => {
      const known = isConfirmed ? new Set([...fresh, group]) : fresh;
      clock.after(BEHIND_MS, () => this.work(session, known));
    };
    // It has all of that, and lacks that a change is committed which it sees already.
    if (fresh.has(group)) again(true);
    else confirm(group, again);
  }
}

const NONE: ReadonlySet<GroupId> = new Set();

/** Things of the slice behind one that might have so many, and had others in so many milliseconds of work: both may be 0. */
function nextThings(things: number, looked: number, ms: number): number {
  const least = things < LEAST_THINGS ? 1.25 * things : Math.max(things / 2, LEAST_THINGS);
  const next = Math.min(Math.max((looked * WORK_MS) / Math.max(ms, 0.01), least), 2 * things, SLICE_THINGS);
  return Math.floor(next);
}
