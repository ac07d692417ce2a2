/**
 * A snapshot of a group as a stream of chunks, numbered from 0. Numbers are little-endian.
 *
 *   chunk    = { sequence, bytes, checksum }    checksum: CRC-32C of the sequence as 4 bytes, and of the bytes
 *   bytes    = header | records | trailer
 *   header   = 1 magic[8] format[4] group[8] index[8] term[8] length[4] context
 *   records  = 2 piece*
 *   piece    = kind[1] id[8] part[4] more[1] length[4] data
 *   trailer  = 3 records[8] total[32]
 *
 * Chunk 0 is the header, the last one the trailer. Records are in rising order of (kind, id, part). A value
 * that does not fit into a chunk is cut: `more` is 1 for all pieces but its last, and the pieces follow each
 * other. `total` is the chain over the bytes of all chunks before: t(0) = SHA-256(bytes of chunk 0), t(n) =
 * SHA-256(t(n - 1), bytes of chunk n).
 */
import { createHash } from 'node:crypto';
import { readU53LE, writeU53LE } from '../bytes.js';
import { crc32c } from '../crc32c.js';
import { SnapshotRefusedError } from '../errors.js';
import type { Applied } from './group-meta.js';
import { copyNameLE, type RecordName } from './keys.js';

export type SnapshotChunk = {
  readonly sequence: number;
  readonly bytes: Uint8Array;
  readonly checksum: number;
};

/** The content of the first chunk. */
export type SnapshotHeader = { readonly group: number; readonly applied: Applied };

/** One record, or a part of one. */
export type Piece = RecordName & { readonly more: boolean; readonly data: Buffer };

export type ChunkContent =
  | { readonly kind: 'header'; readonly header: SnapshotHeader }
  | { readonly kind: 'records'; readonly pieces: readonly Piece[] }
  | { readonly kind: 'trailer'; readonly records: number; readonly total: Buffer };

const MAGIC = Buffer.from('ALTHSNAP', 'latin1');
const SNAPSHOT_FORMAT = 1;
const HEADER = 1;
const RECORDS = 2;
const TRAILER = 3;
const HEADER_FIXED_BYTES = 41;
const TRAILER_BYTES = 41;
export const PIECE_HEADER_BYTES = 18;

export function makeChunk(sequence: number, bytes: Buffer): SnapshotChunk {
  return { sequence, bytes, checksum: chunkChecksum(sequence, bytes) };
}

export function isWhole(chunk: SnapshotChunk): boolean {
  return chunkChecksum(chunk.sequence, chunk.bytes) === chunk.checksum;
}

export function nextTotal(before: Buffer | undefined, bytes: Uint8Array): Buffer {
  const hash = createHash('sha256');
  if (before !== undefined) hash.update(before);
  return hash.update(bytes).digest();
}

export function encodeHeader({ group, applied }: SnapshotHeader): Buffer {
  const bytes = Buffer.alloc(HEADER_FIXED_BYTES + applied.context.length);
  bytes[0] = HEADER;
  MAGIC.copy(bytes, 1);
  bytes.writeUInt32LE(SNAPSHOT_FORMAT, 9);
  writeU53LE(bytes, group, 13);
  writeU53LE(bytes, applied.index, 21);
  writeU53LE(bytes, applied.term, 29);
  bytes.writeUInt32LE(applied.context.length, 37);
  bytes.set(applied.context, HEADER_FIXED_BYTES);
  return bytes;
}

/** Begins a chunk of records; gives where its first piece goes. */
export function beginPieces(bytes: Buffer): number {
  bytes[0] = RECORDS;
  return 1;
}

/** Writes a piece of the record with a key: the bytes of `value` from `start` to `end`. */
export function writePiece(
  bytes: Buffer,
  at: number,
  key: Buffer,
  more: boolean,
  value: Buffer,
  start: number,
  end: number,
): void {
  copyNameLE(key, bytes, at);
  bytes[at + 13] = more ? 1 : 0;
  const length = end - start;
  bytes[at + 14] = length;
  bytes[at + 15] = length >>> 8;
  bytes[at + 16] = length >>> 16;
  bytes[at + 17] = length >>> 24;
  value.copy(bytes, at + PIECE_HEADER_BYTES, start, end);
}

export function encodeTrailer(records: number, total: Buffer): Buffer {
  const bytes = Buffer.alloc(TRAILER_BYTES);
  bytes[0] = TRAILER;
  writeU53LE(bytes, records, 1);
  total.copy(bytes, 9);
  return bytes;
}

/**
 * Parses bytes from another node. Throws `SnapshotRefusedError`; allocates nothing but references to the
 * bytes.
 */
export function decodeContent(bytes: Buffer): ChunkContent {
  switch (bytes[0]) {
    case HEADER:
      return { kind: 'header', header: decodeHeader(bytes) };
    case RECORDS:
      return { kind: 'records', pieces: decodePieces(bytes) };
    case TRAILER: {
      const records = bytes.length === TRAILER_BYTES ? readU53LE(bytes, 1) : undefined;
      if (records === undefined) throw malformed('its trailer has a wrong form');
      return { kind: 'trailer', records, total: Buffer.from(bytes.subarray(9)) };
    }
    default:
      throw malformed('a chunk is of an unknown kind');
  }
}

function decodeHeader(bytes: Buffer): SnapshotHeader {
  if (bytes.length < HEADER_FIXED_BYTES || !bytes.subarray(1, 9).equals(MAGIC))
    throw malformed('it is no snapshot');
  const format = bytes.readUInt32LE(9);
  if (format !== SNAPSHOT_FORMAT) {
    throw malformed(
      `it has format ${format}, and this program knows ${SNAPSHOT_FORMAT}; use the newer program`,
    );
  }
  const group = readU53LE(bytes, 13);
  const index = readU53LE(bytes, 21);
  const term = readU53LE(bytes, 29);
  const isWholeHeader = bytes.length === HEADER_FIXED_BYTES + bytes.readUInt32LE(37);
  if (group === undefined || index === undefined || term === undefined || !isWholeHeader) {
    throw malformed('its header has a wrong form');
  }
  return { group, applied: { index, term, context: Buffer.from(bytes.subarray(HEADER_FIXED_BYTES)) } };
}

function decodePieces(bytes: Buffer): Piece[] {
  const pieces: Piece[] = [];
  for (let at = 1; at < bytes.length; ) {
    if (bytes.length - at < PIECE_HEADER_BYTES) throw malformed('a record is cut short');
    const id = readU53LE(bytes, at + 1);
    const length = bytes.readUInt32LE(at + 14);
    const more = bytes[at + 13];
    const dataAt = at + PIECE_HEADER_BYTES;
    if (id === undefined || more === undefined || more > 1 || length > bytes.length - dataAt) {
      throw malformed('a record has a wrong form');
    }
    const data = bytes.subarray(dataAt, dataAt + length);
    pieces.push({ kind: bytes[at]!, id, part: bytes.readUInt32LE(at + 9), more: more === 1, data });
    at = dataAt + length;
  }
  return pieces;
}

function chunkChecksum(sequence: number, bytes: Uint8Array): number {
  const head = Buffer.alloc(4);
  head.writeUInt32LE(sequence >>> 0);
  return crc32c(bytes, 0, bytes.length, crc32c(head));
}

function malformed(what: string): SnapshotRefusedError {
  return new SnapshotRefusedError('damaged', what);
}
