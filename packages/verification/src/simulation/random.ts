import { type RandomSource, seededRandom } from 'raft-ts';

/** Tells the time, in milliseconds. */
export interface Clock {
  readonly now: number;
}

/**
 * Random decisions of one kind. Each purpose has a stream of its own, so that one more draw for one of them does not
 * change the others. With a clock, each moment has one: what is drawn then does not depend on what was drawn before, so
 * that a run from which something is left out goes on as it did, where that makes no difference.
 */
export class Draw {
  private readonly stream: number;
  private source: RandomSource;
  private moment = Number.NaN;

  constructor(
    private readonly seed: number,
    purpose: string,
    private readonly clock: Clock | null = null,
  ) {
    this.stream = hashOf(purpose);
    this.source = seededRandom(seed, this.stream);
  }

  /** A random 32-bit integer. */
  bits(): number {
    const { clock } = this;
    if (clock !== null && clock.now !== this.moment) {
      this.moment = clock.now;
      this.source = seededRandom(this.seed, hashAt(this.stream, clock.now));
    }
    return this.source();
  }

  /** Uniform in [0, 1). */
  unit(): number {
    return this.bits() / 2 ** 32;
  }

  /** An integer from `low` to `high`, both included. */
  int(low: number, high: number): number {
    return low + (this.bits() % (high - low + 1));
  }

  chance(probability: number): boolean {
    return this.unit() < probability;
  }

  /** One of several. */
  pick<Value>(values: readonly Value[]): Value {
    return values[this.bits() % values.length] as Value;
  }

  /** Exponentially distributed, at most twenty times the mean. */
  exponential(mean: number): number {
    return Math.min(-Math.log(1 - this.unit()), 20) * mean;
  }

  /** One of several, by weight; undefined if all weights are 0. */
  weighted<Value>(choices: readonly (readonly [Value, number])[]): Value | undefined {
    let at = this.unit() * choices.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [value, weight] of choices) {
      if (at < weight) return value;
      at -= weight;
    }
    return undefined;
  }

  shuffled<Value>(values: readonly Value[]): Value[] {
    const left = [...values];
    const result: Value[] = [];
    while (left.length > 0) result.push(...left.splice(this.bits() % left.length, 1));
    return result;
  }

  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => this.bits() & 0xff);
  }
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

/** Mixes a time into the hash of a purpose. */
function hashAt(stream: number, time: number): number {
  let hash = Math.imul(stream ^ Math.floor(time), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 15) ^ Math.floor((time % 1) * 2 ** 32), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
