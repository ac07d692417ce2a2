/**
 * The order in which requests run when some queries take long. A query can't be interrupted for another one,
 * so a client that sends one slow query after another would have the node to itself. Slow programs therefore
 * stand in a lane of their own: they run one at a time, users in turn, and after each the others have the
 * node for a while, as long as there is something for them to do.
 *
 * A program is slow when its last run was. Of a user whose program was slow just now, programs that are not
 * known to be quick are taken for slow as well, since a runaway program may have a different text each time.
 */

/** A run of this many milliseconds is slow. */
const SLOW_MS = 40;

/** Time for others after a slow run, as a multiple of its duration. */
const REST_FACTOR = 3;

/** Time between two looks at whether the others need the node, in milliseconds. */
const LOOK_MS = 8;

/**
 * They don't when nothing of them came for this part of the duration of the slow run, but at most so many
 * milliseconds.
 */
const QUIET_PART = 0.1;
const QUIET_MAX_MS = 60;

/** How long a user's unknown programs are taken for slow, as a multiple of the duration of a slow run. */
const SUSPICION_FACTOR = 10;

/** How long slow programs are remembered without another slow run, in milliseconds. */
const MEMORY_MS = 60_000;

/** Users under suspicion that are remembered. */
const SUSPECTS_MAX = 10_000;

export interface SlowLaneOptions {
  /** A clock in milliseconds. */
  readonly now: () => number;
  /** Calls back after some milliseconds. */
  readonly delay: (ms: number, callback: () => void) => void;
  /** How long something may stand in the lane, in milliseconds. */
  readonly waitMaxMs: number;
}

/** Something that stands in the lane. */
export interface Standing {
  /** Whether nobody wants it any more. */
  readonly gone: () => boolean;
  /** Runs it; `SlowLane.ran` is to be called meanwhile. */
  readonly run: () => void;
  /** Gives it up: it stood here too long. */
  readonly expire: () => void;
}

export class SlowLane {
  private readonly options: SlowLaneOptions;
  private slow = new WeakSet<object>();
  private quick = new WeakSet<object>();
  /** When suspicion of a user ends. */
  private readonly suspects = new Map<number, number>();
  /** Until when anything is remembered; most of the time nothing is, and nothing need be looked up. */
  private activeUntil = 0;
  /** Requests that wait, by user; users in the order of their turns. */
  private readonly waiting = new Map<number, { readonly standing: Standing; readonly until: number }[]>();
  /** When the others have had their time. */
  private restUntil = 0;
  /** How long nothing may have come of them, until the time is over earlier. */
  private quietMs = 0;
  private looking = false;
  /** Runs outside the lane since the last look. */
  private others = 0;
  private busyAt = 0;

  constructor(options: SlowLaneOptions) {
    this.options = options;
  }

  /** How many stand in it. */
  get length(): number {
    let length = 0;
    for (const queue of this.waiting.values()) length += queue.length;
    return length;
  }

  /** Whether anything has to stand in the lane at all, as far as it takes no look at the clock to tell. */
  get isActive(): boolean {
    return this.activeUntil !== 0;
  }

  /** Whether a program has to stand in the lane; null is one that is not known yet. */
  takes(program: object | null, userId: number): boolean {
    this.others += 1;
    if (this.activeUntil === 0) return false;
    const now = this.options.now();
    if (now > this.activeUntil) {
      this.forget();
      return false;
    }
    if (program !== null && this.slow.has(program)) return true;
    if (program !== null && this.quick.has(program)) return false;
    return now < (this.suspects.get(userId) ?? 0);
  }

  /** Lets something stand in the lane. */
  enter(userId: number, standing: Standing): void {
    this.others -= 1;
    const until = this.options.now() + this.options.waitMaxMs;
    const queue = this.waiting.get(userId);
    if (queue === undefined) this.waiting.set(userId, [{ standing, until }]);
    else queue.push({ standing, until });
    this.look();
  }

  /** Notes how long a program ran, or how long it took to see that a text is none. */
  ran(program: object | null, userId: number, ms: number): void {
    if (ms >= SLOW_MS) this.noteSlow(program, userId, ms);
    else if (this.activeUntil !== 0 && program !== null) {
      this.slow.delete(program);
      this.quick.add(program);
    }
  }

  private noteSlow(program: object | null, userId: number, ms: number): void {
    const now = this.options.now();
    if (program !== null) {
      this.slow.add(program);
      this.quick.delete(program);
    }
    this.suspects.delete(userId);
    this.suspects.set(userId, now + ms * SUSPICION_FACTOR);
    if (this.suspects.size > SUSPECTS_MAX) {
      const [oldest] = this.suspects.keys();
      if (oldest !== undefined) this.suspects.delete(oldest);
    }
    this.activeUntil = now + MEMORY_MS;
    this.restUntil = now + ms * REST_FACTOR;
    this.quietMs = Math.min(ms * QUIET_PART, QUIET_MAX_MS);
    this.busyAt = now;
  }

  private forget(): void {
    this.activeUntil = 0;
    this.slow = new WeakSet();
    this.quick = new WeakSet();
    this.suspects.clear();
  }

  /** Looks again and again whether it is time for the next in the lane, as long as there is one. */
  private look(): void {
    if (this.looking || this.waiting.size === 0) return;
    this.looking = true;
    this.options.delay(LOOK_MS, () => {
      this.looking = false;
      const now = this.options.now();
      if (this.others > 0) this.busyAt = now;
      this.others = 0;
      if (now - this.busyAt >= this.quietMs || now >= this.restUntil) this.runNext();
      this.look();
    });
  }

  private runNext(): void {
    for (let next = this.take(); next !== null; next = this.take()) {
      if (next.standing.gone()) continue;
      if (this.options.now() > next.until) {
        next.standing.expire();
        continue;
      }
      next.standing.run();
      return;
    }
  }

  /** The next one: users take turns. */
  private take(): { readonly standing: Standing; readonly until: number } | null {
    const [first] = this.waiting;
    if (first === undefined) return null;
    const [userId, queue] = first;
    const next = queue.shift() ?? null;
    this.waiting.delete(userId);
    if (queue.length > 0) this.waiting.set(userId, queue);
    return next;
  }
}
