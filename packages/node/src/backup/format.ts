/**
 * A backup of a cluster, or the export of one collection, as a stream of bytes. Numbers are big endian.
 *
 *   backup  := magic[8] "ALTHBACK" format:u32 frame*
 *   frame   := kind:u8 length:u32 crc:u32 payload[length]       crc: CRC-32 of kind, length and payload
 *   format  := 1 for a backup, 2 for an export
 *   kind    := 1 head      payload: JSON, see `BackupHead`
 *            | 2 chunk     payload: sequence:u32 checksum:u32 bytes, deflated: a chunk of the snapshot of a group
 *            | 3 end       payload: SHA-256 of everything before this frame
 *
 * There is one head, first, and one end, last. Groups follow each other, root's first, then those of the
 * collections in the order of their numbers; the chunks of a group are those that nodes send each other, from
 * its header to its trailer. An export has the group of its collection alone.
 */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { constants, crc32 as crc32OfZlib, deflateRaw, inflateRaw } from 'node:zlib';
import type { SnapshotChunk } from '@althing/storage';

export interface BackupHead {
  /** The version of Althing. */
  readonly version: string;
  /** The id of the cluster that was saved, in hexadecimal. */
  readonly cluster: string;
  /** When it was begun: wall clock in milliseconds. */
  readonly begunAt: number;
  readonly groups: number;
  /** The name that the collection of an export had. */
  readonly collection?: string;
  /** The level of the cluster of an export, below which nothing of it may be written. */
  readonly level?: number;
}

/** Why a backup or a restore came to nothing; the message says what to do. */
export class BackupError extends Error {
  /**
   * `damaged`: the bytes are no backup, or not what was written; `refused`: it can not be done here; `busy`:
   * not now.
   */
  readonly reason: 'damaged' | 'refused' | 'busy';
  /** True if a part of a restore may have been done. */
  isUnfinished = false;

  constructor(reason: BackupError['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

export type BackupFrame =
  | { readonly kind: 'head'; readonly head: BackupHead }
  | { readonly kind: 'chunk'; readonly chunk: SnapshotChunk }
  /** The digest is that of everything before, as hexadecimal digits. */
  | { readonly kind: 'end'; readonly digest: string };

/** The first bytes of a backup. */
export const BACKUP_MAGIC = Buffer.from('ALTHBACK', 'latin1');
const FORMAT = 1;
const FORMAT_OF_EXPORTS = 2;
const HEAD = 1;
const CHUNK = 2;
const END = 3;
const FRAME_HEAD_BYTES = 9;
/** Bytes of the magic and the format. */
const START_BYTES = 12;
const CHUNK_HEAD_BYTES = 8;

/** Payloads are a chunk of a snapshot at most. */
const PAYLOAD_BYTES_MAX = 8 * 1024 * 1024;

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/** Writes a backup piece by piece. */
export class BackupWriter {
  private readonly hash = createHash('sha256');

  begin(head: BackupHead): Uint8Array {
    const start = Buffer.alloc(START_BYTES);
    BACKUP_MAGIC.copy(start);
    start.writeUInt32BE(head.collection === undefined ? FORMAT : FORMAT_OF_EXPORTS, 8);
    return Buffer.concat([this.noted(start), this.frame(HEAD, Buffer.from(JSON.stringify(head)))]);
  }

  async chunk({ sequence, checksum, bytes }: SnapshotChunk): Promise<Uint8Array> {
    const payload = Buffer.alloc(CHUNK_HEAD_BYTES + bytes.length);
    payload.writeUInt32BE(sequence, 0);
    payload.writeUInt32BE(checksum, 4);
    payload.set(bytes, CHUNK_HEAD_BYTES);
    return this.frame(CHUNK, await deflate(payload, { level: constants.Z_BEST_SPEED }));
  }

  end(): Uint8Array {
    return this.frame(END, this.hash.copy().digest());
  }

  private frame(kind: number, payload: Uint8Array): Buffer {
    const frame = Buffer.alloc(FRAME_HEAD_BYTES + payload.length);
    frame[0] = kind;
    frame.writeUInt32BE(payload.length, 1);
    frame.set(payload, FRAME_HEAD_BYTES);
    frame.writeUInt32BE(crcOf(frame), 5);
    return this.noted(frame);
  }

  private noted<T extends Uint8Array>(bytes: T): T {
    this.hash.update(bytes);
    return bytes;
  }
}

/**
 * The frames of a backup, each as soon as it has come.
 *
 * @throws BackupError
 */
export async function* readBackup(
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<BackupFrame, void, undefined> {
  const hash = createHash('sha256');
  const input = new Input(source);
  const start = await input.take(START_BYTES);
  const format = formatOf(start);
  hash.update(start ?? '');
  let isFirst = true;
  for (;;) {
    const head = await input.take(FRAME_HEAD_BYTES);
    const length = head?.readUInt32BE(1) ?? 0;
    if (head === null) throw tooShort();
    if (length > PAYLOAD_BYTES_MAX) throw damaged();
    const payload = await input.take(length);
    if (payload === null) throw tooShort();
    const frame = Buffer.concat([head, payload]);
    if (crcOf(frame) !== head.readUInt32BE(5)) throw damaged();
    if (isFirst !== (head[0] === HEAD)) throw damaged();
    isFirst = false;
    if (head[0] === END) {
      if (!hash.digest().equals(payload)) throw damaged();
      if ((await input.take(1)) !== null)
        throw new BackupError('damaged', 'something follows the end of the backup');
      yield { kind: 'end', digest: payload.toString('hex') };
      return;
    }
    hash.update(frame);
    yield head[0] === HEAD
      ? { kind: 'head', head: headOf(payload, format) }
      : await chunkOf(head[0] ?? 0, payload);
  }
}

/**
 * The head of a backup, from its first bytes.
 *
 * @throws BackupError when they are not those of a backup, or too few
 */
export function headAtStart(bytes: Buffer): BackupHead {
  const format = formatOf(bytes.subarray(0, START_BYTES));
  const head = bytes.subarray(START_BYTES, START_BYTES + FRAME_HEAD_BYTES);
  if (head.length < FRAME_HEAD_BYTES) throw tooShort();
  const end = START_BYTES + FRAME_HEAD_BYTES + head.readUInt32BE(1);
  if (end > bytes.length) throw tooShort();
  const frame = bytes.subarray(START_BYTES, end);
  if (head[0] !== HEAD || crcOf(frame) !== head.readUInt32BE(5)) throw damaged();
  return headOf(frame.subarray(FRAME_HEAD_BYTES), format);
}

/** The format that a stream has by its first bytes. */
function formatOf(start: Buffer | null): number {
  if (
    start === null ||
    start.length < START_BYTES ||
    !start.subarray(0, BACKUP_MAGIC.length).equals(BACKUP_MAGIC)
  )
    throw new BackupError(
      'damaged',
      'this is no backup of Althing, and no export; a dump of export({dump: true}) goes to import() in a query',
    );
  const format = start.readUInt32BE(BACKUP_MAGIC.length);
  if (format !== FORMAT && format !== FORMAT_OF_EXPORTS) {
    throw new BackupError(
      'refused',
      `the backup has format ${format}, and this version reads ${FORMAT} and ${FORMAT_OF_EXPORTS}: use a newer one`,
    );
  }
  return format;
}

function headOf(payload: Buffer, format: number): BackupHead {
  let value: unknown;
  try {
    value = JSON.parse(payload.toString('utf8'));
  } catch {
    throw damaged();
  }
  if (typeof value !== 'object' || value === null) throw damaged();
  const { version, cluster, begunAt, groups, collection, level } = value as Partial<
    Record<keyof BackupHead, unknown>
  >;
  const isHead =
    typeof version === 'string' &&
    typeof cluster === 'string' &&
    typeof begunAt === 'number' &&
    typeof groups === 'number';
  if (!isHead) throw damaged();
  const head = { version, cluster, begunAt, groups };
  if (format === FORMAT) return head;
  if (typeof collection !== 'string' || typeof level !== 'number' || groups !== 1) throw damaged();
  return { ...head, collection, level };
}

async function chunkOf(kind: number, payload: Buffer): Promise<BackupFrame> {
  if (kind !== CHUNK) throw damaged();
  const whole = await inflate(payload, { maxOutputLength: PAYLOAD_BYTES_MAX }).catch(() => null);
  if (whole === null || whole.length < CHUNK_HEAD_BYTES) throw damaged();
  const chunk = {
    sequence: whole.readUInt32BE(0),
    checksum: whole.readUInt32BE(4),
    bytes: whole.subarray(CHUNK_HEAD_BYTES),
  };
  return { kind: 'chunk', chunk };
}

function tooShort(): BackupError {
  return new BackupError('damaged', 'the backup ends too early: its copy is not complete');
}

function damaged(): BackupError {
  return new BackupError('damaged', 'the backup is damaged: it does not fit its checksums');
}

/** CRC of a frame but for the place of the CRC. */
function crcOf(frame: Buffer): number {
  return crc32OfZlib(frame.subarray(FRAME_HEAD_BYTES), crc32OfZlib(frame.subarray(0, 5)));
}

/** Bytes of a stream, as many as are wanted at a time. */
class Input {
  private readonly source: AsyncIterator<Uint8Array>;
  private parts: Buffer[] = [];
  private size = 0;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.source = source[Symbol.asyncIterator]();
  }

  /** Null when there are not as many left. */
  async take(count: number): Promise<Buffer | null> {
    while (this.size < count) {
      const next = await this.source.next();
      if (next.done === true) return null;
      this.parts.push(Buffer.from(next.value));
      this.size += next.value.length;
    }
    const all = this.parts.length === 1 ? (this.parts[0] ?? Buffer.alloc(0)) : Buffer.concat(this.parts);
    this.size -= count;
    this.parts = [all.subarray(count)];
    return all.subarray(0, count);
  }
}
