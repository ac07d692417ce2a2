import { DamagedLogError, demand } from '../errors.js';
import {
  BEFORE_PAYLOAD_BYTES_MIN,
  type ChainLink,
  type DecodedRecord,
  decodeRecord,
  isSameLink,
  KIND_ENTRY,
  linkOf,
  payloadOf,
  previousOf,
} from './format.js';
import type { GroupLog } from './group-log.js';
import { type Segment, type Segments, segmentName } from './segments.js';
import type { TailCache } from './tail-cache.js';
import type { ChainHash, LogEntry } from './types.js';

/** One read of the disk fetches so many bytes at most, unless a single record is larger. */
const WINDOW_BYTES = 256 * 1024;

/** An entry read back from the disk, with what the chain needs. */
export type StoredEntry = LogEntry & { readonly previous: ChainLink; readonly link: ChainLink };

/** Reads entries of a group from memory (`recent`) or disk, in order; see `LogView.entries` for the bounds. */
export function readEntries(
  segments: Segments,
  recent: TailCache,
  log: GroupLog,
  low: number,
  high: number,
  maxBytes: number,
): LogEntry[] {
  demand(log.firstIndex <= low && low <= high && high <= log.lastIndex + 1, 'a read outside of the log');
  const entries: LogEntry[] = [];
  let room = maxBytes;
  for (let index = low; index < high; ) {
    const end = windowEnd(log, recent, index, high, Math.max(room, 0));
    for (const { term, type, hash, payload } of readWindow(segments, log, index, end, recent)) {
      room -= payload.length;
      if (room < 0 && entries.length > 0) return entries;
      entries.push({ index, term, type, hash, payload });
      index++;
    }
  }
  return entries;
}

/** Reads entries `low` to `high - 1`, which lie one after the other in one segment, and verifies them. */
export function readWindow(
  segments: Segments,
  log: GroupLog,
  low: number,
  high: number,
  recent?: TailCache,
): StoredEntry[] {
  const { positions } = log;
  const segment = segments.get(positions.segmentOf(low));
  const start = positions.positionOf(low);
  const length = positions.positionOf(high - 1) + positions.lengthOf(high - 1) - start;
  const bytes = recent?.read(segment.number, start, length) ?? segment.file.read(start, length);
  const entries: StoredEntry[] = [];
  let expected = low === log.firstIndex ? log.base.link : undefined;
  for (let index = low; index < high; index++) {
    const at = positions.positionOf(index) - start;
    const record = decodeRecord(bytes, at, bytes.length, segment.salt, segment.format);
    const term = log.term(index);
    if (
      record === undefined ||
      record.kind !== KIND_ENTRY ||
      record.group !== log.id ||
      record.index !== index ||
      record.term !== term
    ) {
      throw damagedEntry(segment, start + at, log.id, index, 'does not hold its checksum or is another one');
    }
    const previous = previousOf(bytes, record);
    const link = linkOf(bytes, at, segment.format);
    if (expected !== undefined && !isSameLink(previous, expected)) {
      throw damagedEntry(segment, start + at, log.id, index, 'does not follow the entry before it');
    }
    if (!holdsItsHash(bytes, record, previous, link, segments.chainHash)) {
      throw damagedEntry(segment, start + at, log.id, index, 'does not hold its chain hash');
    }
    expected = link;
    const payload = payloadOf(bytes, record);
    entries.push({
      index,
      term: record.term,
      type: record.type,
      hash: link.hash ?? 0,
      payload,
      previous,
      link,
    });
  }
  return entries;
}

/** The link of an entry, or of the base. */
export function linkAt(
  segments: Segments,
  log: GroupLog,
  index: number,
  recent?: TailCache,
): ChainLink | undefined {
  const { base } = log;
  if (index === log.lastIndex) return log.lastLink;
  if (index === base.index && base.link.hash !== undefined) return base.link;
  if (index < base.index || index > log.lastIndex) return undefined;
  const [after] = readWindow(segments, log, index + 1, index + 2, recent);
  // A base of format 1 does not hold its chain hash, and the entry behind it may be of a format without digests.
  if (index === base.index) return { hash: after?.previous.hash, digest: base.link.digest };
  return after?.previous;
}

/** True if the entry in a record is the one that its chain hash is of. */
export function holdsItsHash(
  bytes: Buffer,
  record: DecodedRecord,
  previous: ChainLink,
  { hash }: ChainLink,
  chainHash: ChainHash | null,
): boolean {
  if (chainHash === null || previous.hash === undefined) return true;
  return chainHash(previous.hash, record.index, record.term, record.type, payloadOf(bytes, record)) === hash;
}

/**
 * The end of one read: one segment, rising positions, one page of what is in memory, no more than wanted.
 */
function windowEnd(log: GroupLog, recent: TailCache, low: number, high: number, room: number): number {
  const { positions } = log;
  const segment = positions.segmentOf(low);
  const start = positions.positionOf(low);
  const limit = recent.endAt(segment, start) ?? start + WINDOW_BYTES;
  let payload = positions.lengthOf(low) - BEFORE_PAYLOAD_BYTES_MIN;
  let end = low + 1;
  for (; end < high; end++) {
    payload += positions.lengthOf(end) - BEFORE_PAYLOAD_BYTES_MIN;
    const position = positions.positionOf(end);
    if (payload > room || positions.segmentOf(end) !== segment || position < positions.positionOf(end - 1))
      break;
    if (position + positions.lengthOf(end) > limit) break;
  }
  return end;
}

function damagedEntry(
  segment: Segment,
  offset: number,
  group: number,
  index: number,
  what: string,
): DamagedLogError {
  const missing = `entry ${index} of group ${group} ${what}`;
  return new DamagedLogError({ segment: segmentName(segment.number), offset, missing });
}
