import { expect, test } from '@jest/globals';
import { crc32c } from '../crc32c.js';
import { nameRecord, RECORD_KEY_BYTES, recordKeyBuffer } from './keys.js';
import { encodeValue, isValueOf } from './values.js';

/** Ids between which a record is looked for among values without keys. */
const DISTANCE = 80n;
const ID_BITS = 43n;
const PAGES = 2 ** 17;
/** The first page of each kind that things have, and 0 for their first records. */
const FIRST_PAGES = [0, 2 ** 22, 2 ** 23, 2 ** 31];

/** The bits in which two ids differ that are near each other. */
function idDifferences(): Set<bigint> {
  const found = new Set<bigint>();
  for (let distance = 1n; distance <= DISTANCE; distance++) {
    for (let low = 0n; low < 256n; low++) {
      found.add(low ^ (low + distance));
      // A carry goes through as many ones as there are above.
      for (let ones = 9n; ones < ID_BITS; ones++) {
        const id = (1n << ones) - 256n + low;
        found.add(id ^ (id + distance));
      }
    }
  }
  return found;
}

/** The change of a value's checksum that a difference of keys makes; the same for all keys and values. */
function changeOf(id: bigint, part: number): number {
  const none = new Uint8Array(RECORD_KEY_BYTES);
  const bits = Buffer.alloc(RECORD_KEY_BYTES);
  bits.writeBigUInt64BE(id, 14);
  bits.writeUInt32BE(part, 22);
  return (crc32c(bits) ^ crc32c(none)) >>> 0;
}

/** Finds the one difference of parts that makes up for a change of the checksum. */
function partSolver(): (change: number) => number {
  const basis: ({ change: number; part: number } | undefined)[] = [];
  for (let bit = 0; bit < 32; bit++) {
    let part = 2 ** bit;
    let change = changeOf(0n, part);
    for (let at = 31; at >= 0 && change !== 0; at--) {
      if (((change >>> at) & 1) === 0) continue;
      const known = basis[at];
      if (known === undefined) {
        basis[at] = { change, part };
        break;
      }
      change = (change ^ known.change) >>> 0;
      part = (part ^ known.part) >>> 0;
    }
  }
  return (wanted) => {
    let change = wanted;
    let part = 0;
    for (let at = 31; at >= 0; at--) {
      const known = basis[at];
      if (((change >>> at) & 1) === 0 || known === undefined) continue;
      change = (change ^ known.change) >>> 0;
      part = (part ^ known.part) >>> 0;
    }
    expect(change).toBe(0);
    return part;
  };
}

test('a value is taken for that of no other key near it, among the first 131,072 pages of each kind of a thing', () => {
  const solve = partSolver();
  // The solver finds what it is for.
  expect(solve(changeOf(0n, 4711))).toBe(4711);
  const families = FIRST_PAGES.flatMap((a) => FIRST_PAGES.map((b) => (a ^ b) >>> 0));
  const taken = [...idDifferences()].filter((id) => {
    const part = solve(changeOf(id, 0));
    // Two pages of kinds whose first ones differ so: what else differs is in the bits of their numbers.
    return families.some((family) => (part ^ family) >>> 0 < PAGES);
  });
  expect(taken).toEqual([]);
});

test('a value is that of its key, and of no other one of its thing', () => {
  const key = recordKeyBuffer(1, 1);
  nameRecord(key, 2, 77, 3);
  const value = encodeValue(key, Buffer.from('some'));
  expect(isValueOf(crc32c(key), value, 0, value.length)).toBe(true);
  for (const [id, part] of [
    [77, 0],
    [77, 4],
    [78, 0],
    [78, 3],
  ] as const) {
    nameRecord(key, 2, id, part);
    expect(isValueOf(crc32c(key), value, 0, value.length)).toBe(false);
  }
});
