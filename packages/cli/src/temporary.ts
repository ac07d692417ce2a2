/** Folders in which commands put files together before they send them. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { partOf } from './system-error.js';

/** Does some work with a folder that only this user may read, and removes it; and those that commands left behind that were killed. */
export async function inTemporaryFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  await removeLeft();
  const folder = await mkdtemp(join(tmpdir(), `althing-${process.pid}-`));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function removeLeft(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = /^althing-(\d+)-\w{6}$/.exec(name)?.[1];
    if (pid === undefined || isRunning(Number(pid))) continue;
    // Another user's stays.
    await rm(join(tmpdir(), name), { recursive: true, force: true }).catch(() => {});
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return partOf(error, 'code') === 'EPERM';
  }
}
