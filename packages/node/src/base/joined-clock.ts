import type { Clock } from './clock.js';

/** How early work may come, as a share of its time. */
const EARLY = 0.1;

/**
 * A clock on which work that comes back is done together: what is due about now runs in one turn, since to wake
 * a thread costs more than most of such work does. For that, work may come less than a tenth of its time early,
 * and the first time late by as much as its time; it is late, too, when its thread is busy. Its time counts anew
 * from when it ran.
 */
export function joinedClock(clock: Clock): Clock {
  const beats = new Beats(clock);
  return { now: clock.now, after: clock.after, every: (ms, work) => beats.every(ms, work) };
}

/** Work that comes back. */
interface Beat {
  readonly ms: number;
  readonly work: () => void;
  due: number;
}

class Beats {
  private readonly clock: Clock;
  private readonly beats = new Set<Beat>();
  /** When the timer is due; infinite while there is none. */
  private timerDue = Number.POSITIVE_INFINITY;
  private callOff: () => void = () => {};
  private isRunning = false;
  /** When work was last done, or is as if it had been: what is new falls in with that. */
  private ranAt: number;

  constructor(clock: Clock) {
    this.clock = clock;
    this.ranAt = clock.now();
  }

  every(ms: number, work: () => void): () => void {
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
    this.ranAt = now;
    this.timerDue = Number.POSITIVE_INFINITY;
    this.isRunning = true;
    try {
      for (const beat of this.beats) {
        if (beat.due - now >= beat.ms * EARLY) continue;
        beat.due = now + beat.ms;
        beat.work();
      }
    } finally {
      this.isRunning = false;
      this.plan();
    }
  }

  /** Sets the timer for what is due first. */
  private plan(): void {
    if (this.isRunning) return;
    let due = Number.POSITIVE_INFINITY;
    for (const beat of this.beats) due = Math.min(due, beat.due);
    if (due === this.timerDue) return;
    this.callOff();
    this.timerDue = due;
    this.callOff =
      due === Number.POSITIVE_INFINITY
        ? () => {}
        : this.clock.after(Math.max(1, due - this.clock.now()), () => this.run());
  }
}
