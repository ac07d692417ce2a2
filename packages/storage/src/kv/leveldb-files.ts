/**
 * Checks the files of a LevelDB folder before LevelDB opens it. LevelDB itself trusts most of what it reads:
 * with a flipped bit in a table a key is just not found, in the filter of a table too, and a compaction
 * copies the damage under a fresh checksum. Also clears away what LevelDB has no use for; nothing else here
 * changes a file.
 *
 * Formats, from LevelDB's `doc/log_format.md`, `doc/table_format.md`, `db/version_edit.cc` and
 * `table/format.cc`:
 *
 *   CURRENT     = name of the manifest, "\n"
 *   manifest    = log of version edits
 *   log         = block[32768]* , the last one shorter; block = record* zeros[0..6]
 *   record      = crc[4] length[2] type[1] data          type 1 full, 2 first, 3 middle, 4 last; crc: of type and data
 *   edit        = (tag varint, fields)*                  2 log, 3 next file, 4 sequence, 9 previous log: varint
 *                                                        1 comparator: string; 5 compaction pointer: level, string
 *                                                        6 deleted file: level, number
 *                                                        7 new file: level, number, size, string, string
 *   string      = length varint, bytes
 *   table       = data block* filter block? metaindex block, index block, footer[48]
 *   block       = data, type[1], crc[4]                  type 0 plain, 1 Snappy; crc: of data and type
 *   index       = (shared varint, unshared varint, length varint, key, value)* restart[4]* restarts[4]
 *   value       = handle = offset varint, size varint    of a block without type and crc
 *   footer      = metaindex handle, index handle, zeros to 40, magic[8]
 *
 * Checksums are CRC-32C, masked. The write-ahead log is not checked here: its end may be torn, and what is
 * lost before the end is found by the state store's journal.
 */
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { crc32c } from '../crc32c.js';
import { DamagedStateError } from '../errors.js';

export type VerifyReport = { readonly tables: number; readonly bytes: number };

/** True if a LevelDB is there at all. */
export async function hasLevelDb(folder: string): Promise<boolean> {
  const names: string[] = await readdir(folder).catch(() => []);
  return names.includes('CURRENT');
}

/**
 * Verifies manifest and tables, all of their bytes.
 *
 * @param readsTables false to check only that the tables are there and have their size
 * @throws DamagedStateError
 */
export async function verifyLevelDb(folder: string, readsTables = true): Promise<VerifyReport> {
  const { tables } = await readManifest(folder);
  const names = new Set(await readdir(folder));
  let bytes = 0;
  for (const [number, size] of tables) {
    const name = tableName(number, names);
    if (name === undefined) throw new DamagedStateError(`table ${number} is missing`);
    if (readsTables) verifyTable(await readWhole(folder, name), size, name);
    else if ((await stat(path.join(folder, name))).size !== size) throw damaged(name, size);
    bytes += size;
  }
  return { tables: tables.size, bytes };
}

/**
 * Removes tables and logs that the manifest does not know (any more), such as what a compaction wrote before
 * the disk was full. LevelDB does the same, but only after it has found room for the tables that it makes of
 * its log. The database must be closed.
 *
 * @throws DamagedStateError
 */
export async function removeObsoleteFiles(folder: string): Promise<void> {
  const { obsolete } = await survey(folder);
  for (const name of obsolete) await rm(path.join(folder, name));
}

/**
 * Free bytes that opening the database takes, for the tables that become of its log; less what {@link
 * removeObsoleteFiles} gives back before, so it may be negative. The database may be open, but should not be
 * working.
 *
 * @throws DamagedStateError
 */
export async function bytesToOpen(folder: string): Promise<number> {
  const { logs, obsolete } = await survey(folder);
  return (await bytesOf(folder, logs)) - (await bytesOf(folder, obsolete));
}

/** The logs that LevelDB reads when it opens the database, and the files that it would remove then. */
async function survey(folder: string): Promise<{ readonly logs: string[]; readonly obsolete: string[] }> {
  const { tables, log, formerLog } = await readManifest(folder);
  const logs: string[] = [];
  const obsolete: string[] = [];
  for (const name of await readdir(folder)) {
    const match = /^(\d+)\.(log|ldb|sst)$/.exec(name);
    if (match === null) continue;
    const number = Number(match[1]);
    if (match[2] !== 'log') {
      if (!tables.has(number)) obsolete.push(name);
    } else if (number >= log || number === formerLog) logs.push(name);
    else obsolete.push(name);
  }
  return { logs, obsolete };
}

async function bytesOf(folder: string, names: readonly string[]): Promise<number> {
  const sizes = await Promise.all(
    names.map(async (name) => (await stat(path.join(folder, name)).catch(() => null))?.size ?? 0),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/**
 * The records of a log. A torn end is the end: a record cut short, or zeros where a power cut came after the
 * file had grown and before its bytes were written. Anything else that does not hold is damage.
 */
export function readLog(content: Buffer, name: string): Buffer[] {
  const records: Buffer[] = [];
  const parts: Buffer[] = [];
  for (let at = 0; at + RECORD_HEADER <= content.length; ) {
    const blockEnd = (Math.floor(at / BLOCK_BYTES) + 1) * BLOCK_BYTES;
    if (blockEnd - at < RECORD_HEADER) {
      at = blockEnd;
      continue;
    }
    const length = content.readUInt16LE(at + 4);
    const type = content[at + 6] ?? 0;
    const end = at + RECORD_HEADER + length;
    if (end > content.length && blockEnd >= content.length) break;
    if (length === 0 && type === 0 && content.subarray(at).every((byte) => byte === 0)) break;
    const crc = end > blockEnd ? -1 : maskedCrc(content, at + 6, end);
    const follows = type === FULL || type === FIRST ? parts.length === 0 : parts.length > 0;
    if (crc !== content.readUInt32LE(at) || !follows || type > LAST) throw damaged(name, at);
    parts.push(content.subarray(at + RECORD_HEADER, end));
    if (type === FULL || type === LAST) records.push(Buffer.concat(parts.splice(0)));
    at = end;
  }
  return records;
}

/** Verifies each block of a table, and that the blocks are all there is. */
export function verifyTable(content: Buffer, size: number, name: string): void {
  if (content.length !== size || size < FOOTER_BYTES) throw damaged(name, Math.min(size, content.length));
  const footerAt = size - FOOTER_BYTES;
  const footer = new Fields(content.subarray(footerAt, size - 8), name);
  const metaindex = footer.handle();
  const index = footer.handle();
  if (!content.subarray(size - 8).equals(TABLE_MAGIC) || footer.rest().some((byte) => byte !== 0)) {
    throw damaged(name, footerAt);
  }
  for (const handle of [metaindex, index]) verifyBlock(content, handle, footerAt, name);
  const blocks = [
    ...handlesIn(content, index, name),
    ...handlesIn(content, metaindex, name),
    metaindex,
    index,
  ];
  let at = 0;
  for (const block of blocks) {
    if (block.offset !== at) throw damaged(name, at);
    verifyBlock(content, block, footerAt, name);
    at += block.size + TRAILER_BYTES;
  }
  if (at !== footerAt) throw damaged(name, at);
}

const BLOCK_BYTES = 32768;
const RECORD_HEADER = 7;
const FULL = 1;
const FIRST = 2;
const LAST = 4;
const TRAILER_BYTES = 5;
const FOOTER_BYTES = 48;
const TABLE_MAGIC = Buffer.from('57fb808b247547db', 'hex');

type Handle = { readonly offset: number; readonly size: number };

/**
 * LevelDB stores checksums rotated and shifted, since a checksum over bytes with a checksum in them is weak.
 */
function maskedCrc(content: Buffer, start: number, end: number): number {
  const crc = crc32c(content, start, end);
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

function verifyBlock(content: Buffer, { offset, size }: Handle, limit: number, name: string): void {
  const end = offset + size + 1;
  if (end + 4 > limit || maskedCrc(content, offset, end) !== content.readUInt32LE(end))
    throw damaged(name, offset);
}

/** The handles that are the values of an index block. */
function handlesIn(content: Buffer, { offset, size }: Handle, name: string): Handle[] {
  const block = content.subarray(offset, offset + size);
  if (content[offset + size] !== 0 || size < 4) throw damaged(name, offset);
  const entriesEnd = size - 4 - 4 * block.readUInt32LE(size - 4);
  if (entriesEnd < 0) throw damaged(name, offset);
  const fields = new Fields(block.subarray(0, entriesEnd), name);
  const handles: Handle[] = [];
  while (!fields.atEnd) {
    fields.varint();
    const unshared = fields.varint();
    const length = fields.varint();
    fields.bytes(unshared);
    handles.push(new Fields(fields.bytes(length), name).handle());
  }
  return handles;
}

/** The tables that the edits of a manifest leave. */
type Manifest = {
  /** Number and size of each table. */
  readonly tables: Map<number, number>;
  /** Logs with this number or a higher one are not all in tables; nor is `formerLog`. 0 for none. */
  log: number;
  formerLog: number;
};

async function readManifest(folder: string): Promise<Manifest> {
  const current = await readText(folder, 'CURRENT');
  const name = /^(MANIFEST-\d+)\n$/.exec(current)?.[1];
  if (name === undefined)
    throw new DamagedStateError(`${path.join(folder, 'CURRENT')} does not name a manifest`);
  const manifest: Manifest = { tables: new Map(), log: 0, formerLog: 0 };
  for (const edit of readLog(await readWhole(folder, name), name)) {
    const fields = new Fields(edit, name);
    while (!fields.atEnd) takeEdit(fields, manifest, name);
  }
  return manifest;
}

function takeEdit(fields: Fields, manifest: Manifest, name: string): void {
  const tag = fields.varint();
  switch (tag) {
    case 1:
      fields.string();
      return;
    case 2:
      manifest.log = fields.varint();
      return;
    case 9:
      manifest.formerLog = fields.varint();
      return;
    case 3:
    case 4:
      fields.varint();
      return;
    case 5:
      fields.varint();
      fields.string();
      return;
    case 6:
      fields.varint();
      manifest.tables.delete(fields.varint());
      return;
    case 7: {
      fields.varint();
      const number = fields.varint();
      manifest.tables.set(number, fields.varint());
      fields.string();
      fields.string();
      return;
    }
    default:
      throw new DamagedStateError(`${name} holds an edit of the unknown kind ${tag}`);
  }
}

/** Reads fields one after the other; throws `DamagedStateError` at the end of the bytes. */
class Fields {
  private readonly content: Buffer;
  private at = 0;

  constructor(
    bytes: Buffer,
    private readonly name: string,
  ) {
    this.content = bytes;
  }

  get atEnd(): boolean {
    return this.at >= this.content.length;
  }

  /**
   * Seven bits a byte, least significant first. Values above 2^53 lose precision; none that matters is that
   * large.
   */
  varint(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.content[this.at++];
      if (byte === undefined || factor > 2 ** 63) throw damaged(this.name, this.at);
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  }

  bytes(length: number): Buffer {
    if (length > this.content.length - this.at) throw damaged(this.name, this.at);
    this.at += length;
    return this.content.subarray(this.at - length, this.at);
  }

  string(): Buffer {
    return this.bytes(this.varint());
  }

  handle(): Handle {
    return { offset: this.varint(), size: this.varint() };
  }

  rest(): Buffer {
    return this.content.subarray(this.at);
  }
}

function tableName(number: number, names: ReadonlySet<string>): string | undefined {
  const digits = String(number).padStart(6, '0');
  return [`${digits}.ldb`, `${digits}.sst`].find((name) => names.has(name));
}

async function readText(folder: string, name: string): Promise<string> {
  return (await readWhole(folder, name)).toString('latin1');
}

async function readWhole(folder: string, name: string): Promise<Buffer> {
  try {
    return await readFile(path.join(folder, name));
  } catch (error) {
    throw new DamagedStateError(`${path.join(folder, name)} can not be read`, undefined, error);
  }
}

function damaged(name: string, offset: number): DamagedStateError {
  return new DamagedStateError(`${name} does not hold its checksum near byte ${offset}`);
}
