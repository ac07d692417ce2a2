/**
 * The store of a ThingsDB as files: a folder, or a backup archive of it. An archive is a tar, compressed by gzip:
 *
 *   tar   := entry* zeros
 *   entry := name[100] mode[8] uid[8] gid[8] size[12] mtime[12] checksum[8] type[1] ...[355] content padding      numbers in octal, 512 bytes in all
 */
import { once } from 'node:events';
import { createReadStream, type ReadStream, readdirSync, readFileSync, statSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { createGunzip } from 'node:zlib';
import {
  type CollectionGroup,
  dropTasks,
  FormatError,
  type StoreFileSet,
  type ThingsdbCollection,
  type ThingsdbCollectionInfo,
  ThingsdbStore,
} from '@althing/engine';
import { BackupError } from './format.js';
import { withFile } from './thingsdb.js';

/** True if there is the store of a ThingsDB at a path: a folder, or what gzip compressed. */
export function isThingsdbStore(path: string): boolean {
  if (statSync(path).isDirectory()) return true;
  const head = readFileHead(path);
  return head[0] === 0x1f && head[1] === 0x8b;
}

/**
 * Opens the store of a ThingsDB, with all changes that it has: the files of an archive come into memory, those of a folder when they are read.
 *
 * @throws BackupError
 */
export async function openThingsdbStore(path: string): Promise<ThingsdbStore> {
  const isFolder = statSync(path).isDirectory();
  const files = isFolder ? folderFiles(path) : filesIn(await archiveFiles(path));
  return told(() => ThingsdbStore.open(files, () => {}));
}

/**
 * Reads one collection of a store.
 *
 * @param takesTasks whether its tasks come, too; without an owner
 * @throws BackupError
 */
export async function readStoredCollection(
  path: string,
  name: string,
  takesTasks: boolean,
): Promise<CollectionGroup> {
  const store = await openThingsdbStore(path);
  const collections = [...store.root.collections.values()];
  const wanted = collections.find((one) => one.name === name);
  if (wanted === undefined) {
    const known = collections.map((one) => one.name).join(', ');
    throw new BackupError('refused', `there is no collection '${name}' in it, but ${known}`);
  }
  const { group } = readCollection(store, wanted);
  if (!takesTasks) dropTasks(group);
  return group;
}

/**
 * Reads a collection of a store into memory.
 *
 * @throws BackupError
 */
export function readCollection(store: ThingsdbStore, info: ThingsdbCollectionInfo): ThingsdbCollection {
  return told(() => store.readCollection(info));
}

function told<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof FormatError) throw damaged(error.message);
    throw error;
  }
}

function folderFiles(root: string): StoreFileSet {
  const paths = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length).replace(/^\/+/, ''))
    .filter(isWanted);
  const known = new Set(paths);
  return { paths, read: (name) => (known.has(name) ? readWhole(join(root, name)) : null) };
}

function readWhole(path: string): Uint8Array {
  if (statSync(path).size > FILE_BYTES_MAX) throw tooLarge(path);
  return readFileSync(path);
}

function filesIn(files: ReadonlyMap<string, Uint8Array>): StoreFileSet {
  return { paths: [...files.keys()], read: (name) => files.get(name) ?? null };
}

/** True if a file is of any use. */
function isWanted(name: string): boolean {
  return /^(?:store|_prev|archive)\/.*\.(?:mp|dat)$/.test(name);
}

const BLOCK = 512;

/** Bytes that each byte of an archive may become: gzip reaches that with zeros, and no store of ThingsDB does. */
const RATIO_MAX = 300;
const BYTES_ALWAYS = 16 * 1024 ** 2;

/** Bytes of one file at most: Node.js reads no larger one at once. */
const FILE_BYTES_MAX = 2 * 1024 ** 3 - 1;

/** Bytes of an extended header at most that is looked at. */
const HEADER_BYTES_MAX = 1024 ** 2;

/** The share of the memory that the files of an archive may take: what is made of them takes more. */
const MEMORY_SHARE = 1 / 4;

interface Entry {
  readonly name: string;
  readonly size: number;
  readonly isFile: boolean;
  /** True if it is about the next entry, and no part of what was saved. */
  readonly isOfTar: boolean;
}

async function archiveFiles(path: string): Promise<ReadonlyMap<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>();
  const bytesMax = statSync(path).size * RATIO_MAX + BYTES_ALWAYS;
  const input = new BlockReader(path, bytesMax);
  let left = totalmem() * MEMORY_SHARE;
  try {
    for (;;) {
      const head = await input.take(BLOCK);
      if (head.every((byte) => byte === 0)) {
        // Behind it there is the checksum of gzip over everything.
        await input.end();
        return files;
      }
      const { name, size, isFile, isOfTar } = entryOf(head);
      const length = Math.ceil(size / BLOCK) * BLOCK;
      if (isOfTar && size <= HEADER_BYTES_MAX) {
        // A size that octal digits can't tell stands here, and the next entry has none.
        const records = (await input.take(length)).toString('latin1', 0, size);
        if (/(?:^|\n)\d+ size=/.test(records)) throw tooLarge('a file of the archive');
        continue;
      }
      if (!isFile || !isWanted(name)) {
        await input.skip(length);
        continue;
      }
      left -= size;
      if (left < 0)
        throw new BackupError(
          'refused',
          'the files of the archive do not fit into the memory of this machine',
        );
      files.set(name, (await input.take(length)).subarray(0, size));
    }
  } finally {
    await input.close();
  }
}

function entryOf(head: Buffer): Entry {
  const text = (from: number, to: number): string => head.toString('latin1', from, to).replace(/\0.*$/s, '');
  const octal = (from: number, to: number): number => {
    const digits = text(from, to).trim();
    if (!/^[0-7]+$/.test(digits)) throw damaged('an entry of the archive has no size');
    return Number.parseInt(digits, 8);
  };
  const path = text(345, 500) === '' ? text(0, 100) : `${text(345, 500)}/${text(0, 100)}`;
  // The highest bit says that what follows is a number that octal digits can't tell.
  if ((head[124] ?? 0) >= 0x80) throw tooLarge(path);
  const sum = head.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 0x20 : byte), 0);
  if (sum !== octal(148, 156)) throw damaged('an entry of the archive does not fit its checksum');
  const type = text(156, 157);
  // Extended headers, which are about the next entry or all of them.
  const isOfTar = type === 'x' || type === 'g';
  if (!isOfTar && type !== '' && type !== '0' && type !== '5')
    throw damaged(`'${path}' in the archive is a link, or something else that is neither file nor folder`);
  if (path.startsWith('/') || path.split('/').includes('..'))
    throw damaged(`'${path}' in the archive leads out of it`);
  const name = path.replace(/^(?:\.\/)+/, '');
  const size = octal(124, 136);
  if (isWanted(name) && size > FILE_BYTES_MAX) throw tooLarge(path);
  return { name, size, isFile: !isOfTar && type !== '5', isOfTar };
}

function tooLarge(path: string): BackupError {
  return new BackupError('refused', `'${path}' is larger than the 2 GB that can be read at once`);
}

/** Bytes that are passed over at a time. */
const SKIPPED_BYTES = 64 * 1024;

/** The content of a file that gzip compressed, as much as is wanted at a time. */
class BlockReader {
  private readonly file: ReadStream;
  private readonly unpacked = createGunzip();
  private readonly source: AsyncIterator<Buffer>;
  private parts: Buffer[] = [];
  private size = 0;
  private total = 0;

  constructor(
    path: string,
    private readonly bytesMax: number,
  ) {
    this.file = createReadStream(path);
    this.file.on('error', (error) => this.unpacked.destroy(error));
    this.source = this.file.pipe(this.unpacked)[Symbol.asyncIterator]();
  }

  async close(): Promise<void> {
    this.unpacked.destroy();
    if (this.file.closed) return;
    const isClosed = once(this.file, 'close');
    this.file.destroy();
    await isClosed;
  }

  /** Passes over bytes. */
  async skip(count: number): Promise<void> {
    for (let left = count; left > 0; left -= SKIPPED_BYTES) await this.take(Math.min(left, SKIPPED_BYTES));
  }

  async take(count: number): Promise<Buffer> {
    if (this.total - this.size + count > this.bytesMax) throw tooMuch();
    while (this.size < count) {
      const part = await this.next();
      if (part === null) throw damaged('the archive ends too early');
      this.parts.push(part);
      this.size += part.length;
    }
    const all = this.parts.length === 1 ? (this.parts[0] ?? Buffer.alloc(0)) : Buffer.concat(this.parts);
    this.size -= count;
    this.parts = [all.subarray(count)];
    return all.subarray(0, count);
  }

  /** Reads what is left, which is of no use but for its checksum. */
  async end(): Promise<void> {
    while ((await this.next()) !== null) if (this.total > this.bytesMax) throw tooMuch();
  }

  /** The next piece; null at the end. */
  private async next(): Promise<Buffer | null> {
    const next = await this.source.next().catch((error: Error) => {
      throw damaged(`the archive can not be read: ${error.message}`);
    });
    if (next.done === true) return null;
    this.total += next.value.length;
    return next.value;
  }
}

function tooMuch(): BackupError {
  return damaged('the archive becomes so large that it can be no store of ThingsDB');
}

function readFileHead(path: string): Uint8Array {
  return withFile(path, ({ length, read }) => read(0, Math.min(2, length)));
}

function damaged(why: string): BackupError {
  return new BackupError('damaged', `it is damaged: ${why}`);
}
