import { describe, expect, test } from '@jest/globals';
import { seeded } from 'raft-ts';
import { type DiskOperation, MemoryDisk } from '../disk/memory-disk.js';
import {
  DamagedLogError,
  DiskFullError,
  FolderContentError,
  LimitError,
  MisuseError,
  NewerFormatError,
  StorageError,
  StoreClosedError,
  StorePoisonedError,
} from '../errors.js';
import { EventQueue } from '../testing/events.js';
import { stateOf } from '../testing/log-model.js';
import { StoragePlanter } from '../testing/plant.js';
import { LogStore } from './log-store.js';
import type { AppendEntry, LogOperation } from './types.js';

const SEGMENT_BYTES = 4096;
const OPTIONS = { segmentBytes: SEGMENT_BYTES };
const ALL = Number.MAX_SAFE_INTEGER;

function entry(group: number, index: number, text = `entry ${index}`, term = 1): AppendEntry {
  const chain = { previousHash: index - 1, hash: index };
  return { kind: 'entry', group, index, term, type: 0, ...chain, payload: Buffer.from(text) };
}

function hardState(group: number, term: number, vote: number, commit: number): LogOperation {
  return { kind: 'hardState', group, term, vote, commit };
}

function texts(store: LogStore, group: number): string[] {
  const view = store.view(group);
  return view
    .entries(view.firstIndex, view.lastIndex + 1, ALL)
    .map(({ payload }) => Buffer.from(payload).toString());
}

async function fill(store: LogStore, group: number, from: number, to: number, bytes = 200): Promise<void> {
  for (let index = from; index <= to; index++) await store.appended([entry(group, index, 'x'.repeat(bytes))]);
}

describe('LogStore', () => {
  test('is empty in an empty folder', async () => {
    const store = await LogStore.open(new MemoryDisk(), OPTIONS);
    const view = store.view(5);
    expect(store.groups()).toEqual([]);
    expect([view.firstIndex, view.lastIndex, view.hardState]).toEqual([1, 0, undefined]);
    expect([view.term(0), view.term(1)]).toEqual([0, undefined]);
    expect(view.entries(1, 1, ALL)).toEqual([]);
  });

  test('holds what was appended, over groups and a restart', async () => {
    const disk = new MemoryDisk();
    const store = await LogStore.open(disk, OPTIONS);
    await store.appended([entry(0, 1), entry(7, 1, 'other'), hardState(7, 3, 9, 1), entry(0, 2, 'two', 2)]);
    await store.close();
    const again = await LogStore.open(disk, OPTIONS);
    expect(again.groups()).toEqual([0, 7]);
    expect(texts(again, 0)).toEqual(['entry 1', 'two']);
    expect(texts(again, 7)).toEqual(['other']);
    expect(again.view(7).hardState).toEqual({ term: 3, vote: 9, commit: 1 });
    expect([0, 1, 2, 3].map((index) => again.view(0).term(index))).toEqual([0, 1, 2, undefined]);
  });

  test('an entry at a lower index takes the place of those from there on', async () => {
    const disk = new MemoryDisk();
    const store = await LogStore.open(disk, OPTIONS);
    await store.appended([entry(1, 1), entry(1, 2), entry(1, 3)]);
    await store.appended([entry(1, 2, 'new', 2)]);
    expect(texts(store, 1)).toEqual(['entry 1', 'new']);
    await store.close();
    expect(texts(await LogStore.open(disk, OPTIONS), 1)).toEqual(['entry 1', 'new']);
  });

  test('a batch may take back what it holds itself', async () => {
    const disk = new MemoryDisk();
    const store = await LogStore.open(disk, OPTIONS);
    await Promise.all([
      store.appended([entry(1, 1), entry(1, 2), entry(1, 3)]),
      store.appended([entry(1, 2, 'new', 2), entry(1, 3, 'newer', 2)]),
      store.appended([entry(1, 3, 'newest', 3)]),
      store.appended([{ kind: 'drop', group: 2 }, entry(2, 1)]),
    ]);
    expect(store.stats().writes).toBe(1);
    await store.close();
    expect(texts(await LogStore.open(disk, OPTIONS), 1)).toEqual(['entry 1', 'new', 'newest']);
  });

  test('a reset empties the log, which goes on after the snapshot', async () => {
    const disk = new MemoryDisk();
    const store = await LogStore.open(disk, OPTIONS);
    await store.appended([
      entry(1, 1),
      entry(1, 2),
      { kind: 'reset', group: 1, index: 50, term: 4, hash: 50 },
    ]);
    await store.appended([entry(1, 51, 'after', 4)]);
    await store.close();
    const again = await LogStore.open(disk, OPTIONS);
    const view = again.view(1);
    expect([view.firstIndex, view.lastIndex, view.term(50), view.term(49)]).toEqual([51, 51, 4, undefined]);
    expect(texts(again, 1)).toEqual(['after']);
  });

  test('a dropped group is gone and may begin anew', async () => {
    const disk = new MemoryDisk();
    const store = await LogStore.open(disk, OPTIONS);
    await store.appended([entry(1, 1), hardState(1, 5, 2, 1)]);
    await store.appended([{ kind: 'drop', group: 1 }]);
    expect(store.groups()).toEqual([]);
    await store.appended([entry(1, 1, 'anew', 1)]);
    await store.close();
    const again = await LogStore.open(disk, OPTIONS);
    expect(texts(again, 1)).toEqual(['anew']);
    expect(again.view(1).hardState).toBeUndefined();
  });

  test('entries stop before the bytes asked for, with at least one', async () => {
    for (const cacheBytes of [0, 1 << 20]) {
      const store = await LogStore.open(new MemoryDisk(), { ...OPTIONS, cacheBytes });
      await fill(store, 1, 1, 30, 100);
      const view = store.view(1);
      const count = (low: number, high: number, bytes: number): number =>
        view.entries(low, high, bytes).length;
      expect([count(1, 31, 0), count(1, 31, 99), count(1, 31, 100), count(1, 31, 250)]).toEqual([1, 1, 1, 2]);
      expect([count(5, 31, ALL), count(5, 9, ALL), count(9, 9, ALL)]).toEqual([26, 4, 0]);
      expect(() => view.entries(0, 3, ALL)).toThrow(MisuseError);
      expect(() => view.entries(30, 32, ALL)).toThrow(MisuseError);
    }
  });

  test('the memory for entries is bounded, whatever happens to them', async () => {
    const store = await LogStore.open(new MemoryDisk(), { segmentBytes: 1 << 16, cacheBytes: 20_000 });
    for (let round = 0; round < 30; round++) {
      await store.appended(
        Array.from({ length: 50 }, (_, at) => entry(round % 3, Math.floor(round / 3) * 50 + at + 1)),
      );
      expect(store.stats().cachedBytes).toBeLessThanOrEqual(20_000);
      if (round === 10) await store.appended([entry(0, 5, 'back', 2)]);
      if (round === 10) break;
    }
    for (const group of [0, 1, 2]) await store.appended([{ kind: 'drop', group }]);
    expect(store.stats().cachedBytes).toBeLessThanOrEqual(20_000);
    expect(store.stats().liveBytes).toBe(0);
  });

  test('an append larger than a segment gets a segment of its own', async () => {
    const disk = new MemoryDisk();
    const store = await LogStore.open(disk, OPTIONS);
    const large = 'z'.repeat(3 * SEGMENT_BYTES);
    await store.appended([entry(1, 1, 'small')]);
    await store.appended([entry(1, 2, large)]);
    await store.appended([entry(1, 3, 'small')]);
    await store.close();
    expect(texts(await LogStore.open(disk, OPTIONS), 1)).toEqual(['small', large, 'small']);
  });

  test('an append without operations is answered, after those before it', async () => {
    const store = await LogStore.open(new MemoryDisk(), OPTIONS);
    const order: string[] = [];
    store.append([entry(1, 1)], () => order.push('first'));
    store.append([], () => order.push('empty'));
    await store.appended([]);
    expect(order).toEqual(['first', 'empty']);
  });

  test('close waits for appends, and a closed store says so', async () => {
    const disk = new MemoryDisk();
    const store = await LogStore.open(disk, OPTIONS);
    const waiting = store.appended([entry(1, 1)]);
    await store.close();
    await waiting;
    await expect(store.appended([entry(1, 2)])).rejects.toThrow(StoreClosedError);
    expect(() => store.view(1).lastIndex).toThrow(StoreClosedError);
    expect(texts(await LogStore.open(disk, OPTIONS), 1)).toEqual(['entry 1']);
  });
});

describe('group commit', () => {
  test('entries that come while a write is under way go out with the next one, in order', async () => {
    const events = new EventQueue<DiskOperation>();
    const disk = new MemoryDisk({ defer: (operation, complete) => events.push(operation, complete) });
    const store = await events.runUntil(LogStore.open(disk, OPTIONS));
    await events.run(100);
    const order: number[] = [];
    store.append([entry(0, 1)], () => order.push(0));
    await events.run(0);
    for (let group = 1; group <= 8; group++) store.append([entry(group, 1)], () => order.push(group));
    expect(order).toEqual([]);
    expect(store.view(0).lastIndex).toBe(0);
    await events.run(100);
    expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(store.stats()).toMatchObject({ writes: 2, records: 9 });
  });

  test('entries that one turn appends go out with one write', async () => {
    const store = await LogStore.open(new MemoryDisk(), OPTIONS);
    await Promise.all([1, 2, 3].map((group) => store.appended([entry(group, 1)])));
    expect(store.stats().writes).toBe(1);
  });
});

describe('compaction', () => {
  test('lets entries go, keeps the term before the first, and frees segments', async () => {
    const disk = new MemoryDisk();
    const store = await LogStore.open(disk, OPTIONS);
    await fill(store, 1, 1, 100);
    const full = store.stats().segments;
    await store.compact(1, 95);
    await store.compact(1, 20);
    await store.close();
    const again = await LogStore.open(disk, OPTIONS);
    const view = again.view(1);
    expect([view.firstIndex, view.lastIndex, view.term(95), view.term(94)]).toEqual([96, 100, 1, undefined]);
    expect(full).toBeGreaterThan(5);
    expect(again.stats().segments).toBeLessThanOrEqual(3);
    await again.compact(1, 100);
    await again.appended([entry(1, 101)]);
    expect(texts(again, 1)).toEqual(['entry 101']);
  });

  test('a thousand groups, some of which never speak again, use a bounded log', async () => {
    const disk = new MemoryDisk();
    const store = await LogStore.open(disk, { segmentBytes: 1 << 16 });
    const groups = Array.from({ length: 1000 }, (_, id) => id);
    await store.appended(groups.flatMap((id) => [entry(id, 1), entry(id, 2), hardState(id, 1, 1, 2)]));
    await store.compact(999, 1);
    await store.compact(998, 2);
    const before = groups.slice(10).map((id) => ({ view: store.view(id), text: texts(store, id) }));
    let largest = 0;
    for (let round = 0; round < 400; round++) {
      const index = round * 5 + 3;
      for (let id = 0; id < 10; id++) {
        await store.appended([0, 1, 2, 3, 4].map((at) => entry(id, index + at, 'y'.repeat(150))));
        await store.compact(id, index + 2);
      }
      largest = Math.max(largest, store.stats().bytes);
    }
    const { liveBytes, bytes } = store.stats();
    expect(liveBytes).toBeLessThan(400_000);
    expect(bytes).toBeLessThan(4 * liveBytes + 6 * (1 << 16));
    expect(largest).toBeLessThan(4 * liveBytes + 6 * (1 << 16));
    const expected = stateOf(store);
    expect(before.map(({ view }) => view.lastIndex)).toEqual(before.map(() => 2));
    await store.close();
    expect(stateOf(await LogStore.open(disk, { segmentBytes: 1 << 16 }))).toEqual(expected);
  });

  test('survives a power cut at every single step of cleaning, and copies survive the loss of the original', async () => {
    for (let crashAt = 0; crashAt < 400; crashAt += 3) {
      const events = new EventQueue<DiskOperation>();
      const disk = new MemoryDisk({ defer: (operation, complete) => events.push(operation, complete) });
      const store = await events.runUntil(LogStore.open(disk.attach(), { segmentBytes: 2048 }));
      await events.runUntil(
        store.appended([entry(1, 1), entry(1, 2), hardState(1, 3, 4, 2), entry(2, 1), entry(2, 2)]),
      );
      await events.runUntil(store.compact(2, 1));
      let acknowledged = 0;
      const load = async (): Promise<void> => {
        for (let index = 1; index < 60; index++) {
          await store.appended([entry(3, index, 'q'.repeat(300))]);
          if (index === 30) await store.appended([entry(2, 3, 'late')]);
          if (index > 3) await store.compact(3, index - 3);
          acknowledged = index;
        }
      };
      void load();
      await events.run(crashAt);
      events.clear();
      disk.crash(seeded(crashAt));
      const again = await events.runUntil(LogStore.open(disk.attach(), { segmentBytes: 2048 }));
      expect(texts(again, 1)).toEqual(['entry 1', 'entry 2']);
      expect(again.view(1).hardState).toEqual({ term: 3, vote: 4, commit: 2 });
      expect(texts(again, 2).slice(0, 1)).toEqual(['entry 2']);
      if (acknowledged > 30) expect(texts(again, 2)).toEqual(['entry 2', 'late']);
      expect(again.view(3).lastIndex).toBeGreaterThanOrEqual(acknowledged);
    }
  });
});

describe('contract of the caller', () => {
  const misuses: [string, LogOperation[], LogOperation[]][] = [
    ['a gap', [entry(1, 1)], [entry(1, 3)]],
    ['an index that is not a number', [], [entry(1, Number.NaN)]],
    ['a committed entry replaced', [entry(1, 1), hardState(1, 1, 0, 1)], [entry(1, 1)]],
    [
      'an entry before the snapshot',
      [{ kind: 'reset', group: 1, index: 9, term: 1, hash: 9 }],
      [entry(1, 9)],
    ],
    ['an entry of an earlier term', [entry(1, 1, 'a', 4)], [entry(1, 2, 'b', 3)]],
    ['a term that goes back', [hardState(1, 4, 0, 0)], [hardState(1, 3, 0, 0)]],
    ['a commit index that goes back', [entry(1, 1), hardState(1, 1, 0, 1)], [hardState(1, 2, 0, 0)]],
    ['a commit index beyond the log', [entry(1, 1)], [hardState(1, 1, 0, 2)]],
    ['a second vote in a term', [hardState(1, 4, 2, 0)], [hardState(1, 4, 3, 0)]],
    ['a vote taken back', [hardState(1, 4, 2, 0)], [hardState(1, 4, 0, 0)]],
    ['a reset behind the commit index', [entry(1, 1), entry(1, 2), hardState(1, 1, 0, 2)], [reset(1)]],
    ['a group that is not a safe integer', [], [entry(1.5, 1)]],
    ['a type out of range', [], [{ ...entry(1, 1), type: 256 }]],
    ['a hash that is no unsigned 32-bit number', [], [{ ...entry(1, 1), hash: 2 ** 32 }]],
  ];

  function reset(index: number): LogOperation {
    return { kind: 'reset', group: 1, index, term: 1, hash: index };
  }

  test.each(misuses)('%s stops the caller before it reaches the disk', async (_name, lawful, unlawful) => {
    const disk = new MemoryDisk();
    const store = await LogStore.open(disk, OPTIONS);
    await store.appended(lawful);
    const before = stateOf(store);
    expect(() => store.append(unlawful, () => undefined)).toThrow(MisuseError);
    await expect(store.appended([])).rejects.toThrow(StorePoisonedError);
    await store.close();
    expect(stateOf(await LogStore.open(disk, OPTIONS))).toEqual(before);
  });

  test('an append over the limit is refused, and the store goes on', async () => {
    const store = await LogStore.open(new MemoryDisk(), {
      ...OPTIONS,
      maxAppendBytes: 1000,
      maxWaitingBytes: 1500,
    });
    expect(() => store.append([entry(1, 1, 'x'.repeat(1000))], () => undefined)).toThrow(LimitError);
    const first = store.appended([entry(1, 1, 'x'.repeat(800))]);
    expect(() => store.append([entry(1, 2, 'x'.repeat(800))], () => undefined)).toThrow(LimitError);
    await first;
    await store.appended([entry(1, 2, 'x'.repeat(800))]);
  });
});

describe('a failing disk', () => {
  test('an error of a durable write is final', async () => {
    const disk = new MemoryDisk();
    const store = await LogStore.open(disk, OPTIONS);
    await store.appended([entry(1, 1)]);
    disk.fault = ({ kind }) => (kind === 'write' ? { kind: 'error', errno: 'EIO' } : undefined);
    const answers = await Promise.allSettled([
      store.appended([entry(1, 2)]),
      store.appended([entry(2, 1)]),
      store.compact(1, 1),
    ]);
    disk.fault = () => undefined;
    for (const answer of answers) expect(answer).toMatchObject({ reason: { code: 'store_poisoned' } });
    await expect(store.appended([entry(1, 2)])).rejects.toThrow(StorePoisonedError);
    expect(() => store.view(1).lastIndex).toThrow(StorePoisonedError);
    await store.close();
    expect(texts(await LogStore.open(disk, OPTIONS), 1)).toEqual(['entry 1']);
  });

  test('an error of the mark, of a new segment, or of the folder is final too', async () => {
    for (const broken of ['mark', 'spare-000000000003', '.']) {
      const disk = new MemoryDisk();
      const store = await LogStore.open(disk, OPTIONS);
      disk.fault = ({ kind, name }) =>
        name === broken && kind !== 'list' && kind !== 'read' ? { kind: 'error', errno: 'EIO' } : undefined;
      await expect(fill(store, 1, 1, 100)).rejects.toThrow(StorePoisonedError);
    }
  });

  test('a full disk refuses appends with nothing written, serves reads, and takes appends again after', async () => {
    const disk = new MemoryDisk({ capacityBytes: 6 * SEGMENT_BYTES });
    const store = await LogStore.open(disk, OPTIONS);
    await store.appended([hardState(2, 5, 5, 0)]);
    let last = 0;
    let error: unknown;
    while (error === undefined) {
      error = await store.appended([entry(1, last + 1, 'f'.repeat(300))]).catch((reason: unknown) => reason);
      if (error === undefined) last++;
    }
    expect(error).toBeInstanceOf(DiskFullError);
    expect(store.view(1).lastIndex).toBe(last);
    expect(texts(store, 1).length).toBe(last);
    const refused = await Promise.allSettled([
      store.appended([entry(1, last + 1, 'f'.repeat(300))]),
      store.appended([entry(1, last + 2, 'f'.repeat(300)), hardState(2, 6, 0, 0)]),
    ]);
    expect(refused.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    disk.capacityBytes += SEGMENT_BYTES;
    await store.appended([entry(1, last + 1, 'g'.repeat(300)), hardState(2, 5, 5, 0)]);
    await store.compact(1, last);
    disk.capacityBytes -= SEGMENT_BYTES;
    await fill(store, 1, last + 2, last + 9, 300);
    await store.close();
    const again = await LogStore.open(disk, OPTIONS);
    expect(again.view(1).lastIndex).toBe(last + 9);
    expect(again.view(2).hardState).toEqual({ term: 5, vote: 5, commit: 0 });
  });

  test('a write that says "no space" before its first byte is no damage', async () => {
    const disk = new MemoryDisk();
    const store = await LogStore.open(disk, OPTIONS);
    disk.fault = ({ kind, name }) =>
      kind === 'write' && name !== 'mark' ? { kind: 'error', errno: 'ENOSPC' } : undefined;
    await expect(store.appended([entry(1, 1)])).rejects.toThrow(DiskFullError);
    disk.fault = () => undefined;
    await store.appended([entry(1, 1, 'second try')]);
    expect(texts(store, 1)).toEqual(['second try']);
    disk.fault = ({ kind }) =>
      kind === 'write' ? { kind: 'error', errno: 'ENOSPC', writtenBytes: 9 } : undefined;
    await expect(store.appended([entry(1, 2)])).rejects.toThrow(StorePoisonedError);
  });

  test('no room for the mark, which lags then, is no error: segments are given up when there is some', async () => {
    const disk = new MemoryDisk();
    const store = await LogStore.open(disk, OPTIONS);
    await fill(store, 1, 1, 60);
    const segmentsThere = async (): Promise<number> =>
      (await disk.list()).filter(({ name }) => /^segment-/.test(name)).length;
    const segments = await segmentsThere();
    expect(segments).toBeGreaterThan(2);
    disk.fault = ({ kind, name }) =>
      kind === 'write' && name === 'mark' ? { kind: 'error', errno: 'ENOSPC' } : undefined;
    await store.compact(1, 60);
    await fill(store, 1, 61, 66);
    store.tick();
    await store.appended([entry(1, 67, 'last')]);
    expect(store.stats()).toMatchObject({ poisoned: undefined });
    expect(await segmentsThere()).toBeGreaterThanOrEqual(segments);
    disk.fault = () => undefined;
    await store.appended([entry(1, 68, 'room again')]);
    await fill(store, 1, 69, 72);
    expect(await segmentsThere()).toBeLessThan(segments);
    disk.fault = ({ name }) => (name === 'mark' ? { kind: 'error', errno: 'ENOSPC' } : undefined);
    await store.close();
    disk.fault = () => undefined;
    const again = await LogStore.open(disk, OPTIONS);
    expect([again.view(1).firstIndex, again.view(1).lastIndex]).toEqual([61, 72]);
    await again.close();
  });

  test('no room to begin is a typed error', async () => {
    await expect(LogStore.open(new MemoryDisk({ capacityBytes: 3000 }), OPTIONS)).rejects.toThrow(
      DiskFullError,
    );
  });

  test('a power cut after the refusals of a full disk loses nothing', async () => {
    const disk = new MemoryDisk({ capacityBytes: 6 * SEGMENT_BYTES });
    const store = await LogStore.open(disk, OPTIONS);
    let last = 0;
    while (
      await store.appended([entry(1, last + 1, 'f'.repeat(300))]).then(
        () => true,
        () => false,
      )
    )
      last++;
    disk.crash(seeded(1));
    expect((await LogStore.open(disk, OPTIONS)).view(1).lastIndex).toBe(last);
  });
});

describe.each([1, 2])('damage to segments of format %i', (format) => {
  async function closedLog(): Promise<{ disk: MemoryDisk; names: string[] }> {
    const disk = new MemoryDisk();
    const store = await LogStore.open(disk, { ...OPTIONS, format });
    await fill(store, 1, 1, 30, 150);
    await store.appended([
      hardState(2, 5, 6, 0),
      entry(2, 1),
      { kind: 'reset', group: 3, index: 8, term: 2, hash: 8 },
    ]);
    await store.compact(1, 4);
    await fill(store, 4, 1, 5, 100);
    await store.close();
    return { disk, names: (await disk.list()).map(({ name }) => name) };
  }

  const segment = (number: number): string => `segment-${String(number).padStart(12, '0')}`;

  test('a flipped bit anywhere is found, or harmless', async () => {
    const { disk, names } = await closedLog();
    const originals = names.map((name) => [name, disk.content(name)] as const);
    const expected = stateOf(await LogStore.open(disk, OPTIONS));
    const random = seeded(20_251_120);
    let found = 0;
    for (let round = 0; round < 600; round++) {
      for (const [name, content] of originals) disk.overwrite(name, content);
      for (const { name } of await disk.list()) if (!names.includes(name)) disk.overwrite(name, undefined);
      const [name, content] = originals[Math.floor(random() * originals.length)]!;
      disk.flip(name, Math.floor(random() * content.length * 8));
      const outcome = await LogStore.open(disk, OPTIONS).then(stateOf, (error: unknown) => error);
      if (outcome instanceof StorageError) found++;
      else expect(outcome).toEqual(expected);
    }
    expect(found).toBeGreaterThan(120);
  });

  test('the planted bug crc_ignored gives a wrong answer', async () => {
    const { disk } = await closedLog();
    const content = disk.content(segment(1));
    const at = content.lastIndexOf('xxxxxxxx') + 4;
    disk.flip(segment(1), at * 8);
    await expect(LogStore.open(disk, OPTIONS)).rejects.toThrow(DamagedLogError);
    const planted = await new StoragePlanter().plant(new Set(['crc_ignored']));
    const store = await planted.LogStore.open(disk, OPTIONS);
    expect(texts(store, 1).some((text) => /[^x]/.test(text))).toBe(true);
  });

  test('a flipped bit in an old entry is found when it is read', async () => {
    const disk = new MemoryDisk();
    const store = await LogStore.open(disk, { ...OPTIONS, format, cacheBytes: 0 });
    await fill(store, 1, 1, 5);
    disk.flip(segment(1), disk.content(segment(1)).indexOf('xxxx') * 8);
    expect(() => store.view(1).entries(1, 3, ALL)).toThrow(DamagedLogError);
    expect(store.view(1).entries(2, 6, ALL).length).toBe(4);
  });

  test.each([
    [1, 1],
    [2, 2],
    [3, 2],
  ])('segment %i missing is told, at the place where the log ends', async (number, told) => {
    const { disk } = await closedLog();
    disk.overwrite(segment(number), undefined);
    const error = await LogStore.open(disk, OPTIONS).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(DamagedLogError);
    expect(error).toMatchObject({ segment: segment(told) });
  });

  test('exchanged, cut, emptied and foreign segments are told', async () => {
    for (const damage of [
      (disk: MemoryDisk) => disk.overwrite(segment(1), disk.content(segment(2))),
      (disk: MemoryDisk) => disk.overwrite(segment(1), disk.content(segment(1)).subarray(0, 2000)),
      (disk: MemoryDisk) => disk.overwrite(segment(2), Buffer.alloc(0)),
      (disk: MemoryDisk) => disk.overwrite(segment(2), Buffer.alloc(SEGMENT_BYTES)),
      (disk: MemoryDisk) => disk.overwrite('mark', undefined),
      (disk: MemoryDisk) => disk.overwrite('mark', Buffer.alloc(5000)),
    ]) {
      const { disk } = await closedLog();
      damage(disk);
      await expect(LogStore.open(disk, OPTIONS)).rejects.toThrow(DamagedLogError);
    }
    const { disk } = await closedLog();
    const storeId = Buffer.alloc(16, 3);
    await expect(LogStore.open(disk, { ...OPTIONS, storeId })).rejects.toThrow(
      'belongs to the log of another node',
    );
  });

  test('a block of zeros over the last acknowledged records is told', async () => {
    const { disk, names } = await closedLog();
    const last = names.filter((name) => name.startsWith('segment')).at(-1)!;
    const content = disk.content(last);
    content.fill(0, 512);
    disk.overwrite(last, content);
    await expect(LogStore.open(disk, OPTIONS)).rejects.toThrow(DamagedLogError);
  });

  test('a newer format is told as such', async () => {
    const { disk } = await closedLog();
    const content = disk.content(segment(1));
    content.writeUInt32LE(3, 12);
    const { crc32c } = await import('../crc32c.js');
    content.writeUInt32LE(crc32c(content, 12, 512), 8);
    disk.overwrite(segment(1), content);
    await expect(LogStore.open(disk, OPTIONS)).rejects.toThrow(NewerFormatError);
  });

  test('a strange file is left alone and told', async () => {
    const disk = new MemoryDisk();
    disk.overwrite('holiday.jpg', Buffer.from('x'));
    await expect(LogStore.open(disk, OPTIONS)).rejects.toThrow(FolderContentError);
    expect((await disk.list()).length).toBe(1);
  });
});
