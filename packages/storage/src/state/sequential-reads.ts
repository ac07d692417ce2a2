import { crc32c } from '../crc32c.js';
import type { ReadAhead } from '../kv/key-value-store.js';
import { PackedPairs } from '../kv/packed-pairs.js';
import { compareNameAt, NAME_AT, restOfKind, restOfThing } from './keys.js';
import { damagedValue, isValueOf, payloadAt } from './values.js';

export const READ_AHEAD_AFTER_DEFAULT = 32;
/** Fewest bytes of records that are worth a thread of 10 MB, which gets ready before anybody scans. */
export const SCANNED_BYTES_MIN: number = 1 << 20;
/** Where reading ahead did not help, or stays behind, it begins anew after so many times as many records. */
const RETRY_FACTOR = 32;
/** An id that is higher than the last one by at most so much is one behind it. */
const GAP_MAX = 64;
/** Other records that may be read between two that follow each other. */
const STRAYS_MAX = 8;
/** Values that may lie between two records beside one for each id: things with records in several parts have more. */
const PARTS_MAX = 8;
/** Bytes that may be read ahead for nothing: so many for each that was of use, and some to begin with. */
const WASTE_FACTOR = 4;
const WASTE_FREE_BYTES = 64 * 1024;

/**
 * Notices that records are read in the order of their names, which a walk over instances, sets and lists does, and has the next ones
 * read ahead from then on.
 *
 * Keys cost as much to read as values, so the values of the first records of things come without them, and whose they are is found by their
 * checksums, which cover the keys. Where that does not find a record, for what lies between is more than first records, keys come as well.
 *
 * Records that were read ahead are never stale as long as they are dropped when a write to the store ends: until then the records that it changes
 * may be read as they were before. So the slices of background work find the records of the next one read when they come to it.
 */
export class SequentialReads {
  /** The last record of the run: a key of its group and generation, which is the same object for all of these, and its name. */
  private key: Buffer | null = null;
  private kind = 0;
  private id = 0;
  private part = 0;
  /** The id with which the run began: behind the pages of one thing nothing is read ahead. */
  private first = 0;
  /** The number of records that were read one behind the other. */
  private run = 0;
  private strays = 0;
  private isReading = false;
  /** True if only the pages of the first thing of the run are read ahead. */
  private isOneThing = false;
  private pairs: PackedPairs | null = null;
  /** The id of the last record that was found among what was read ahead, or behind which that began. */
  private found = 0;
  /** Bytes of what was read ahead that were of use, and that were not. */
  private usefulBytes = 0;
  private wastedBytes = 0;
  /** The number of records that were read without, since they had not been read ahead by then; they may come yet. */
  private late = 0;

  /** @param runMin records that must have been read one behind the other before the next ones are read ahead */
  constructor(
    private readonly ahead: ReadAhead,
    private readonly runMin: number,
  ) {}

  /**
   * The payload of a record that is about to be read, if it was read ahead. If not, it may be there all the same.
   *
   * @param key the key of the record
   * @throws DamagedStateError
   */
  find(key: Buffer, group: number, kind: number, id: number, part: number): Buffer | undefined {
    if (!this.follows(key, kind, id, part)) return undefined;
    if (this.isReading && !(this.isOneThing && id !== this.first))
      return this.take(key, group, kind, id, part);
    if (this.run >= this.runMin) this.begin(key, true);
    return undefined;
  }

  /** Drops what was read ahead. To be called at the end of each write, before anybody learns of it. */
  drop(): void {
    if (!this.isReading) return;
    this.isReading = false;
    this.pairs = null;
    this.ahead.end();
  }

  private begin(key: Buffer, valuesOnly: boolean): void {
    this.isReading = true;
    this.pairs = null;
    this.found = this.id;
    this.usefulBytes = 0;
    this.wastedBytes = 0;
    this.late = 0;
    this.isOneThing = this.part > 0 && this.id === this.first;
    this.ahead.begin(this.isOneThing ? restOfThing(key) : restOfKind(key), valuesOnly);
  }

  private take(key: Buffer, group: number, kind: number, id: number, part: number): Buffer | undefined {
    const keyCrc = crc32c(key);
    let before = id - this.found - 1 + PARTS_MAX;
    for (;;) {
      const pairs = this.pairs?.isAtEnd === false ? this.pairs : this.nextPairs();
      if (pairs === null) return undefined;
      const { bytes, keyAt, valueAt, end, size } = pairs;
      const isNamed = keyAt < valueAt;
      const order = isNamed
        ? compareNameAt(bytes, keyAt + NAME_AT, kind, id, part)
        : Number(isValueOf(keyCrc, bytes, valueAt, end)) - 1;
      if (order > 0) return undefined;
      pairs.next();
      if (order === 0) {
        this.found = id;
        this.usefulBytes += size;
        if (isNamed && !isValueOf(keyCrc, bytes, valueAt, end)) throw damagedValue(key, group);
        return bytes.subarray(payloadAt(bytes, valueAt), end);
      }
      if (!isNamed && before === 0) {
        this.begin(key, false);
        return undefined;
      }
      before -= 1;
      if (this.late > 0) {
        this.late -= 1;
        continue;
      }
      this.wastedBytes += size;
      if (this.wastedBytes > WASTE_FREE_BYTES + WASTE_FACTOR * this.usefulBytes) {
        this.drop();
        this.run = -this.retryAfter;
        return undefined;
      }
    }
  }

  private nextPairs(): PackedPairs | null {
    const bytes = this.ahead.next();
    if (bytes === undefined) {
      this.late += 1;
      if (this.late < this.retryAfter) return null;
    } else {
      this.pairs = new PackedPairs(bytes);
      if (!this.pairs.isAtEnd) return this.pairs;
    }
    this.drop();
    this.run = 0;
    return null;
  }

  private get retryAfter(): number {
    return RETRY_FACTOR * this.runMin;
  }

  /** True if a record comes behind the last one of the run. */
  private follows(key: Buffer, kind: number, id: number, part: number): boolean {
    const gap = id - this.id;
    const isNext =
      key === this.key &&
      kind === this.kind &&
      ((gap > 0 && gap <= GAP_MAX) || (gap === 0 && part > this.part));
    if (isNext) {
      if (this.run <= 0) this.first = id;
      this.run += 1;
    } else {
      this.strays += 1;
      if (this.strays <= STRAYS_MAX && this.key !== null) return false;
      this.drop();
      this.key = key;
      this.kind = kind;
      this.run = 0;
    }
    this.id = id;
    this.part = part;
    this.strays = 0;
    return isNext;
  }
}
