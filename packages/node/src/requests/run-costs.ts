/** The time that programs and users took: what to expect of their next run. Bounded, and forgotten after a while. */

import type { Entry, Work } from './work.js';

/** A run of this many milliseconds is slow. */
export const SLOW_MS = 40;

/** A slice of those who wait at the door is never shorter than this. */
const SLICE_MIN_MS = 2;

/** Time in which half of what a user took is forgotten, in milliseconds. */
const HALF_LIFE_MS = 2_000;

/** The same where users take turns of a few milliseconds: about as long waits who comes when others used less before. */
const RECENT_HALF_LIFE_MS = 100;

/** Time for which unknown programs of a user are taken for slow, as a multiple of the duration of a slow run. */
const SUSPICION_FACTOR = 10;

/** Runs up to the time limit after which a program does not wait any longer each time. */
const OVERRUNS_MAX = 3;

/** Users that are remembered. */
const USERS_MAX = 10_000;

interface UserCosts {
  /** Milliseconds that its runs took, older ones less; as of `at`. */
  usedMs: number;
  recentMs: number;
  /** When its last run ended. */
  at: number;
  suspectUntil: number;
  /** Milliseconds that its programs took the last time: for others, who bring other variables, the same text may take no time. */
  readonly expected: WeakMap<object, number>;
  /** Overruns of programs that were not known before. */
  overruns: Overruns | null;
}

/** Runs in a row that ended by the time limit. */
export interface Overruns {
  readonly count: number;
  /** Until when the next one waits, as long as others need the node. */
  readonly heldUntil: number;
}

export class RunCosts {
  private expected = new WeakMap<object, number>();
  private overruns = new WeakMap<object, Overruns>();
  private readonly users = new Map<number, UserCosts>();

  /** Notes a run, or a part of one that was cut off after `ms`. */
  note(program: object | null, userId: number, ms: number, now: number, wasCut: boolean): void {
    const user = this.userFor(userId, now);
    user.usedMs = left(user.usedMs, now - user.at, HALF_LIFE_MS) + ms;
    user.recentMs = left(user.recentMs, now - user.at, RECENT_HALF_LIFE_MS) + ms;
    user.at = now;
    if (ms >= SLOW_MS && !wasCut)
      user.suspectUntil = Math.max(user.suspectUntil, now + ms * SUSPICION_FACTOR);
    if (program === null) return;
    for (const expected of [user.expected, this.expected]) {
      // A run that was cut off takes longer than it did, and nobody knows how long.
      expected.set(program, wasCut ? Math.max(2 * ms, expected.get(program) ?? 0) : ms);
    }
  }

  /** Notes whether a slow run that was not cut off ended by its time limit. To be called before it is noted itself. */
  noteEnd(program: object | null, userId: number, ms: number, now: number, isOverrun: boolean): void {
    const user = this.userFor(userId, now);
    if (!isOverrun) {
      if (program !== null) this.overruns.delete(program);
      return;
    }
    const isKnown = this.expectedOf(program) !== undefined;
    if (program !== null) this.overruns.set(program, nextOverrun(this.overruns.get(program), ms, now));
    if (isKnown) return;
    const former = now < user.suspectUntil ? user.overruns : null;
    user.overruns = nextOverrun(former ?? undefined, ms, now);
  }

  /** Milliseconds that a program took the last time, whoever ran it, or more; undefined where nothing is known. */
  expectedOf(program: object | null): number | undefined {
    return program === null ? undefined : this.expected.get(program);
  }

  /** Milliseconds that work is expected to take; what is known for certain goes before that. */
  expectedOfEntry({ work: { program, userId, knownMs }, needsMs }: Entry): number {
    return knownMs ?? this.expectedFor(program, userId) ?? needsMs;
  }

  /** Milliseconds of the slice of work at the door: its share of the turn, or twice what it took. */
  sliceFor({ program, userId }: Work, shareMs: number): number {
    const expected = this.expectedFor(program, userId) ?? 0;
    return Math.max(SLICE_MIN_MS, shareMs, Math.min(2 * expected, SLOW_MS));
  }

  /** Milliseconds that a user took of late. */
  usedBy(userId: number, now: number): number {
    const user = this.users.get(userId);
    return user === undefined ? 0 : left(user.usedMs, now - user.at, HALF_LIFE_MS);
  }

  /** Milliseconds that a user took in the last tenths of a second. */
  recentlyUsedBy(userId: number, now: number): number {
    const user = this.users.get(userId);
    return user === undefined ? 0 : left(user.recentMs, now - user.at, RECENT_HALF_LIFE_MS);
  }

  /** When the last run of a user ended that is known of; 0 for none. */
  lastEndOf(userId: number): number {
    return this.users.get(userId)?.at ?? 0;
  }

  /** True if a program has to be taken for slow: it was for its user, or this one has not run it, and ran another one that was. */
  isSlow(program: object | null, userId: number, now: number): boolean {
    const expected = this.expectedFor(program, userId);
    if (expected !== undefined) return expected >= SLOW_MS;
    return now < (this.users.get(userId)?.suspectUntil ?? 0);
  }

  /** The overruns of a program; where nothing is known of it, those of its user if one came after the other. */
  overrunsOf(program: object | null, userId: number): Overruns | null {
    if (program !== null && this.expected.has(program)) return this.overruns.get(program) ?? null;
    const overruns = this.users.get(userId)?.overruns ?? null;
    return overruns !== null && overruns.count > 1 ? overruns : null;
  }

  forget(): void {
    this.expected = new WeakMap();
    this.overruns = new WeakMap();
    this.users.clear();
  }

  private expectedFor(program: object | null, userId: number): number | undefined {
    return program === null ? undefined : this.users.get(userId)?.expected.get(program);
  }

  private userFor(userId: number, now: number): UserCosts {
    let user = this.users.get(userId);
    if (user !== undefined) return user;
    user = { usedMs: 0, recentMs: 0, at: now, suspectUntil: 0, expected: new WeakMap(), overruns: null };
    this.users.set(userId, user);
    if (this.users.size > USERS_MAX) {
      const [oldest] = this.users.keys();
      if (oldest !== undefined) this.users.delete(oldest);
    }
    return user;
  }
}

/** The rest of so many milliseconds, some time later. */
function left(ms: number, passedMs: number, halfLifeMs: number): number {
  return ms * 2 ** (-passedMs / halfLifeMs);
}

/** A quarter of the time at first, then an eighth, then a sixteenth. */
function nextOverrun(former: Overruns | undefined, ms: number, now: number): Overruns {
  const count = Math.min((former?.count ?? 0) + 1, OVERRUNS_MAX);
  return { count, heldUntil: now + ms * (2 ** (count + 1) - 1) };
}
