import type { Disk } from '../disk/disk.js';
import { DiskFullError, demand, isDiskFull, MisuseError, type StorageError } from '../errors.js';
import type { GroupHandle } from './group-handle.js';
import { type Applied, checkApplied, encodeMeta, type GroupMeta } from './group-meta.js';
import type { Journal } from './journal.js';
import { groupKey, nameRecord, recordKeyBuffer } from './keys.js';
import { checkName, checkValueSize } from './limits.js';
import { RedoReader, RedoWriter, redoName } from './redo-file.js';
import { applyPart, applySlab, DELETE_BYTES, putBytes, SLAB_HEADER_LENGTH, Slab } from './slabs.js';
import { encodeValue } from './values.js';

/** High-water mark of what waits: beyond it `put` and `delete` ask the caller to wait. */
const HIGH_WATER_BYTES = 4 * 1024 * 1024;
/**
 * Bytes of a slab that are handed to the store at once: building a batch takes the thread, some 10 us for each kilobyte. Each waits for the
 * one before, and that takes a turn of a thread that may be busy: for each millisecond of that wait the next one has so many bytes, so that its
 * batch takes a fourth of that time. Where nobody else has the thread each is as large as may be.
 */
const PART_BYTES = 64 * 1024;
const PART_BYTES_MAX = 512 * 1024;
const PART_BYTES_EACH_MS = 24 * 1024;

/** A clock in milliseconds; null where nobody else has the thread. */
export type StateStoreClock = (() => number) | null;

/** The part of the store that a checkpoint needs. */
export type CheckpointHost = {
  readonly disk: Disk;
  readonly journal: Journal;
  readonly slabBytes: number;
  readonly now: StateStoreClock;
  /** The handle of the group, once something of it is stored. */
  register(group: number, meta: GroupMeta): GroupHandle;
  nextRedoFile(): number;
  /** The checkpoint has ended, one way or the other. */
  ended(group: number): void;
};

/**
 * Changes to the records of one group that take effect together, with the index up to which they reflect the
 * log.
 *
 * Few changes go into the store as one batch. Many go into a redo file while they come, and are brought into
 * the store once all of them are durable and the store knows of it: so memory stays small, other groups'
 * writes come in between, and no step takes long. A crash before `commit` decided leaves nothing; after that,
 * opening the store brings the rest in.
 */
export class Checkpoint {
  private readonly key: Buffer;
  private slab: Slab;
  private redo: RedoWriter | undefined;
  private isOpen = true;

  constructor(
    private readonly host: CheckpointHost,
    readonly group: number,
    private readonly meta: GroupMeta,
  ) {
    this.key = recordKeyBuffer(group, meta.generation);
    this.slab = new Slab(0, host.slabBytes);
  }

  /**
   * Puts a record. The payload is copied. False asks the caller to await {@link drained} before going on, as
   * soon as that is possible: what waits is in memory. Throws `LimitError` for a value that is too large.
   */
  put(kind: number, id: number, part: number, payload: Uint8Array): boolean {
    this.name(kind, id, part);
    checkValueSize(payload.length);
    this.makeRoom(putBytes(payload));
    this.slab.put(this.key, payload);
    return this.isBelowHighWater;
  }

  /** Removes a record, which need not exist. Otherwise as {@link put}. */
  delete(kind: number, id: number, part: number): boolean {
    this.name(kind, id, part);
    this.makeRoom(DELETE_BYTES);
    this.slab.delete(this.key);
    return this.isBelowHighWater;
  }

  /** Resolves when what was handed over is on the disk. Errors of the disk are told here or by `commit`. */
  async drained(): Promise<void> {
    try {
      await this.redo?.written();
    } catch (error) {
      throw this.failed(error);
    }
  }

  /**
   * Makes the changes and the applied index durable together. Until this resolves, reads of changed records
   * may give the old or the new value. After an error the store must be opened again, but for a full disk
   * before anything was decided: then the checkpoint is as good as aborted.
   *
   * Throws `MisuseError` if the applied index goes back.
   */
  async commit(applied: Applied): Promise<void> {
    this.assertOpen();
    checkApplied(applied);
    const { index } = this.meta.applied;
    demand(
      applied.index >= index,
      `the applied index of group ${this.group} goes back from ${index} to ${applied.index}`,
    );
    this.isOpen = false;
    try {
      if (this.redo === undefined) await this.commitAtOnce(applied);
      else await this.commitByFile(this.redo, applied);
    } finally {
      await this.redo?.close();
      this.host.ended(this.group);
    }
  }

  /** Gives the changes up. */
  async abort(): Promise<void> {
    if (!this.isOpen) return;
    this.isOpen = false;
    try {
      await this.redo?.close();
      if (this.redo !== undefined) await this.host.disk.remove(redoName(this.redo.number));
    } finally {
      this.host.ended(this.group);
    }
  }

  private async commitAtOnce(applied: Applied): Promise<void> {
    const { bytes } = this.slab.seal();
    const meta = { ...this.meta, applied };
    await this.host.journal.write((batch) => {
      const size = applySlab(bytes, batch, this.group, this.meta.generation);
      return size + putMeta(batch, this.group, meta);
    });
    this.host.register(this.group, meta);
  }

  private async commitByFile(redo: RedoWriter, applied: Applied): Promise<void> {
    if (!this.slab.isEmpty) redo.add(this.slab);
    try {
      await redo.written();
    } catch (error) {
      await this.host.disk.remove(redoName(redo.number)).catch(() => undefined);
      throw this.failed(error);
    }
    const decided: GroupMeta = { ...this.meta, redo: { ...redo.summary, applied } };
    await this.write(decided);
    const handle = this.host.register(this.group, decided);
    handle.applying = applyRedo(this.host.disk, this.host.journal, handle, this.host.now).finally(() => {
      handle.applying = undefined;
    });
    await handle.applying;
  }

  private write(meta: GroupMeta): Promise<void> {
    return this.host.journal.write((batch) => putMeta(batch, this.group, meta));
  }

  /**
   * Nothing is decided yet: with a full disk the store goes on, with any other trouble of the disk it must
   * not.
   */
  private failed(error: unknown): StorageError {
    if (isDiskFull(error))
      return new DiskFullError(`there is no room for the checkpoint of group ${this.group}`, error);
    return this.host.journal.fail(error);
  }

  private name(kind: number, id: number, part: number): void {
    this.assertOpen();
    checkName(kind, id, part);
    nameRecord(this.key, kind, id, part);
  }

  private makeRoom(changeBytes: number): void {
    if (this.slab.hasRoom(changeBytes)) return;
    this.redo ??= new RedoWriter(this.host.disk, this.host.nextRedoFile());
    this.redo.add(this.slab);
    this.slab = new Slab(this.slab.number + 1, this.host.slabBytes);
  }

  private get isBelowHighWater(): boolean {
    return this.redo === undefined || this.redo.waitingBytes < HIGH_WATER_BYTES;
  }

  private assertOpen(): void {
    if (!this.isOpen) throw new MisuseError('a checkpoint was used after its end');
  }
}

/** Adds what is stored of a group itself to a batch; gives its bytes. */
export function putMeta(
  batch: { put(key: Buffer, value: Buffer): void },
  group: number,
  meta: GroupMeta,
): number {
  const key = groupKey(group);
  const value = encodeValue(key, encodeMeta(meta));
  batch.put(key, value);
  return key.length + value.length;
}

/**
 * Brings a decided checkpoint into the records. Every part of a slab is a batch of its own; doing it again
 * after a crash gives the same records.
 */
export async function applyRedo(
  disk: Disk,
  journal: Journal,
  handle: GroupHandle,
  now: StateStoreClock,
): Promise<void> {
  const { generation, redo } = handle.meta;
  if (redo === undefined) return;
  const reader = await RedoReader.open(disk, redo, handle.id);
  let partBytes = now === null ? PART_BYTES_MAX : PART_BYTES;
  try {
    for (let slab = reader.next(); slab !== undefined; slab = reader.next()) {
      const bytes = slab;
      for (let at = SLAB_HEADER_LENGTH; at < bytes.length; ) {
        const from = at;
        let began = 0;
        await journal.writeBulk((batch) => {
          at = applyPart(bytes, from, partBytes, batch, handle.id, generation);
          began = now?.() ?? 0;
          return at - from;
        });
        if (now !== null) partBytes = partBytesBehind(now() - began);
      }
    }
  } finally {
    await reader.close();
  }
  await journal.flush();
  const meta: GroupMeta = { generation, applied: redo.applied, redo: undefined };
  await journal.write((batch) => putMeta(batch, handle.id, meta));
  handle.meta = meta;
  await disk.remove(redoName(redo.file));
}

/** Bytes of the part behind one for which it was waited so many milliseconds. */
function partBytesBehind(ms: number): number {
  return Math.min(Math.max(PART_BYTES, Math.floor(ms * PART_BYTES_EACH_MS)), PART_BYTES_MAX);
}
