/**
 * The store of a ThingsDB as files: a folder, or a backup archive of it. An archive is a tar, compressed by gzip:
 *
 *   tar   := entry* zeros
 *   entry := name[100] mode[8] uid[8] gid[8] size[12] mtime[12] checksum[8] type[1] ...[355] content padding      numbers in octal, 512 bytes in all
 */
import { once } from 'node:events';
import { createReadStream, type ReadStream, readdirSync, readFileSync, statSync } from 'node:fs';
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

/** Whether there is the store of a ThingsDB at a path: a folder, or what gzip compressed. */
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
  return { paths, read: (name) => (known.has(name) ? readFileSync(join(root, name)) : null) };
}

function filesIn(files: ReadonlyMap<string, Uint8Array>): StoreFileSet {
  return { paths: [...files.keys()], read: (name) => files.get(name) ?? null };
}

/** Whether a file is of any use. */
function isWanted(name: string): boolean {
  return /^(?:store|_prev|archive)\/.*\.(?:mp|dat)$/.test(name);
}

const BLOCK = 512;

/** Bytes that each byte of an archive may become: gzip reaches that with zeros, and no store of ThingsDB does. */
const RATIO_MAX = 300;
const BYTES_ALWAYS = 16 * 1024 ** 2;

async function archiveFiles(path: string): Promise<ReadonlyMap<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>();
  const bytesMax = statSync(path).size * RATIO_MAX + BYTES_ALWAYS;
  const input = new BlockReader(path, bytesMax);
  try {
    for (;;) {
      const head = await input.take(BLOCK);
      if (head.every((byte) => byte === 0)) return files;
      const { name, size, isFile } = entryOf(head);
      const content = await input.take(Math.ceil(size / BLOCK) * BLOCK);
      if (isFile && isWanted(name)) files.set(name, content.subarray(0, size));
    }
  } finally {
    await input.close();
  }
}

function entryOf(head: Buffer): { readonly name: string; readonly size: number; readonly isFile: boolean } {
  const text = (from: number, to: number): string => head.toString('latin1', from, to).replace(/\0.*$/s, '');
  const octal = (from: number, to: number): number => {
    const digits = text(from, to).trim();
    if (!/^[0-7]+$/.test(digits)) throw damaged('an entry of the archive has no size');
    return Number.parseInt(digits, 8);
  };
  const sum = head.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 0x20 : byte), 0);
  if (sum !== octal(148, 156)) throw damaged('an entry of the archive does not fit its checksum');
  const type = text(156, 157);
  const prefix = text(345, 500);
  const path = prefix === '' ? text(0, 100) : `${prefix}/${text(0, 100)}`;
  // Those of extended headers say nothing that is of use here.
  const isOfTar = type === 'x' || type === 'g';
  if (!isOfTar && type !== '' && type !== '0' && type !== '5')
    throw damaged(`'${path}' in the archive is a link, or something else that is neither file nor folder`);
  if (path.startsWith('/') || path.split('/').includes('..'))
    throw damaged(`'${path}' in the archive leads out of it`);
  return { name: path.replace(/^(?:\.\/)+/, ''), size: octal(124, 136), isFile: !isOfTar && type !== '5' };
}

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

  async take(count: number): Promise<Buffer> {
    if (this.total - this.size + count > this.bytesMax)
      throw damaged('the archive becomes so large that it can be no store of ThingsDB');
    while (this.size < count) {
      const next = await this.source.next().catch((error: Error) => {
        throw damaged(`the archive can not be read: ${error.message}`);
      });
      if (next.done === true) throw damaged('the archive ends too early');
      this.parts.push(next.value);
      this.size += next.value.length;
      this.total += next.value.length;
    }
    const all = this.parts.length === 1 ? (this.parts[0] ?? Buffer.alloc(0)) : Buffer.concat(this.parts);
    this.size -= count;
    this.parts = [all.subarray(count)];
    return all.subarray(0, count);
  }
}

function readFileHead(path: string): Uint8Array {
  return withFile(path, ({ length, read }) => read(0, Math.min(2, length)));
}

function damaged(why: string): BackupError {
  return new BackupError('damaged', `it is damaged: ${why}`);
}
