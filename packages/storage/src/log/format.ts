/**
 * The bytes of the log. Numbers are little-endian; 64-bit fields hold at most 2^53 - 1.
 *
 *   segment file = header record* zeros-or-remains
 *
 *   header[512]  = magic[8]               "ALTHSEG\n"
 *                  crc[4]                 CRC-32C of the bytes after it, to byte 512; also the segment's salt
 *                  format[4]              1. Magic, crc, format and the size of the header never change
 *                  number[8]              1, 2, 3, ... ; the file's name says the same
 *                  bytes[8]               size of the file
 *                  first[8]               sequence number of the first record
 *                  previous end[8]        where the records of the segment before end; 0 if there is none
 *                  previous crc[4]        CRC of the record before the first; 0 if there is none
 *                  zeros[4]
 *                  store[16]              opaque identity of the store
 *                  zeros
 *
 *   record       = length[4]              of header and payload, without padding
 *                  crc[4]                 CRC-32C of the bytes after it, seeded with the segment's salt
 *                  sequence[8]            1, 2, 3, ... over all groups and segments
 *                  ordinal[4]             bits 0-29: place in the batch, from 0; bit 30: relocated; bit 31: last of it
 *                  previous crc[4]        of the record with the sequence number before
 *                  group[8]
 *                  kind[1] type[1] zeros[6]
 *                  index[8] term[8]
 *                  previous hash[16]
 *                  payload
 *                  padding                zeros to a multiple of 8
 *
 *   kind 1 entry:       type, index, term: of the entry; previous hash: chain hash of the entry before it
 *   kind 2 hard state:  index: commit index; term; payload: vote[8]
 *   kind 3 compaction:  entries up to index are not needed; term and previous hash: of the entry at index
 *   kind 4 reset:       the log of the group is empty and goes on after index; term and previous hash as above
 *   kind 5 drop:        the group is gone
 *
 * An entry implies that those of its group with the same or a higher index are gone, unless it is
 * *relocated*: then it is a copy of an entry that is still valid, made so that an old segment can be given
 * up.
 *
 * All records of one durable write are a *batch*. A batch without its last record was never acknowledged.
 *
 * The chain hash of an entry is the first 16 bytes of the SHA-256 of its record from `group` to the end of
 * the payload. It holds the chain hash before it, and nothing of the one node's disk: two nodes whose entries
 * have the same chain hash have the same log of that group up to there.
 */
import { hash as oneShotHash } from 'node:crypto';
import { readU53LE, writeU53LE } from '../bytes.js';
import { crc32c } from '../crc32c.js';

export const SEGMENT_FORMAT = 1;
export const SEGMENT_HEADER_BYTES = 512;
export const RECORD_HEADER_BYTES = 72;
export const STORE_ID_BYTES = 16;
export const CHAIN_HASH_BYTES = 16;

export const KIND_ENTRY = 1;
export const KIND_HARD_STATE = 2;
export const KIND_COMPACTION = 3;
export const KIND_RESET = 4;
export const KIND_DROP = 5;

export const FLAG_LAST_OF_BATCH = 0x80000000;
export const FLAG_RELOCATED = 0x40000000;
const ORDINAL_MASK = 0x3fffffff;
const VOTE_BYTES = 8;

/**
 * The chain hash before the first entry of a group: 16 zero bytes, as a latin1 string like all of them in
 * memory.
 */
export const ZERO_HASH = '\0'.repeat(CHAIN_HASH_BYTES);

export type SegmentHeader = {
  readonly number: number;
  readonly bytes: number;
  readonly firstSequence: number;
  readonly previousEnd: number;
  readonly previousCrc: number;
  readonly storeId: Buffer;
};

const MAGIC = Buffer.from('ALTHSEG\n', 'latin1');

export function encodeSegmentHeader(header: SegmentHeader): Buffer {
  const bytes = Buffer.alloc(SEGMENT_HEADER_BYTES);
  MAGIC.copy(bytes);
  bytes.writeUInt32LE(SEGMENT_FORMAT, 12);
  writeU53LE(bytes, header.number, 16);
  writeU53LE(bytes, header.bytes, 24);
  writeU53LE(bytes, header.firstSequence, 32);
  writeU53LE(bytes, header.previousEnd, 40);
  bytes.writeUInt32LE(header.previousCrc, 48);
  header.storeId.copy(bytes, 56, 0, STORE_ID_BYTES);
  bytes.writeUInt32LE(crc32c(bytes, 12), 8);
  return bytes;
}

/** A sound header of any format, or undefined. Callers compare `format` before they look at the rest. */
export function decodeSegmentHeader(
  bytes: Buffer,
): { format: number; header: SegmentHeader | undefined } | undefined {
  if (bytes.length < SEGMENT_HEADER_BYTES || !bytes.subarray(0, 8).equals(MAGIC)) return undefined;
  if (crc32c(bytes, 12, SEGMENT_HEADER_BYTES) !== saltOf(bytes)) return undefined;
  const format = bytes.readUInt32LE(12);
  if (format !== SEGMENT_FORMAT) return { format, header: undefined };
  const [number, size, firstSequence, previousEnd] = [16, 24, 32, 40].map((at) => readU53LE(bytes, at));
  if (
    number === undefined ||
    size === undefined ||
    firstSequence === undefined ||
    previousEnd === undefined
  ) {
    return undefined;
  }
  const storeId = Buffer.from(bytes.subarray(56, 56 + STORE_ID_BYTES));
  const previousCrc = bytes.readUInt32LE(48);
  return { format, header: { number, bytes: size, firstSequence, previousEnd, previousCrc, storeId } };
}

/** The seed of the checksums in a segment; of no meaning before the header is found sound. */
export function saltOf(header: Buffer): number {
  return header.length < SEGMENT_HEADER_BYTES ? 0 : header.readUInt32LE(8);
}

/** Bytes that a record takes in its segment. */
export function recordBytes(payloadBytes: number): number {
  return (RECORD_HEADER_BYTES + payloadBytes + 7) & ~7;
}

/** Payload bytes of a hard state. */
export const HARD_STATE_PAYLOAD_BYTES = VOTE_BYTES;

/**
 * Writes all of a record but its place in the batch and its checksum, which {@link sealRecord} adds. The
 * fields that the chain hash covers are final after this call.
 */
export function encodeRecord(
  bytes: Buffer,
  at: number,
  sequence: number,
  group: number,
  kind: number,
  type: number,
  index: number,
  term: number,
  previousHash: string,
  payload: Uint8Array,
): void {
  const length = RECORD_HEADER_BYTES + payload.length;
  bytes.writeUInt32LE(length, at);
  writeU53LE(bytes, sequence, at + 8);
  writeU53LE(bytes, group, at + 24);
  bytes.writeUInt32LE(kind | (type << 8), at + 32);
  bytes.writeUInt32LE(0, at + 36);
  writeU53LE(bytes, index, at + 40);
  writeU53LE(bytes, term, at + 48);
  bytes.write(previousHash, at + 56, CHAIN_HASH_BYTES, 'latin1');
  bytes.set(payload, at + RECORD_HEADER_BYTES);
  const padded = recordBytes(payload.length);
  for (let pad = length; pad < padded; pad++) bytes[at + pad] = 0;
}

/** Adds the place in the batch and the checksum; gives the checksum, which the next record holds. */
export function sealRecord(
  bytes: Buffer,
  at: number,
  ordinalAndFlags: number,
  previousCrc: number,
  salt: number,
): number {
  bytes.writeUInt32LE(ordinalAndFlags >>> 0, at + 16);
  bytes.writeUInt32LE(previousCrc, at + 20);
  const crc = crc32c(bytes, at + 8, at + bytes.readUInt32LE(at), salt);
  bytes.writeUInt32LE(crc, at + 4);
  return crc;
}

/** The payload of a hard state record. */
export function encodeVote(vote: number): Buffer {
  const bytes = Buffer.allocUnsafe(VOTE_BYTES);
  writeU53LE(bytes, vote, 0);
  return bytes;
}

/** The chain hash of the entry whose record starts at `at`. */
export function chainHash(bytes: Buffer, at: number): string {
  const covered = bytes.subarray(at + 24, at + bytes.readUInt32LE(at));
  return oneShotHash('sha256', covered, 'binary').slice(0, CHAIN_HASH_BYTES);
}

/** A sound record as read. `payload` is part of the buffer it was read from. */
export type DecodedRecord = {
  readonly position: number;
  /** Bytes of header and payload. */
  readonly length: number;
  readonly crc: number;
  readonly sequence: number;
  readonly ordinal: number;
  readonly isLastOfBatch: boolean;
  readonly isRelocated: boolean;
  readonly previousCrc: number;
  readonly group: number;
  readonly kind: number;
  readonly type: number;
  readonly index: number;
  readonly term: number;
};

/**
 * The record at `at`, or undefined if there is none, or none that is whole. Never throws and never reads
 * beyond `end`.
 *
 * @param checksCrc false only for a planted bug
 */
export function decodeRecord(
  bytes: Buffer,
  at: number,
  end: number,
  salt: number,
  checksCrc = true,
): DecodedRecord | undefined {
  if (at + RECORD_HEADER_BYTES > end) return undefined;
  const length = bytes.readUInt32LE(at);
  if (length < RECORD_HEADER_BYTES || at + length > end) return undefined;
  const crc = bytes.readUInt32LE(at + 4);
  if (checksCrc && crc32c(bytes, at + 8, at + length, salt) !== crc) return undefined;
  const sequence = readU53LE(bytes, at + 8);
  const group = readU53LE(bytes, at + 24);
  const index = readU53LE(bytes, at + 40);
  const term = readU53LE(bytes, at + 48);
  if (sequence === undefined || group === undefined || index === undefined || term === undefined)
    return undefined;
  const ordinal = bytes.readUInt32LE(at + 16);
  return {
    position: at,
    length,
    crc,
    sequence,
    ordinal: ordinal & ORDINAL_MASK,
    isLastOfBatch: ordinal >= FLAG_LAST_OF_BATCH,
    isRelocated: (ordinal & FLAG_RELOCATED) !== 0,
    previousCrc: bytes.readUInt32LE(at + 20),
    group,
    kind: bytes[at + 32]!,
    type: bytes[at + 33]!,
    index,
    term,
  };
}

/**
 * The chain hash that the record at `at` holds: of the entry before it, or at the index of a compaction or
 * reset.
 */
export function previousHashOf(bytes: Buffer, at: number): string {
  return bytes.toString('latin1', at + 56, at + 56 + CHAIN_HASH_BYTES);
}

/** The payload of the record at `at`, without a copy. */
export function payloadOf(bytes: Buffer, at: number): Buffer {
  return bytes.subarray(at + RECORD_HEADER_BYTES, at + bytes.readUInt32LE(at));
}

/** The vote in the hard state record at `at`, or undefined if there is none. */
export function voteOf(bytes: Buffer, at: number): number | undefined {
  if (bytes.readUInt32LE(at) !== RECORD_HEADER_BYTES + VOTE_BYTES) return undefined;
  return readU53LE(bytes, at + RECORD_HEADER_BYTES);
}
