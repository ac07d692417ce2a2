import { type Disk, type DiskEntry, type DiskFile, writeDurably } from '../disk/disk.js';
import { DamagedLogError, demand, isDiskFull } from '../errors.js';
import type { MarkFile } from '../mark.js';
import { encodeSegmentHeader, SEGMENT_HEADER_BYTES } from './format.js';
import type { LiveLedger } from './position-index.js';
import type { ChainHash } from './types.js';

export const MARK_NAME = 'mark';
const SEGMENT_NAME = /^segment-(\d{12})$/;
const SPARE_NAME = /^spare-(\d{12})$/;
const SPARES_MAX = 2;

/** One open file of the log. Invariant: SEGMENT_HEADER_BYTES <= end <= bytes. */
export type Segment = {
  readonly number: number;
  readonly file: DiskFile;
  /** The format of all its records. */
  readonly format: number;
  /** CRC of the header: the seed of all checksums in the segment. */
  readonly salt: number;
  readonly bytes: number;
  /** The position of the next record. */
  end: number;
  /** Bytes of records that are still needed. */
  live: number;
};

export function segmentName(number: number): string {
  return `segment-${String(number).padStart(12, '0')}`;
}

/** The number in the name of a segment; undefined for other names. */
export function segmentNumber(name: string): number | undefined {
  const match = SEGMENT_NAME.exec(name);
  return match === null ? undefined : Number(match[1]);
}

/** A file that waits to become a segment: its content is of no meaning. */
export function isSpareName(name: string): boolean {
  return SPARE_NAME.test(name);
}

export type SegmentsOptions = {
  readonly segmentBytes: number;
  readonly storeId: Buffer;
  /** The format of new segments; none has a lower one than the segment before. */
  readonly format: number;
  readonly chainHash: ChainHash | null;
};

type Spare = { readonly name: string; readonly file: DiskFile };

/**
 * The files of the log, oldest first. The newest is the active one, the only one that is written to. Next to
 * them a spare or two of the standard size, so that neither a new segment nor a full disk stops an append; a
 * segment that is not needed any more becomes a spare again.
 */
export class Segments implements LiveLedger {
  private readonly byNumber = new Map<number, Segment>();
  /** Rising numbers without gaps. */
  private order: Segment[] = [];
  private readonly spares: Spare[] = [];
  private spareNumber = 0;
  private preparing: Promise<void> | undefined;
  private reclaiming: Promise<void> | undefined;
  private totalBytes = 0;
  private live = 0;
  /** The format of the next segment. */
  private format: number;

  constructor(
    private readonly disk: Disk,
    private readonly mark: MarkFile,
    private readonly options: SegmentsOptions,
  ) {
    this.format = options.format;
  }

  get active(): Segment {
    const active = this.order.at(-1);
    demand(active !== undefined, 'a log without a segment');
    return active;
  }

  get oldest(): Segment {
    return this.order[0] ?? this.active;
  }

  get count(): number {
    return this.order.length;
  }

  /** Bytes of all segments, without spares. */
  get bytes(): number {
    return this.totalBytes;
  }

  /** Bytes of all records that are needed. */
  get liveBytes(): number {
    return this.live;
  }

  /** The function that computes chain hashes, if it is known. */
  get chainHash(): ChainHash | null {
    return this.options.chainHash;
  }

  /** The active segment is of an older format than what is to be written. */
  get isOutdated(): boolean {
    return this.active.format < this.format;
  }

  /** Has this format written from the next segment on, unless a higher one is already. */
  private useFormat(format: number): void {
    this.format = Math.max(this.format, format);
  }

  get(number: number): Segment {
    const segment = this.byNumber.get(number);
    demand(segment !== undefined, `segment ${number} is in use but not open`);
    return segment;
  }

  add(number: number, bytes: number): void {
    this.get(number).live += bytes;
    this.live += bytes;
  }

  /** Takes in a segment that recovery has read. */
  adopt(segment: Segment): void {
    demand(
      this.order.length === 0 || this.active.number + 1 === segment.number,
      'segments must be adopted in order',
    );
    this.useFormat(segment.format);
    this.order.push(segment);
    this.byNumber.set(segment.number, segment);
    this.totalBytes += segment.bytes;
  }

  /** Takes in the spares of a former run. */
  async adoptSpares(entries: readonly DiskEntry[]): Promise<void> {
    for (const entry of entries) {
      const number = SPARE_NAME.exec(entry.name)?.[1];
      if (number === undefined) continue;
      this.spareNumber = Math.max(this.spareNumber, Number(number));
      if (entry.bytes === this.options.segmentBytes && this.spares.length < SPARES_MAX) {
        this.spares.push({ name: entry.name, file: await this.disk.open(entry.name) });
      } else {
        await this.disk.remove(entry.name);
      }
    }
  }

  /**
   * Makes a new active segment with room for at least `needed` bytes of records. All writes to the former one
   * must be durable. The new one's name is durable when this resolves. An `ENOSPC` leaves everything as it
   * was.
   */
  async roll(needed: number, firstSequence: number, previousCrc: number): Promise<void> {
    const bytes = Math.max(this.options.segmentBytes, (needed + SEGMENT_HEADER_BYTES + 7) & ~7);
    const former = this.order.at(-1);
    await this.preparing?.catch(() => undefined);
    const spare = bytes === this.options.segmentBytes ? await this.takeSpare() : await this.makeSpare(bytes);
    const number = (former?.number ?? this.mark.values[1] - 1) + 1;
    const { storeId } = this.options;
    const { format } = this;
    const previousEnd = former?.end ?? 0;
    const header = encodeSegmentHeader({
      format,
      number,
      bytes,
      firstSequence,
      previousEnd,
      previousCrc,
      storeId,
    });
    await writeDurably(spare.file, header, 0);
    await this.disk.rename(spare.name, segmentName(number));
    await this.disk.sync();
    const salt = header.readUInt32LE(8);
    this.adopt({ number, file: spare.file, format, salt, bytes, end: SEGMENT_HEADER_BYTES, live: 0 });
  }

  /**
   * Starts to make a spare if there is none. Rejects with what went wrong; `ENOSPC` is found again at the
   * next roll.
   */
  prepareSpare(): Promise<void> {
    if (this.spares.length > 0) return Promise.resolve();
    this.preparing ??= this.makeSpare(this.options.segmentBytes)
      .then((spare) => {
        this.spares.push(spare);
      })
      .finally(() => {
        this.preparing = undefined;
      });
    return this.preparing;
  }

  /** The oldest segment holds nothing that is needed. */
  get isReclaimable(): boolean {
    return this.reclaiming === undefined && this.order.length > 1 && this.oldest.live === 0;
  }

  /**
   * Gives up the oldest segments as long as nothing in them is needed. The mark tells the new first segment,
   * durably, before a file goes: so a segment that is missing later is known to be a loss.
   */
  reclaim(): Promise<void> {
    this.reclaiming ??= this.reclaimAll().finally(() => {
      this.reclaiming = undefined;
    });
    return this.reclaiming;
  }

  async close(): Promise<void> {
    await this.preparing?.catch(() => undefined);
    await this.reclaiming?.catch(() => undefined);
    for (const { file } of [...this.order, ...this.spares]) await file.close();
  }

  private async reclaimAll(): Promise<void> {
    while (this.order.length > 1 && this.oldest.live === 0) {
      let free = 0;
      while (free < this.order.length - 1 && this.order[free]!.live === 0) free++;
      const given = this.order.splice(0, free);
      for (const segment of given) {
        this.byNumber.delete(segment.number);
        this.totalBytes -= segment.bytes;
      }
      const [sequence] = this.mark.values;
      this.mark.set([sequence, this.oldest.number, 0, 0]);
      try {
        await this.mark.settled();
      } catch (error) {
        if (!isDiskFull(error)) throw error;
        this.keep(given);
        return;
      }
      for (const segment of given) await this.giveUp(segment);
    }
  }

  /** Keeps segments that were to be given up, until there is room for the mark. */
  private keep(segments: readonly Segment[]): void {
    this.order.unshift(...segments);
    for (const segment of segments) {
      this.byNumber.set(segment.number, segment);
      this.totalBytes += segment.bytes;
    }
  }

  private async giveUp(segment: Segment): Promise<void> {
    const name = segmentName(segment.number);
    if (segment.bytes === this.options.segmentBytes && this.spares.length < SPARES_MAX) {
      const spare = this.nextSpareName();
      await this.disk.rename(name, spare);
      this.spares.push({ name: spare, file: segment.file });
    } else {
      await this.disk.remove(name);
      await segment.file.close();
    }
  }

  private async takeSpare(): Promise<Spare> {
    return this.spares.shift() ?? this.makeSpare(this.options.segmentBytes);
  }

  private async makeSpare(bytes: number): Promise<Spare> {
    const name = this.nextSpareName();
    return { name, file: await this.disk.create(name, bytes) };
  }

  private nextSpareName(): string {
    this.spareNumber++;
    return `spare-${String(this.spareNumber).padStart(12, '0')}`;
  }
}

/** The error for a segment that is not there. */
export function missingSegment(number: number): DamagedLogError {
  return new DamagedLogError({
    segment: segmentName(number),
    offset: 0,
    missing: 'the whole file is missing',
  });
}
