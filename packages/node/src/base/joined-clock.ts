import type { Clock } from './clock.js';

/** A clock on which work that comes back is done together. */
export interface JoinedClock extends Clock {
  /** @param work takes for how long it waited for its thread, in milliseconds */
  readonly every: (ms: number, work: (lateMs: number) => void) => () => void;
  /** Something came that may end the calm: work comes as often as it should again. */
  readonly wake: () => void;
}

/** While nothing happens, a thread need not be woken as often as its work asks for. */
export interface Calm {
  /** Asked when work was done. */
  readonly isCalm: () => boolean;
  /** Least time between two wakes while it is calm, in milliseconds. */
  readonly ms: number;
}

/** The part of its time by which work may come early. */
const EARLY = 0.1;

/**
 * A clock on which work that comes back is done together: what is due about now runs in one turn, since to wake
 * a thread costs more than most of such work does. For that, work may come less than a tenth of its time early,
 * and the first time late by as much as its time; it is late, too, when its thread is busy. Its time counts anew
 * from when it ran. While it is calm, work that is due sooner waits until the thread is woken for all of it.
 */
export function joinedClock(clock: Clock, calm?: Calm): JoinedClock {
  const beats = new Beats(clock, calm);
  return {
    now: clock.now,
    after: clock.after,
    every: (ms, work) => beats.every(ms, work),
    wake: () => beats.wake(),
  };
}

/** Work that comes back. */
interface Beat {
  readonly ms: number;
  readonly work: (lateMs: number) => void;
  due: number;
}

class Beats {
  private readonly beats = new Set<Beat>();
  /** When the timer is due; infinite while there is none. */
  private timerDue = Number.POSITIVE_INFINITY;
  private callOff: () => void = () => {};
  private isRunning = false;
  /** True if the timer is due later than work is, since it is calm. */
  private isResting = false;
  /** When work was last done, or is as if it had been: what is new falls in with that. */
  private ranAt: number;

  constructor(
    private readonly clock: Clock,
    private readonly calm: Calm | undefined,
  ) {
    this.ranAt = clock.now();
  }

  wake(): void {
    if (!this.isResting) return;
    this.isResting = false;
    this.plan();
  }

  every(ms: number, work: (lateMs: number) => void): () => void {
    const passed = this.clock.now() - this.ranAt;
    const beat = { ms, work, due: this.ranAt + ms * Math.ceil(passed / ms + 1 - EARLY) };
    this.beats.add(beat);
    this.plan();
    return () => {
      this.beats.delete(beat);
      this.plan();
    };
  }

  private run(): void {
    const now = this.clock.now();
    const late = Math.max(0, now - this.timerDue);
    this.ranAt = now;
    this.timerDue = Number.POSITIVE_INFINITY;
    this.isRunning = true;
    try {
      for (const beat of this.beats) {
        if (beat.due - now >= beat.ms * EARLY) continue;
        beat.due = now + beat.ms;
        beat.work(late);
      }
    } finally {
      this.isRunning = false;
      this.isResting = this.calm?.isCalm() ?? false;
      this.plan();
    }
  }

  /** Sets the timer for what is due first. */
  private plan(): void {
    if (this.isRunning) return;
    let due = Number.POSITIVE_INFINITY;
    for (const beat of this.beats) due = Math.min(due, beat.due);
    if (this.isResting && this.calm !== undefined) due = Math.max(due, this.ranAt + this.calm.ms);
    if (due === this.timerDue) return;
    this.callOff();
    this.timerDue = due;
    this.callOff =
      due === Number.POSITIVE_INFINITY
        ? () => {}
        : this.clock.after(Math.max(1, due - this.clock.now()), () => this.run());
  }
}
