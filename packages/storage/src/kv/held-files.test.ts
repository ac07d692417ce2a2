import { readdirSync, readlinkSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { HeldFiles } from './held-files.js';
import { LevelStore } from './level-store.js';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'althing-held-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** The files of the folder that this process has open; those that were removed end with `(deleted)`. */
function openFiles(): string[] {
  const links = readdirSync('/proc/self/fd').map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      // It was closed meanwhile.
      return '';
    }
  });
  return links.filter((link) => link.startsWith(`${folder}/`)).map((link) => link.slice(folder.length + 1));
}

async function until(isSo: () => boolean): Promise<void> {
  for (const since = performance.now(); !isSo(); await pause(5)) {
    if (performance.now() > since + 10_000) throw new Error(`open are ${openFiles()}`);
  }
}

describe('HeldFiles', () => {
  test('the newest tables and logs are open until they are removed, and nothing else', async () => {
    const held = new HeldFiles(folder, 2);
    const names = ['999999.ldb', '1000001.ldb', '1000002.log', 'LOCK', 'MANIFEST-1000003'];
    for (const name of names) await writeFile(path.join(folder, name), 'content');
    held.notice();
    await until(() => openFiles().length === 2);
    expect(openFiles().sort()).toEqual(['1000001.ldb', '1000002.log']);
    await rm(path.join(folder, '1000001.ldb'));
    held.notice();
    await until(() => !openFiles().includes('1000001.ldb (deleted)') && openFiles().length === 2);
    expect(openFiles().sort()).toEqual(['1000002.log', '999999.ldb']);
    await held.close();
    expect(openFiles()).toEqual([]);
  });

  test('tables that LevelDB removes were open, and give their blocks back later', async () => {
    const store = await LevelStore.open(folder, { createIfMissing: true });
    for (let round = 0; round < 3; round++) {
      const batch = store.batch();
      for (let i = 0; i < 1000; i++) batch.put(Buffer.from(`key ${i}`), Buffer.alloc(100, round));
      await batch.write({ sync: false });
      await store.flush();
    }
    await until(() => openFiles().filter((name) => name.endsWith('.ldb')).length === 3);
    const isRemoved = (name: string): boolean => name.endsWith('.ldb (deleted)');
    const removed = until(() => openFiles().some(isRemoved));
    await store.compact({ from: Buffer.from('key'), to: Buffer.from('kez') });
    await removed;
    await until(() => !openFiles().some(isRemoved));
    await store.close();
    expect(openFiles()).toEqual([]);
  });
});
