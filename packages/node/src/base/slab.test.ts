import { expect, test } from '@jest/globals';
import { Slab } from './slab.js';

test('copies stay as they were, whatever is taken afterwards', () => {
  const slab = new Slab();
  const sizes = [0, 1, 7, 100, 8191, 8192, 100_000];
  const copies: { readonly size: number; readonly first: number; readonly copy: Uint8Array }[] = [];
  const source = new Uint8Array(100_000);
  for (let round = 0; round < 50; round++) {
    for (const size of sizes) {
      source.fill((round * sizes.length + size) % 251);
      copies.push({ size, first: round, copy: slab.copyBehind(round, source.subarray(0, size)) });
    }
  }
  for (const [at, { size, first, copy }] of copies.entries()) {
    const round = Math.floor(at / sizes.length);
    const value = (round * sizes.length + size) % 251;
    expect([copy.length, copy[0]]).toEqual([size + 1, first]);
    expect(copy.subarray(1).every((byte) => byte === value)).toBe(true);
  }
});
