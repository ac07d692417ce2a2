/**
 * All writes to the key-value store of the state pass through here: one at a time, with what waits merged.
 * Each batch that counts is synced and numbered. The number is written with the batch, under a key of its
 * own. LevelDB loses batches without a word when its log is damaged; a number that is missing among the
 * others tells of it. The highest number is also in the mark file, so that the loss of the last batches is
 * noticed too.
 *
 *   value of a journal key = batch[8] bytes[8]      little-endian; inside a value as in `values.ts`
 *
 * Numbers are needed only while their batch is in LevelDB's log and not yet in a table (which are verified at
 * each start). They are kept for as many bytes as two memory tables hold, and all but the last are given up
 * at a start, since LevelDB then turns its log into a table.
 */
import { readU53LE, writeU53LE } from '../bytes.js';
import { DamagedStateError, DiskFullError, type StorageError, StorePoisonedError } from '../errors.js';
import type { KeyValueBatch, KeyValueStore } from '../kv/key-value-store.js';
import type { MarkFile } from '../mark.js';
import { ALL_JOURNAL, batchOfJournalKey, journalKey } from './keys.js';
import { decodeValue, encodeValue } from './values.js';

/** Adds changes to a batch, when its turn has come; gives their size in bytes, roughly. */
export type Changes = (batch: KeyValueBatch) => number;

/** LevelDB's log before the newest batch is no longer than two memory tables of 16 MiB, and some. */
const WINDOW_BYTES = 48 * 1024 * 1024;
const MERGED_BYTES = 1024 * 1024;
const OVERHEAD_BYTES = 96;

type Waiting = {
  readonly changes: Changes;
  readonly isBulk: boolean;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
};

export class Journal {
  /** Called at the end of each write, well or not, before anybody else learns of it. */
  onWritten: () => void = () => {};
  private waiting: Waiting[] = [];
  private writing = false;
  private failure: StorageError | undefined;
  private nextBatch: number;
  /** Batches whose numbers are in the store, oldest first, and their bytes. */
  private window: { batch: number; bytes: number }[];
  private windowBytes = 0;
  private idle: (() => void)[] = [];

  private constructor(
    private readonly store: KeyValueStore,
    private readonly mark: MarkFile,
    kept: readonly number[],
  ) {
    this.nextBatch = (kept.at(-1) ?? 0) + 1;
    this.window = kept.map((batch) => ({ batch, bytes: 0 }));
  }

  /** Checks that no batch is missing. Throws `DamagedStateError`. */
  static async open(store: KeyValueStore, mark: MarkFile): Promise<Journal> {
    const numbers: number[] = [];
    const cursor = store.iterate(ALL_JOURNAL);
    try {
      for (;;) {
        const pairs = await cursor.next(1000);
        if (pairs.length === 0) break;
        for (const [key, value] of pairs) numbers.push(checkedNumber(key, value));
      }
    } finally {
      await cursor.close();
    }
    for (const [at, number] of numbers.entries()) {
      const expected = (numbers[0] ?? 0) + at;
      if (number !== expected) throw new DamagedStateError(`batch ${expected} was written, and is gone`);
    }
    const last = numbers.at(-1) ?? 0;
    const [marked] = mark.values;
    if (last < marked)
      throw new DamagedStateError(`batches ${last + 1} to ${marked} were written, and are gone`);
    return new Journal(store, mark, numbers);
  }

  /** The number of batches ever written. */
  get batches(): number {
    return this.nextBatch - 1;
  }

  /**
   * Makes changes durable, in the order of the calls, together or not at all. After an error nothing can be
   * written any more until the store is opened again: `DiskFullError` for a full disk, else
   * `StorePoisonedError`.
   */
  write(changes: Changes): Promise<void> {
    return this.enqueue(changes, false);
  }

  /**
   * Brings changes into the store that can be made again after a crash. They are not durable before {@link
   * flush}, and a power cut may keep any part of them.
   */
  writeBulk(changes: Changes): Promise<void> {
    return this.enqueue(changes, true);
  }

  /**
   * Makes the bulk changes so far durable, for good when the next `write` succeeded: so much cheaper than
   * syncs, which also make readers of LevelDB wait.
   */
  async flush(): Promise<void> {
    try {
      await this.store.flush();
    } catch (error) {
      throw this.fail(error);
    }
  }

  /** No write is possible any more, for a reason found elsewhere; gives the error that tells so. */
  fail(cause: unknown): StorageError {
    this.failure ??= cause instanceof DiskFullError ? cause : new StorePoisonedError('state store', cause);
    return this.failure;
  }

  /** Waits for all writes and for the mark. */
  async settle(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.idle.push(resolve);
      void this.pump();
    });
    if (this.failure === undefined) await this.mark.settledIfRoom();
  }

  private enqueue(changes: Changes, isBulk: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ changes, isBulk, resolve, reject });
      void this.pump();
    });
  }

  private async pump(): Promise<void> {
    if (this.writing) return;
    this.writing = true;
    while (this.waiting.length > 0) {
      if (this.failure === undefined) {
        await this.writeSome();
      } else {
        for (const { reject } of this.waiting.splice(0)) reject(this.failure);
      }
    }
    this.writing = false;
    for (const resolve of this.idle.splice(0)) resolve();
  }

  private async writeSome(): Promise<void> {
    const taken: Waiting[] = [];
    try {
      if (this.mark.error !== undefined) throw this.mark.error;
      const batch = this.store.batch();
      let bytes = 0;
      const isBulk = this.waiting[0]?.isBulk === true;
      while (this.waiting[0]?.isBulk === isBulk && bytes < MERGED_BYTES) {
        const next = this.waiting.shift()!;
        taken.push(next);
        bytes += next.changes(batch);
      }
      if (isBulk) {
        await batch.write({ sync: false });
      } else {
        const dropped = this.number(batch, bytes);
        await batch.write({ sync: true });
        this.window.splice(0, dropped);
        this.mark.set([this.nextBatch - 1, 0, 0, 0]);
      }
      for (const { resolve } of taken) resolve();
    } catch (error) {
      const failed = this.fail(error);
      for (const { reject } of taken) reject(failed);
    } finally {
      this.onWritten();
    }
  }

  /**
   * Adds the number of the batch, and takes the numbers away that are not needed any more; gives how many.
   */
  private number(batch: KeyValueBatch, changedBytes: number): number {
    const number = this.nextBatch++;
    const bytes = changedBytes + OVERHEAD_BYTES;
    const key = journalKey(number);
    const payload = Buffer.alloc(16);
    writeU53LE(payload, number, 0);
    writeU53LE(payload, bytes, 8);
    batch.put(key, encodeValue(key, payload));
    this.window.push({ batch: number, bytes });
    this.windowBytes += bytes;
    let dropped = 0;
    for (; dropped < Math.min(this.window.length - 2, DROPPED_MAX); dropped++) {
      const oldest = this.window[dropped]!;
      if (oldest.bytes > 0 && this.windowBytes - oldest.bytes < WINDOW_BYTES) break;
      this.windowBytes -= oldest.bytes;
      batch.delete(journalKey(oldest.batch));
    }
    return dropped;
  }
}

/** One batch takes no more old numbers away than this. */
const DROPPED_MAX = 1000;

function checkedNumber(key: Buffer, value: Buffer): number {
  const payload = decodeValue(key, value);
  const number = payload.length === 16 ? readU53LE(payload, 0) : undefined;
  if (number === undefined || number !== batchOfJournalKey(key)) {
    throw new DamagedStateError(`the journal key ${key.toString('hex')} does not hold its number`);
  }
  return number;
}
