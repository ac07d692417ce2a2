import { describe, expect, test } from '@jest/globals';
import { ANY_BODY, bodyHashOf, fitsBody } from './body-hash.js';

const of = (...bytes: number[]): string => bodyHashOf(Uint8Array.from(bytes), 3);

describe('quick hashes', () => {
  test('differ where bodies of any length differ in one or two bits', () => {
    for (let length = 0; length <= 13; length++) {
      const bytes = Array.from({ length }, (_, i) => 37 * i + length);
      const seen = new Set([of(...bytes), of(...bytes, 0), of(...bytes, 0, 0, 0, 0)]);
      let count = 3;
      for (let one = 0; one < 8 * length; one++) {
        for (let other = one; other < 8 * length; other++) {
          const changed = bytes.map((byte, at) => (one >> 3 === at ? byte ^ (1 << (one & 7)) : byte));
          if (other !== one) changed[other >> 3]! ^= 1 << (other & 7);
          seen.add(of(...changed));
          count += 1;
        }
      }
      expect(seen.size).toBe(count);
    }
  });

  test('differ in each half, too, as often as those of a random function', () => {
    const halves = [new Set<string>(), new Set<string>()];
    for (let n = 0; n < 50_000; n++) {
      const hash = bodyHashOf(Buffer.from(`.counter += ${n};`), 3);
      halves[0]?.add(hash.slice(0, 4));
      halves[1]?.add(hash.slice(4, 8));
    }
    // Of 50,000 random words 0.3 are alike.
    for (const half of halves) expect(half.size).toBeGreaterThan(49_995);
  });
});

test('hashes of one kind tell whether bodies differ, and hashes of two kinds do not', () => {
  const [old, other] = [bodyHashOf(Buffer.from('a'), 2), bodyHashOf(Buffer.from('b'), 2)];
  const [quick, quickOther] = [bodyHashOf(Buffer.from('a'), 3), bodyHashOf(Buffer.from('b'), 3)];
  const fits = (kept: string) => [old, other, quick, quickOther].map((body) => fitsBody(kept, body));
  expect(fits(old)).toEqual([true, false, true, true]);
  expect(fits(quick)).toEqual([true, true, true, false]);
  expect(fits(ANY_BODY)).toEqual([true, true, true, true]);
});
