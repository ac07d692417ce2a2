import { constants } from 'node:fs';
import { copyFile, link, mkdir, open, readdir } from 'node:fs/promises';
import path from 'node:path';
import { syncFolder } from './disk/node-disk.js';

/**
 * Copies a file or folder of a data folder that nobody works with; durable when this resolves. LevelDB never
 * changes a table once it is written, so tables are linked and take no room; all else is copied.
 */
export async function copyData(from: string, to: string): Promise<void> {
  const entries = await readdir(from, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOTDIR') return null;
    throw error;
  });
  if (entries === null) {
    await copyDurably(from, to);
    return;
  }
  await mkdir(to, { mode: 0o700 });
  for (const { name } of entries) await copyData(path.join(from, name), path.join(to, name));
  await syncFolder(to);
}

async function copyDurably(from: string, to: string): Promise<void> {
  if (/^\d+\.ldb$/.test(path.basename(from)) && (await isLinked(from, to))) return;
  await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  const file = await open(to, 'r+');
  await file.sync().finally(() => file.close());
}

/** Not every file system knows links. */
async function isLinked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
    if (code === 'EPERM' || code === 'ENOTSUP' || code === 'EMLINK' || code === 'EOPNOTSUPP') return false;
    throw error;
  }
}
