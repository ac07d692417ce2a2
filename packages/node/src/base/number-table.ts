import { elementAt } from './element.js';

/**
 * A table from whole numbers to values that come and go all the time, such as the requests under way by their
 * number.
 *
 * A Map would do the same, but not for long: V8 lets each former table of a Map point to the next one, for
 * the sake of iterators. Once one of them is old, all that follow outlive every quick collection, with
 * everything that stood in them. With a few dozen requests at a time in a Map nearly all of them were kept
 * until the next full collection, and a fifth of the processor's time went into that. Here nothing points to
 * what comes later.
 *
 * Open addressing with linear probing; what is behind a gap moves up (Knuth, volume 3, section 6.4, algorithm
 * R), so that there are no tombstones. Consecutive numbers, the usual case, are scattered (section 6.4,
 * Fibonacci hashing): in a row they would not collide, but whoever left it would have to look at all behind.
 */
export class NumberTable<T> {
  /** `FREE` where there is nothing. */
  private keys: number[] = freeKeys(CAPACITY_MIN);
  private values: (T | undefined)[] = new Array(CAPACITY_MIN);
  private count = 0;
  /** Bits of a scattered number that are not those of a place. */
  private shift = shiftOf(CAPACITY_MIN);

  get size(): number {
    return this.count;
  }

  get(key: number): T | undefined {
    return this.values[this.find(key)];
  }

  /** @param key a safe integer from 0 on */
  set(key: number, value: T): void {
    const at = this.find(key);
    this.values[at] = value;
    if (this.keys[at] === key) return;
    this.keys[at] = key;
    this.count += 1;
    if (2 * this.count > this.keys.length) this.resize(2 * this.keys.length);
  }

  /** @returns whether it was there */
  delete(key: number): boolean {
    const { count } = this;
    this.take(key);
    return this.count < count;
  }

  /** Deletes a value, and gives it out; undefined where there was none. */
  take(key: number): T | undefined {
    const at = this.find(key);
    if (this.keys[at] !== key) return undefined;
    const value = this.values[at];
    this.close(at);
    this.count -= 1;
    if (this.count === 0 && this.keys.length > CAPACITY_KEPT) this.resize(CAPACITY_MIN);
    return value;
  }

  /** The entries of the table now, in no order; the table may be changed meanwhile. */
  entries(): [key: number, value: T][] {
    const all: [number, T][] = [];
    for (const [at, key] of this.keys.entries()) if (key !== FREE) all.push([key, this.values[at] as T]);
    return all;
  }

  /**
   * The keys from one number on and below another one, in no order. A few numbers are looked up one by one: a low watermark that rises by
   * one does not go through the whole table.
   */
  keysBetween(from: number, below: number): number[] {
    const keys: number[] = [];
    if (below - from <= this.count) {
      for (let key = from; key < below; key++) if (this.keys[this.find(key)] === key) keys.push(key);
    } else {
      for (const key of this.keys) if (key >= from && key < below) keys.push(key);
    }
    return keys;
  }

  /** Where a key stands, or would be put. */
  private find(key: number): number {
    const { keys } = this;
    const mask = keys.length - 1;
    let at = this.home(key);
    while (keys[at] !== key && keys[at] !== FREE) at = (at + 1) & mask;
    return at;
  }

  /** Where a key stands, unless others stand there. */
  private home(key: number): number {
    return Math.imul(key, GOLDEN) >>> this.shift;
  }

  /** Empties a place, and moves up what would not be found behind the gap. */
  private close(place: number): void {
    const { keys, values } = this;
    const mask = keys.length - 1;
    let gap = place;
    for (let at = (gap + 1) & mask; keys[at] !== FREE; at = (at + 1) & mask) {
      const key = elementAt(keys, at);
      // Its distance from where it would best be, and from the gap.
      if (((at - this.home(key)) & mask) < ((at - gap) & mask)) continue;
      keys[gap] = key;
      values[gap] = values[at];
      gap = at;
    }
    keys[gap] = FREE;
    values[gap] = undefined;
  }

  private resize(capacity: number): void {
    const { keys, values } = this;
    this.keys = freeKeys(capacity);
    this.values = new Array(capacity);
    this.shift = shiftOf(capacity);
    for (const [at, key] of keys.entries()) {
      if (key === FREE) continue;
      const to = this.find(key);
      this.keys[to] = key;
      this.values[to] = values[at];
    }
  }
}

const FREE = -1;

/** 2^32 divided by the golden ratio, and odd. */
const GOLDEN = 0x9e3779b1;

function shiftOf(capacity: number): number {
  return Math.clz32(capacity - 1);
}

/** Powers of two. */
const CAPACITY_MIN = 16;

/** A larger table shrinks when it gets empty. */
const CAPACITY_KEPT = 4096;

function freeKeys(capacity: number): number[] {
  return new Array<number>(capacity).fill(FREE);
}
