import { isU53 } from '../bytes.js';
import type { Disk, DiskEntry } from '../disk/disk.js';
import { DamagedStateError, demand, FolderContentError, LimitError, StoreClosedError } from '../errors.js';
import type { KeyRange, KeyValuePair, KeyValueStore } from '../kv/key-value-store.js';
import type { MarkFile } from '../mark.js';
import { applyRedo, Checkpoint, type CheckpointHost, type StateStoreClock } from './checkpoint.js';
import { BusyGroups, GroupHandle } from './group-handle.js';
import { type Applied, decodeMeta, type GroupMeta, NOTHING_APPLIED } from './group-meta.js';
import { Journal } from './journal.js';
import {
  ALL_CLEARINGS,
  ALL_GROUPS,
  ALL_RECORDS,
  GENERATION_MAX,
  generationOfClearingKey,
  groupKey,
  groupOfKey,
  nameOfRecord,
  nameRecord,
  ownerOfRecord,
  type RecordName,
  recordRange,
  storeKey,
} from './keys.js';
import { checkName } from './limits.js';
import { checkFormat, MARK_NAME, openMark, writeFormat } from './opening.js';
import type { StateStoreOptions } from './options.js';
import { redoName, redoNumber } from './redo-file.js';
import { READ_AHEAD_AFTER_DEFAULT, SCANNED_BYTES_MIN, SequentialReads } from './sequential-reads.js';
import { SLAB_BYTES_DEFAULT } from './slabs.js';
import type { SnapshotFormat } from './snapshot-format.js';
import { type InstallHost, markGarbage, SnapshotInstaller } from './snapshot-install.js';
import { CHUNK_BYTES_DEFAULT, SnapshotSource } from './snapshot-source.js';
import { type Garbage, Sweeper } from './sweeper.js';
import { decodeStored, decodeValue, encodeValue } from './values.js';

/** One record of a group. */
export type StateRecord = RecordName & { readonly value: Buffer };

export type VerifyCount = { readonly records: number; readonly bytes: number };

const FETCHED_PAIRS = 512;

/**
 * The state of all groups: records that are changed by checkpoints, each of which takes a group from one
 * applied index to the next as a whole. Every value that is read is verified.
 */
export class StateStore {
  private readonly store: KeyValueStore;
  private readonly disk: Disk;
  private readonly chunkBytes: number;
  private readonly slabBytes: number;
  private readonly now: StateStoreClock;
  private readonly groupsById = new Map<number, GroupHandle>();
  private readonly busy = new BusyGroups();
  private readonly snapshots = new Set<SnapshotSource>();
  private readonly sequentialReads: SequentialReads;
  private readonly sweeper: Sweeper;
  private nextGeneration = 1;
  private nextRedoFile = 1;
  private isOpen = true;

  /**
   * Opens the state, or begins an empty one; finishes what a crash interrupted. Throws `DamagedStateError`,
   * `NewerFormatError`, `FolderContentError`, `DiskFullError`, `StorePoisonedError`.
   */
  static async open(options: StateStoreOptions): Promise<StateStore> {
    const { store, disk } = options;
    const entries = await disk.list();
    for (const { name } of entries) {
      const isKnown = name === MARK_NAME || redoNumber(name) !== undefined;
      if (!isKnown) throw new FolderContentError('of the state', `the file ${name} is not part of it`);
    }
    const isNew = checkFormat(store);
    const mark = await openMark(disk, entries, isNew);
    try {
      const journal = await Journal.open(store, mark);
      if (isNew && journal.batches > 0) throw new DamagedStateError('its format is not told any more');
      const state = new StateStore(options, mark, journal);
      await state.recover(entries, isNew);
      return state;
    } catch (error) {
      await mark.close();
      throw error;
    }
  }

  private constructor(
    options: StateStoreOptions,
    private readonly mark: MarkFile,
    private readonly journal: Journal,
  ) {
    this.store = options.store;
    this.disk = options.disk;
    this.sequentialReads = new SequentialReads(
      options.store.readAhead,
      options.readAheadAfter ?? READ_AHEAD_AFTER_DEFAULT,
    );
    journal.onWritten = () => this.sequentialReads.drop();
    this.sweeper = new Sweeper(options.store, journal);
    this.chunkBytes = options.chunkBytes ?? CHUNK_BYTES_DEFAULT;
    this.slabBytes = options.slabBytes ?? SLAB_BYTES_DEFAULT;
    this.now = options.now ?? null;
  }

  /**
   * The value of a record; undefined if there is none. Synchronous: about two microseconds when hot. The
   * result is the caller's own. Throws `DamagedStateError`.
   */
  read(group: number, kind: number, id: number, part = 0): Buffer | undefined {
    this.assertOpen();
    const handle = this.groupsById.get(group);
    if (handle === undefined) return undefined;
    checkName(kind, id, part);
    const { key } = handle;
    nameRecord(key, kind, id, part);
    const ahead = this.sequentialReads.find(key, group, kind, id, part);
    return ahead ?? decodeStored(key, this.store.getSync(key), group);
  }

  /**
   * The records of a group, or those of one kind, or of the kinds up to `lastKind`, in the order of (kind, id, part): as they
   * are when the first one is asked for, whatever changes meanwhile.
   */
  async *scan(group: number, kind?: number, lastKind = kind): AsyncGenerator<StateRecord, void, undefined> {
    this.assertOpen();
    while (this.isBeingApplied(group)) await this.groupsById.get(group)?.applying;
    const handle = this.groupsById.get(group);
    if (handle === undefined) return;
    for await (const pairs of this.fetch(recordRange(group, handle.meta.generation, kind, lastKind))) {
      for (const [key, value] of pairs) yield this.record(group, key, value);
    }
  }

  /** Bytes of all records of a group on disk, about, and without what was written in the last moments. */
  approximateBytes(group: number): Promise<number> {
    this.assertOpen();
    const handle = this.groupsById.get(group);
    if (handle === undefined) return Promise.resolve(0);
    return this.store.approximateBytes(recordRange(group, handle.meta.generation));
  }

  /** Gets ready to read many records in their order, where there are so many that this is worth its memory. */
  async prepareScans(): Promise<void> {
    const bytes = await this.store.approximateBytes(ALL_RECORDS);
    if (bytes >= SCANNED_BYTES_MIN && this.isOpen) await this.store.readAhead.prepare();
  }

  /** Milliseconds for which reads were held up by what reads ahead for them, all together. */
  get waitedMs(): number {
    return this.store.readAhead.waitedMs;
  }

  /** The groups of which something is stored, in the order of their numbers. */
  groups(): number[] {
    this.assertOpen();
    return [...this.groupsById.keys()].sort((a, b) => a - b);
  }

  /** Up to where the log of a group is applied in its durable state; undefined if nothing of it is stored. */
  applied(group: number): Applied | undefined {
    this.assertOpen();
    const meta = this.groupsById.get(group)?.meta;
    return meta?.redo?.applied ?? meta?.applied;
  }

  /** Starts a checkpoint. One at a time for a group, else `GroupBusyError`. To be committed or aborted. */
  beginCheckpoint(group: number): Checkpoint {
    this.assertOpen();
    demand(isU53(group), 'a group is a safe non-negative integer');
    this.busy.enter(group, 'a checkpoint');
    const meta = this.groupsById.get(group)?.meta;
    return new Checkpoint(
      this.checkpointHost(),
      group,
      meta ?? { generation: this.newGeneration(), applied: NOTHING_APPLIED, redo: undefined },
    );
  }

  /**
   * Removes a group with all its records. It is gone when this resolves; its space comes back in the
   * background.
   */
  async dropGroup(group: number): Promise<void> {
    this.assertOpen();
    this.busy.enter(group, 'a removal');
    try {
      const handle = this.groupsById.get(group);
      if (handle === undefined) return;
      const { generation } = handle.meta;
      await this.journal.write((batch) => {
        batch.delete(groupKey(group));
        return markGarbage(batch, group, generation);
      });
      this.groupsById.delete(group);
      this.clear({ group, generation });
    } finally {
      this.busy.leave(group);
    }
  }

  /**
   * A consistent view of a group, to be sent to another node and closed. Undefined if nothing of the group is
   * stored.
   *
   * @param format 2 costs less; release 0.1.0 can't read it
   * @param times how many times as large as usual its chunks may be
   */
  async openSnapshot(
    group: number,
    format: SnapshotFormat = 1,
    times = 1,
  ): Promise<SnapshotSource | undefined> {
    this.assertOpen();
    while (this.isBeingApplied(group)) await this.groupsById.get(group)?.applying;
    this.assertOpen();
    const view = this.store.snapshot();
    const key = groupKey(group);
    const value = this.store.getSync(key, view);
    if (value === undefined) {
      await view.close();
      return undefined;
    }
    const meta = decodeMeta(decodeValue(key, value, group), group);
    const bytes = times * this.chunkBytes;
    const source = new SnapshotSource(this.store, view, group, meta, bytes, format, () => {
      this.snapshots.delete(source);
    });
    this.snapshots.add(source);
    return source;
  }

  /**
   * Starts to take in a snapshot. One at a time for a group, and none beside a checkpoint, else
   * `GroupBusyError`.
   */
  installSnapshot(group: number): SnapshotInstaller {
    this.assertOpen();
    demand(isU53(group), 'a group is a safe non-negative integer');
    this.busy.enter(group, 'the installation of a snapshot');
    return new SnapshotInstaller(this.installHost(), group, this.newGeneration());
  }

  /** The identity of this folder, as it was set. */
  identity(): Buffer | undefined {
    this.assertOpen();
    const key = storeKey('identity');
    const value = this.store.getSync(key);
    return value === undefined ? undefined : decodeValue(key, value);
  }

  /** Sets the identity, once and for all. Throws `MisuseError` if there is another one. */
  async setIdentity(identity: Uint8Array): Promise<void> {
    const before = this.identity();
    if (before?.equals(identity)) return;
    demand(before === undefined, 'a folder has one identity, which does not change');
    const key = storeKey('identity');
    const value = encodeValue(key, identity);
    await this.journal.write((batch) => {
      batch.put(key, value);
      return value.length;
    });
  }

  /**
   * Reads and verifies everything that is stored. Throws `DamagedStateError` at the first thing that is
   * damaged.
   */
  async verify(): Promise<VerifyCount> {
    this.assertOpen();
    let [records, bytes] = [0, 0];
    for await (const pairs of this.fetch({ from: Buffer.alloc(0), to: Buffer.of(0xff) })) {
      for (const [key, value] of pairs) {
        decodeValue(key, value, ownerOfRecord(key)?.group);
        records++;
        bytes += key.length + value.length;
      }
    }
    return { records, bytes };
  }

  /** Space that is being freed: generations whose records are not all gone yet. */
  get pendingClears(): number {
    return this.sweeper.garbage.length;
  }

  /** Resolves when all space that could be freed is. */
  async swept(): Promise<void> {
    await this.sweeper.settled();
  }

  /** Waits for writes, and closes everything, the key-value store included. Open checkpoints are lost. */
  async close(): Promise<void> {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.sweeper.stop();
    for (const snapshot of [...this.snapshots]) await snapshot.close();
    for (const { applying } of this.groupsById.values()) await applying?.catch(() => undefined);
    await this.sweeper.settled();
    try {
      await this.journal.settle();
    } finally {
      await this.mark.close();
      await this.store.close();
    }
  }

  private async recover(entries: readonly DiskEntry[], isNew: boolean): Promise<void> {
    if (isNew) await writeFormat(this.journal);
    await this.loadGroups();
    await this.loadClearings();
    await this.checkOwners();
    const decided = new Set<string>();
    for (const { name } of entries)
      this.nextRedoFile = Math.max(this.nextRedoFile, (redoNumber(name) ?? 0) + 1);
    for (const handle of this.groupsById.values()) {
      if (handle.meta.redo === undefined) continue;
      decided.add(redoName(handle.meta.redo.file));
      // Nobody is served before the store is open.
      await applyRedo(this.disk, this.journal, handle, null);
    }
    for (const { name } of entries) {
      if (redoNumber(name) !== undefined && !decided.has(name)) await this.disk.remove(name);
    }
    this.sweeper.sweep();
  }

  private async loadGroups(): Promise<void> {
    for await (const pairs of this.fetch(ALL_GROUPS)) {
      for (const [key, value] of pairs) {
        const group = groupOfKey(key);
        if (group === undefined) throw new DamagedStateError(`${key.toString('hex')} is no key of a group`);
        const meta = decodeMeta(decodeValue(key, value, group), group);
        this.groupsById.set(group, new GroupHandle(group, meta));
        this.useGeneration(meta.generation);
      }
    }
  }

  private async loadClearings(): Promise<void> {
    for await (const pairs of this.fetch(ALL_CLEARINGS)) {
      for (const [key, value] of pairs) {
        const generation = generationOfClearingKey(key);
        const owner = ownerOfRecord(decodeValue(key, value));
        if (owner?.generation !== generation)
          throw new DamagedStateError(`${key.toString('hex')} names no garbage`);
        this.sweeper.add(owner);
        this.useGeneration(generation);
      }
    }
  }

  /**
   * Records that belong to no group and are not named as garbage mean that a group was lost. They are not
   * deleted: nothing is, on the strength of something that is missing.
   */
  private async checkOwners(): Promise<void> {
    const garbage = new Set(this.sweeper.garbage.map(({ group, generation }) => `${group} ${generation}`));
    for (let { from } = ALL_RECORDS; ; ) {
      const cursor = this.store.iterate({ from, to: ALL_RECORDS.to }, { keysOnly: true });
      const [first] = await cursor.next(1);
      await cursor.close();
      if (first === undefined) return;
      const owner = ownerOfRecord(first[0]);
      if (owner === undefined)
        throw new DamagedStateError(`${first[0].toString('hex')} is no key of a record`);
      const { group, generation } = owner;
      const isKnown =
        this.groupsById.get(group)?.meta.generation === generation || garbage.has(`${group} ${generation}`);
      if (!isKnown)
        throw new DamagedStateError(`there are records of group ${group}, and the group is missing`, group);
      from = recordRange(group, generation).to;
    }
  }

  private checkpointHost(): CheckpointHost {
    return {
      disk: this.disk,
      journal: this.journal,
      slabBytes: this.slabBytes,
      now: this.now,
      register: (group, meta) => this.register(group, meta),
      nextRedoFile: () => this.nextRedoFile++,
      ended: (group) => this.busy.leave(group),
    };
  }

  private installHost(): InstallHost {
    return {
      journal: this.journal,
      current: (group) => this.groupsById.get(group),
      register: (group, meta) => this.register(group, meta),
      clear: (group, generation) => this.clear({ group, generation }),
      ended: (group) => this.busy.leave(group),
    };
  }

  private register(group: number, meta: GroupMeta): GroupHandle {
    const handle = this.groupsById.get(group) ?? new GroupHandle(group, meta);
    handle.meta = meta;
    this.groupsById.set(group, handle);
    return handle;
  }

  private newGeneration(): number {
    if (this.nextGeneration > GENERATION_MAX)
      throw new LimitError('A generation', this.nextGeneration, GENERATION_MAX);
    return this.nextGeneration++;
  }

  private clear(garbage: Garbage): void {
    this.sweeper.add(garbage);
    this.sweeper.sweep();
  }

  private useGeneration(generation: number): void {
    this.nextGeneration = Math.max(this.nextGeneration, generation + 1);
  }

  /** A decided checkpoint is not all in the records yet: no consistent view can be had. */
  private isBeingApplied(group: number): boolean {
    return this.groupsById.get(group)?.applying !== undefined;
  }

  private async *fetch(range: KeyRange): AsyncGenerator<readonly KeyValuePair[], void, undefined> {
    const cursor = this.store.iterate(range);
    try {
      for (;;) {
        const pairs = await cursor.next(FETCHED_PAIRS);
        if (pairs.length === 0) return;
        yield pairs;
      }
    } finally {
      await cursor.close();
    }
  }

  private record(group: number, key: Buffer, value: Buffer): StateRecord {
    const name = nameOfRecord(key);
    if (name === undefined)
      throw new DamagedStateError(`${key.toString('hex')} is no key of a record`, group);
    return { ...name, value: decodeValue(key, value, group) };
  }

  private assertOpen(): void {
    if (!this.isOpen) throw new StoreClosedError('state store');
  }
}
