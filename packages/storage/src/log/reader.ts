import { DamagedLogError, demand } from '../errors.js';
import {
  chainHash,
  decodeRecord,
  KIND_ENTRY,
  payloadOf,
  previousHashOf,
  RECORD_HEADER_BYTES,
} from './format.js';
import type { GroupLog } from './group-log.js';
import { type Segment, type Segments, segmentName } from './segments.js';
import type { LogEntry } from './types.js';

/** One read of the disk fetches so many bytes at most, unless a single record is larger. */
const WINDOW_BYTES = 256 * 1024;

/** An entry read back from the disk, with what the chain needs. */
export type StoredEntry = LogEntry & { readonly previousHash: string; readonly hash: string };

/** Reads entries of a group from memory or disk, in order; see `LogView.entries` for the bounds. */
export function readEntries(
  segments: Segments,
  log: GroupLog,
  low: number,
  high: number,
  maxBytes: number,
  checksCrc: boolean,
): LogEntry[] {
  demand(log.firstIndex <= low && low <= high && high <= log.lastIndex + 1, 'a read outside of the log');
  const entries: LogEntry[] = [];
  let room = maxBytes;
  for (let index = low; index < high; ) {
    const inMemory = log.remembered(index);
    if (inMemory !== undefined) {
      room -= inMemory.payload.length;
      if (room < 0 && entries.length > 0) break;
      entries.push({ index, term: inMemory.term, type: inMemory.type, payload: inMemory.payload });
      index++;
      continue;
    }
    const end = windowEnd(log, index, high, Math.max(room, 0));
    for (const entry of readWindow(segments, log, index, end, checksCrc)) {
      room -= entry.payload.length;
      if (room < 0 && entries.length > 0) return entries;
      entries.push({ index: entry.index, term: entry.term, type: entry.type, payload: entry.payload });
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
  checksCrc: boolean,
): StoredEntry[] {
  const { positions } = log;
  const segment = segments.get(positions.segmentOf(low));
  const start = positions.positionOf(low);
  const length = positions.positionOf(high - 1) + positions.lengthOf(high - 1) - start;
  const bytes = segment.file.read(start, length);
  const entries: StoredEntry[] = [];
  let expected: string | undefined = low === log.firstIndex ? log.base.hash : undefined;
  for (let index = low; index < high; index++) {
    const at = positions.positionOf(index) - start;
    const record = decodeRecord(bytes, at, bytes.length, segment.salt, checksCrc);
    const term = log.term(index);
    if (
      record === undefined ||
      record.kind !== KIND_ENTRY ||
      record.group !== log.id ||
      (checksCrc && (record.index !== index || record.term !== term))
    ) {
      throw damagedEntry(segment, start + at, log.id, index, 'does not hold its checksum or is another one');
    }
    const previousHash = previousHashOf(bytes, at);
    const hash = chainHash(bytes, at);
    if (checksCrc && expected !== undefined && previousHash !== expected) {
      throw damagedEntry(segment, start + at, log.id, index, 'does not follow the entry before it');
    }
    expected = hash;
    entries.push({
      index,
      term: record.term,
      type: record.type,
      payload: payloadOf(bytes, at),
      previousHash,
      hash,
    });
  }
  return entries;
}

/** The chain hash at an index of the log or at its base. */
export function hashAt(
  segments: Segments,
  log: GroupLog,
  index: number,
  checksCrc: boolean,
): string | undefined {
  if (index === log.lastIndex) return log.lastHash;
  if (index === log.base.index) return log.base.hash;
  if (index < log.base.index || index > log.lastIndex) return undefined;
  const [after] = readWindow(segments, log, index + 1, index + 2, checksCrc);
  return after?.previousHash;
}

/**
 * The end of one read: one segment, rising positions, entries that are not in memory, no more than wanted.
 */
function windowEnd(log: GroupLog, low: number, high: number, room: number): number {
  const { positions } = log;
  const segment = positions.segmentOf(low);
  const start = positions.positionOf(low);
  let payload = positions.lengthOf(low) - RECORD_HEADER_BYTES;
  let end = low + 1;
  for (; end < high; end++) {
    payload += positions.lengthOf(end) - RECORD_HEADER_BYTES;
    const position = positions.positionOf(end);
    if (payload > room || positions.segmentOf(end) !== segment || position < positions.positionOf(end - 1))
      break;
    if (position + positions.lengthOf(end) - start > WINDOW_BYTES || log.remembered(end) !== undefined) break;
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
