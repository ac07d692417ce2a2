/**
 * Files of backups that a node takes by itself. They lie in one folder and below, whatever a template says,
 * and nothing is overwritten or deleted there but what was put there as a backup.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, constants, createReadStream, fstatSync, openSync, realpathSync } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { syncFolder } from '@althing/storage';
import { messageOf } from '../base/error-text.js';
import { BACKUP_MAGIC, BackupError } from './format.js';

/**
 * The path that a template stands for: below the folder, or, when it is absolute, where it says.
 *
 * @param now Unix seconds
 * @param changes the number of the last change
 */
export function pathOf(template: string, folder: string, now: number, changes: number): string {
  const [date = '', time = ''] = new Date(now * 1000).toISOString().split(/[T.]/);
  const name = template
    .replaceAll('{DATE}', date.replaceAll('-', ''))
    .replaceAll('{TIME}', time.replaceAll(':', ''))
    .replaceAll('{CHANGE_ID}', String(changes));
  return wantedIn(folder, name);
}

/** The path of a file. Where files may lie anywhere, a name is relative to the working folder of the process. */
function wantedIn(folder: string, name: string): string {
  return resolve(folder === ANYWHERE ? process.cwd() : folder, name);
}

const ANYWHERE = '/';

/**
 * Writes a file that is there as a whole, or not at all. Missing folders are made.
 *
 * @param isOurs whether a file that is there already may be replaced
 * @throws BackupError when the place is not below the folder, or something else is there
 */
export async function writeBelow(
  folder: string,
  path: string,
  isOurs: boolean,
  work: (file: FileHandle) => Promise<void>,
): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (!isBelow(resolve(folder), path)) throw outside(path, folder);
  await makeParents(resolve(folder), dirname(path));
  const place = await placeBelow(folder, path);
  const partial = `${place}.${randomBytes(4).toString('hex')}.partial`;
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const file = await open(partial, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    await work(file);
    await file.sync();
    await file.close();
    await assertFree(place, isOurs || (folder === ANYWHERE && (await isBackup(place))));
    await rename(partial, place);
    await syncFolder(dirname(place));
  } catch (error) {
    await file.close();
    await rm(partial, { force: true });
    throw error;
  }
}

/**
 * Opens a file below a folder for reading. Links may lead there, but not out of the folder.
 *
 * @returns the descriptor, for the caller to close, and the size in bytes
 * @throws BackupError when there is no file of this path, or it lies elsewhere
 */
export function openBelow(folder: string, path: string): { readonly fd: number; readonly size: number } {
  const wanted = wantedIn(folder, path);
  if (!isBelow(resolve(folder), wanted)) throw new BackupError('damaged', outside(wanted, folder).message);
  let fd: number | null = null;
  try {
    const place = realpathSync(wanted);
    // A file outside must not be told apart from a file that is missing.
    if (!isBelow(realpathSync(folder), place)) throw missing(wanted);
    // Opening a pipe would wait for whoever writes into it.
    fd = openSync(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const found = fstatSync(fd);
    if (!found.isFile()) throw missing(wanted);
    return { fd, size: found.size };
  } catch (error) {
    if (fd !== null) closeSync(fd);
    throw error instanceof BackupError ? error : missing(wanted);
  }
}

/**
 * The bytes of a file below a folder.
 *
 * @throws BackupError as `openBelow`, and when it can't be read
 */
export async function* readBelow(folder: string, path: string): AsyncGenerator<Uint8Array, void, undefined> {
  const { fd, size } = openBelow(folder, path);
  const source = createReadStream('', { fd, start: 0, end: Math.max(0, size - 1) });
  try {
    for await (const bytes of source) yield bytes;
  } catch (error) {
    throw new BackupError('damaged', `the file can not be read: ${messageOf(error)}`);
  } finally {
    source.destroy();
  }
}

/** Deletes a file below a folder; anything but a file that is there is left alone. */
export async function deleteBelow(folder: string, path: string): Promise<void> {
  const place = await placeBelow(folder, path).catch(() => null);
  if (place === null) return;
  const found = await lstat(place).catch(() => null);
  if (found?.isFile() === true) await rm(place, { force: true });
}

/** Makes folders one by one, none of them through a link that leads elsewhere. */
async function makeParents(folder: string, parent: string): Promise<void> {
  let path = folder;
  for (const name of relative(folder, parent).split(sep)) {
    if (name === '') continue;
    path = join(path, name);
    await mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
      if (!hasCode(error, 'EEXIST')) throw error;
    });
    await placeBelow(folder, join(path, 'x'));
  }
}

/** The place of a file without links on the way; its folder must be there. */
async function placeBelow(folder: string, path: string): Promise<string> {
  const parent = await realpath(dirname(path));
  const place = join(parent, basename(path));
  if (!isBelow(await realpath(folder), place)) throw outside(path, folder);
  return place;
}

/**
 * True if a file begins as backups do. Where they lie anywhere, as those of ThingsDB do, each run with a template without
 * variables takes the place of the one before, whoever made that.
 */
async function isBackup(place: string): Promise<boolean> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = await open(place, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => null);
  if (file === null) return false;
  try {
    const { buffer, bytesRead } = await file.read(
      Buffer.alloc(BACKUP_MAGIC.length),
      0,
      BACKUP_MAGIC.length,
      0,
    );
    return bytesRead === buffer.length && buffer.equals(BACKUP_MAGIC);
  } catch {
    return false;
  } finally {
    await file.close();
  }
}

/** @param mayReplace whether a file may be there */
async function assertFree(place: string, mayReplace: boolean): Promise<void> {
  const found = await lstat(place).catch(() => null);
  if (found === null || (mayReplace && found.isFile())) return;
  throw new BackupError(
    'refused',
    `${place} exists already, and is no backup of this one: use {DATE} and {TIME}`,
  );
}

function isBelow(folder: string, path: string): boolean {
  const rest = relative(folder, path);
  return rest !== '' && rest !== '..' && !rest.startsWith(`..${sep}`) && !isAbsolute(rest);
}

function missing(path: string): BackupError {
  return new BackupError(
    'damaged',
    `this node can read no file ${path}: a restore has to be asked of the node that has the backup`,
  );
}

function outside(path: string, folder: string): BackupError {
  return new BackupError('refused', `${path} does not lie below backup_path (${resolve(folder)})`);
}

function hasCode(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}
