import { NumberTable } from '../number-table.js';

/**
 * One deadline for each of many items that all have the same time: a single timer, and hardly any work for an item that
 * is done in time.
 */
export class Deadlines<T> {
  private readonly ms: number;
  private readonly expire: (item: T) => void;
  /** By numbers that go up with time. */
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
    this.timer = null;
    const now = performance.now();
    const inOrder = this.waiting.entries().sort(([a], [b]) => a - b);
    for (const [number, { item, end }] of inOrder) {
      if (end > now) {
        if (this.timer === null) this.wake(end - now);
        return;
      }
      if (this.waiting.delete(number)) this.expire(item);
    }
  }
}
