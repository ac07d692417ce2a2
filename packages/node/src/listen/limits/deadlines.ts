import { backgroundClock, type Clock } from '../../base/clock.js';
import { NumberTable } from '../../base/number-table.js';

/**
 * One deadline for each of many items that all have the same time: a single timer, and hardly any work for an
 * item that is done in time. One that is not is given up at most `LOOK_MS` late.
 */
export class Deadlines<T> {
  private readonly waiting = new NumberTable<{ readonly item: T; readonly end: number }>();
  private nextNumber = 1;
  /** Calls off the next look; null while none is planned. */
  private callOff: (() => void) | null = null;

  /**
   * @param ms the time that each item has
   * @param expire is called for an item whose time is up
   */
  constructor(
    private readonly ms: number,
    private readonly expire: (item: T) => void,
    private readonly clock: Pick<Clock, 'now' | 'after'> = backgroundClock,
  ) {}

  /** Items that are waited for. */
  get size(): number {
    return this.waiting.size;
  }

  /** @returns a number, from 1 on, by which the item can be taken out */
  add(item: T): number {
    const number = this.nextNumber++;
    this.waiting.set(number, { item, end: this.clock.now() + this.ms });
    if (this.callOff === null) this.wake(this.ms);
    return number;
  }

  delete(number: number): void {
    this.waiting.delete(number);
  }

  /** Waits for nothing any more. */
  close(): void {
    this.callOff?.();
    this.callOff = null;
  }

  private wake(ms: number): void {
    this.callOff = this.clock.after(ms, () => this.look());
  }

  private look(): void {
    const now = this.clock.now();
    // Entries that are added meanwhile have their full time.
    let next = now + this.ms;
    for (const [number, { item, end }] of this.waiting.entries()) {
      if (end > now) next = Math.min(next, end);
      else if (this.waiting.delete(number)) this.expire(item);
    }
    this.callOff = null;
    if (this.waiting.size > 0) this.wake(Math.max(next - now, LOOK_MS));
  }
}

/** Time between two looks at least, in milliseconds: each goes through everything that is waited for. */
const LOOK_MS = 50;
