/**
 * A seeded generator for tests: mulberry32 (Tommy Ettinger, public domain).
 *
 * @returns a function that gives numbers in [0, 1)
 */
export function seeded(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** @returns a function that gives so many random bytes, which no compression makes smaller */
export function seededBytes(seed: number): (count: number) => Buffer {
  const random = seeded(seed);
  return (count) => Buffer.from(Uint8Array.from({ length: count }, () => random() * 256));
}
