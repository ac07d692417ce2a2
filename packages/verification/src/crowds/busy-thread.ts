import { Thread } from '../simulation/thread.js';

interface Timed {
  readonly at: number;
  work: (() => void) | null;
}

/**
 * The thread of a simulated process for which work takes time: `spend` says how much. What becomes due meanwhile waits, in the phases of
 * the event loop of Node.js: timers that are due, then all that has come in, then what is to happen behind that.
 */
export class BusyThread extends Thread {
  private busyUntil = 0;
  private busySince = 0;
  private timers: Timed[] = [];
  private arrivals: Timed[] = [];
  private checks: Timed[] = [];
  private batch: Timed[] = [];
  private phase: 'timers' | 'arrivals' | 'checks' = 'checks';
  private plannedAt = Number.POSITIVE_INFINITY;

  override get now(): number {
    return Math.max(this.scheduler.now, this.busyUntil);
  }

  override get silenceMs(): number {
    return this.scheduler.now < this.busyUntil ? this.scheduler.now - this.busySince : 0;
  }

  /** Adds some milliseconds to the work that is being done. */
  spend(ms: number): void {
    if (this.busyUntil <= this.scheduler.now) this.busySince = this.scheduler.now;
    this.busyUntil = this.now + ms;
  }

  override after(delayMs: number, work: () => void): () => void {
    return this.add(this.timers, this.now + delayMs, work);
  }

  override at(time: number, work: () => void): () => void {
    return this.add(this.arrivals, time, work);
  }

  override soon(workedMs: number, work: () => void): void {
    this.spend(workedMs);
    this.add(this.checks, 0, work);
  }

  private add(queue: Timed[], at: number, work: () => void): () => void {
    const timed: Timed = { at, work };
    let place = queue.length;
    while (place > 0 && (queue[place - 1]?.at ?? 0) > at) place -= 1;
    queue.splice(place, 0, timed);
    this.plan();
    return () => {
      timed.work = null;
    };
  }

  /** Plans the next piece of work. */
  private plan(): void {
    const hasMore = this.batch.length > 0 || this.checks.length > 0;
    const nextAt = Math.min(this.timers[0]?.at ?? Infinity, this.arrivals[0]?.at ?? Infinity);
    const at = Math.max(this.now, hasMore ? 0 : nextAt);
    if (at >= this.plannedAt || at === Infinity) return;
    this.plannedAt = at;
    this.scheduler.at(at, () => {
      if (this.plannedAt !== at) return;
      this.plannedAt = Number.POSITIVE_INFINITY;
      // Something may have taken time since this was planned.
      if (this.now <= at) this.take()?.();
      if (this.alive) this.plan();
    });
  }

  /** The next piece of work that is due; null for none. */
  private take(): (() => void) | null {
    for (let phases = 0; phases <= 3 && this.alive; ) {
      const next = this.batch.shift();
      if (next === undefined) {
        this.enterNextPhase();
        phases += 1;
      } else if (next.work !== null) return next.work;
    }
    return null;
  }

  private enterNextPhase(): void {
    if (this.phase === 'checks') {
      this.phase = 'timers';
      this.batch = takeDue(this.timers, this.now);
    } else if (this.phase === 'timers') {
      this.phase = 'arrivals';
      this.batch = takeDue(this.arrivals, this.now);
    } else {
      this.phase = 'checks';
      this.batch = this.checks.splice(0);
    }
  }
}

function takeDue(queue: Timed[], now: number): Timed[] {
  const first = queue.findIndex(({ at }) => at > now);
  return queue.splice(0, first < 0 ? queue.length : first);
}
