import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { FormatError } from '../bytes.js';
import { IdSet } from './id-set.js';

const CHUNK = 65_536;

/** Writes what changed over what was written before. */
function flush(set: IdSet, records: Map<number, Uint8Array>): number {
  let count = 0;
  set.flush((chunk, value) => {
    count += 1;
    if (value === null) records.delete(chunk);
    else records.set(chunk, value);
  });
  return count;
}

function loaded(records: ReadonlyMap<number, Uint8Array>): IdSet {
  const set = new IdSet();
  for (const [chunk, value] of records) set.load(chunk, value);
  return set;
}

function expectSame(set: IdSet, model: ReadonlySet<number>): void {
  expect(set.size).toBe(model.size);
  expect([...set]).toEqual([...model].sort((a, b) => a - b));
}

/** Ids near the borders of chunks, and one far out. */
const ids = fc.oneof(
  fc.nat(40),
  fc.integer({ min: CHUNK - 20, max: CHUNK + 20 }),
  fc.integer({ min: 3 * CHUNK - 5, max: 3 * CHUNK + 5 }),
  fc.constant(2 ** 40),
);

/** Ids of one step: one of them, or many in a row, which turns a chunk into bits. */
const steps = fc.oneof(
  { weight: 8, arbitrary: fc.record({ start: ids, count: fc.constant(1), flushes: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      start: fc.constantFrom(0, CHUNK - 3000, 2 * CHUNK - 1),
      count: fc.integer({ min: 1900, max: 6000 }),
      flushes: fc.boolean(),
    }),
  },
);

test('an index is a set, in memory and as it was written', () => {
  fc.assert(
    fc.property(fc.array(steps, { maxLength: 40 }), (all) => {
      const set = new IdSet();
      const model = new Set<number>();
      const records = new Map<number, Uint8Array>();
      for (const { start, count, flushes } of all) {
        for (let id = start; id < start + count; id++) {
          if (set.has(id) !== model.has(id)) throw new Error(`${id} is wrong`);
          if (model.delete(id)) {
            set.delete(id);
          } else {
            model.add(id);
            set.add(id);
          }
        }
        if (flushes) flush(set, records);
      }
      expectSame(set, model);
      flush(set, records);
      expectSame(loaded(records), model);
      expect(flush(set, records)).toBe(0);
    }),
    { numRuns: 40 },
  );
});

test('ids are gone over from any place on, in both directions, and counted below it', () => {
  fc.assert(
    fc.property(fc.array(steps, { maxLength: 8 }), fc.array(ids, { minLength: 1 }), (all, places) => {
      const set = new IdSet();
      for (const { start, count } of all) {
        for (let id = start; id < start + count; id += 1 + (id % 3)) if (!set.has(id)) set.add(id);
      }
      const sorted = [...set];
      for (const place of places) {
        const above: number[] = [];
        set.eachAbove(place, (id) => above.push(id) < 5000);
        expect(above).toEqual(sorted.filter((id) => id > place).slice(0, 5000));
        const below: number[] = [];
        set.eachBelow(place, (id) => below.push(id) < 5000);
        const expected = sorted.filter((id) => id < place).reverse();
        expect(below).toEqual(expected.slice(0, 5000));
        expect(set.countBelow(place)).toBe(expected.length);
      }
    }),
    { numRuns: 30 },
  );
});

describe('a chunk', () => {
  test('is written in a form that depends on its ids alone', () => {
    const grown = new IdSet();
    for (let id = 0; id < 5000; id++) grown.add(2 * id);
    // Few enough for a list, but not so few that the form in memory changes already.
    for (let id = 2500; id < 5000; id++) grown.delete(2 * id);
    const fresh = new IdSet();
    for (let id = 2499; id >= 0; id--) fresh.add(2 * id);
    const a = new Map<number, Uint8Array>();
    const b = new Map<number, Uint8Array>();
    flush(grown, a);
    flush(fresh, b);
    expect(a).toEqual(b);
  });

  test.each([
    [4095, 1 + 2 * 4095],
    [4096, 1 + 8192],
    [65_536, 1 + 8192],
  ])('a chunk of %i ids takes %i bytes', (count, bytes) => {
    const set = new IdSet();
    for (let id = CHUNK; id < CHUNK + count; id++) set.add(id);
    const records = new Map<number, Uint8Array>();
    flush(set, records);
    expect([...records.keys()]).toEqual([1]);
    expect(records.get(1)?.length).toBe(bytes);
    expect(loaded(records).size).toBe(count);
  });

  test('a chunk that became empty leaves no record', () => {
    const set = new IdSet();
    const records = new Map<number, Uint8Array>();
    set.add(7);
    set.add(CHUNK);
    flush(set, records);
    set.delete(7);
    expect(flush(set, records)).toBe(1);
    expect([...records.keys()]).toEqual([1]);
    set.clear();
    flush(set, records);
    expect(records.size).toBe(0);
    expect(set.size).toBe(0);
  });

  test('is the last that was loaded', () => {
    const one = new IdSet();
    one.add(1);
    const two = new IdSet();
    two.add(2);
    two.add(3);
    const set = new IdSet();
    one.flush((chunk, value) => value !== null && set.load(chunk, value));
    two.flush((chunk, value) => value !== null && set.load(chunk, value));
    expect([...set]).toEqual([2, 3]);
    expect(set.size).toBe(2);
  });

  test('a chunk of another form is refused', () => {
    expect(() => new IdSet().load(0, Uint8Array.of(2))).toThrow(FormatError);
  });
});

test('an id that is there is not added again, and one that is not there not taken out', () => {
  const set = new IdSet();
  for (let id = 0; id < 5000; id++) set.add(id);
  expect(() => set.add(17)).toThrow('in the index already');
  expect(() => set.delete(5000)).toThrow('not in the index');
  expect(() => set.delete(CHUNK)).toThrow('not in the index');
  expect(set.size).toBe(5000);
  const few = new IdSet();
  few.add(1);
  few.add(3);
  expect(() => few.add(1)).toThrow('in the index already');
  expect(() => few.add(3)).toThrow('in the index already');
});

describe('a sample', () => {
  test('a sample of few ids has all of them', () => {
    const set = new IdSet();
    for (const id of [3, 70_000, 9_000_000]) set.add(id);
    expect([...set.sample(10)].sort((a, b) => a - b)).toEqual([3, 70_000, 9_000_000]);
    expect(new IdSet().sample(10)).toEqual([]);
  });

  test.each([1, 3])('a sample of many ids is spread over all of them, each %s-th', (every) => {
    const set = new IdSet();
    for (let id = 0; id < 5 * CHUNK; id += every) set.add(id);
    const sample = set.sample(30);
    expect(sample.length).toBeGreaterThan(20);
    expect(sample.length).toBeLessThanOrEqual(35);
    expect(new Set(sample).size).toBe(sample.length);
    for (const id of sample) expect(set.has(id)).toBe(true);
    expect(new Set(sample.map((id) => Math.floor(id / CHUNK))).size).toBe(5);
  });
});
