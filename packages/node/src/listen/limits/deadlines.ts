import { NumberTable } from '../../base/number-table.js';

/**
 * One deadline for each of many items that all have the same time: a single timer, and hardly any work for an
 * item that is done in time. One that is not is given up at most `LOOK_MS` late.
 */
export class Deadlines<T> {
  private readonly ms: number;
  private readonly expire: (item: T) => void;
  private readonly waiting = new NumberTable<{ readonly item: T; readonly end: number }>();
  private nextNumber = 1;
  private timer: NodeJS.Timeout | null = null;

  /**
   * @param ms the time that each item has
   * @param expire is called for an item whose time is up
   */
  constructor(ms: number, expire: (item: T) => void) {
    this.ms = ms;
    this.expire = expire;
  }

  /** Items that are waited for. */
  get size(): number {
    return this.waiting.size;
  }

  /** @returns a number, from 1 on, by which the item can be taken out */
  add(item: T): number {
    const number = this.nextNumber++;
    this.waiting.set(number, { item, end: performance.now() + this.ms });
    if (this.timer === null) this.wake(this.ms);
    return number;
  }

  delete(number: number): void {
    this.waiting.delete(number);
  }

  private wake(ms: number): void {
    this.timer = setTimeout(() => this.look(), ms).unref();
  }

  private look(): void {
    const now = performance.now();
    // Entries that are added meanwhile have their full time.
    let next = now + this.ms;
    for (const [number, { item, end }] of this.waiting.entries()) {
      if (end > now) next = Math.min(next, end);
      else if (this.waiting.delete(number)) this.expire(item);
    }
    this.timer = null;
    if (this.waiting.size > 0) this.wake(Math.max(next - now, LOOK_MS));
  }
}

/** Time between two looks at least, in milliseconds: each goes through everything that is waited for. */
const LOOK_MS = 50;
