import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { seeded } from 'raft-ts';
import { type DiskOperation, MemoryDisk } from '../disk/memory-disk.js';
import { NodeDisk } from '../disk/node-disk.js';
import {
  DamagedStateError,
  DiskFullError,
  FolderContentError,
  GroupBusyError,
  LimitError,
  MisuseError,
  NewerFormatError,
  SnapshotRefusedError,
  StorageError,
  StoreClosedError,
  StorePoisonedError,
} from '../errors.js';
import { LevelStore } from '../kv/level-store.js';
import { MemoryStore, type StoreOperation } from '../kv/memory-store.js';
import { EventQueue } from '../testing/events.js';
import { SOUND_STORES, StoragePlanter } from '../testing/plant.js';
import { groupKey, journalKey, nameRecord, recordKeyBuffer, storeKey } from './keys.js';
import type { StateStoreOptions } from './options.js';
import type { SnapshotChunk } from './snapshot-format.js';
import type { SnapshotSource } from './snapshot-source.js';
import { StateStore } from './state-store.js';
import { encodeValue } from './values.js';

const NO_CONTEXT = Buffer.alloc(0);
type Extra = Partial<Omit<StateStoreOptions, 'store' | 'disk'>>;

/** A store in memory, with what it stands on. */
class Bench {
  readonly medium = new MemoryStore();
  readonly disk = new MemoryDisk();

  open(extra: Extra = {}, stores = SOUND_STORES): Promise<StateStore> {
    return stores.StateStore.open({ store: this.medium.attach(), disk: this.disk.attach(), ...extra });
  }

  async reopen(store: StateStore, extra: Extra = {}, stores = SOUND_STORES): Promise<StateStore> {
    await store.close();
    return this.open(extra, stores);
  }
}

type Records = Record<number, string | Buffer>;

async function checkpoint(store: StateStore, group: number, index: number, records: Records): Promise<void> {
  const changes = store.beginCheckpoint(group);
  for (const [id, value] of Object.entries(records)) {
    if (!changes.put(1, Number(id), 0, Buffer.from(value))) await changes.drained();
  }
  await changes.commit({ index, term: 1, context: NO_CONTEXT });
}

function many(count: number, bytes: number): Records {
  return Object.fromEntries(Array.from({ length: count }, (_, id) => [id, Buffer.alloc(bytes, id)]));
}

async function contentOf(store: StateStore, group: number): Promise<Map<string, string>> {
  const content = new Map<string, string>();
  for await (const { kind, id, part, value } of store.scan(group))
    content.set(`${kind} ${id} ${part}`, value.toString('hex'));
  return content;
}

async function chunksOf(source: SnapshotSource | undefined, from = 0): Promise<SnapshotChunk[]> {
  const chunks: SnapshotChunk[] = [];
  for await (const chunk of source?.chunks(from) ?? []) chunks.push(chunk);
  return chunks;
}

describe('StateStore', () => {
  test('is empty at first', async () => {
    const store = await new Bench().open();
    expect(store.groups()).toEqual([]);
    expect(store.applied(1)).toBeUndefined();
    expect(store.read(1, 1, 1)).toBeUndefined();
    expect(await contentOf(store, 1)).toEqual(new Map());
    expect(await store.openSnapshot(1)).toBeUndefined();
    expect(store.identity()).toBeUndefined();
  });

  test('reads what a checkpoint put, after it was committed, and after a restart', async () => {
    const bench = new Bench();
    const store = await bench.open();
    const changes = store.beginCheckpoint(7);
    changes.put(1, 5, 0, Buffer.from('five'));
    changes.put(1, 5, 1, Buffer.from('part one'));
    changes.put(2, Number.MAX_SAFE_INTEGER, 0xffffffff, Buffer.alloc(0));
    changes.put(0, 1, 0, Buffer.from('deleted again'));
    changes.delete(0, 1, 0);
    expect(store.read(7, 1, 5)).toBeUndefined();
    await changes.commit({ index: 30, term: 2, context: Buffer.from('context') });
    expectCommitted(store);
    expectCommitted(await bench.reopen(store));

    function expectCommitted(opened: StateStore): void {
      expect(opened.read(7, 1, 5)?.toString()).toBe('five');
      expect(opened.read(7, 1, 5, 1)?.toString()).toBe('part one');
      expect(opened.read(7, 2, Number.MAX_SAFE_INTEGER, 0xffffffff)?.length).toBe(0);
      expect(opened.read(7, 0, 1)).toBeUndefined();
      expect(opened.read(8, 1, 5)).toBeUndefined();
      expect(opened.applied(7)).toEqual({ index: 30, term: 2, context: Buffer.from('context') });
      expect(opened.groups()).toEqual([7]);
    }
  });

  test('scans in order, all kinds or one', async () => {
    const store = await new Bench().open();
    const changes = store.beginCheckpoint(1);
    for (const [kind, id, part] of [
      [2, 1, 0],
      [1, 300, 1],
      [1, 300, 0],
      [1, 2, 0],
      [255, 0, 0],
    ] as const) {
      changes.put(kind, id, part, Buffer.from(`${kind} ${id} ${part}`));
    }
    await changes.commit({ index: 1, term: 1, context: NO_CONTEXT });
    await checkpoint(store, 2, 1, { 1: 'another group' });
    expect([...(await contentOf(store, 1)).keys()]).toEqual([
      '1 2 0',
      '1 300 0',
      '1 300 1',
      '2 1 0',
      '255 0 0',
    ]);
    const ofKind: number[] = [];
    for await (const { id } of store.scan(1, 1)) ofKind.push(id);
    expect(ofKind).toEqual([2, 300, 300]);
  });

  /** The numbers of changes in the batches by which a checkpoint of 2,000 records of 1 KB comes in, where each is answered after a while. */
  async function batchesOf(waitMs: number | null): Promise<number[]> {
    let now = 0;
    const counts: number[] = [];
    const medium = new MemoryStore({
      defer: ({ kind, count }, complete) => {
        if (kind === 'write') counts.push(count);
        now += waitMs ?? 0;
        queueMicrotask(complete);
      },
    });
    const store = await StateStore.open({
      store: medium.attach(),
      disk: new MemoryDisk().attach(),
      ...(waitMs === null ? {} : { now: () => now }),
    });
    counts.length = 0;
    await checkpoint(store, 1, 1, many(2000, 1000));
    expect((await contentOf(store, 1)).size).toBe(2000);
    await store.close();
    return counts.filter((count) => count > 10).sort((a, b) => a - b);
  }

  test('brings a large checkpoint in by small parts where others have short turns, and by large ones where they have long ones, or none', async () => {
    const short = await batchesOf(1);
    expect(short.length).toBeGreaterThan(30);
    expect(short.at(-1)).toBeLessThan(80);
    const long = await batchesOf(20);
    expect(long.length).toBeLessThan(9);
    expect(long.at(-1)).toBeGreaterThan(400);
    expect((await batchesOf(null)).length).toBeLessThan(6);
  });

  test('brings a large checkpoint in by slabs, and removes its file', async () => {
    const bench = new Bench();
    const store = await bench.open({ slabBytes: 2000 });
    await checkpoint(store, 1, 1, { 3: 'old', 500: 'old' });
    const changes = store.beginCheckpoint(1);
    for (let id = 0; id < 400; id++) changes.put(1, id, 0, Buffer.alloc(50, id));
    changes.delete(1, 500, 0);
    const committed = changes.commit({ index: 2, term: 1, context: NO_CONTEXT });
    expect((await bench.disk.list()).map(({ name }) => name)).toEqual(['mark', 'redo-000000000001']);
    await committed;
    expect((await bench.disk.list()).map(({ name }) => name)).toEqual(['mark']);
    expect((await contentOf(store, 1)).size).toBe(400);
    expect(store.read(1, 1, 3)).toEqual(Buffer.alloc(50, 3));
    expect(store.applied(1)?.index).toBe(2);
  });

  test('asks the caller to wait, and takes one value larger than a slab', async () => {
    const store = await new Bench().open();
    const changes = store.beginCheckpoint(1);
    let asked = 0;
    for (let id = 0; id < 20; id++) {
      if (changes.put(1, id, 0, Buffer.alloc(1 << 20, id))) continue;
      asked++;
      await changes.drained();
    }
    await changes.commit({ index: 1, term: 1, context: NO_CONTEXT });
    expect(asked).toBeGreaterThan(0);
    expect(store.read(1, 1, 19)?.length).toBe(1 << 20);
  });

  test('an aborted checkpoint leaves nothing, and frees the group', async () => {
    const bench = new Bench();
    const store = await bench.open({ slabBytes: 500 });
    const changes = store.beginCheckpoint(1);
    for (let id = 0; id < 100; id++) changes.put(1, id, 0, Buffer.alloc(50));
    await changes.abort();
    await changes.abort();
    expect(store.groups()).toEqual([]);
    expect((await bench.disk.list()).map(({ name }) => name)).toEqual(['mark']);
    await checkpoint(store, 1, 1, { 1: 'x' });
  });

  test('a dropped group is gone at once, its records soon, also over a crash', async () => {
    for (const crashes of [false, true]) {
      const bench = new Bench();
      let store = await bench.open();
      await checkpoint(store, 1, 1, many(5000, 10));
      await checkpoint(store, 2, 1, { 1: 'stays' });
      await store.dropGroup(1);
      await store.dropGroup(99);
      expect(store.groups()).toEqual([2]);
      expect(store.read(1, 1, 1)).toBeUndefined();
      await checkpoint(store, 1, 1, { 7: 'anew' });
      if (crashes) {
        bench.disk.crash(seeded(1));
        bench.medium.crash(seeded(1));
        store = await bench.open();
        expect(store.pendingClears).toBe(1);
      }
      await store.swept();
      expect(store.pendingClears).toBe(0);
      expect([...(await contentOf(store, 1)).keys()]).toEqual(['1 7 0']);
      expect(bench.medium.keys().filter((key) => key[0] === 0x10).length).toBe(2);
    }
  });

  test('keeps one identity for ever', async () => {
    const bench = new Bench();
    const store = await bench.open();
    await store.setIdentity(Buffer.from('me'));
    await store.setIdentity(Buffer.from('me'));
    await expect(store.setIdentity(Buffer.from('you'))).rejects.toThrow(MisuseError);
    expect((await bench.reopen(store)).identity()?.toString()).toBe('me');
  });

  test('many checkpoints at once share their syncs', async () => {
    const bench = new Bench();
    const store = await bench.open();
    let writes = 0;
    bench.medium.fault = ({ kind }) => {
      if (kind === 'write') writes++;
      return undefined;
    };
    await Promise.all(Array.from({ length: 50 }, (_, group) => checkpoint(store, group, 1, { 1: 'x' })));
    expect(writes).toBeLessThanOrEqual(2);
    expect(store.groups().length).toBe(50);
  });

  test('forgets the numbers of old batches, but not the last', async () => {
    const bench = new Bench();
    let store = await bench.open();
    for (let index = 1; index <= 30; index++) await checkpoint(store, 1, index, { 1: 'x' });
    const numbers = (): number => bench.medium.keys().filter((key) => key[0] === 3).length;
    expect(numbers()).toBe(31);
    store = await bench.reopen(store);
    await checkpoint(store, 1, 31, { 1: 'y' });
    expect(numbers()).toBe(2);
    store = await bench.reopen(store);
    expect(store.applied(1)?.index).toBe(31);
  });

  test('a closed store says so', async () => {
    const store = await new Bench().open();
    await store.close();
    await store.close();
    expect(() => store.read(1, 1, 1)).toThrow(StoreClosedError);
    expect(() => store.beginCheckpoint(1)).toThrow(StoreClosedError);
  });
});

describe('contract of the caller', () => {
  test('one thing at a time for each group', async () => {
    const store = await new Bench().open();
    await checkpoint(store, 1, 1, { 1: 'x' });
    const changes = store.beginCheckpoint(1);
    expect(() => store.beginCheckpoint(1)).toThrow(GroupBusyError);
    expect(() => store.installSnapshot(1)).toThrow(GroupBusyError);
    await expect(store.dropGroup(1)).rejects.toThrow(GroupBusyError);
    store.beginCheckpoint(2);
    await changes.abort();
    const installer = store.installSnapshot(1);
    expect(() => store.installSnapshot(1)).toThrow(GroupBusyError);
    expect(() => store.beginCheckpoint(1)).toThrow(GroupBusyError);
    await installer.abort();
    store.beginCheckpoint(1);
  });

  test('the applied index does not go back, and names and sizes have limits', async () => {
    const store = await new Bench().open();
    await checkpoint(store, 1, 5, {});
    const changes = store.beginCheckpoint(1);
    await expect(changes.commit({ index: 4, term: 1, context: NO_CONTEXT })).rejects.toThrow(MisuseError);
    await expect(changes.commit({ index: 6, term: 1, context: Buffer.alloc(70_000) })).rejects.toThrow(
      LimitError,
    );
    for (const [kind, id, part] of [
      [256, 1, 1],
      [-1, 1, 1],
      [1, -1, 1],
      [1, 2 ** 53, 1],
      [1, 1, 2 ** 32],
      [1, 1.5, 0],
    ] as const) {
      expect(() => changes.put(kind, id, part, NO_CONTEXT)).toThrow(MisuseError);
      expect(() => store.read(1, kind, id, part)).toThrow(MisuseError);
    }
    expect(() => changes.put(1, 1, 1, Buffer.alloc((64 << 20) + 1))).toThrow(LimitError);
    await changes.commit({ index: 5, term: 1, context: NO_CONTEXT });
    expect(() => changes.put(1, 1, 1, NO_CONTEXT)).toThrow(MisuseError);
    expect(() => store.beginCheckpoint(-1)).toThrow(MisuseError);
  });

  test('a checkpoint takes what can only come at once, such as all of a large thing', async () => {
    const store = await new Bench().open();
    const changes = store.beginCheckpoint(1);
    const value = Buffer.alloc(48 << 20, 7);
    const welcome = Array.from({ length: 7 }, (_, id) => changes.put(1, id, 0, value));
    expect(welcome.at(-1)).toBe(false);
    await changes.drained();
    await changes.commit({ index: 1, term: 1, context: NO_CONTEXT });
    expect(store.read(1, 1, 6, 0)?.equals(value)).toBe(true);
  });
});

describe.each([1, 2] as const)('snapshots of format %d', (format) => {
  async function donor(index = 9, records: Records = many(50, 300)): Promise<StateStore> {
    const store = await new Bench().open({ chunkBytes: 1024 });
    await checkpoint(store, 1, index, records);
    return store;
  }

  test('carry a group from one store to another, with values larger than a chunk', async () => {
    const from = await donor(9, {
      ...many(20, 300),
      30: Buffer.alloc(5000, 3),
      31: Buffer.alloc(0),
      32: Buffer.alloc(987),
    });
    const source = await from.openSnapshot(1, format);
    expect(source?.header).toMatchObject({ group: 1, applied: { index: 9, term: 1, context: NO_CONTEXT } });
    const chunks = await chunksOf(source);
    expect(Math.max(...chunks.map(({ bytes }) => bytes.length))).toBeLessThanOrEqual(1024);
    const to = await new Bench().open();
    await checkpoint(to, 1, 3, { 1: 'old', 77: 'old' });
    const installer = to.installSnapshot(1);
    for (const chunk of chunks) {
      expect(to.read(1, 1, 77)?.toString()).toBe('old');
      await installer.write(chunk);
    }
    expect(installer.isComplete).toBe(true);
    expect((await installer.commit()).index).toBe(9);
    expect(await contentOf(to, 1)).toEqual(await contentOf(from, 1));
    expect(to.applied(1)?.index).toBe(9);
    await to.swept();
    expect(to.pendingClears).toBe(0);
  });

  test('show the group as it was when they were opened', async () => {
    const from = await donor();
    const before = await contentOf(from, 1);
    const source = await from.openSnapshot(1, format);
    await checkpoint(from, 1, 10, { 1: 'changed', 1000: 'new' });
    await from.dropGroup(1);
    await from.swept();
    const to = await new Bench().open();
    const installer = to.installSnapshot(1);
    for (const chunk of await chunksOf(source)) await installer.write(chunk);
    await installer.commit();
    expect(await contentOf(to, 1)).toEqual(before);
  });

  test('go on at any chunk, with the same bytes', async () => {
    const from = await donor(9, { ...many(20, 300), 30: Buffer.alloc(5000, 3) });
    const source = await from.openSnapshot(1, format);
    const all = await chunksOf(source);
    const again = await from.openSnapshot(1, format);
    for (let start = 0; start <= all.length; start++) {
      expect(await chunksOf(source, start)).toEqual(all.slice(start));
      expect(await chunksOf(again, start)).toEqual(all.slice(start));
    }
    await source?.close();
    await expect(chunksOf(source, 1)).rejects.toThrow(MisuseError);
  });

  test('lie in the buffers that they are given, whatever was in these', async () => {
    const source = await (await donor(9, { ...many(20, 300), 30: Buffer.alloc(5000, 3) })).openSnapshot(
      1,
      format,
    );
    const all = await chunksOf(source);
    const buffers = new Set<ArrayBufferLike>();
    const come: SnapshotChunk[] = [];
    const allocate = (bytes: number): Buffer => {
      const buffer = Buffer.alloc(bytes, 0xff);
      buffers.add(buffer.buffer);
      return buffer;
    };
    for await (const chunk of source?.chunks(0, allocate) ?? []) come.push(chunk);
    expect(come).toEqual(all);
    expect(come.slice(1, -1).every(({ bytes }) => buffers.has(bytes.buffer))).toBe(true);
    await source?.close();
  });

  test('pass over chunks that are there, and refuse what is damaged or comes too early', async () => {
    const chunks = await chunksOf(await (await donor()).openSnapshot(1, format));
    const to = await new Bench().open();
    const installer = to.installSnapshot(1);
    await installer.write(chunks[0]!);
    const flipped = { ...chunks[1]!, bytes: Buffer.from(chunks[1]!.bytes) };
    flipped.bytes[20]! ^= 1;
    await expect(installer.write(flipped)).rejects.toMatchObject({ reason: 'damaged' });
    await expect(installer.write(chunks[2]!)).rejects.toMatchObject({ reason: 'out_of_order' });
    await installer.write(chunks[0]!);
    expect(installer.nextSequence).toBe(1);
    await Promise.all(chunks.slice(1).map((chunk) => installer.write(chunk)));
    await installer.commit();
    expect(to.applied(1)?.index).toBe(9);
  });

  test('snapshots of another group, or older than what is there, are refused and change nothing', async () => {
    const chunks = await chunksOf(await (await donor(9)).openSnapshot(1, format));
    const to = await new Bench().open();
    const other = to.installSnapshot(2);
    await expect(other.write(chunks[0]!)).rejects.toMatchObject({ reason: 'wrong_group' });
    await other.abort();
    await checkpoint(to, 1, 10, { 5: 'newer' });
    const older = to.installSnapshot(1);
    await expect(older.write(chunks[0]!)).rejects.toMatchObject({ reason: 'older' });
    await expect(older.write(chunks[1]!)).rejects.toThrow(SnapshotRefusedError);
    await older.abort();
    expect(to.groups()).toEqual([1]);
    expect(to.read(1, 1, 5)?.toString()).toBe('newer');
  });

  test('snapshots with chunks lost, added or exchanged under right checksums are refused', async () => {
    const { makeChunk } = await import('./snapshot-format.js');
    const chunks = await chunksOf(await (await donor()).openSnapshot(1, format));
    const renumbered = (list: readonly SnapshotChunk[]): SnapshotChunk[] =>
      list.map(({ bytes }, sequence) => makeChunk(sequence, Buffer.from(bytes), format));
    const [header, first, second, ...rest] = chunks as [
      SnapshotChunk,
      SnapshotChunk,
      SnapshotChunk,
      ...SnapshotChunk[],
    ];
    for (const forged of [
      [header, second, ...rest],
      [header, second, first, ...rest],
      [header, first, first, second, ...rest],
      [first, second, ...rest],
      [header, header, first, second, ...rest],
      [header, rest.at(-1)!],
      [header, makeChunk(1, Buffer.from('garbage'), format)],
      [makeChunk(0, Buffer.alloc(0), format)],
    ]) {
      const to = await new Bench().open();
      const installer = to.installSnapshot(1);
      const writing = async (): Promise<void> => {
        for (const chunk of renumbered(forged)) await installer.write(chunk);
      };
      await expect(writing()).rejects.toThrow(SnapshotRefusedError);
      await expect(installer.commit()).rejects.toThrow(MisuseError);
      await installer.abort();
      await to.swept();
      expect(to.groups()).toEqual([]);
      expect(to.pendingClears).toBe(0);
    }
  });

  test('cut off by a crash leave the old state, and nothing else in the end', async () => {
    const chunks = await chunksOf(await (await donor()).openSnapshot(1, format));
    const planted = await new StoragePlanter().plant(new Set(['snapshot_install_not_atomic']));
    for (const stores of [SOUND_STORES, planted]) {
      const bench = new Bench();
      let store = await bench.open({}, stores);
      await checkpoint(store, 1, 3, { 77: 'old' });
      const installer = store.installSnapshot(1);
      for (const chunk of chunks.slice(0, 4)) await installer.write(chunk);
      bench.medium.crash(seeded(1));
      bench.disk.crash(seeded(1));
      store = await bench.open();
      const isPlanted = stores === planted;
      expect(store.applied(1)?.index).toBe(isPlanted ? 9 : 3);
      const records = (await contentOf(store, 1)).size;
      if (isPlanted) expect(records).toBeLessThan(50);
      else expect(records).toBe(1);
      await store.swept();
      expect(bench.medium.keys().filter((key) => key[0] === 0x10).length).toBe(records);
    }
  });

  test('a second one soon after the first is installed as well', async () => {
    const to = await new Bench().open();
    for (const index of [9, 9, 12]) {
      const installer = to.installSnapshot(1);
      for (const chunk of await chunksOf(
        await (await donor(index, many(index, 10))).openSnapshot(1, format),
      )) {
        await installer.write(chunk);
      }
      await installer.commit();
      expect((await contentOf(to, 1)).size).toBe(index);
    }
    await to.swept();
    expect(to.pendingClears).toBe(0);
  });
});

describe('a failing disk', () => {
  test('a failed write is final; reads go on', async () => {
    for (const [fault, type] of [
      ['EIO', StorePoisonedError],
      ['ENOSPC', DiskFullError],
    ] as const) {
      const bench = new Bench();
      const store = await bench.open();
      await checkpoint(store, 1, 1, { 1: 'one' });
      bench.medium.fault = ({ kind }) => (kind === 'write' ? fault : undefined);
      await expect(checkpoint(store, 1, 2, { 1: 'two' })).rejects.toThrow(type);
      bench.medium.fault = () => undefined;
      await expect(checkpoint(store, 2, 1, { 1: 'two' })).rejects.toThrow(type);
      expect(store.read(1, 1, 1)?.toString()).toBe('one');
      const again = await bench.reopen(store);
      await checkpoint(again, 1, 2, { 1: 'two' });
    }
  });

  test('no room for the file of a large checkpoint gives the checkpoint up, and the store goes on', async () => {
    const bench = new Bench();
    const store = await bench.open({ slabBytes: 1000 });
    await checkpoint(store, 1, 1, { 1: 'one' });
    bench.disk.capacityBytes = 10_000;
    await expect(checkpoint(store, 1, 2, many(200, 50))).rejects.toThrow(DiskFullError);
    expect((await bench.disk.list()).map(({ name }) => name)).toEqual(['mark']);
    expect(store.read(1, 1, 1)?.toString()).toBe('one');
    await checkpoint(store, 1, 2, { 1: 'two' });
    bench.disk.fault = ({ kind, name }) =>
      kind === 'write' && name !== 'mark' ? { kind: 'error', errno: 'EIO' } : undefined;
    await expect(checkpoint(store, 1, 3, many(200, 50))).rejects.toThrow(StorePoisonedError);
    await expect(checkpoint(store, 1, 3, { 1: 'three' })).rejects.toThrow(StorePoisonedError);
  });

  test('no room for the mark, which lags then, is no error of the store, also when it is closed', async () => {
    const bench = new Bench();
    const store = await bench.open();
    bench.disk.fault = ({ name }) => (name === 'mark' ? { kind: 'error', errno: 'ENOSPC' } : undefined);
    for (let index = 1; index <= 3; index++) await checkpoint(store, 1, index, { 1: `value ${index}` });
    await store.close();
    bench.disk.fault = () => undefined;
    const again = await bench.open();
    expect([again.applied(1)?.index, again.read(1, 1, 1)?.toString()]).toEqual([3, 'value 3']);
    await checkpoint(again, 1, 4, { 1: 'four' });
    await again.close();
  });

  test('an error of the mark is final too', async () => {
    const bench = new Bench();
    const store = await bench.open();
    bench.disk.fault = () => ({ kind: 'error', errno: 'EIO' });
    await checkpoint(store, 1, 1, { 1: 'one' });
    await expect(checkpoint(store, 1, 2, { 1: 'two' })).rejects.toThrow(StorePoisonedError);
  });
});

describe('damage', () => {
  async function filled(): Promise<Bench> {
    const bench = new Bench();
    const store = await bench.open();
    await checkpoint(store, 1, 1, { 1: 'one', 2: 'two' });
    await checkpoint(store, 2, 1, { 1: 'one' });
    await checkpoint(store, 1, 2, { 3: 'three' });
    await store.close();
    return bench;
  }

  function keyOf(group: number, id: number, generation = group): Buffer {
    const key = recordKeyBuffer(group, generation);
    nameRecord(key, 1, id, 0);
    return key;
  }

  test('damage in a value is found when it is read, and by the scrub; crc_ignored does not find it', async () => {
    const bench = await filled();
    bench.medium.flip(keyOf(1, 2), 50);
    const store = await bench.open();
    expect(store.read(1, 1, 1)?.toString()).toBe('one');
    expect(() => store.read(1, 1, 2)).toThrow(DamagedStateError);
    await expect(contentOf(store, 1)).rejects.toThrow(DamagedStateError);
    await expect(store.verify()).rejects.toMatchObject({ code: 'damaged_state', group: 1 });
    for (const format of [1, 2] as const)
      await expect(chunksOf(await store.openSnapshot(1, format))).rejects.toThrow(DamagedStateError);
    const planted = await new StoragePlanter().plant(new Set(['crc_ignored']));
    const mutant = await bench.reopen(store, {}, planted);
    expect(mutant.read(1, 1, 2)?.toString()).not.toBe('two');
  });

  test('values exchanged between keys are found', async () => {
    const bench = await filled();
    const content = bench.medium.attach().getSync(keyOf(1, 1));
    bench.medium.overwrite(keyOf(1, 2), content);
    const store = await bench.open();
    expect(() => store.read(1, 1, 2)).toThrow(DamagedStateError);
  });

  test('a sound store verifies', async () => {
    const store = await (await filled()).open();
    expect((await store.verify()).records).toBeGreaterThanOrEqual(8);
  });

  test('a lost batch is found at the start: in the middle, and at the end', async () => {
    for (const batch of [2, 3, 4]) {
      const bench = await filled();
      bench.medium.overwrite(journalKey(batch), undefined);
      await expect(bench.open()).rejects.toThrow(/batch.* (was|were) written, and (is|are) gone/);
    }
  });

  test('a lost group, format, or mark is found, and nothing is deleted', async () => {
    for (const harm of [
      (bench: Bench) => bench.medium.overwrite(groupKey(2), undefined),
      (bench: Bench) => bench.medium.flip(groupKey(2), 60),
      (bench: Bench) => bench.medium.overwrite(storeKey('format'), undefined),
      (bench: Bench) => bench.medium.flip(storeKey('format'), 42),
      (bench: Bench) => bench.disk.overwrite('mark', undefined),
      (bench: Bench) => bench.disk.overwrite('mark', Buffer.alloc(9000)),
    ]) {
      const bench = await filled();
      harm(bench);
      const before = bench.medium.keys().length;
      await expect(bench.open()).rejects.toThrow(DamagedStateError);
      expect(bench.medium.keys().length).toBe(before);
    }
  });

  test('a newer format and strange files are told as such', async () => {
    const bench = await filled();
    const key = storeKey('format');
    bench.medium.overwrite(key, encodeValue(key, Buffer.from([2, 0, 0, 0])));
    await expect(bench.open()).rejects.toThrow(NewerFormatError);
    const other = new Bench();
    other.disk.overwrite('notes.txt', Buffer.from('x'));
    await expect(other.open()).rejects.toThrow(FolderContentError);
  });

  test('the redo file of a decided checkpoint missing or damaged is found', async () => {
    const queue = new EventQueue<DiskOperation | StoreOperation>();
    const defer = (operation: DiskOperation | StoreOperation, complete: () => void): void =>
      queue.push(operation, complete);
    for (let flip = -1; flip < 40; flip++) {
      const disk = new MemoryDisk({ defer });
      const medium = new MemoryStore({ defer });
      const options = (): StateStoreOptions => ({
        store: medium.attach(),
        disk: disk.attach(),
        slabBytes: 500,
      });
      const store = await queue.runUntil(StateStore.open(options()));
      const changes = store.beginCheckpoint(1);
      for (let id = 0; id < 40; id++) changes.put(1, id, 0, Buffer.alloc(50));
      let decided = false;
      const written = medium.attach();
      void changes.commit({ index: 2, term: 1, context: NO_CONTEXT });
      while (!decided) {
        await queue.run(1);
        decided = written.getSync(groupKey(1)) !== undefined;
      }
      disk.crash(seeded(1));
      medium.crash(seeded(1));
      queue.clear();
      if (flip < 0) disk.overwrite('redo-000000000001', undefined);
      else disk.flip('redo-000000000001', flip * 83);
      await expect(queue.runUntil(StateStore.open(options()))).rejects.toThrow(DamagedStateError);
      queue.clear();
    }
  });

  test('a flipped bit in any file of a closed store on a real disk is found, or harmless', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'althing-state-'));
    const [good, bad] = [path.join(folder, 'good'), path.join(folder, 'bad')];
    const open = async (root: string): Promise<StateStore> => {
      const disk = await NodeDisk.make(root);
      const store = await LevelStore.open(path.join(root, 'level'), { createIfMissing: root === good });
      return StateStore.open({ store, disk }).catch(async (error: unknown) => {
        await store.close();
        throw error;
      });
    };
    const all = async (store: StateStore): Promise<string> => {
      const groups = store.groups();
      const content = await Promise.all(groups.map(async (group) => [...(await contentOf(store, group))]));
      return JSON.stringify([groups, groups.map((group) => store.applied(group)), content]);
    };
    try {
      let expected = '';
      for (let index = 1; index <= 4; index++) {
        const store = await open(good);
        await checkpoint(store, 1, index, many(40, 100));
        await checkpoint(store, 2, index, { [index]: 'x'.repeat(300) });
        expected = await all(store);
        await store.close();
      }
      const random = seeded(Number(process.env.ALTHING_TEST_SEED));
      let found = 0;
      for (let round = 0; round < 120 * Number(process.env.ALTHING_TEST_RUNS_FACTOR); round++) {
        await cp(good, bad, { recursive: true });
        const files = [
          ...(await readdir(path.join(bad, 'level'))).map((name) => path.join('level', name)),
          'mark',
        ];
        const file = path.join(bad, files[round % files.length]!);
        const content = await readFile(file);
        if (content.length > 0) {
          const bit = Math.floor(random() * content.length * 8);
          content[bit >> 3]! ^= 1 << (bit & 7);
          await writeFile(file, content);
        }
        const outcome = await open(bad).then(
          async (store) => {
            const text = await all(store).catch((error: unknown) => error);
            await store.close();
            return text;
          },
          (error: unknown) => error,
        );
        if (outcome instanceof StorageError) found++;
        else expect(outcome).toBe(expected);
        await rm(bad, { recursive: true });
      }
      expect(found).toBeGreaterThan(20);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('a large checkpoint', () => {
  test('is handed to the store in small batches, so that no step takes long', async () => {
    const bench = new Bench();
    const store = await bench.open({ now: () => 0 });
    const counts: number[] = [];
    bench.medium.fault = ({ kind, count }) => {
      if (kind === 'write') counts.push(count);
      return undefined;
    };
    await checkpoint(store, 3, 5, many(50_000, 20));
    expect(Math.max(...counts)).toBeLessThan(2500);
    const again = await bench.reopen(store);
    expect(again.applied(3)?.index).toBe(5);
    expect(again.read(3, 1, 49_999, 0)).toEqual(Buffer.alloc(20, 49_999));
    await again.close();
  });
});
