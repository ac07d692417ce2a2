import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MemoryDisk } from '../disk/memory-disk.js';
import type { KeyRange, ReadAhead } from '../kv/key-value-store.js';
import { MemoryStore } from '../kv/memory-store.js';
import { packedBytes, packPair } from '../kv/packed-pairs.js';
import { SOUND_STORES, StoragePlanter, type StoreClasses } from '../testing/plant.js';
import { nameRecord, RECORD_KEY_BYTES, recordKeyBuffer } from './keys.js';
import { SequentialReads } from './sequential-reads.js';
import type { StateStore } from './state-store.js';
import { encodeValue } from './values.js';

const GROUP = 1;
const KIND = 2;
const BATCH_PAIRS = 10;
const NO_KEY = Buffer.alloc(0);

/** Reads ahead in records whose values are their ids, and notes what is asked of it. */
class FakeReadAhead implements ReadAhead {
  readonly waitedMs = 0;
  readonly begun: number[] = [];
  ended = 0;
  isBroken = false;
  /** The number of times that the next batch is asked for in vain. */
  late = 0;
  /** The number of further records that a thing has. */
  partsOf: (id: number) => number = () => 0;
  /** An id whose value is damaged. */
  damaged = 0;
  private at = 0;
  private range = { from: NO_KEY, to: NO_KEY };
  private valuesOnly = false;
  /** The ends of the ranges that were read. */
  readonly ends: Buffer[] = [];
  /** The ids behind which a range with its keys was read. */
  readonly withKeys: number[] = [];
  /** The key of the group that is read. */
  private key = recordKeyBuffer(GROUP, 1);

  constructor(
    private readonly ids: readonly number[],
    private readonly valueBytes = 8,
  ) {}

  async prepare(): Promise<void> {}

  begin({ from, to }: KeyRange, valuesOnly: boolean): void {
    this.range = { from: Buffer.from(from), to: Buffer.from(to) };
    this.ends.push(this.range.to);
    this.valuesOnly = valuesOnly;
    const last = Buffer.from(from).readUInt32BE(18);
    this.begun.push(last);
    if (!valuesOnly) this.withKeys.push(last);
    this.key = Buffer.from(from.subarray(0, RECORD_KEY_BYTES));
    this.at = this.ids.findIndex((id) => id > last || (id === last && this.partsOf(id) > 0));
  }

  next(): Buffer | undefined {
    if (this.isBroken) return undefined;
    if (this.late > 0) {
      this.late -= 1;
      return undefined;
    }
    const ids = this.ids.slice(this.at, this.at + BATCH_PAIRS);
    this.at += BATCH_PAIRS;
    return Buffer.concat(
      ids.flatMap((id) =>
        Array.from({ length: this.partsOf(id) + 1 }, (_, part) => {
          const key = keyOf(this.key, id, part);
          if (key.compare(this.range.from) < 0 || key.compare(this.range.to) >= 0) return NO_KEY;
          const value = encodeValue(key, this.payloadOf(id));
          if (id === this.damaged) value[value.length - 1]! ^= 1;
          return packed(this.valuesOnly ? NO_KEY : key, value);
        }),
      ),
    );
  }

  end(): void {
    this.ended += 1;
  }

  async hold(): Promise<null> {
    return null;
  }

  release(): void {}

  private payloadOf(id: number): Buffer {
    const value = Buffer.alloc(this.valueBytes);
    value.writeUInt32LE(id);
    return value;
  }
}

function keyOf(key: Buffer, id: number, part = 0): Buffer {
  nameRecord(key, KIND, id, part);
  return key;
}

function packed(key: Buffer, value: Buffer): Buffer {
  const pair = Buffer.alloc(packedBytes(key, value));
  packPair(pair, 0, key, value);
  return pair;
}

function upTo(count: number, step = 1): number[] {
  return Array.from({ length: count }, (_, i) => (i + 1) * step);
}

/** Asks for records, and gives the ids of those that were read ahead. */
function found(reads: SequentialReads, ids: readonly number[], key = recordKeyBuffer(1, 1)): number[] {
  return ids.filter((id) => {
    const value = reads.find(keyOf(key, id), GROUP, KIND, id, 0);
    if (value !== undefined) expect(value.readUInt32LE()).toBe(id);
    return value !== undefined;
  });
}

describe('SequentialReads', () => {
  test('reads ahead behind as many records in order as it was told, until the end of the range', () => {
    const ahead = new FakeReadAhead(upTo(100));
    const ids = upTo(120);
    expect(found(new SequentialReads(ahead, 5), ids)).toEqual(ids.slice(6, 100));
    expect(ahead.begun[0]).toBe(6);
  });

  test('reads nothing ahead for records in any other order', () => {
    const ahead = new FakeReadAhead(upTo(2000));
    const descending = upTo(1000).reverse();
    const scattered = upTo(1000).map((id) => (id * 7919) % 100_003);
    const reads = new SequentialReads(ahead, 5);
    expect(found(reads, descending)).toEqual([]);
    expect(found(reads, scattered)).toEqual([]);
    expect(ahead.begun).toEqual([]);
  });

  test('goes on where other records are read in between', () => {
    const ahead = new FakeReadAhead(upTo(100));
    const ids = upTo(100).flatMap((id) => [id, 5000 + ((id * 7) % 100)]);
    expect(found(new SequentialReads(ahead, 5), ids)).toEqual(upTo(100).slice(6));
  });

  test('passes over records that nobody asks for, and knows of none that is not there', () => {
    const ahead = new FakeReadAhead(upTo(300));
    const asked = upTo(100, 3);
    expect(found(new SequentialReads(ahead, 5), [...asked, 301, 302])).toEqual(asked.slice(6));
    const holes = new FakeReadAhead(upTo(100, 2));
    expect(found(new SequentialReads(holes, 5), upTo(200))).toEqual(upTo(100, 2).filter((id) => id > 6));
  });

  test('finds whose values are, and has their keys read where many others lie between', () => {
    const ahead = new FakeReadAhead(upTo(100));
    ahead.partsOf = (id) => (id % 10 === 0 ? 8 : 0);
    expect(found(new SequentialReads(ahead, 5), upTo(100))).toEqual(upTo(100).slice(6));
    expect(ahead.withKeys).toEqual([]);
    ahead.partsOf = (id) => (id === 50 ? 9 : 0);
    expect(found(new SequentialReads(ahead, 5), upTo(100))).toEqual(
      upTo(100).filter((id) => id > 6 && id !== 51),
    );
    expect(ahead.withKeys).toEqual([51]);
  });

  test('gives no value that is damaged, with a key or without', () => {
    const ahead = new FakeReadAhead(upTo(100));
    ahead.damaged = 20;
    expect(found(new SequentialReads(ahead, 5), upTo(100))).toEqual(
      upTo(100).filter((id) => id > 6 && id !== 20),
    );
    expect(ahead.withKeys).toEqual([20]);
    const key = recordKeyBuffer(GROUP, 1);
    const reads = new SequentialReads(ahead, 5);
    ahead.partsOf = (id) => (id === 15 ? 20 : 0);
    ahead.damaged = 30;
    expect(() => found(reads, upTo(100), key)).toThrow('checksum');
  });

  test('reads nothing ahead behind the pages of one thing, so that those of the things behind are found without keys', () => {
    const ahead = new FakeReadAhead(upTo(100));
    ahead.partsOf = (id) => (id === 1 ? 100 : 0);
    const reads = new SequentialReads(ahead, 5);
    const key = recordKeyBuffer(GROUP, 1);
    for (const part of upTo(100)) reads.find(keyOf(key, 1, part), GROUP, KIND, 1, part);
    expect(ahead.ends[0]).toEqual(keyOf(Buffer.from(key), 2, 0).subarray(0, RECORD_KEY_BYTES - 4));
    expect(found(reads, upTo(100).slice(49), key)).toEqual(upTo(100).slice(50));
    expect(ahead.withKeys).toEqual([]);
  });

  test('begins anew, and without keys, at the things behind some of the pages of one', () => {
    const ahead = new FakeReadAhead(upTo(100));
    ahead.partsOf = (id) => (id === 1 ? 100 : 0);
    const reads = new SequentialReads(ahead, 5);
    const key = recordKeyBuffer(GROUP, 1);
    for (const part of upTo(50)) reads.find(keyOf(key, 1, part), GROUP, KIND, 1, part);
    expect(found(reads, upTo(100).slice(1), key)).toEqual(upTo(100).slice(2));
    expect(ahead.begun).toEqual([1, 2]);
    expect(ahead.withKeys).toEqual([]);
  });

  test('gives up where most of what is read ahead is of no use, and tries again later', () => {
    const ahead = new FakeReadAhead(upTo(100_000), 2000);
    const reads = new SequentialReads(ahead, 5);
    found(reads, upTo(100, 20));
    expect(ahead.begun).toEqual([120]);
    expect(ahead.ended).toBe(1);
    found(reads, upTo(300, 20).slice(100));
    expect(ahead.begun.length).toBeGreaterThan(1);
  });

  test('takes up what comes late, without the records that were read meanwhile, which are no waste', () => {
    const ahead = new FakeReadAhead(upTo(200), 20_000);
    const reads = new SequentialReads(ahead, 5);
    const key = recordKeyBuffer(1, 1);
    expect(found(reads, upTo(20), key)).toEqual(upTo(20).slice(6));
    ahead.late = 50;
    // The batch before ends with 26.
    expect(found(reads, upTo(200).slice(20), key)).toEqual([...upTo(26).slice(20), ...upTo(200).slice(76)]);
    expect(ahead.begun).toEqual([6]);
  });

  test('finds nothing, and asks seldom, where nothing can be read ahead', () => {
    const ahead = new FakeReadAhead(upTo(1000));
    ahead.isBroken = true;
    expect(found(new SequentialReads(ahead, 5), upTo(1000))).toEqual([]);
    expect(ahead.begun.length).toBeLessThanOrEqual(1000 / (5 * 32) + 1);
  });

  test('keeps what was read ahead for the next job, until it is dropped', async () => {
    const ahead = new FakeReadAhead(upTo(100));
    const reads = new SequentialReads(ahead, 5);
    const key = recordKeyBuffer(GROUP, 1);
    expect(found(reads, upTo(20), key)).toHaveLength(14);
    await Promise.resolve();
    expect(found(reads, [21], key)).toEqual([21]);
    expect(ahead.begun).toEqual([6]);
    expect(ahead.ended).toBe(0);
    reads.drop();
    expect(ahead.ended).toBe(1);
    expect(found(reads, [22, 23], key)).toEqual([23]);
    expect(ahead.begun).toEqual([6, 22]);
  });

  test('begins anew for the records of another group', () => {
    const ahead = new FakeReadAhead(upTo(100));
    const reads = new SequentialReads(ahead, 5);
    found(reads, upTo(20));
    const key = recordKeyBuffer(2, 1);
    expect(found(reads, upTo(30).slice(20), key)).toEqual([]);
    expect(ahead.begun).toHaveLength(1);
    found(reads, upTo(40).slice(30), key);
    expect(ahead.begun).toHaveLength(2);
  });
});

/** Reads that follow each other within one job, from one id up to another, or a checkpoint that changes some records. */
type Step =
  | { readonly kind: 'read'; readonly from: number; readonly count: number }
  | { readonly kind: 'checkpoint'; readonly ids: number[] };
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('read' as const), from: fc.nat(12), count: fc.integer({ min: 1, max: 12 }) }),
  fc.record({ kind: fc.constant('checkpoint' as const), ids: fc.array(fc.nat(24), { maxLength: 8 }) }),
);
const steps = fc.array(step, { minLength: 2, maxLength: 20 });

/** The number of further records of an id: none, some, or more than are passed over without keys. */
function partsOf(id: number): number {
  return id % 3 === 0 ? id : 0;
}

/** Plays steps, and compares what is read with what the last checkpoint of each record put. */
async function play(plan: readonly Step[], stores: StoreClasses): Promise<void> {
  const store: StateStore = await stores.StateStore.open({
    store: new MemoryStore().attach(),
    disk: new MemoryDisk(),
    readAheadAfter: 1,
  });
  const values = new Map<number, string>();
  for (const [index, one] of plan.entries()) {
    if (one.kind === 'checkpoint') {
      const checkpoint = store.beginCheckpoint(GROUP);
      for (const id of one.ids) {
        for (let part = 0; part <= partsOf(id); part++) {
          checkpoint.put(KIND, id, part, Buffer.from(`${id}: ${index}`));
        }
      }
      await checkpoint.commit({ index, term: 1, context: Buffer.alloc(0) });
      for (const id of one.ids) values.set(id, `${id}: ${index}`);
    } else {
      for (let id = one.from; id < one.from + one.count; id++) {
        expect(store.read(GROUP, KIND, id)?.toString()).toBe(values.get(id));
      }
      // The next step is another job.
      await Promise.resolve();
    }
  }
  await store.close();
}

describe('records that are read ahead', () => {
  test('are those of the last checkpoint, whatever was read before it', async () => {
    await fc.assert(
      fc.asyncProperty(steps, (plan) => play(plan, SOUND_STORES)),
      { numRuns: 500 },
    );
  });

  test('are stale with the planted bug read_ahead_kept, and that is found', async () => {
    const planted = await new StoragePlanter().plant(new Set(['read_ahead_kept']));
    const found = await fc.check(
      fc.asyncProperty(steps, (plan) => play(plan, planted)),
      {
        numRuns: 2000,
        seed: 7,
        endOnFailure: true,
      },
    );
    expect(found.failed).toBe(true);
  });
});
