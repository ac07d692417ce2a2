/**
 * A small file of its own that holds a few rising numbers, such as how far a log is known to be durable. It
 * is written beside the data it speaks of, never before them: what it says is true, though it may lag.
 *
 *   file = slot padding slot              slots at bytes 0 and 4096, so that no write touches both
 *   slot = magic[8]  "ALTHMARK"
 *          crc[4]                         CRC-32C of the bytes after it, to the end of the slot
 *          format[4]                      1
 *          generation[8]                  the slot with the higher generation is the newer one
 *          value[8] × 4
 *
 * Numbers are little-endian. The slots are written in turns: a torn write leaves the other one whole.
 */
import { readU53LE, writeU53LE } from './bytes.js';
import { crc32c } from './crc32c.js';
import { type Disk, type DiskFile, writeDurably } from './disk/disk.js';
import { isDiskFull, NewerFormatError } from './errors.js';

export type MarkValues = readonly [number, number, number, number];

const MAGIC = Buffer.from('ALTHMARK', 'latin1');
const FORMAT = 1;
const SLOT_BYTES = 56;
const SLOT_DISTANCE = 4096;
export const MARK_FILE_BYTES: number = SLOT_DISTANCE + 512;

/** One slot of the file, as bytes. */
export function encodeMark(generation: number, values: MarkValues): Buffer {
  const slot = Buffer.alloc(SLOT_BYTES);
  MAGIC.copy(slot);
  slot.writeUInt32LE(FORMAT, 12);
  writeU53LE(slot, generation, 16);
  for (const [at, value] of values.entries()) writeU53LE(slot, value, 24 + at * 8);
  slot.writeUInt32LE(crc32c(slot, 12), 8);
  return slot;
}

/**
 * Undefined if the bytes are not a whole slot. Throws `NewerFormatError` for a sound slot of a later format.
 */
export function decodeMark(slot: Buffer): { generation: number; values: MarkValues } | undefined {
  if (slot.length < SLOT_BYTES || !slot.subarray(0, 8).equals(MAGIC)) return undefined;
  if (crc32c(slot, 12, SLOT_BYTES) !== slot.readUInt32LE(8)) return undefined;
  const format = slot.readUInt32LE(12);
  if (format > FORMAT) throw new NewerFormatError('The mark file', format, FORMAT);
  const [generation, a, b, c, d] = [16, 24, 32, 40, 48].map((at) => readU53LE(slot, at));
  if (generation === undefined || a === undefined || b === undefined || c === undefined || d === undefined) {
    return undefined;
  }
  return { generation, values: [a, b, c, d] };
}

/** The open file. Writes are one at a time; what comes meanwhile is merged into the next. */
export class MarkFile {
  private current: MarkValues;
  private written: MarkValues;
  private writing = false;
  private failure: Error | undefined;
  /** Why what is set is not durable: there was no room for it. Other values are tried anew. */
  private shortage: Error | undefined;
  private waiters: ((error: Error | undefined) => void)[] = [];

  private constructor(
    private readonly file: DiskFile,
    private generation: number,
    values: MarkValues,
  ) {
    this.current = values;
    this.written = values;
  }

  /** Makes a new file; its name is durable after the caller's `disk.sync()`. */
  static async create(disk: Disk, name: string, values: MarkValues): Promise<MarkFile> {
    const file = await disk.create(name, MARK_FILE_BYTES);
    await writeDurably(file, encodeMark(1, values), SLOT_DISTANCE);
    return new MarkFile(file, 1, values);
  }

  /** Undefined if no slot is whole. */
  static async open(disk: Disk, name: string): Promise<MarkFile | undefined> {
    const file = await disk.open(name);
    const slots = [0, SLOT_DISTANCE].map((at) => decodeMark(file.read(at, SLOT_BYTES)));
    const newest = slots.reduce(
      (a, b) => (b === undefined || (a && a.generation > b.generation) ? a : b),
      undefined,
    );
    if (newest === undefined) {
      await file.close();
      return undefined;
    }
    return new MarkFile(file, newest.generation, newest.values);
  }

  /** The values that were last set. */
  get values(): MarkValues {
    return this.current;
  }

  /** The values that are durable. */
  get durable(): MarkValues {
    return this.written;
  }

  /** Why writing failed for good, if it did. A disk without room is no such reason: the mark lags then. */
  get error(): Error | undefined {
    return this.failure;
  }

  /** Sets new values; they become durable some time later. */
  set(values: MarkValues): void {
    this.current = values;
    this.shortage = undefined;
    this.pump();
  }

  /** Resolves when what is set is durable. Rejects if a write failed, be it that there was no room. */
  settled(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.waiters.push((error) => (error === undefined ? resolve() : reject(error)));
      this.pump();
    });
  }

  /** Like {@link settled}, but a mark that lags for want of room is as good: what it says is true. */
  async settledIfRoom(): Promise<void> {
    await this.settled().catch((error: unknown) => {
      if (!isDiskFull(error)) throw error;
    });
  }

  async close(): Promise<void> {
    await this.file.close();
  }

  private pump(): void {
    if (this.writing) return;
    const error = this.failure ?? this.shortage;
    if (error !== undefined || this.written === this.current) {
      for (const waiter of this.waiters.splice(0)) waiter(error);
      return;
    }
    this.writing = true;
    this.generation++;
    const values = this.current;
    const slot = encodeMark(this.generation, values);
    this.file.write([slot], this.generation % 2 === 0 ? 0 : SLOT_DISTANCE, (error) => {
      this.writing = false;
      if (error === undefined) this.written = values;
      else if (isDiskFull(error)) this.lackedRoom(error, values);
      else this.failure = error;
      this.pump();
    });
  }

  /**
   * The mark lags until other values are set. Some file systems need room for what is written over what is
   * there, too. The slot may be torn: the next attempt takes the same one, and leaves the whole one alone.
   */
  private lackedRoom(error: Error, values: MarkValues): void {
    this.generation--;
    if (this.current === values) this.shortage = error;
  }
}
