import { beforeAll, describe, expect, test } from '@jest/globals';
import { MemoryDisk } from '../disk/memory-disk.js';
import { SnapshotRefusedError } from '../errors.js';
import { MemoryStore } from '../kv/memory-store.js';
import { makeChunk, type SnapshotChunk, type SnapshotFormat } from './snapshot-format.js';
import { SnapshotReader } from './snapshot-reader.js';
import { type StateRecord, StateStore } from './state-store.js';

const GROUP = 7;
const APPLIED = { index: 5, term: 2, context: Buffer.from('context') };

/** Some are larger than a chunk. */
const RECORDS: readonly StateRecord[] = [0, 1, 900, 5000, 1, 2500, 0].map((bytes, id) => ({
  kind: 1 + (id % 2),
  id,
  part: id % 3,
  value: Buffer.alloc(bytes, id + 1),
}));

let chunksOf: Readonly<Record<SnapshotFormat, SnapshotChunk[]>>;

beforeAll(async () => {
  const store = await StateStore.open({
    store: new MemoryStore().attach(),
    disk: new MemoryDisk().attach(),
    chunkBytes: 1024,
  });
  const changes = store.beginCheckpoint(GROUP);
  for (const { kind, id, part, value } of RECORDS) changes.put(kind, id, part, value);
  await changes.commit(APPLIED);
  chunksOf = { 1: [], 2: [] };
  for (const format of [1, 2] as const) {
    const source = await store.openSnapshot(GROUP, format);
    for await (const chunk of source?.chunks() ?? []) chunksOf[format].push(chunk);
    await source?.close();
  }
  await store.close();
});

/** Takes chunks; gives what they hold. */
function read(list: readonly SnapshotChunk[]): { records: StateRecord[]; reader: SnapshotReader } {
  const reader = new SnapshotReader();
  const records = list.flatMap((chunk) => reader.take(chunk));
  return { records, reader };
}

const inOrder = (records: readonly StateRecord[]): string[] =>
  records.map(({ kind, id, part, value }) => `${kind} ${id} ${part} ${Buffer.from(value).toString('hex')}`);

describe.each([1, 2] as const)('the chunks of a snapshot of format %d', (format) => {
  let chunks: SnapshotChunk[];

  beforeAll(() => {
    chunks = chunksOf[format];
  });

  test('give all records, whole, and where the state stands', () => {
    const { records, reader } = read(chunks);
    expect(chunks.length).toBeGreaterThan(RECORDS.length);
    expect([...inOrder(records)].sort()).toEqual([...inOrder(RECORDS)].sort());
    expect(reader.isComplete).toBe(true);
    expect(reader.header).toMatchObject({ group: GROUP, applied: { index: 5, term: 2 } });
  });

  test('are not complete before the last one', () => {
    for (let count = 0; count < chunks.length; count++) {
      expect(read(chunks.slice(0, count)).reader.isComplete).toBe(false);
    }
  });

  test('are refused in another order, twice, or behind the end', () => {
    const [first, second, third, ...rest] = chunks as [
      SnapshotChunk,
      SnapshotChunk,
      SnapshotChunk,
      ...SnapshotChunk[],
    ];
    const orders = [[second], [first, third], [first, first], [first, second, second], [...chunks, first]];
    for (const order of [...orders, [first, third, second, ...rest]]) {
      expect(() => read(order)).toThrow(SnapshotRefusedError);
    }
  });

  test('are refused when a bit of them is another one', () => {
    for (const [i, chunk] of chunks.entries()) {
      for (let at = 0; at < chunk.bytes.length; at += 97) {
        const bytes = Buffer.from(chunk.bytes);
        bytes[at] = (bytes[at] ?? 0) ^ 1;
        expect(() => read(chunks.with(i, { ...chunk, bytes }))).toThrow(SnapshotRefusedError);
      }
    }
  });

  test('are refused when one is missing and the others are renumbered and fit their checksums', () => {
    for (let missing = 1; missing < chunks.length - 1; missing++) {
      const others = chunks.filter((_, i) => i !== missing);
      expect(() => read(others.map(({ bytes }, i) => makeChunk(i, Buffer.from(bytes), format)))).toThrow(
        SnapshotRefusedError,
      );
    }
  });
});
