import { describe, expect, test } from '@jest/globals';
import { MemoryDisk } from '../disk/memory-disk.js';
import { DamagedLogError, MisuseError, StorePoisonedError } from '../errors.js';
import { stateOf, testChain } from '../testing/log-model.js';
import { OLD_SEGMENT_BYTES, oldLog } from '../testing/old-log.js';
import { LogStore } from './log-store.js';
import { logStoreSettings } from './options.js';
import { recoverLog } from './recovery.js';
import type { AppendEntry, LogOperation } from './types.js';

const OPTIONS = { segmentBytes: OLD_SEGMENT_BYTES, cacheBytes: 0 };
const ALL = Number.MAX_SAFE_INTEGER;

/** Entries of a group from an index on, with true chain hashes behind `hash`. */
function entries(group: number, from: number, count: number, term: number, hash: number): AppendEntry[] {
  let previousHash = hash;
  return Array.from({ length: count }, (_, at) => {
    const index = from + at;
    const payload = Buffer.from(`new ${index} `.repeat(20));
    const own = testChain(previousHash, index, term, 1, payload);
    const entry: AppendEntry = {
      kind: 'entry',
      group,
      index,
      term,
      type: 1,
      previousHash,
      hash: own,
      payload,
    };
    previousHash = own;
    return entry;
  });
}

async function formatsOn(disk: MemoryDisk): Promise<number[]> {
  const { segments, mark } = await recoverLog(disk.attach(), logStoreSettings(OPTIONS));
  const formats: number[] = [];
  for (let number = segments.oldest.number; number <= segments.active.number; number++) {
    formats.push(segments.get(number).format);
  }
  await segments.close();
  await mark.close();
  return formats;
}

function textOf(store: LogStore, group: number): string[] {
  const view = store.view(group);
  const found = view.entries(view.firstIndex, view.lastIndex + 1, ALL);
  return found.map(({ term, type, payload }) => `${term} ${type} ${Buffer.from(payload).toString()}`);
}

describe('a log of the first version', () => {
  test('is read as it was written, with the chain hashes that stood in front of the payloads', async () => {
    const store = await LogStore.open(oldLog(), OPTIONS);
    expect(store.groups()).toEqual([0, 5, 6, 7]);
    expect(textOf(store, 0)).toEqual(['1 1 two', '2 3 three', '2 1 four']);
    expect(textOf(store, 5)[6]).toBe(`1 1 ${'entry 60 '.repeat(12)}`);
    expect(textOf(store, 6)).toEqual(['3 1 forty-one']);
    expect(store.view(5).hardState).toEqual({ term: 1, vote: 9, commit: 59 });
    // The entry behind it tells what stands before the first entry; nothing where there is none.
    expect([store.view(6).hash(40), store.view(7).hash(9), store.view(0).hash(5)]).toEqual([
      4711,
      undefined,
      undefined,
    ]);
    await store.close();
  });

  test('goes on in its format, and in the new one from when that is allowed on', async () => {
    const disk = oldLog();
    let store = await LogStore.open(disk, { ...OPTIONS, format: 1 });
    await store.appended(entries(6, 42, 2, 3, store.view(6).hash(41)!));
    await store.appended(entries(7, 10, 2, 2, 815));
    await store.close();
    expect(new Set(await formatsOn(disk))).toEqual(new Set([1]));

    store = await LogStore.open(disk, OPTIONS);
    await store.appended(entries(6, 44, 2, 3, store.view(6).hash(43)!));
    // In place of entries of the old format.
    await store.appended(entries(7, 11, 3, 4, store.view(7).hash(10)!));
    const before = stateOf(store);
    await store.close();
    expect((await formatsOn(disk)).slice(-2)).toEqual([1, 2]);

    // Whoever opens it to write the old format goes on with the new one all the same.
    store = await LogStore.open(disk, { ...OPTIONS, format: 1 });
    expect(stateOf(store)).toEqual(before);
    expect(textOf(store, 7)[0]).toMatch(/^2 1 new 10/);
    expect(textOf(store, 7)[1]).toMatch(/^4 1 new 11/);
    // Much is written: the old segments go, and what is needed of them is copied into the new format.
    let last = store.view(5).lastIndex;
    for (let round = 0; round < 40; round++) {
      await store.appended(entries(5, last + 1, 3, 1, store.view(5).hash(last)!));
      last += 3;
      await store.compact(5, last - 1);
    }
    expect(textOf(store, 0)).toEqual(['1 1 two', '2 3 three', '2 1 four']);
    const after = stateOf(store);
    await store.close();
    expect(new Set(await formatsOn(disk))).toEqual(new Set([2]));
    store = await LogStore.open(disk, OPTIONS);
    expect(stateOf(store)).toEqual(after);
    expect(store.view(7).hash(9)).toBe(815);
    await store.close();
  });

  test('a log with another digest, under checksums that hold, is damage as it always was', async () => {
    const { crc32c } = await import('../crc32c.js');
    const disk = oldLog();
    const names = (await disk.list()).map(({ name }) => name);
    const name = names.findLast((each) => disk.content(each).includes('forty-one'))!;
    const content = disk.content(name);
    // The entry that the reset to entry 40 stands before has a digest of zeros.
    const at = content.indexOf('forty-one') - 80;
    const length = content.readUInt32LE(at);
    content[at + 56]! ^= 1;
    const salt = content.readUInt32LE(8);
    // The checksums of all records behind it are made to hold, as a defect would that wrote the record so.
    for (let from = at, previous = -1; content.readUInt32LE(from) !== 0; ) {
      const size = content.readUInt32LE(from);
      if (previous >= 0) content.writeUInt32LE(previous, from + 20);
      previous = crc32c(content, from + 8, from + size, salt);
      content.writeUInt32LE(previous, from + 4);
      from += (size + 7) & ~7;
    }
    expect(length).toBe(89);
    disk.overwrite(name, content);
    await expect(LogStore.open(disk, OPTIONS)).rejects.toThrow('does not follow the entry before it');
  });
});

describe.each([1, 2])('the chain of a log in format %i', (format) => {
  const settings = { ...OPTIONS, format, chainHash: testChain };
  const append: LogOperation[] = entries(1, 1, 3, 1, 0);

  test('is held against what the caller says comes before', async () => {
    const disk = new MemoryDisk();
    const store = await LogStore.open(disk, settings);
    await store.appended(append);
    await expect(store.appended(entries(1, 4, 1, 1, 12))).rejects.toThrow(StorePoisonedError);
    await store.close();
    const again = await LogStore.open(disk, settings);
    expect(again.view(1).lastIndex).toBe(3);
    expect(again.stats().poisoned).toBeUndefined();
    await again.close();
  });

  test('finds an entry that was changed before it got its checksum', async () => {
    const [first, second, third] = entries(1, 1, 3, 1, 0);
    const changed = { ...second!, payload: Buffer.from('something else') };
    const disk = new MemoryDisk();
    const store = await LogStore.open(disk, settings);
    await store.appended([first!, changed, third!]);
    expect(() => store.view(1).entries(2, 3, ALL)).toThrow(DamagedLogError);
    await store.close();
    await expect(LogStore.open(disk, settings)).rejects.toThrow('does not hold its chain hash');
    const believing = await LogStore.open(disk, { ...settings, chainHash: undefined } as typeof OPTIONS);
    expect(believing.view(1).lastIndex).toBe(3);
    await believing.close();
  });

  test('knows no other format', async () => {
    for (const unknown of [0, 3])
      await expect(LogStore.open(new MemoryDisk(), { ...settings, format: unknown })).rejects.toThrow(
        MisuseError,
      );
  });
});
