import { isU53 } from '../bytes.js';
import type { Disk } from '../disk/disk.js';
import {
  DiskError,
  DiskFullError,
  demand,
  isDiskFull,
  LimitError,
  StoreClosedError,
  StorePoisonedError,
} from '../errors.js';
import type { MarkFile } from '../mark.js';
import { Cleaner } from './cleaner.js';
import { DurableView } from './durable-view.js';
import { recordBytesMax } from './format.js';
import { GroupLog } from './group-log.js';
import { applyRecord, type Group, Groups } from './groups.js';
import { type LogStoreOptions, type LogStoreSettings, logStoreSettings } from './options.js';
import { linkAt, readEntries } from './reader.js';
import { type RecoveredLog, recoverLog } from './recovery.js';
import type { Segments } from './segments.js';
import { TailCache } from './tail-cache.js';
import type { AppendDone, LogEntry, LogOperation, LogStats, LogView } from './types.js';
import { operationBytes, WriteBatch } from './write-batch.js';

/**
 * The Raft log of all groups of a node, in one sequence of segment files. Everything that waits is made
 * durable with one write; while it is under way, what comes is gathered for the next.
 *
 * Appends complete in the order of the calls. Reads are synchronous, and show what is durable.
 */
export class LogStore {
  private readonly segments: Segments;
  private readonly mark: MarkFile;
  private readonly known: Groups;
  private readonly cache: TailCache;
  private readonly batch: WriteBatch;
  private readonly cleaner: Cleaner;

  private waiting: Waiting[] = [];
  private waitingBytes = 0;
  private nextSequence: number;
  private previousCrc: number;
  /** A write or a change of segments is under way. */
  private busy = false;
  private pumpPlanned = false;
  private poison: StorePoisonedError | undefined;
  private closing = false;
  private idle: (() => void)[] = [];
  private writes = 0;
  private markedWrites = 0;
  private records = 0;

  /**
   * Opens the log in a folder of its own and recovers it; makes an empty one in an empty folder.
   * Throws `DamagedLogError`, `NewerFormatError`, `FolderContentError`, `DiskFullError`, `DiskError`.
   */
  static async open(disk: Disk, options: LogStoreOptions = {}): Promise<LogStore> {
    const settings = logStoreSettings(options);
    try {
      const store = new LogStore(await recoverLog(disk, settings), settings);
      store.prepareSpare();
      return store;
    } catch (error) {
      throw isDiskFull(error) ? new DiskFullError('the log can not be opened', error) : error;
    }
  }

  private constructor(
    recovered: RecoveredLog,
    private readonly settings: LogStoreSettings,
  ) {
    this.segments = recovered.segments;
    this.mark = recovered.mark;
    this.nextSequence = recovered.nextSequence;
    this.previousCrc = recovered.previousCrc;
    this.known = new Groups(recovered.logs.values());
    this.cache = new TailCache(settings.cacheBytes);
    this.batch = new WriteBatch((log, index) => linkAt(this.segments, log, index));
    this.cleaner = new Cleaner(this.segments, settings.segmentBytes);
  }

  /**
   * Makes operations durable, together or not at all. `done` is called once, in a later turn, in the order of
   * the calls: without an error, with `DiskFullError` (nothing of it was written; may be tried again once
   * there is room, in the same order), or with `StorePoisonedError` (the process must end).
   *
   * Throws `MisuseError` at once, and is poisoned by it, if an operation breaks what the log promises;
   * `LimitError` for an append that is too large or one too many.
   */
  append(operations: readonly LogOperation[], done: AppendDone): void {
    if (!this.refuse(done))
      this.enqueue({ operations, compaction: undefined, bytes: this.accept(operations), done });
  }

  /** {@link append} as a promise. */
  appended(operations: readonly LogOperation[]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.append(operations, (error) => (error === undefined ? resolve() : reject(error)));
    });
  }

  /** The durable log of a group; an empty one if there is none. Stays valid, and shows what comes later. */
  view(group: number): LogView {
    demand(isU53(group), 'a group is a safe non-negative integer');
    return new DurableView(group, this);
  }

  /** Groups of which something is stored, in the order of their numbers. */
  groups(): number[] {
    this.assertReadable();
    return this.known.stored;
  }

  /**
   * Lets the entries of a group up to `upTo` go: its state is durable elsewhere. Whoever wants to keep a tail
   * for slow followers gives a lower index. Resolves when that is durable. Errors as with `append`.
   */
  compact(group: number, upTo: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const done: AppendDone = (error) => (error === undefined ? resolve() : reject(error));
      if (this.refuse(done)) return;
      const slot = this.known.find(group);
      if (slot === undefined || slot.isPast(upTo)) {
        resolve();
        return;
      }
      demand(upTo <= slot.accepted.lastIndex, `a compaction of group ${group} up to ${upTo}, beyond its log`);
      slot.accepted.compactTo(upTo);
      slot.pending++;
      this.enqueue({ operations: [], compaction: { group: slot, upTo }, bytes: recordBytesMax(0), done });
    });
  }

  stats(): LogStats {
    return {
      segments: this.segments.count,
      bytes: this.segments.bytes,
      liveBytes: this.segments.liveBytes,
      cachedBytes: this.cache.bytes,
      writes: this.writes,
      records: this.records,
      poisoned: this.poison,
    };
  }

  /**
   * To be called from time to time, as with each tick of Raft: brings the high-water mark up to date. A mark
   * after each write would cost the next append a quarter of its time; so it lags behind by one tick, or by 32
   * writes where those are more frequent.
   */
  tick(): void {
    if (this.mark.error !== undefined) this.fail(this.mark.error);
    if (this.poison === undefined && !this.closing && this.markedWrites < this.writes) this.setMark();
  }

  /** Waits for all appends, writes the high-water mark, and closes the files. */
  async close(): Promise<void> {
    if (this.closing) return;
    this.closing = true;
    this.cleaner.stop();
    await new Promise<void>((resolve) => {
      this.idle.push(resolve);
      this.tellIdle();
    });
    try {
      if (this.poison === undefined) {
        this.setMark();
        await this.mark.settledIfRoom();
      }
    } finally {
      await this.segments.close();
      await this.mark.close();
    }
  }

  /** The durable log of a group, for its view. */
  durable(group: number): GroupLog {
    this.assertReadable();
    return this.known.find(group)?.log ?? new GroupLog(group);
  }

  /** The chain hash at an index of a durable log, for its view. */
  hashAt(log: GroupLog, index: number): number | undefined {
    return linkAt(this.segments, log, index, this.cache)?.hash;
  }

  /** Reads entries of a durable log, for its view. */
  read(log: GroupLog, low: number, high: number, maxBytes: number): LogEntry[] {
    return readEntries(this.segments, this.cache, log, low, high, maxBytes);
  }

  private refuse(done: AppendDone): boolean {
    const error = this.poison ?? (this.closing ? new StoreClosedError('log store') : undefined);
    if (error !== undefined) queueMicrotask(() => done(error));
    return error !== undefined;
  }

  private assertReadable(): void {
    if (this.poison !== undefined) throw this.poison;
    if (this.closing) throw new StoreClosedError('log store');
  }

  /** Checks the operations against what was accepted before; gives the bytes that they will take. */
  private accept(operations: readonly LogOperation[]): number {
    let bytes = 0;
    for (const operation of operations) bytes += operationBytes(operation);
    const { maxAppendBytes, maxWaitingBytes } = this.settings;
    if (bytes > maxAppendBytes) throw new LimitError('One append in bytes', bytes, maxAppendBytes);
    const waiting = this.waitingBytes + bytes;
    if (waiting > maxWaitingBytes)
      throw new LimitError('What waits for the log in bytes', waiting, maxWaitingBytes);
    try {
      for (const operation of operations) {
        const group = this.known.get(operation.group);
        group.accepted.accept(operation);
        group.pending++;
      }
      for (const { group } of operations) this.known.get(group).accepted.checkTogether(group);
    } catch (error) {
      this.fail(error);
      throw error;
    }
    return bytes;
  }

  private enqueue(waiting: Waiting): void {
    this.waiting.push(waiting);
    this.waitingBytes += waiting.bytes;
    this.plan();
  }

  /** The write starts at the end of the current job, so that what one turn appends goes out together. */
  private plan(): void {
    if (this.busy || this.pumpPlanned) return;
    this.pumpPlanned = true;
    queueMicrotask(() => {
      this.pumpPlanned = false;
      this.pump();
    });
  }

  private pump(): void {
    if (this.busy) return;
    if (this.poison !== undefined || (this.waiting.length === 0 && !this.cleaner.isCleaning)) {
      this.tellIdle();
      return;
    }
    const { active } = this.segments;
    const room = this.segments.isOutdated ? 0 : active.bytes - active.end;
    this.batch.begin(this.nextSequence, active.format);
    const { waiting } = this;
    let taken: Waiting[];
    try {
      this.cleaner.addTo(this.batch, room);
      taken = this.take(room);
    } catch (error) {
      this.waiting = waiting;
      this.fail(error);
      return;
    }
    if (this.batch.bytes > 0) {
      this.write(taken);
    } else if (taken.length > 0) {
      this.tell(taken);
      this.pump();
    } else {
      void this.roll(this.cleaner.isCleaning ? this.cleaner.neededBytes : (this.waiting[0]?.bytes ?? 0));
    }
  }

  /**
   * Moves what waits into the batch, in order, as far as there is room; at least one append if there is any
   * room.
   */
  private take(room: number): Waiting[] {
    let count = 0;
    let bytes = this.batch.bytes;
    for (const { bytes: more } of this.waiting) {
      if (bytes + more > room || (bytes > 0 && bytes + more > this.settings.maxWriteBytes)) break;
      bytes += more;
      count++;
    }
    const taken = count === this.waiting.length ? this.waiting : this.waiting.slice(0, count);
    this.waiting = count === this.waiting.length ? [] : this.waiting.slice(count);
    for (const { operations, compaction } of taken) {
      for (const operation of operations) this.batch.add(this.known.get(operation.group).log, operation);
      if (compaction !== undefined) this.batch.addCompactionUpTo(compaction.group.log, compaction.upTo);
    }
    return taken;
  }

  private write(taken: Waiting[]): void {
    const { active } = this.segments;
    const { bytes, lastCrc } = this.batch.seal(this.previousCrc, active.salt);
    this.busy = true;
    const { observe } = this.settings;
    const begun = observe?.now() ?? 0;
    const written = (error: Error | undefined): void => {
      this.busy = false;
      if (error !== undefined) {
        this.writeFailed(error, taken);
        return;
      }
      observe?.written(observe.now() - begun, this.batch.records.length, this.batch.bytes);
      this.written(taken, lastCrc);
      this.afterWrite();
    };
    active.file.write([bytes], active.end, written, true);
  }

  /** The batch is durable: it becomes visible, and those who wait for it are told. */
  private written(taken: Waiting[], lastCrc: number): void {
    const { active } = this.segments;
    const { records, content } = this.batch;
    for (const record of records)
      applyRecord(record, active.number, active.end + record.offset, this.segments);
    this.cache.added(active.number, active.end, content);
    active.end += content.length;
    this.nextSequence += records.length;
    this.previousCrc = lastCrc;
    this.writes++;
    this.records += records.length;
    this.tell(taken);
  }

  private tell(taken: readonly Waiting[]): void {
    for (const waiting of taken) {
      this.settle(waiting);
      waiting.done(undefined);
    }
  }

  /** One operation of the group less is under way; a group of which nothing is left is forgotten. */
  private settle(waiting: Waiting): void {
    for (const { group: id } of waiting.operations) this.known.release(this.known.get(id));
    if (waiting.compaction !== undefined) this.known.release(waiting.compaction.group);
    this.waitingBytes -= waiting.bytes;
  }

  private afterWrite(): void {
    if (this.writes - this.markedWrites >= MARK_LAG_WRITES) this.setMark();
    if (this.mark.error !== undefined) {
      this.fail(this.mark.error);
      return;
    }
    this.cleaner.consider(() => this.known.logs());
    if (this.segments.isReclaimable) this.segments.reclaim().catch((error: unknown) => this.fail(error));
    this.pump();
  }

  /** Says how far the log is durable, and where it begins. */
  private setMark(): void {
    this.markedWrites = this.writes;
    this.mark.set([this.nextSequence - 1, this.segments.oldest.number, 0, 0]);
  }

  private writeFailed(error: Error, taken: Waiting[]): void {
    this.waiting = [...taken, ...this.waiting];
    const nothingWritten = error instanceof DiskError && isDiskFull(error) && error.writtenBytes === 0;
    if (nothingWritten) this.giveUpWaiting(new DiskFullError('the log can not grow', error));
    else this.fail(error);
  }

  private async roll(needed: number): Promise<void> {
    this.busy = true;
    try {
      await this.segments.roll(needed, this.nextSequence, this.previousCrc);
      this.busy = false;
      this.prepareSpare();
      this.pump();
    } catch (error) {
      this.busy = false;
      if (isDiskFull(error))
        this.giveUpWaiting(new DiskFullError('the log has no room for another segment', error));
      else this.fail(error);
    }
  }

  private prepareSpare(): void {
    this.segments.prepareSpare().catch((error: unknown) => {
      if (!isDiskFull(error)) this.fail(error);
    });
  }

  /** Nothing of what waits was written: it is as if it had never been appended. */
  private giveUpWaiting(error: DiskFullError): void {
    this.cleaner.stop();
    const given = this.waiting;
    this.waiting = [];
    for (const waiting of given) this.settle(waiting);
    for (const group of this.known.all) group.accepted.restore(group.log);
    for (const { done } of given) done(error);
    this.plan();
  }

  /** Final: what is on the disk is not known any more. */
  private fail(cause: unknown): void {
    if (this.poison !== undefined) return;
    const error = new StorePoisonedError('log store', cause);
    this.poison = error;
    const given = this.waiting;
    this.waiting = [];
    this.waitingBytes = 0;
    queueMicrotask(() => {
      for (const { done } of given) done(error);
      this.tellIdle();
    });
  }

  private tellIdle(): void {
    if (this.busy || (this.poison === undefined && this.waiting.length > 0)) return;
    for (const resolve of this.idle.splice(0)) resolve();
  }
}

const MARK_LAG_WRITES = 32;

/** An append or compaction that is not durable yet. */
type Waiting = {
  readonly operations: readonly LogOperation[];
  readonly compaction: { readonly group: Group; readonly upTo: number } | undefined;
  readonly bytes: number;
  readonly done: AppendDone;
};
