import type { Disk, DiskEntry } from '../disk/disk.js';
import { writeDurably } from '../disk/disk.js';
import { DamagedLogError, FolderContentError, NewerFormatError } from '../errors.js';
import { MarkFile } from '../mark.js';
import {
  BEFORE_PAYLOAD_BYTES_MIN,
  type DecodedRecord,
  decodeRecord,
  decodeSegmentHeader,
  paddedBytes,
  SEGMENT_FORMAT_NEWEST,
  SEGMENT_HEADER_BYTES,
  type SegmentHeader,
  saltOf,
} from './format.js';
import type { GroupLog } from './group-log.js';
import type { LogStoreSettings } from './options.js';
import { GroupRecovery } from './recovered-groups.js';
import {
  isSpareName,
  MARK_NAME,
  missingSegment,
  type Segment,
  Segments,
  segmentName,
  segmentNumber,
} from './segments.js';

/** The result of recovery, from which a log store starts. */
export type RecoveredLog = {
  readonly segments: Segments;
  readonly mark: MarkFile;
  readonly logs: Map<number, GroupLog>;
  readonly nextSequence: number;
  readonly previousCrc: number;
};

/**
 * Reads the whole log, verifies it, and makes what it trusts durable. The order of the steps is such that a
 * crash at any write leaves a folder that recovers to the same state.
 *
 * 1. The mark tells the first segment and how far the log is known to be durable.
 * 2. All segments are read in order. Only the end of the last one may be torn: the batch that was being written when
 *    the process died, which nobody was told of. Anything else that does not fit is damage, and an error.
 * 3. The torn batch is overwritten with zeros, so that nothing of it can be taken for a later record.
 * 4. What lies beyond the mark is written again: it was read, but perhaps only from the system's cache, and must not
 *    be promised before it is on the disk. (An fsync is not enough: after a failed write the cache may claim to be
 *    clean. Rebello et al., "Can Applications Recover from fsync Failures?", USENIX ATC 2020.)
 */
export async function recoverLog(disk: Disk, settings: LogStoreSettings): Promise<RecoveredLog> {
  const entries = await disk.list();
  for (const { name } of entries) {
    const isKnown = name === MARK_NAME || isSpareName(name) || segmentNumber(name) !== undefined;
    if (!isKnown) throw new FolderContentError('of the log', `the file ${name} is not part of a log`);
  }
  const mark = await openMark(disk, entries);
  const segments = new Segments(disk, mark, settings);
  try {
    return await recoverSegments(disk, settings, entries, mark, segments);
  } catch (error) {
    await segments.close();
    await mark.close();
    throw error;
  }
}

async function recoverSegments(
  disk: Disk,
  settings: LogStoreSettings,
  entries: readonly DiskEntry[],
  mark: MarkFile,
  segments: Segments,
): Promise<RecoveredLog> {
  const [markedSequence, firstSegment] = mark.values;
  const numbers = presentSegments(entries, firstSegment, markedSequence);
  const scan = new Scan(settings, markedSequence);
  for (const [at, number] of numbers.entries()) {
    await scan.segment(disk, segments, number, at === numbers.length - 1);
  }
  scan.checkMark();
  const logs = scan.groups.finish(segments);
  await scan.makeTailDurable();
  await disk.sync();
  for (const { name } of entries) {
    const number = segmentNumber(name);
    if (number !== undefined && number < firstSegment) await disk.remove(name);
  }
  await segments.adoptSpares(entries);
  if (numbers.length === 0) await segments.roll(0, 1, 0);
  mark.set([scan.nextSequence - 1, segments.oldest.number, 0, 0]);
  await mark.settled();
  for (const log of logs.values()) log.report(segments);
  return { segments, mark, logs, nextSequence: scan.nextSequence, previousCrc: scan.previousCrc };
}

/** The first file of a new log. Without it, and with segments, the log is damaged. */
async function openMark(disk: Disk, entries: readonly DiskEntry[]): Promise<MarkFile> {
  const first = entries.find(({ name }) => segmentNumber(name) !== undefined);
  const exists = entries.some(({ name }) => name === MARK_NAME);
  const mark = exists ? await MarkFile.open(disk, MARK_NAME) : undefined;
  if (mark !== undefined) return mark;
  if (first !== undefined) {
    const missing = exists
      ? 'both copies of the high-water mark are damaged'
      : 'the high-water mark is missing';
    throw new DamagedLogError({ segment: MARK_NAME, offset: 0, missing });
  }
  const created = await MarkFile.create(disk, MARK_NAME, [0, 1, 0, 0]);
  await disk.sync();
  return created;
}

/** The numbers of the segments to read. Every one from the first to the last must be there. */
function presentSegments(entries: readonly DiskEntry[], first: number, markedSequence: number): number[] {
  const numbers = entries
    .map(({ name }) => segmentNumber(name))
    .filter((number) => number !== undefined && number >= first)
    .map(Number)
    .sort((a, b) => a - b);
  if (numbers.length === 0 && markedSequence > 0) throw missingSegment(first);
  for (const [at, number] of numbers.entries()) {
    if (number !== first + at) throw missingSegment(first + at);
  }
  return numbers;
}

/** The state of reading through the segments. */
class Scan {
  readonly groups: GroupRecovery;
  nextSequence = 1;
  previousCrc = 0;
  /** The last segment with its content, and what of it is not known to be durable. */
  private tail: { segment: Segment; content: Buffer; unsureFrom: number; tornTo: number } | undefined;
  private previousEnd = 0;
  private batchCrc = 0;
  private isFirst = true;

  constructor(
    private readonly settings: LogStoreSettings,
    private readonly markedSequence: number,
  ) {
    this.groups = new GroupRecovery(settings.chainHash);
  }

  async segment(disk: Disk, segments: Segments, number: number, isLast: boolean): Promise<void> {
    const name = segmentName(number);
    const file = await disk.open(name);
    const content = file.read(0, file.bytes);
    let header: SegmentHeader;
    try {
      header = this.header(content, number);
    } catch (error) {
      await file.close();
      throw error;
    }
    const segment: Segment = {
      number,
      file,
      format: header.format,
      salt: saltOf(content),
      bytes: file.bytes,
      end: SEGMENT_HEADER_BYTES,
      live: 0,
    };
    segments.adopt(segment);
    if (file.bytes !== header.bytes) {
      const missing = `the file has ${file.bytes} bytes instead of ${header.bytes}`;
      throw new DamagedLogError({ segment: name, offset: Math.min(file.bytes, header.bytes), missing });
    }
    this.checkJoint(header);
    this.records(segment, content, isLast);
    this.previousEnd = segment.end;
  }

  /** The log must not end before what is known to be durable. */
  checkMark(): void {
    if (this.nextSequence > this.markedSequence) return;
    const segment = this.tail?.segment;
    throw new DamagedLogError({
      segment: segment === undefined ? MARK_NAME : segmentName(segment.number),
      offset: segment?.end ?? 0,
      missing: `records ${this.nextSequence} to ${this.markedSequence}, which were acknowledged, are gone`,
    });
  }

  async makeTailDurable(): Promise<void> {
    if (this.tail === undefined) return;
    const { segment, content, unsureFrom, tornTo } = this.tail;
    if (tornTo > segment.end) {
      await writeDurably(segment.file, Buffer.alloc(tornTo - segment.end), segment.end);
    }
    if (unsureFrom < segment.end) {
      await writeDurably(segment.file, content.subarray(unsureFrom, segment.end), unsureFrom);
    }
  }

  private header(content: Buffer, number: number): SegmentHeader {
    const segment = segmentName(number);
    const decoded = decodeSegmentHeader(content);
    if (decoded === undefined) {
      throw new DamagedLogError({ segment, offset: 0, missing: 'the header does not hold its checksum' });
    }
    if (decoded.header === undefined)
      throw new NewerFormatError('The log', decoded.format, SEGMENT_FORMAT_NEWEST);
    if (decoded.header.number !== number) {
      throw new DamagedLogError({
        segment,
        offset: 16,
        missing: `the file is segment ${decoded.header.number}`,
      });
    }
    if (!decoded.header.storeId.equals(this.settings.storeId)) {
      throw new DamagedLogError({
        segment,
        offset: 56,
        missing: 'the file belongs to the log of another node',
      });
    }
    return decoded.header;
  }

  /** A segment goes on exactly where the one before it ended. */
  private checkJoint(header: SegmentHeader): void {
    const { number, firstSequence, previousCrc, previousEnd } = header;
    const fits =
      firstSequence === this.nextSequence &&
      previousCrc === this.previousCrc &&
      previousEnd === this.previousEnd;
    if (!this.isFirst && !fits) {
      throw new DamagedLogError({
        segment: segmentName(number - 1),
        offset: this.previousEnd,
        missing: `records ${this.nextSequence} to ${firstSequence - 1}, which ${segmentName(number)} follows, are gone`,
      });
    }
    this.isFirst = false;
    this.nextSequence = firstSequence;
    this.previousCrc = previousCrc;
  }

  /** Batch by batch: a batch counts when its last record is there. */
  private records(segment: Segment, content: Buffer, isLast: boolean): void {
    let batch: DecodedRecord[] = [];
    let unsureFrom = -1;
    for (let at = SEGMENT_HEADER_BYTES; ; ) {
      const record = this.recordAt(segment, content, at, batch.length);
      if (record === undefined) break;
      batch.push(record);
      at += paddedBytes(record.length);
      if (!record.isLastOfBatch) continue;
      for (const member of batch) this.groups.take(member, content, segment);
      if (unsureFrom < 0 && record.sequence > this.markedSequence) unsureFrom = segment.end;
      this.nextSequence = record.sequence + 1;
      this.previousCrc = record.crc;
      segment.end = at;
      batch = [];
    }
    if (!isLast) return;
    const tornTo = this.tornEnd(segment, content, batch);
    this.tail = { segment, content, unsureFrom: unsureFrom < 0 ? segment.end : unsureFrom, tornTo };
  }

  /** The record that must come now, or undefined. */
  private recordAt(
    segment: Segment,
    content: Buffer,
    at: number,
    ordinal: number,
  ): DecodedRecord | undefined {
    const record = decodeRecord(content, at, content.length, segment.salt, segment.format);
    return record !== undefined && this.continues(record, ordinal) ? record : undefined;
  }

  /** Sequence numbers, places in the batch and checksums form one chain. */
  private continues(record: DecodedRecord, ordinal: number): boolean {
    const previousCrc = ordinal === 0 ? this.previousCrc : this.batchCrc;
    const fits =
      record.sequence === this.nextSequence + ordinal &&
      record.ordinal === ordinal &&
      record.previousCrc === previousCrc;
    if (fits) this.batchCrc = record.crc;
    return fits;
  }

  /**
   * The log ends at `segment.end`. If a record of a later batch lies beyond, the batch that should be here
   * was complete once: damage. What else lies beyond is the rest of the torn batch; gives where it ends.
   */
  private tornEnd(segment: Segment, content: Buffer, begun: readonly DecodedRecord[]): number {
    const expected = this.nextSequence;
    const latest = expected + content.length / BEFORE_PAYLOAD_BYTES_MIN;
    const lastBegun = begun.at(-1);
    let tornTo = lastBegun === undefined ? segment.end : lastBegun.position + lastBegun.length;
    for (let at = segment.end; at + BEFORE_PAYLOAD_BYTES_MIN <= content.length; at += 8) {
      const length = content.readUInt32LE(at);
      if (length < BEFORE_PAYLOAD_BYTES_MIN || content.readUInt32LE(at + 12) > MAX_SEQUENCE_HIGH) continue;
      const sequence = content.readUInt32LE(at + 12) * TWO_32 + content.readUInt32LE(at + 8);
      if (sequence < expected || sequence > latest) continue;
      const record = decodeRecord(content, at, content.length, segment.salt, segment.format);
      if (record === undefined) continue;
      if (record.sequence - record.ordinal > expected) {
        throw new DamagedLogError({
          segment: segmentName(segment.number),
          offset: segment.end,
          missing: `record ${expected} does not hold its checksum, though record ${record.sequence} follows it`,
        });
      }
      tornTo = Math.max(tornTo, at + record.length);
    }
    return tornTo;
  }
}

const TWO_32 = 4294967296;
const MAX_SEQUENCE_HIGH = 0x1fffff;
