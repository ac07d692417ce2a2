/**
 * One deadline for each of many items that all have the same time: a single timer, and hardly any work for an item that
 * is done in time.
 */
export class Deadlines<T> {
  private readonly ms: number;
  private readonly expire: (item: T) => void;
  /** When the time of each is up; in the order of time, since all have the same. */
  private readonly ends = new Map<T, number>();
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
    return this.ends.size;
  }

  add(item: T): void {
    this.ends.set(item, performance.now() + this.ms);
    if (this.timer === null) this.wake(this.ms);
  }

  delete(item: T): void {
    this.ends.delete(item);
  }

  private wake(ms: number): void {
    this.timer = setTimeout(() => this.look(), ms).unref();
  }

  private look(): void {
    this.timer = null;
    const now = performance.now();
    for (const [item, end] of this.ends) {
      if (end > now) {
        this.wake(end - now);
        return;
      }
      this.ends.delete(item);
      this.expire(item);
    }
  }
}
