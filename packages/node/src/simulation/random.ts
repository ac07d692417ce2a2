import { type RandomSource, seededRandom } from 'raft-ts';

/**
 * Random decisions of one kind. Each purpose has a stream of its own, so that one more draw for one of them does not
 * change the others.
 */
export class Draw {
  private readonly source: RandomSource;

  constructor(seed: number, purpose: string) {
    this.source = seededRandom(seed, hashOf(purpose));
  }

  /** A random 32-bit integer. */
  bits(): number {
    return this.source();
  }

  /** Uniform in [0, 1). */
  unit(): number {
    return this.source() / 2 ** 32;
  }

  /** An integer from `low` to `high`, both included. */
  int(low: number, high: number): number {
    return low + (this.source() % (high - low + 1));
  }

  chance(probability: number): boolean {
    return this.unit() < probability;
  }

  /** One of several. */
  pick<Value>(values: readonly Value[]): Value {
    return values[this.source() % values.length] as Value;
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
    while (left.length > 0) result.push(...left.splice(this.source() % left.length, 1));
    return result;
  }

  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => this.source() & 0xff);
  }
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
