/** A source of non-negative safe integers; 32 bits or more. */
export type RandomSource = () => number;

/**
 * A small seeded generator: splitmix32 (Sebastiano Vigna's splitmix64 reduced to 32 bits). `stream` (the node
 * id) keeps nodes with the same seed apart: equal timeouts everywhere would split every vote.
 */
export function seededRandom(seed: number, stream: number): RandomSource {
  let state = (Math.imul(seed | 0, 0x9e3779b1) ^ Math.imul(stream | 0, 0x85ebca77) ^ (stream / 2 ** 32)) | 0;
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = state ^ (state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a2d97);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  };
}

/** The same as numbers in [0, 1). */
export function seeded(seed: number): () => number {
  const next = seededRandom(seed, 0);
  return () => next() / 2 ** 32;
}
