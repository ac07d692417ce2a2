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

/** Reads ahead in records whose values are their ids, and notes what is asked of it. */
class FakeReadAhead implements ReadAhead {
  readonly waitedMs = 0;
  readonly begun: number[] = [];
  ended = 0;
  isBroken = false;
  /** The number of times that the next batch is asked for in vain. */
  late = 0;
  private at = 0;
  /** Of the group that is read. */
  private key = recordKeyBuffer(GROUP, 1);

  constructor(
    private readonly ids: readonly number[],
    private readonly valueBytes = 8,
  ) {}

  async prepare(): Promise<void> {}

  begin({ from }: KeyRange): void {
    const last = Buffer.from(from).readUInt32BE(18);
    this.begun.push(last);
    this.key = Buffer.from(from.subarray(0, RECORD_KEY_BYTES));
    this.at = this.ids.findIndex((id) => id > last);
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
      ids.map((id) => {
        const key = keyOf(this.key, id);
        return packed(key, encodeValue(key, this.payloadOf(id)));
      }),
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

function keyOf(key: Buffer, id: number): Buffer {
  nameRecord(key, KIND, id, 0);
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
      for (const id of one.ids) checkpoint.put(KIND, id, 0, Buffer.from(`${id}: ${index}`));
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
