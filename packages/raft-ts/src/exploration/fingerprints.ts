/** 64-bit fingerprints: how a text gets one, and a compact table of many. */
import { assert } from '../assert.js';

/**
 * Adds the fingerprint of a text to the one at `sums[at]` and `sums[at + 1]`. Sums do not depend on the
 * order, so that a set of texts has a fingerprint, too. Where the text holds `@` and a digit, the node of
 * that id, it is renamed first.
 */
export function addFingerprint(text: string, names: Uint8Array, sums: Int32Array, at: number): void {
  let high = 0x3c6ef372;
  let low = 0x1b873593;
  for (let place = 0; place < text.length; place += 1) {
    let code = text.charCodeAt(place);
    if (code === AT_SIGN) {
      place += 1;
      code = NODES + names[text.charCodeAt(place) - DIGIT_0]!;
    }
    high = Math.imul(high ^ code, 0x9e3779b1);
    high ^= high >>> 15;
    low = Math.imul(low + code, 0x85ebca77);
    low ^= low >>> 13;
  }
  sums[at] = (sums[at]! + mix32(high ^ Math.imul(low, 0x2c1b3c6d))) | 0;
  sums[at + 1] = (sums[at + 1]! + mix32(low ^ Math.imul(high, 0x297a2d39))) | 0;
}

/** Spreads every bit of a word over all of it (the finish of MurmurHash3). */
export function mix32(word: number): number {
  let mixed = word ^ (word >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

/** A list of 32-bit integers that grows. */
export class Ints {
  values = new Int32Array(1024);
  length = 0;

  push(value: number): void {
    if (this.length === this.values.length) this.grow(this.length + 1);
    this.values[this.length] = value;
    this.length += 1;
  }

  /** Adds `count` zeros; returns where they begin. */
  extend(count: number): number {
    const at = this.length;
    if (at + count > this.values.length) this.grow(at + count);
    this.values.fill(0, at, at + count);
    this.length = at + count;
    return at;
  }

  clear(): void {
    this.length = 0;
  }

  private grow(needed: number): void {
    const larger = new Int32Array(Math.max(needed, Math.ceil(this.values.length * 1.5)));
    larger.set(this.values.subarray(0, this.length));
    this.values = larger;
  }
}

/** A table of pairs of 32-bit integers, numbered from 0 in the order in which they came. */
export class PairTable {
  private readonly high = new Ints();
  private readonly low = new Ints();
  /** Number of the pair in each slot, and 1; 0 in empty slots. */
  private slots = new Int32Array(1 << 12);

  get count(): number {
    return this.high.length;
  }

  /** The pair with a number. */
  pair(number: number): readonly [number, number] {
    return [this.high.values[number]!, this.low.values[number]!];
  }

  /** The number of a pair, which is added if it is new: then its number is the count of before. */
  add(high: number, low: number): number {
    const slot = this.slotOf(high, low);
    const found = this.slots[slot]!;
    if (found !== 0) return found - 1;
    const number = this.count;
    assert(number < 2 ** 31 - 2, 'The table is full', number);
    this.high.push(high);
    this.low.push(low);
    this.slots[slot] = number + 1;
    if (this.count * 5 > this.slots.length * 3) this.grow();
    return number;
  }

  private slotOf(high: number, low: number): number {
    const slots = this.slots;
    const highs = this.high.values;
    const lows = this.low.values;
    const mask = slots.length - 1;
    let slot = mix32(high ^ Math.imul(low, 0x9e3779b1)) & mask;
    for (;;) {
      const found = slots[slot]!;
      if (found === 0 || (highs[found - 1] === high && lows[found - 1] === low)) return slot;
      slot = (slot + 1) & mask;
    }
  }

  private grow(): void {
    this.slots = new Int32Array(this.slots.length * 2);
    for (let number = 0; number < this.count; number += 1) {
      const slot = this.slotOf(this.high.values[number]!, this.low.values[number]!);
      this.slots[slot] = number + 1;
    }
  }
}

const AT_SIGN = 0x40;
const DIGIT_0 = 0x30;
/** Codes of nodes stand apart from those of characters. */
const NODES = 0x10000;
