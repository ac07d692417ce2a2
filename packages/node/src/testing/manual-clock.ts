import type { Clock } from '../base/clock.js';

interface Timer {
  at: number;
  readonly every: number | null;
  readonly work: () => void;
}

/** A clock that stands still until a test lets time pass. It knows its timers, so that those that nobody calls off are seen. */
export class ManualClock implements Clock {
  private time = 0;
  private readonly timers = new Set<Timer>();

  /** Timers that are still to call back. */
  get pending(): number {
    return this.timers.size;
  }

  readonly now = (): number => this.time;

  readonly after = (ms: number, work: () => void): (() => void) => this.add(ms, null, work);

  readonly every = (ms: number, work: () => void): (() => void) => this.add(ms, ms, work);

  /** Lets milliseconds pass, and everything happen whose time comes meanwhile. */
  pass(ms: number): void {
    const end = this.time + ms;
    for (let timer = this.nextUntil(end); timer !== undefined; timer = this.nextUntil(end)) {
      this.time = Math.max(this.time, timer.at);
      if (timer.every === null) this.timers.delete(timer);
      else timer.at += timer.every;
      timer.work();
    }
    this.time = end;
  }

  private add(ms: number, every: number | null, work: () => void): () => void {
    const timer = { at: this.time + ms, every, work };
    this.timers.add(timer);
    return () => this.timers.delete(timer);
  }

  private nextUntil(end: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.timers)
      if (timer.at <= end && (next === undefined || timer.at < next.at)) next = timer;
    return next;
  }
}
