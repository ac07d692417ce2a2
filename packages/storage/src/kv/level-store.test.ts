import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { seeded } from 'raft-ts';
import { DamagedStateError, FolderInUseError } from '../errors.js';
import { describeKeyValueStore } from './key-value-store.contract.js';
import { BATCH_BYTES } from './level-read-ahead.js';
import { LevelStore } from './level-store.js';
import { bytesToOpen, readLog, removeObsoleteFiles, verifyLevelDb } from './leveldb-files.js';
import { PackedPairs } from './packed-pairs.js';

let folder: string;

async function makeFolder(): Promise<void> {
  folder = await mkdtemp(path.join(os.tmpdir(), 'althing-level-'));
}

describeKeyValueStore(
  'LevelStore',
  async () => {
    await makeFolder();
    return LevelStore.open(folder, { createIfMissing: true });
  },
  () => rm(folder, { recursive: true }),
);

describe('LevelStore', () => {
  beforeEach(makeFolder);
  afterEach(() => rm(folder, { recursive: true }));

  /** Two tables and a write-ahead log. */
  async function filled(): Promise<void> {
    for (let round = 0; round < 3; round++) {
      const store = await LevelStore.open(folder, { createIfMissing: round === 0 });
      const batch = store.batch();
      for (let i = 0; i < 300; i++) batch.put(Buffer.from(`key ${round} ${i}`), Buffer.alloc(50, i));
      await batch.write({ sync: true });
      await store.close();
    }
  }

  test('a missing database is damage unless it may be created', async () => {
    await expect(LevelStore.open(folder, { createIfMissing: false })).rejects.toThrow(DamagedStateError);
  });

  test('a second opening is refused, and harms nothing', async () => {
    const store = await LevelStore.open(folder, { createIfMissing: true });
    await expect(LevelStore.open(folder, { createIfMissing: true })).rejects.toThrow(FolderInUseError);
    const batch = store.batch();
    batch.put(Buffer.from('a'), Buffer.from('b'));
    await batch.write({ sync: true });
    await store.close();
    const again = await LevelStore.open(folder, { createIfMissing: false });
    expect(again.getSync(Buffer.from('a'))?.toString()).toBe('b');
    await again.close();
  });

  test('reads ahead without values that are too large for a batch, and closes in the middle of it', async () => {
    const store = await LevelStore.open(folder, { createIfMissing: true });
    const batch = store.batch();
    for (let i = 1; i < 2000; i++) {
      const key = Buffer.alloc(4);
      key.writeUInt32BE(i);
      batch.put(key, Buffer.alloc(i % 100 === 0 ? BATCH_BYTES : 1000, i));
    }
    await batch.write({ sync: true });
    const range = { from: Buffer.alloc(4), to: Buffer.alloc(4, 0xff) };
    let first: Buffer | undefined;
    while (first === undefined) {
      store.readAhead.begin(range, false);
      first = store.readAhead.next();
      await new Promise(setImmediate);
    }
    store.readAhead.begin(range, false);
    const ids: number[] = [];
    while (ids.length < 500) {
      const bytes = store.readAhead.next();
      if (bytes === undefined) continue;
      for (const pairs = new PackedPairs(bytes); !pairs.isAtEnd; pairs.next()) {
        ids.push(bytes.readUInt32BE(pairs.keyAt));
        expect(pairs.end - pairs.valueAt).toBe(1000);
      }
    }
    const expected = Array.from({ length: 3000 }, (_, i) => i + 1).filter((id) => id % 100 !== 0);
    expect(ids).toEqual(expected.slice(0, ids.length));
    await store.close();
    const again = await LevelStore.open(folder, { createIfMissing: false });
    await again.close();
  });

  test('waits once for what is not read ahead in time, and takes it when it comes', async () => {
    const store = await LevelStore.open(folder, { createIfMissing: true });
    await store.readAhead.prepare();
    store.readAhead.end();
    const since = performance.now();
    for (let i = 0; i < 400; i++) expect(store.readAhead.next()).toBeUndefined();
    // Each of them in vain would take two seconds.
    const passed = performance.now() - since;
    expect(passed).toBeLessThan(1000);
    expect(store.readAhead.waitedMs).toBeGreaterThan(4);
    expect(store.readAhead.waitedMs).toBeLessThanOrEqual(passed);
    await store.close();
  });

  test('waits longer for what follows a batch that was taken', async () => {
    const store = await LevelStore.open(folder, { createIfMissing: true });
    await store.readAhead.prepare();
    store.readAhead.begin({ from: Buffer.alloc(1), to: Buffer.of(0xff) }, false);
    while (store.readAhead.next() === undefined) await new Promise(setImmediate);
    // Nothing comes behind the end.
    const before = store.readAhead.waitedMs;
    expect(store.readAhead.next()).toBeUndefined();
    expect(store.readAhead.waitedMs - before).toBeGreaterThan(15);
    await store.close();
  });

  test('a sound folder verifies, with tables in it', async () => {
    await filled();
    const report = await verifyLevelDb(folder);
    expect(report.tables).toBeGreaterThanOrEqual(2);
    expect(report.bytes).toBeGreaterThan(30_000);
  });

  test('every flipped bit of a table is found, and of the manifest unless it looks like a torn end', async () => {
    await filled();
    const names = (await readdir(folder)).filter((name) => /ldb$|^CURRENT$/.test(name));
    expect(names.length).toBeGreaterThanOrEqual(3);
    const random = seeded(4);
    for (let round = 0; round < 600; round++) {
      const file = path.join(folder, names[round % names.length]!);
      const content = await readFile(file);
      const bit = Math.floor(random() * content.length * 8);
      const flipped = Buffer.from(content);
      flipped[bit >> 3]! ^= 1 << (bit & 7);
      await writeFile(file, flipped);
      await expect(verifyLevelDb(folder)).rejects.toThrow(DamagedStateError);
      await writeFile(file, content);
    }
    const manifest = (await readdir(folder)).find((name) => name.startsWith('MANIFEST'))!;
    const content = await readFile(path.join(folder, manifest));
    const whole = readLog(content, manifest).length;
    for (let bit = 0; bit < content.length * 8; bit++) {
      const flipped = Buffer.from(content);
      flipped[bit >> 3]! ^= 1 << (bit & 7);
      try {
        expect(readLog(flipped, manifest).length).toBeLessThan(whole);
      } catch (error) {
        expect(error).toBeInstanceOf(DamagedStateError);
      }
    }
  });

  test('a manifest that ends with zeros, as after a power cut, is whole', async () => {
    await filled();
    const manifest = (await readdir(folder)).find((name) => name.startsWith('MANIFEST'))!;
    const content = await readFile(path.join(folder, manifest));
    const grown = Buffer.concat([content, Buffer.alloc(137)]);
    expect(readLog(grown, manifest)).toEqual(readLog(content, manifest));
    await writeFile(path.join(folder, manifest), grown);
    const store = await LevelStore.open(folder, { createIfMissing: false });
    expect(store.getSync(Buffer.from('key 2 299'))?.length).toBe(50);
    await store.close();
    expect(() => readLog(Buffer.concat([grown, content.subarray(0, 40)]), manifest)).toThrow(
      DamagedStateError,
    );
  });

  test('a missing and a short table are told at the opening, also by the quick check', async () => {
    await filled();
    const [table] = (await readdir(folder)).filter((name) => name.endsWith('.ldb'));
    const file = path.join(folder, table!);
    const content = await readFile(file);
    await rm(file);
    await expect(LevelStore.open(folder, { createIfMissing: false, verify: 'quick' })).rejects.toThrow(
      'is missing',
    );
    await writeFile(file, content.subarray(1));
    for (const verify of ['quick', 'full'] as const) {
      await expect(LevelStore.open(folder, { createIfMissing: false, verify })).rejects.toThrow(
        DamagedStateError,
      );
    }
    await writeFile(file, content);
    await (await LevelStore.open(folder, { createIfMissing: false })).close();
  });

  test('a file that a compaction left on a full disk is removed before the opening, and nothing else', async () => {
    await filled();
    const before = await readdir(folder);
    const logs = before.filter((name) => name.endsWith('.log'));
    const sizes = await Promise.all(logs.map(async (name) => (await stat(path.join(folder, name))).size));
    const logBytes = sizes.reduce((sum, size) => sum + size, 0);
    expect(logBytes).toBeGreaterThan(10_000);
    expect(await bytesToOpen(folder)).toBe(logBytes);

    // A table that was not finished, and a log of which all is in tables.
    await writeFile(path.join(folder, '900001.ldb'), Buffer.alloc(200_000));
    await writeFile(path.join(folder, '000001.log'), Buffer.alloc(1000));
    expect(await bytesToOpen(folder)).toBe(logBytes - 201_000);
    await removeObsoleteFiles(folder);
    expect((await readdir(folder)).sort()).toEqual([...before].sort());

    await writeFile(path.join(folder, '900001.ldb'), Buffer.alloc(200_000));
    const store = await LevelStore.open(folder, { createIfMissing: false });
    for (let round = 0; round < 3; round++)
      expect(store.getSync(Buffer.from(`key ${round} 299`))?.length).toBe(50);
    await store.close();
    expect(await readdir(folder)).not.toContain('900001.ldb');
  });

  test('nothing is removed next to a manifest that does not hold', async () => {
    await filled();
    await writeFile(path.join(folder, '900001.ldb'), 'evidence');
    const manifest = (await readdir(folder)).find((name) => name.startsWith('MANIFEST'))!;
    const content = await readFile(path.join(folder, manifest));
    content[10]! ^= 1;
    await writeFile(path.join(folder, manifest), content);
    await expect(removeObsoleteFiles(folder)).rejects.toThrow(DamagedStateError);
    await expect(LevelStore.open(folder, { createIfMissing: false })).rejects.toThrow(DamagedStateError);
    expect(await readdir(folder)).toContain('900001.ldb');
  });
});
