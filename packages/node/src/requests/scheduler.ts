/**
 * The order in which requests run on the one thread that runs them all. A query can't be interrupted for another one, and nobody knows
 * before how long one takes: that depends on its variables and on the data, whatever earlier runs of its text took. So between two runs
 * that may be long everybody else gets a turn:
 *
 * - As long as nothing takes long, requests run where they come in: the door is open.
 * - While several users keep the thread busy, it is open for `SHARED_MS` of a turn. What comes then waits for the next one, in which those go
 *   first whose users took least of late. So each user gets the same time, however many connections it has.
 * - The door is closed for the rest of a turn of the event loop in which requests ran for `TURN_MS`, and, behind a slow run, for some
 *   multiple of its duration. What comes meanwhile waits for the next turn, in which those go first whose users and programs took least of late.
 *   Each gets a *slice* of time. What needs more is taken back, and stands in the slow lane from then on.
 * - In the lane stand programs that were slow for their users, unknown ones of users who ran such, and what needed more than its slice. One runs at a time,
 *   behind a look at all sockets, and others have the node in between as long as they have something to do. Who took least goes first.
 *   A program of which little time is expected need not wait as long as one that takes much, and gets no more than twice of that.
 * - Nobody waits for two long runs: a long one begins only when all who came during the last one are answered, not only served: their changes
 *   are committed, and their questions to other nodes answered. For a moment it waits for those who came during shorter runs, too, and work of
 *   some milliseconds stands back before it and behind it.
 *
 * So that this can be kept, all time that goes into requests is charged when it was spent: texts that are parsed and bodies that are read,
 * too (`ran`, `spend`).
 */
import { Contention } from './contention.js';
import { LongRuns } from './long-runs.js';
import { RunCosts, SLOW_MS } from './run-costs.js';
import { type Entry, mayBeLong, type Work } from './work.js';

/** Milliseconds that requests run in one turn of the event loop before the others of it wait for the next one. */
const TURN_MS = 40;

/** When it is looked where a turn ends: before that much was run, nobody need know. */
const TURN_LOOK_MS = 16;

/** The same while users contend, and a part of a millisecond for each who waits, since they are put into an order in each turn. */
const SHARED_MS = 2;
const SHARED_EACH_MS = 0.02;

/** Milliseconds for those who wait at the door in a turn; each gets its share of it. */
const SERVED_MS = 25;

/** Time for others behind a slow run, as a multiple of its duration. */
const REST_FACTOR = 3;

/** Milliseconds between two looks at whether others need the node. */
const LOOK_MS = 8;

/** They don't when nothing of them came for this part of the duration of the slow run, but at most so many milliseconds. */
const QUIET_PART = 0.1;
const QUIET_MAX_MS = 60;

/** The time grows by this factor with each time that a program ran up to its time limit. */
const QUIET_FACTOR = 4;

/** Milliseconds between two looks for the answers that long runs wait for. */
const HELD_LOOK_MS = 10;

/** Work of so many milliseconds stands back before and behind a long run. */
const NOTICED_MS = 8;

/** Longest wait of work that may be long for a turn in which others have nothing to do, in milliseconds: then it gets one nevertheless. */
const PASSED_OVER_MAX_MS = 500;

/** Short requests of a user go first, but a longer one waits for at most so many times what it takes. */
const DUE_FACTOR = 50;

/** Time for which findings are remembered, in milliseconds: behind a slow run, and behind a turn that was full. */
const MEMORY_MS = 60_000;
const TURN_MEMORY_MS = 5_000;

/** Turns of the event loop behind a slow run until new connections were accepted, and what they sent is read. */
const POLLS = 2;

export interface SchedulerOptions {
  /** A clock in milliseconds. */
  readonly now: () => number;
  /** Calls back after some milliseconds. */
  readonly delay: (ms: number, callback: () => void) => void;
  /** Calls back when whatever has come in was seen: in the next turn of the event loop. */
  readonly soon: (callback: () => void) => void;
  /** Sends what other threads and nodes are to do for those who were served in this turn: what runs next takes long. */
  readonly sendReady: () => void;
  /** Longest wait, in milliseconds. */
  readonly waitMaxMs: number;
  /** True if anybody has no answer yet who came while `isCatchingUp`, and has had a turn. */
  readonly owesAnswers: () => boolean;
}

export class Scheduler {
  private readonly costs = new RunCosts();
  private readonly contention: Contention;
  /** Until when anything is remembered. Most of the time nothing is, and nothing need be looked up. */
  private activeUntil = 0;
  /** Work that waits at the door. */
  private door: Entry[] = [];
  /** True if more is needed of it than that users take turns: it is closed for work that can't be stopped, too. */
  private isShut = false;
  /** The slow lane. */
  private lane: Entry[] = [];
  /** Milliseconds that were run in this turn of the event loop, or in several short ones. */
  private spentMs = 0;
  private turn = 0;
  private isTurnEnding = false;
  /** The turn of the last run that was long. */
  private longTurn = -POLLS;
  /** The last turn that took so long that others came meanwhile. */
  private busyTurn = -POLLS;
  private readonly longRuns = new LongRuns(() => this.options.owesAnswers());
  /** True if work waits at the door for nothing but that, and the next look is planned. */
  private isHolding = false;
  private isLookPlanned = false;
  /** The turn in which work ran last that can't be stopped. */
  private wholeTurn = -POLLS;
  /** When the last run of the lane ended, or another long one, and how long it took. */
  private longEnd = 0;
  private longMs = 0;
  /** When others have had their time. */
  private restUntil = 0;
  /** Time without requests of others after which their time is over earlier, in milliseconds. */
  private quietMs = 0;
  private looking = false;
  /** Requests outside of the lane since the last look. */
  private others = 0;
  private busyAt = 0;

  constructor(private readonly options: SchedulerOptions) {
    this.contention = new Contention(options.now);
  }

  /** The number of requests in the slow lane. */
  get length(): number {
    return this.lane.length;
  }

  /** True if anything is remembered, as far as it takes no look at the clock to tell. */
  get isActive(): boolean {
    return this.activeUntil !== 0;
  }

  /** True if a program has to wait for its turn, see `enter`; null is one that is not known yet. */
  takes(program: object | null, userId: number): boolean {
    this.others += 1;
    if (this.activeUntil === 0) return false;
    const now = this.options.now();
    if (now > this.activeUntil && this.door.length === 0 && this.lane.length === 0) {
      this.activeUntil = 0;
      this.costs.forget();
      return false;
    }
    return this.isClosed(now) || this.takesTurns(now) || this.costs.isSlow(program, userId, now);
  }

  /** True if work must not begin now that may be long and can't be stopped. */
  get isClosedNow(): boolean {
    return this.activeUntil !== 0 && this.isClosed(this.options.now());
  }

  /**
   * Lets work wait that can't be stopped once it runs, where others have to be served before: futures, tasks, and bodies to be read. They have to
   * if it may be long and this turn was: there are some who came meanwhile, and answers that have not left.
   *
   * @param knownMs milliseconds that it takes; undefined where nothing is known for certain
   * @param goOn called when it has its turn, which always comes
   */
  defersUnstoppable(userId: number, knownMs: number | undefined, goOn: () => void): boolean {
    if (!this.isClosedNow && (knownMs !== undefined || !this.isCatchingUp)) return false;
    this.enter({
      userId,
      program: null,
      canStop: false,
      ...(knownMs === undefined ? {} : { knownMs }),
      gone: () => false,
      run: goOn,
      expire: null,
    });
    return true;
  }

  /**
   * Lets work wait for its turn.
   *
   * @param ranMs how long it ran until it was stopped; 0 for what has not begun
   */
  enter(work: Work, ranMs = 0): void {
    const { waitMaxMs, now: clock } = this.options;
    const now = clock();
    const { userId, program, knownMs } = work;
    const needsMs = knownMs ?? 2 * ranMs;
    const until = work.expire === null ? Number.POSITIVE_INFINITY : now + waitMaxMs;
    const entry: Entry = { work, until, needsMs, since: now, rank: 0, dueAt: 0 };
    const isSlow =
      ranMs > 0 || (knownMs === undefined ? this.costs.isSlow(program, userId, now) : knownMs >= SLOW_MS);
    if (isSlow) {
      if (this.others > 0) this.others -= 1;
      this.lane.push(entry);
      this.look();
    } else {
      this.isShut ||= this.isClosed(now);
      this.door.push(entry);
      this.endTurn();
    }
  }

  /**
   * Notes a run.
   *
   * @param isOverrun whether it ended by its time limit
   */
  ran(program: object | null, userId: number, ms: number, isOverrun = false): void {
    this.spend(userId, ms);
    if (ms >= SLOW_MS) this.noteLong(ms);
    else if (this.activeUntil === 0) return;
    const now = this.options.now();
    if (ms >= SLOW_MS || isOverrun) this.costs.noteEnd(program, userId, ms, now, isOverrun);
    this.costs.note(program, userId, ms, now, false);
  }

  /** Notes a run that was stopped since its slice was over. */
  stopped(program: object | null, userId: number, ms: number): void {
    this.spend(userId, ms);
    this.costs.note(program, userId, ms, this.options.now(), true);
    if (ms >= SLOW_MS) this.noteLong(ms);
    else {
      this.longEnd = this.options.now();
      this.longMs = ms;
    }
  }

  /** Notes time that a body took to be read. */
  read(userId: number, ms: number): void {
    this.spend(userId, ms);
    if (ms >= SLOW_MS) this.noteLong(ms);
    if (this.activeUntil !== 0) this.costs.note(null, userId, ms, this.options.now(), true);
  }

  private spend(userId: number, ms: number): void {
    this.spentMs += ms;
    const sharedUntil = this.contention.note(userId, ms);
    if (sharedUntil !== null) this.activeUntil = Math.max(this.activeUntil, sharedUntil);
    if (this.activeUntil !== 0 && this.spentMs >= SHARED_MS) this.endTurn();
    if (this.spentMs < TURN_LOOK_MS) return;
    this.busyTurn = this.turn;
    this.endTurn();
    if (this.spentMs < TURN_MS) return;
    this.activeUntil = Math.max(this.activeUntil, this.options.now() + TURN_MEMORY_MS);
  }

  private noteLong(ms: number): void {
    const now = this.options.now();
    this.activeUntil = now + MEMORY_MS;
    const quietMs = Math.min(ms * QUIET_PART, QUIET_MAX_MS);
    // A short one within the rest that a longer one is owed does not end it.
    this.quietMs = now - ms < this.restUntil ? Math.max(quietMs, this.quietMs) : quietMs;
    this.restUntil = Math.max(now + ms * REST_FACTOR, this.restUntil + ms);
    this.busyAt = now;
    this.longEnd = now;
    this.longMs = ms;
    this.longTurn = this.turn;
    this.longRuns.noteEnd(ms, now);
    this.isShut ||= this.door.length > 0;
    this.endTurn();
  }

  private isClosed(now: number): boolean {
    return now < this.restUntil || this.spentMs >= TURN_MS || this.isShut;
  }

  /** True if it is the turn of others, as long as users share the thread. */
  private takesTurns(now: number): boolean {
    return this.door.length > 0 || (this.spentMs >= SHARED_MS && this.contention.isAt(now));
  }

  /** True if all that came in during the last long run was seen. */
  private get hasPolled(): boolean {
    return this.turn >= this.longTurn + POLLS;
  }

  /** True if a long run has just ended, and those who came meanwhile have no answers yet: nothing else should take much of their turns. */
  get isCatchingUpLong(): boolean {
    if (!this.longRuns.isJustOver(this.options.now())) return false;
    return !this.hasPolled || this.door.length > 0 || this.options.owesAnswers();
  }

  /** True if what comes now may have waited for a turn that took long. */
  get isCatchingUp(): boolean {
    return this.turn < this.busyTurn + POLLS;
  }

  /** Notices where this turn of the event loop ends, and serves those who wait at the door. */
  private endTurn(): void {
    if (this.isTurnEnding) return;
    this.isTurnEnding = true;
    this.options.soon(() => {
      this.isTurnEnding = false;
      this.turn += 1;
      this.spentMs = 0;
      if (this.door.length > 0) this.serve();
      if (!this.hasPolled || this.isCatchingUp) this.endTurn();
      else if (this.isHolding) this.lookLater();
      else if (this.door.length > 0) this.endTurn();
    });
  }

  private lookLater(): void {
    if (this.isLookPlanned) return;
    this.isLookPlanned = true;
    this.options.delay(HELD_LOOK_MS, () => {
      this.isLookPlanned = false;
      this.endTurn();
    });
  }

  /** Runs those who wait at the door, as long as there is time in this turn. */
  private serve(): void {
    const waiting = this.ranked(this.door);
    this.door = [];
    const { now } = this.options;
    const isShared = this.contention.isAt(now());
    const sharedMs = Math.max(SHARED_MS, SHARED_EACH_MS * waiting.length);
    const enough = isShared ? Math.max(0, SERVED_MS - sharedMs) : 0;
    let left = SERVED_MS;
    const held: Entry[] = [];
    let isHolding: boolean | null = null;
    let at = 0;
    for (; at < waiting.length && left > enough; at++) {
      const entry = waiting[at];
      if (entry === undefined) break;
      const isLong = mayBeLong(entry.work);
      if (isLong && this.hasPolled && left === SERVED_MS) {
        const mayHaveCome = this.isCatchingUp && !this.isPassedOver(entry, now());
        isHolding ??= this.longRuns.holdsLong(mayHaveCome, now());
      }
      const isNoticed = this.isNoticed(entry);
      if (isLong ? left < SERVED_MS || isHolding !== false : isNoticed && this.longRuns.holdsShort(now())) {
        // It may stand before others, who need not wait for it.
        held.push(entry);
        continue;
      }
      if (isLong) this.wholeTurn = this.turn;
      const sliceMs = this.costs.sliceFor(entry.work, left / (waiting.length - at));
      // A long slice gets a turn of its own, so that those who were served before it are answered first.
      if (sliceMs > left && left < SERVED_MS) break;
      const ms = this.start(entry, sliceMs);
      left -= ms;
      if (ms >= SLOW_MS) left = 0;
    }
    // Work that came meanwhile stands behind.
    this.isHolding = held.length === waiting.length;
    this.door = [...held, ...waiting.slice(at), ...this.door];
    if (this.door.length === 0 || (isShared && now() >= this.restUntil)) this.isShut = false;
  }

  /**
   * The work in the order in which it runs: the user who took least of late first, and work that might take long last, unless it was passed
   * over for too long. At the door users come before programs, and with a short memory: nobody waits long for what he took before.
   */
  private ranked(entries: readonly Entry[]): Entry[] {
    const now = this.options.now();
    const isDoor = entries === this.door;
    for (const entry of entries) {
      const { userId } = entry.work;
      const expected = this.costs.expectedOfEntry(entry);
      entry.dueAt = entry.since + DUE_FACTOR * expected;
      entry.rank = isDoor
        ? Math.max(this.costs.recentlyUsedBy(userId, now), SHARED_MS)
        : this.costs.usedBy(userId, now) + expected;
      if (mayBeLong(entry.work))
        entry.rank += this.isPassedOver(entry, now) ? -Number.MAX_SAFE_INTEGER : Number.MAX_SAFE_INTEGER;
    }
    return [...entries].sort((a, b) => a.rank - b.rank || a.dueAt - b.dueAt);
  }

  /** True if others notice that it runs, as far as that is known before. */
  private isNoticed(entry: Entry): boolean {
    return mayBeLong(entry.work) || this.costs.expectedOfEntry(entry) >= NOTICED_MS;
  }

  /** True if work has waited for long enough although others have something to do in each turn: they had time since the last one, and a long one. */
  private isPassedOver({ since }: Entry, now: number): boolean {
    if (this.turn <= this.wholeTurn + POLLS) return false;
    return now >= Math.max(since, this.longRuns.endAt) + PASSED_OVER_MAX_MS;
  }

  /** Runs an entry; returns the milliseconds that it took. */
  private start({ work, until }: Entry, sliceMs: number): number {
    const { now } = this.options;
    if (work.gone()) return 0;
    if (sliceMs >= TURN_LOOK_MS || mayBeLong(work)) this.options.sendReady();
    if (sliceMs > SERVED_MS || mayBeLong(work)) this.longRuns.noteStart();
    const begun = now();
    if (begun > until) work.expire?.();
    else work.run(sliceMs);
    return now() - begun;
  }

  /** Looks again and again whether it is time for the next in the lane, as long as there is one. */
  private look(): void {
    if (this.looking || this.lane.length === 0) return;
    this.looking = true;
    const { delay, soon, now } = this.options;
    // A timer that is late has not seen what came in since.
    delay(LOOK_MS, () =>
      soon(() =>
        soon(() => {
          this.looking = false;
          if (this.others > 0) this.busyAt = now();
          this.others = 0;
          this.considerLane();
          this.look();
        }),
      ),
    );
  }

  private considerLane(): void {
    const now = this.options.now();
    const left = this.lane.filter(({ work }) => !work.gone());
    this.lane = left.filter(({ until }) => now <= until);
    for (const { work, until } of left) if (now > until) work.expire?.();
    if (!this.hasPolled || (this.door.length > 0 && now < this.restUntil)) return;
    const used = ({ work }: Entry): number => this.costs.usedBy(work.userId, now);
    // Where users only take turns, those in the lane do, too.
    const least = this.isShut ? 0 : Math.min(...this.door.map(used));
    const mayHaveCome = this.isCatchingUp || !this.door.every((entry) => this.isNoticed(entry));
    for (const entry of this.ranked(this.lane)) {
      const sliceMs = this.laneSliceOf(entry, now);
      if (sliceMs === 0 || (used(entry) >= least && !this.isPassedOver(entry, now))) continue;
      if (sliceMs > SERVED_MS && this.longRuns.holdsLong(mayHaveCome, now)) return;
      this.lane.splice(this.lane.indexOf(entry), 1);
      this.start(entry, sliceMs);
      return;
    }
  }

  /** Milliseconds that an entry of the lane may run now; 0 when it has to wait. */
  private laneSliceOf({ work, needsMs }: Entry, now: number): number {
    const { program, userId, canStop, knownMs } = work;
    const quietFor = now - this.busyAt;
    const overruns = this.costs.overrunsOf(program, userId);
    if (overruns !== null && now < overruns.heldUntil) {
      const quietMs = this.quietMs * QUIET_FACTOR ** (overruns.count - 1);
      return quietFor >= quietMs ? Number.POSITIVE_INFINITY : 0;
    }
    if (now >= this.restUntil || quietFor >= this.quietMs) return Number.POSITIVE_INFINITY;
    if (!canStop && knownMs === undefined) return 0;
    const expected = Math.max(needsMs, this.costs.expectedOf(program) ?? SLOW_MS);
    const restMs = expected * REST_FACTOR;
    const isEarly =
      now < this.longEnd + Math.min(this.longMs, restMs) || now < this.costs.lastEndOf(userId) + restMs;
    return isEarly ? 0 : 2 * expected;
  }
}
