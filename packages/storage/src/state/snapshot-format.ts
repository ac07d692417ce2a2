/**
 * A snapshot of a group as a stream of chunks, numbered from 0. Numbers are little-endian, but in names.
 *
 *   chunk    = { sequence, bytes, checksum }    checksum: of the sequence as 4 bytes, and of the bytes
 *   bytes    = header | records | trailer
 *   header   = 1 magic[8] format[4] group[8] index[8] term[8] generation[4]? length[4] context
 *   records  = 2 piece*
 *   piece    = kind[1] id[8] part[4] more[1] length[4] data
 *   stored   = name[13] more[1] length[4] data    a piece of format 2; name: as in the key of a record
 *   trailer  = 3 records[8] total[32]
 *
 * Chunk 0 is the header, the last one the trailer. Records are in rising order of (kind, id, part). A value
 * that does not fit into a chunk is cut: `more` is 1 for all pieces but its last, and the pieces follow each
 * other.
 *
 * Format 1: values are payloads. Checksums are CRC-32C. `total` is the chain over the bytes of all chunks before: t(0) =
 * SHA-256(bytes of chunk 0), t(n) = SHA-256(t(n - 1), bytes of chunk n).
 *
 * Format 2, which costs a small part of that: values are as the sender has stored them, with the checksum that they were stored with,
 * which holds for a key of the sender's generation of the group: the header tells that. The checksum of chunk 0 is as in format
 * 1, others are CRC-32 (of zlib). `total` is the chain over the checksums: t(n) = SHA-256(t(n - 1), checksum of chunk n).
 */
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { readU53LE, writeU53LE } from '../bytes.js';
import { crc32c } from '../crc32c.js';
import { SnapshotRefusedError } from '../errors.js';
import type { Applied } from './group-meta.js';
import { copyNameLE, isName, NAME_AT, NAME_BYTES, type RecordName } from './keys.js';

/** The formats of snapshots. Release 0.1.0 reads format 1 only. */
export type SnapshotFormat = 1 | 2;

export type SnapshotChunk = {
  readonly sequence: number;
  readonly bytes: Uint8Array;
  readonly checksum: number;
};

/** The content of the first chunk. */
export type SnapshotHeader = {
  readonly group: number;
  readonly applied: Applied;
  /** Format 2: the generation that the checksums of values hold for. */
  readonly generation?: number;
};

/** One record, or a part of one. */
export type Piece = RecordName & { readonly more: boolean; readonly data: Buffer };

/** One record as it is stored, or a part of one; of format 2. */
export type StoredPiece = { readonly name: Buffer; readonly more: boolean; readonly data: Buffer };

export type ChunkContent =
  | { readonly kind: 'header'; readonly header: SnapshotHeader }
  | { readonly kind: 'records'; readonly pieces: readonly Piece[] }
  | { readonly kind: 'stored'; readonly pieces: readonly StoredPiece[] }
  | { readonly kind: 'trailer'; readonly records: number; readonly total: Buffer };

const MAGIC = Buffer.from('ALTHSNAP', 'latin1');
const FORMAT_NEWEST = 2;
const HEADER = 1;
const RECORDS = 2;
const TRAILER = 3;
const CONTEXT_AT = 41;
const GENERATION_BYTES = 4;
const TRAILER_BYTES = 41;
export const PIECE_HEADER_BYTES = 18;

export function makeChunk(sequence: number, bytes: Buffer, format: SnapshotFormat): SnapshotChunk {
  return { sequence, bytes, checksum: chunkChecksum(sequence, bytes, format) };
}

/** True if a chunk is what was sent. The first one may be asked about with any format. */
export function isWhole({ sequence, bytes, checksum }: SnapshotChunk, format: SnapshotFormat): boolean {
  return chunkChecksum(sequence, bytes, format) === checksum;
}

/** The total over a chunk and those before, of which it is `before`. */
export function nextTotal(
  before: Buffer | undefined,
  { bytes, checksum }: SnapshotChunk,
  format: SnapshotFormat,
): Buffer {
  const hash = createHash('sha256');
  if (before !== undefined) hash.update(before);
  return hash.update(format === 1 ? bytes : u32(checksum)).digest();
}

export function formatOf({ generation }: SnapshotHeader): SnapshotFormat {
  return generation === undefined ? 1 : 2;
}

export function encodeHeader({ group, applied, generation }: SnapshotHeader): Buffer {
  const lengthAt = CONTEXT_AT - 4 + (generation === undefined ? 0 : GENERATION_BYTES);
  const bytes = Buffer.alloc(lengthAt + 4 + applied.context.length);
  bytes[0] = HEADER;
  MAGIC.copy(bytes, 1);
  bytes.writeUInt32LE(generation === undefined ? 1 : 2, 9);
  writeU53LE(bytes, group, 13);
  writeU53LE(bytes, applied.index, 21);
  writeU53LE(bytes, applied.term, 29);
  if (generation !== undefined) bytes.writeUInt32LE(generation, 37);
  bytes.writeUInt32LE(applied.context.length, lengthAt);
  bytes.set(applied.context, lengthAt + 4);
  return bytes;
}

/** Begins a chunk of records; gives where its first piece goes. */
export function beginPieces(bytes: Buffer): number {
  bytes[0] = RECORDS;
  return 1;
}

/** Writes a piece of the record with a key: the bytes of `value` from `start` to `end`. Hot. */
export function writePiece(
  bytes: Buffer,
  at: number,
  key: Buffer,
  more: boolean,
  value: Buffer,
  start: number,
  end: number,
  format: SnapshotFormat,
): void {
  if (format === 1) copyNameLE(key, bytes, at);
  else for (let i = 0; i < NAME_BYTES; i++) bytes[at + i] = key[NAME_AT + i]!;
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
 *
 * @param format that the header tells; of the header itself it may be any
 */
export function decodeContent(bytes: Buffer, format: SnapshotFormat): ChunkContent {
  switch (bytes[0]) {
    case HEADER:
      return { kind: 'header', header: decodeHeader(bytes) };
    case RECORDS:
      return format === 1
        ? { kind: 'records', pieces: decodePieces(bytes) }
        : { kind: 'stored', pieces: decodeStored(bytes) };
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
  if (bytes.length < CONTEXT_AT || !bytes.subarray(1, 9).equals(MAGIC)) throw malformed('it is no snapshot');
  const format = bytes.readUInt32LE(9);
  if (format > FORMAT_NEWEST || format === 0) {
    throw malformed(
      `it has format ${format}, and this program knows ${FORMAT_NEWEST}; use the newer program`,
    );
  }
  const group = readU53LE(bytes, 13);
  const index = readU53LE(bytes, 21);
  const term = readU53LE(bytes, 29);
  const contextAt = CONTEXT_AT + (format === 1 ? 0 : GENERATION_BYTES);
  const isWholeHeader =
    bytes.length >= contextAt && bytes.length === contextAt + bytes.readUInt32LE(contextAt - 4);
  if (group === undefined || index === undefined || term === undefined || !isWholeHeader) {
    throw malformed('its header has a wrong form');
  }
  const applied = { index, term, context: Buffer.from(bytes.subarray(contextAt)) };
  return format === 1 ? { group, applied } : { group, applied, generation: bytes.readUInt32LE(37) };
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

/** Hot: bytes are looked at one by one. */
function decodeStored(bytes: Buffer): StoredPiece[] {
  const pieces: StoredPiece[] = [];
  for (let at = 1; at < bytes.length; ) {
    const dataAt = at + PIECE_HEADER_BYTES;
    if (bytes.length < dataAt) throw malformed('a record is cut short');
    const more = bytes[at + NAME_BYTES]!;
    const length =
      (bytes[at + 14]! | (bytes[at + 15]! << 8) | (bytes[at + 16]! << 16) | (bytes[at + 17]! << 24)) >>> 0;
    if (more > 1 || length > bytes.length - dataAt || !isName(bytes, at))
      throw malformed('a record has a wrong form');
    pieces.push({
      name: bytes.subarray(at, at + NAME_BYTES),
      more: more === 1,
      data: bytes.subarray(dataAt, dataAt + length),
    });
    at = dataAt + length;
  }
  return pieces;
}

function chunkChecksum(sequence: number, bytes: Uint8Array, format: SnapshotFormat): number {
  const head = u32(sequence >>> 0);
  // The first one tells the format.
  if (format === 1 || sequence === 0) return crc32c(bytes, 0, bytes.length, crc32c(head));
  return crc32(bytes, crc32(head));
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function malformed(what: string): SnapshotRefusedError {
  return new SnapshotRefusedError('damaged', what);
}
