/**
 * The bytes of the log. Numbers are little-endian unless said; 64-bit fields hold at most 2^53 - 1.
 *
 *   segment file = header record* zeros-or-remains
 *
 *   header[512]  = magic[8]               "ALTHSEG\n"
 *                  crc[4]                 CRC-32C of the bytes after it, to byte 512; also the segment's salt
 *                  format[4]              1 or 2, of all records in the segment. Magic, crc, format and the size of
 *                                         the header never change
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
 *                  previous hash[4] hash[4]
 *                  payload
 *                  padding                zeros to a multiple of 8
 *
 *   kind 1 entry:       type, index, term: of the entry; hash: its chain hash; previous hash: that of the entry before
 *   kind 2 hard state:  index: commit index; term; payload: vote[8]
 *   kind 3 compaction:  entries up to index are not needed; term and previous hash: of the entry at index; type 1: the
 *                       hash is not known, since only a record of format 1 told of that entry
 *   kind 4 reset:       the log of the group is empty and goes on after index; term, previous hash, type as above
 *   kind 5 drop:        the group is gone
 *
 * An entry implies that those of its group with the same or a higher index are gone, unless it is
 * *relocated*: then it is a copy of an entry that is still valid, made so that an old segment can be given
 * up.
 *
 * All records of one durable write are a *batch*. A batch without its last record was never acknowledged.
 *
 * The chain hash of an entry is the caller's: 32 bits over the entry and the chain hash before it, by which
 * nodes compare their logs. The store computes none when it writes; see `ChainHash` for what it checks when
 * it reads.
 *
 * Format 1 has another end of the record's header, and the caller's hashes in front of an entry's payload:
 *
 *                  previous digest[16]
 *                  previous hash[4] hash[4]     (big-endian; of an entry only)
 *                  payload
 *
 * The digest of an entry is the first 16 bytes of the SHA-256 of its record from `group` to the end of the
 * payload, and so covers the digest before it: a second chain, which only the store knew. A compaction holds
 * the digest of the entry at its index and not the hash, a reset zeros.
 */
import { hash as oneShotHash } from 'node:crypto';
import { readU53LE, writeU53LE } from '../bytes.js';
import { crc32c } from '../crc32c.js';

/** The format of the first versions. Each entry has a digest besides its chain hash. */
export const SEGMENT_FORMAT_FIRST = 1;
export const SEGMENT_FORMAT_NEWEST = 2;
export const SEGMENT_HEADER_BYTES = 512;
export const STORE_ID_BYTES = 16;
const RECORD_HEADER_BYTES = 64;
const RECORD_HEADER_BYTES_FIRST = 72;
const DIGEST_BYTES = 16;
/** The chain hashes in front of an entry's payload in format 1. */
const HASHES_BYTES = 8;

export const KIND_ENTRY = 1;
export const KIND_HARD_STATE = 2;
export const KIND_COMPACTION = 3;
export const KIND_RESET = 4;
export const KIND_DROP = 5;

export const FLAG_LAST_OF_BATCH = 0x80000000;
export const FLAG_RELOCATED = 0x40000000;
const ORDINAL_MASK = 0x3fffffff;
const VOTE_BYTES = 8;
/** In the place of the type. */
const HASH_UNKNOWN = 1;

/**
 * The place of a group's chain behind an entry. An undefined field is not known: of the digests all that
 * was written in format 2, of the hashes those of entries of which only a compaction or reset of format 1
 * tells.
 */
export type ChainLink = {
  /** The chain hash of the entry, an unsigned 32-bit number. */
  readonly hash: number | undefined;
  /** The digest of its record as a latin1 string. */
  readonly digest: string | undefined;
};

const ZERO_DIGEST = '\0'.repeat(DIGEST_BYTES);

/** Where the chain of a group begins. */
export const CHAIN_ROOT: ChainLink = { hash: 0, digest: ZERO_DIGEST };

/** True if two links may be of the same entry, by all that is known of both. */
export function isSameLink(one: ChainLink, other: ChainLink): boolean {
  return (
    (one.hash === other.hash || one.hash === undefined || other.hash === undefined) &&
    (one.digest === other.digest || one.digest === undefined || other.digest === undefined)
  );
}

export type SegmentHeader = {
  readonly format: number;
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
  bytes.writeUInt32LE(header.format, 12);
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
  if (format < SEGMENT_FORMAT_FIRST || format > SEGMENT_FORMAT_NEWEST) return { format, header: undefined };
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
  const header = { format, number, bytes: size, firstSequence, previousEnd, previousCrc, storeId };
  return { format, header };
}

/** The seed of the checksums in a segment; of no meaning before the header is found sound. */
export function saltOf(header: Buffer): number {
  return header.length < SEGMENT_HEADER_BYTES ? 0 : header.readUInt32LE(8);
}

/** Bytes that a record takes in its segment, when header and payload have `length` bytes. */
export function paddedBytes(length: number): number {
  return (length + 7) & ~7;
}

/** Bytes that a record with such a payload takes in a segment of any format, at most. */
export function recordBytesMax(payloadBytes: number): number {
  return paddedBytes(RECORD_HEADER_BYTES_FIRST + HASHES_BYTES + payloadBytes);
}

/** Bytes of a record before its payload: at least, in all formats. */
export const BEFORE_PAYLOAD_BYTES_MIN = RECORD_HEADER_BYTES;

/** Bytes of a record before its payload. */
export function beforePayload(format: number, kind: number): number {
  if (format !== SEGMENT_FORMAT_FIRST) return RECORD_HEADER_BYTES;
  return RECORD_HEADER_BYTES_FIRST + (kind === KIND_ENTRY ? HASHES_BYTES : 0);
}

/** Payload bytes of a hard state. */
export const HARD_STATE_PAYLOAD_BYTES = VOTE_BYTES;

/**
 * Writes all of a record but its place in the batch and its checksum, which {@link sealRecord} adds. The
 * fields that the digest of format 1 covers are final after this call.
 *
 * @param previous of an entry: the link before it; of a compaction or reset: the link at its index
 * @param hash the chain hash of an entry; of no meaning for other kinds
 * @returns the bytes that the record takes
 */
export function encodeRecord(
  bytes: Buffer,
  at: number,
  format: number,
  sequence: number,
  group: number,
  kind: number,
  type: number,
  index: number,
  term: number,
  previous: ChainLink,
  hash: number,
  payload: Uint8Array,
): number {
  const before = beforePayload(format, kind);
  const length = before + payload.length;
  bytes.writeUInt32LE(length, at);
  writeU53LE(bytes, sequence, at + 8);
  writeU53LE(bytes, group, at + 24);
  bytes.writeUInt32LE(kind | (type << 8), at + 32);
  bytes.writeUInt32LE(0, at + 36);
  writeU53LE(bytes, index, at + 40);
  writeU53LE(bytes, term, at + 48);
  if (format === SEGMENT_FORMAT_FIRST) {
    bytes.write(previous.digest ?? ZERO_DIGEST, at + 56, DIGEST_BYTES, 'latin1');
    if (kind === KIND_ENTRY) {
      bytes.writeUInt32BE(previous.hash ?? 0, at + 72);
      bytes.writeUInt32BE(hash, at + 76);
    }
  } else {
    if (kind !== KIND_ENTRY) bytes[at + 33] = previous.hash === undefined ? HASH_UNKNOWN : 0;
    bytes.writeUInt32LE(previous.hash ?? 0, at + 56);
    bytes.writeUInt32LE(kind === KIND_ENTRY ? hash : 0, at + 60);
  }
  bytes.set(payload, at + before);
  const padded = paddedBytes(length);
  for (let pad = length; pad < padded; pad++) bytes[at + pad] = 0;
  return padded;
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

/** A sound record as read. `payload` is part of the buffer it was read from. */
export type DecodedRecord = {
  readonly position: number;
  /** The format of its segment. */
  readonly format: number;
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
 */
export function decodeRecord(
  bytes: Buffer,
  at: number,
  end: number,
  salt: number,
  format: number,
): DecodedRecord | undefined {
  const headerBytes = beforePayload(format, KIND_DROP);
  if (at + headerBytes > end) return undefined;
  const length = bytes.readUInt32LE(at);
  if (length < headerBytes || at + length > end) return undefined;
  const crc = bytes.readUInt32LE(at + 4);
  if (crc32c(bytes, at + 8, at + length, salt) !== crc) return undefined;
  const sequence = readU53LE(bytes, at + 8);
  const group = readU53LE(bytes, at + 24);
  const index = readU53LE(bytes, at + 40);
  const term = readU53LE(bytes, at + 48);
  if (sequence === undefined || group === undefined || index === undefined || term === undefined)
    return undefined;
  const ordinal = bytes.readUInt32LE(at + 16);
  return {
    position: at,
    format,
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
 * The link that the record at `at` names: of the entry before an entry, or at the index of a compaction or
 * reset.
 */
export function previousOf(bytes: Buffer, { position: at, format, kind, type }: DecodedRecord): ChainLink {
  if (format === SEGMENT_FORMAT_FIRST) {
    const digest = bytes.toString('latin1', at + 56, at + 56 + DIGEST_BYTES);
    return { hash: kind === KIND_ENTRY ? bytes.readUInt32BE(at + 72) : undefined, digest };
  }
  const isKnown = kind === KIND_ENTRY || type !== HASH_UNKNOWN;
  return { hash: isKnown ? bytes.readUInt32LE(at + 56) : undefined, digest: undefined };
}

/** The entry's own link: its chain hash, and in format 1 its digest, which is computed here. */
export function linkOf(bytes: Buffer, at: number, format: number): ChainLink {
  if (format !== SEGMENT_FORMAT_FIRST) return { hash: bytes.readUInt32LE(at + 60), digest: undefined };
  const covered = bytes.subarray(at + 24, at + bytes.readUInt32LE(at));
  const digest = oneShotHash('sha256', covered, 'binary').slice(0, DIGEST_BYTES);
  return { hash: bytes.readUInt32BE(at + 76), digest };
}

/** True if an entry has room for what stands before its payload. */
export function isWholeEntry({ format, length }: DecodedRecord): boolean {
  return length >= beforePayload(format, KIND_ENTRY);
}

/** The payload of a record, without a copy. */
export function payloadOf(bytes: Buffer, { position, format, kind, length }: DecodedRecord): Buffer {
  return bytes.subarray(position + beforePayload(format, kind), position + length);
}

/** The vote in a hard state record, or undefined if there is none. */
export function voteOf(bytes: Buffer, { position, format, kind, length }: DecodedRecord): number | undefined {
  const before = beforePayload(format, kind);
  return length === before + VOTE_BYTES ? readU53LE(bytes, position + before) : undefined;
}
