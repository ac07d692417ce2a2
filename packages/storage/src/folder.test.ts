import { spawn } from 'node:child_process';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { MemoryDisk } from './disk/memory-disk.js';
import { DamagedStateError, DiskFullError, FolderContentError, FolderInUseError } from './errors.js';
import { holdFolder, openFolder } from './folder.js';
import { LogStore } from './log/log-store.js';
import { Reserve } from './reserve.js';
import { StateStore } from './state/state-store.js';

let parent: string;
let folder: string;
const OPTIONS = { reserveBytes: 100_000 };
const LOG_OPTIONS = { segmentBytes: 1 << 16 };

beforeEach(async () => {
  parent = await mkdtemp(path.join(os.tmpdir(), 'althing-folder-'));
  folder = path.join(parent, 'data');
});

afterEach(() => rm(parent, { recursive: true }));

/** Bytes of all files of LevelDB. */
async function levelBytes(): Promise<number> {
  const level = path.join(folder, 'state', 'level');
  const names = await readdir(level);
  const sizes = await Promise.all(names.map(async (name) => (await stat(path.join(level, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function modeOf(name: string): Promise<number> {
  return (await stat(path.join(folder, name))).mode & 0o777;
}

test('a folder that is held is opened by nobody until it is let go', async () => {
  await openFolder(folder, OPTIONS).then((opened) => opened.close());
  const letGo = await holdFolder(folder);
  await expect(openFolder(folder, OPTIONS)).rejects.toThrow(FolderInUseError);
  await expect(holdFolder(folder)).rejects.toThrow(FolderInUseError);
  await letGo();
  await openFolder(folder, OPTIONS).then((opened) => opened.close());
});

describe('openFolder', () => {
  test('lays out a folder for the owner alone, which serves both stores over restarts', async () => {
    for (let run = 1; run <= 2; run++) {
      const opened = await openFolder(folder, OPTIONS);
      const log = await LogStore.open(opened.logDisk, LOG_OPTIONS);
      const state = await StateStore.open({ store: opened.stateStore, disk: opened.stateDisk });
      expect(opened.hasReserve).toBe(true);
      expect(log.view(1).lastIndex).toBe(run - 1);
      expect(state.applied(1)?.index).toBe(run === 1 ? undefined : 1);
      await log.appended([
        {
          kind: 'entry',
          group: 1,
          index: run,
          term: 1,
          type: 0,
          previousHash: run - 1,
          hash: run,
          payload: Buffer.from('x'),
        },
      ]);
      const checkpoint = state.beginCheckpoint(1);
      await checkpoint.commit({ index: run, term: 1, context: Buffer.alloc(0) });
      await log.close();
      await state.close();
      await opened.close();
    }
    expect(await readdir(folder)).toEqual(['log', 'reserve', 'state']);
    for (const name of ['.', 'log', 'state', 'state/level']) expect(await modeOf(name)).toBe(0o700);
    for (const name of ['reserve', 'log/mark', 'state/mark']) expect(await modeOf(name)).toBe(0o600);
  });

  test('refuses a folder that is something else, and leaves it as it is', async () => {
    await writeFile(path.join(parent, 'letter.txt'), 'dear');
    await expect(openFolder(parent, OPTIONS)).rejects.toThrow(FolderContentError);
    expect(await readdir(parent)).toEqual(['letter.txt']);
    const allowed = await openFolder(parent, { ...OPTIONS, alsoAllowed: ['letter.txt'] });
    await allowed.close();
  });

  test('refuses a file in the place of a folder', async () => {
    await openFolder(folder, OPTIONS).then((opened) => opened.close());
    await rm(path.join(folder, 'log'), { recursive: true });
    await writeFile(path.join(folder, 'log'), 'not a folder');
    await expect(openFolder(folder, OPTIONS)).rejects.toThrow(FolderContentError);
  });

  test('refuses a folder that is in use, telling by whom', async () => {
    const opened = await openFolder(folder, OPTIONS);
    const error = await openFolder(folder, OPTIONS).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(FolderInUseError);
    expect(error).toMatchObject({ pid: process.pid });
    await rm(path.join(folder, 'owner'));
    await expect(openFolder(folder, OPTIONS)).rejects.toMatchObject({
      code: 'folder_in_use',
      pid: undefined,
    });
    await opened.close();
    await (await openFolder(folder, OPTIONS)).close();
  });

  test('tells a process that holds it from one that once had its number', async () => {
    await openFolder(folder, OPTIONS).then((opened) => opened.close());
    const child = spawn(process.execPath, ['-e', 'process.stdin.resume()'], {
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    const gone = new Promise((resolve) => child.on('exit', resolve));
    const owner = (start: string): Promise<void> =>
      writeFile(path.join(folder, 'owner'), `${JSON.stringify({ pid: child.pid, start })}\n`);
    await owner('');
    await expect(openFolder(folder, OPTIONS)).rejects.toMatchObject({ pid: child.pid });
    await owner('another boot 12345');
    await (await openFolder(folder, OPTIONS)).close();
    await owner('');
    child.stdin.end();
    await gone;
    await (await openFolder(folder, OPTIONS)).close();
    await writeFile(path.join(folder, 'owner'), '{"pid": garbage');
    await (await openFolder(folder, OPTIONS)).close();
  });

  test('waits a moment for a process that is on its way out', async () => {
    await openFolder(folder, OPTIONS).then((opened) => opened.close());
    const child = spawn(process.execPath, ['-e', 'process.stdin.resume()'], {
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    const gone = new Promise((resolve) => child.on('exit', resolve));
    await writeFile(path.join(folder, 'owner'), `${JSON.stringify({ pid: child.pid, start: '' })}\n`);
    const waiting = openFolder(folder, { ...OPTIONS, inUseWaitMs: 20_000 });
    child.kill('SIGKILL');
    await (await waiting).close();
    await gone;
  });

  // Only Linux tells a zombie from a process that runs.
  (process.platform === 'linux' ? test : test.skip)('a zombie holds nothing', async () => {
    // Its parent, which is no shell any more when it ends, never asks for the exit code, so it stays one.
    const script = 'sleep 1 & echo $!; exec sleep 60';
    const parentProcess = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'] });
    const gone = new Promise((resolve) => parentProcess.on('exit', resolve));
    const pid = Number(await new Promise<string>((resolve) => parentProcess.stdout.once('data', resolve)));
    await openFolder(folder, OPTIONS).then((opened) => opened.close());
    await writeFile(path.join(folder, 'owner'), `${JSON.stringify({ pid, start: '' })}\n`);
    await (await openFolder(folder, { ...OPTIONS, inUseWaitMs: 20_000 })).close();
    process.kill(pid, 0); // It is still there, or this test says nothing.
    parentProcess.kill('SIGKILL');
    await gone;
  });

  test('the state is opened again after it was closed', async () => {
    const opened = await openFolder(folder, OPTIONS);
    const state = await StateStore.open({ store: opened.stateStore, disk: opened.stateDisk });
    await state.setIdentity(Buffer.from('node 1'));
    await state.close();
    const again = await StateStore.open({ store: await opened.reopenStateStore(), disk: opened.stateDisk });
    expect(again.identity()).toEqual(Buffer.from('node 1'));
    await again.close();
    await opened.close();
  });

  test('a group that is dropped gives its space back to the disk, and what opening takes is known', async () => {
    const opened = await openFolder(folder, OPTIONS);
    const state = await StateStore.open({ store: opened.stateStore, disk: opened.stateDisk });
    const atFirst = await opened.bytesToReopen();
    for (const group of [1, 2]) {
      const checkpoint = state.beginCheckpoint(group);
      for (let id = 1; id <= 3000; id++) checkpoint.put(1, id, 0, Buffer.alloc(3000, id));
      await checkpoint.commit({ index: 1, term: 1, context: Buffer.alloc(0) });
    }
    const full = await levelBytes();
    expect(full).toBeGreaterThan(18_000_000);
    await state.dropGroup(1);
    await state.swept();
    expect(await levelBytes()).toBeLessThan(0.7 * full);
    expect(state.read(2, 1, 3000)?.length).toBe(3000);

    const checkpoint = state.beginCheckpoint(2);
    for (let id = 1; id <= 100; id++) checkpoint.put(1, id, 0, Buffer.alloc(3000, 1));
    await checkpoint.commit({ index: 2, term: 1, context: Buffer.alloc(0) });
    expect(await opened.bytesToReopen()).toBeGreaterThan(atFirst + 300_000);
    await state.close();
    await opened.close();
  });

  test('does not begin a new state where one is missing', async () => {
    const opened = await openFolder(folder, OPTIONS);
    const state = await StateStore.open({ store: opened.stateStore, disk: opened.stateDisk });
    await state.setIdentity(Buffer.from('node 1'));
    await state.close();
    await opened.close();
    await rm(path.join(folder, 'state', 'level'), { recursive: true });
    await expect(openFolder(folder, OPTIONS)).rejects.toThrow(DamagedStateError);
  });

  test('releases the reserve and takes it again', async () => {
    const opened = await openFolder(folder, OPTIONS);
    await opened.releaseReserve();
    expect(opened.hasReserve).toBe(false);
    expect(await readdir(folder)).toEqual(['log', 'owner', 'state']);
    await opened.restoreReserve();
    expect(opened.hasReserve).toBe(true);
    await opened.close();
  });
});

describe('Reserve', () => {
  test('a reserve on a full disk is not taken, and its release makes room', async () => {
    const disk = new MemoryDisk({ capacityBytes: 1000 });
    const reserve = new Reserve(disk, 600);
    await reserve.restore();
    expect(await disk.freeBytes()).toBe(400);
    await reserve.release();
    await disk.create('other', 500);
    await expect(reserve.restore()).rejects.toThrow(DiskFullError);
    expect([reserve.isHeld, await disk.freeBytes()]).toEqual([false, 500]);
    await disk.remove('other');
    await reserve.restore();
    expect(reserve.isHeld).toBe(true);
  });
});
