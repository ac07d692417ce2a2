import { demand, SnapshotRefusedError } from '../errors.js';
import type { KeyValueBatch } from '../kv/key-value-store.js';
import { putMeta } from './checkpoint.js';
import type { GroupHandle } from './group-handle.js';
import type { Applied, GroupMeta } from './group-meta.js';
import type { Journal } from './journal.js';
import { clearingKey, NAME_AT, nameRecord, recordKeyBuffer } from './keys.js';
import { isWhole, type SnapshotChunk, type SnapshotHeader } from './snapshot-format.js';
import { SnapshotReader, type StoredRecord, type Taken } from './snapshot-reader.js';
import type { StateRecord } from './state-store.js';
import { encodeValue, Rekeying } from './values.js';

/** The part of the store that an installation needs. */
export type InstallHost = {
  readonly journal: Journal;
  /** The group as it is now, if anything of it is stored. */
  current(group: number): GroupHandle | undefined;
  register(group: number, meta: GroupMeta): GroupHandle;
  /** The records of a generation are garbage now. */
  clear(group: number, generation: number): void;
  ended(group: number): void;
};

/**
 * Takes in a snapshot from another node. Its records are written under a generation of their own while the
 * group is read and used as before; `commit` switches the group over in one batch. Whatever happens before
 * leaves the group as it was, and the half-written generation is cleared.
 */
export class SnapshotInstaller {
  private readonly key: Buffer;
  private readonly reader = new SnapshotReader();
  /** With format 2. */
  private rekeying: Rekeying | undefined;
  private state: 'open' | 'failed' | 'ended' = 'open';
  private isStaged = false;
  private turn: Promise<void> = Promise.resolve();
  /** The records of the chunk before, on their way into the store while the next one is checked. */
  private writing: Promise<void> = Promise.resolve();
  private isWritten = false;

  constructor(
    private readonly host: InstallHost,
    readonly group: number,
    private readonly generation: number,
  ) {
    this.key = recordKeyBuffer(group, generation);
  }

  /** The chunk that must come next: what a sender is told to go on with. */
  get nextSequence(): number {
    return this.reader.nextSequence;
  }

  /** The trailer has come and all is verified. */
  get isComplete(): boolean {
    return this.state === 'open' && this.reader.isComplete && this.isWritten;
  }

  /**
   * Takes the next chunk; resolves when the one after it is welcome. Whether it could be stored may be told by the next
   * one. A chunk that was there before is passed
   * over. Throws `SnapshotRefusedError`: for a chunk that was changed on its way, or one too many, the right
   * one may still come; otherwise nothing but `abort` is left.
   */
  write(chunk: SnapshotChunk): Promise<void> {
    const result = this.turn.then(() => this.take(chunk));
    this.turn = result.catch(() => undefined);
    return result;
  }

  /**
   * Switches the group to the snapshot, durably and at once. Throws `SnapshotRefusedError` if it is older
   * than what the group has by now.
   */
  async commit(): Promise<Applied> {
    await this.turn;
    const { header } = this.reader;
    demand(this.isComplete && header !== undefined, 'a snapshot was committed before its end');
    this.refuseOlder(header);
    this.state = 'ended';
    try {
      await this.host.journal.flush();
      await this.switch(header);
      return header.applied;
    } finally {
      this.host.ended(this.group);
    }
  }

  /** Gives the snapshot up; the group is as it was. */
  async abort(): Promise<void> {
    await this.turn;
    await this.writing.catch(() => undefined);
    if (this.state === 'ended') return;
    this.state = 'ended';
    if (this.isStaged) this.host.clear(this.group, this.generation);
    this.host.ended(this.group);
  }

  private async take(chunk: SnapshotChunk): Promise<void> {
    demand(this.state !== 'ended', 'a chunk came after the end of an installation');
    if (chunk.sequence < this.reader.nextSequence && isWhole(chunk, this.reader.format)) return;
    if (this.state === 'failed')
      throw new SnapshotRefusedError('out_of_order', `chunk ${chunk.sequence} came after a failure`);
    const isFirst = this.reader.header === undefined;
    const taken = this.reader.takeStored(chunk);
    const { header } = this.reader;
    try {
      if (isFirst && header !== undefined) await this.accept(header);
      await this.writing;
      if (taken.records.length + taken.stored.length > 0) {
        this.writing = this.put(taken);
        // It is nobody's until the next chunk asks.
        this.writing.catch(() => undefined);
      }
      this.isWritten = this.reader.isComplete;
    } catch (error) {
      this.state = 'failed';
      throw error;
    }
  }

  private async accept(header: SnapshotHeader): Promise<void> {
    if (header.group !== this.group) {
      throw new SnapshotRefusedError('wrong_group', `it is of group ${header.group}, not of ${this.group}`);
    }
    this.refuseOlder(header);
    if (header.generation !== undefined)
      this.rekeying = new Rekeying(recordKeyBuffer(this.group, header.generation), this.key);
    await this.stage();
  }

  /** Notes the generation as garbage, which it is after a crash. */
  private async stage(): Promise<void> {
    this.isStaged = true;
    await this.host.journal.write((batch) => markGarbage(batch, this.group, this.generation));
  }

  /** One batch: the group has the new generation, and the old one is garbage. */
  private async switch({ applied }: SnapshotHeader): Promise<void> {
    const before = this.host.current(this.group)?.meta.generation;
    const meta: GroupMeta = { generation: this.generation, applied, redo: undefined };
    await this.host.journal.write((batch) => {
      if (before !== undefined) markGarbage(batch, this.group, before);
      batch.delete(clearingKey(this.generation));
      return putMeta(batch, this.group, meta);
    });
    this.host.register(this.group, meta);
    if (before !== undefined) this.host.clear(this.group, before);
  }

  private put({ records, stored }: Taken): Promise<void> {
    return this.host.journal.writeBulk(
      (batch) => this.putRecords(batch, records) + this.putStored(batch, stored),
    );
  }

  private putRecords(batch: KeyValueBatch, records: readonly StateRecord[]): number {
    const { key } = this;
    let bytes = 0;
    for (const { kind, id, part, value } of records) {
      nameRecord(key, kind, id, part);
      // The batch copies both.
      const encoded = encodeValue(key, value);
      batch.put(key, encoded);
      bytes += key.length + encoded.length;
    }
    return bytes;
  }

  private putStored(batch: KeyValueBatch, stored: readonly StoredRecord[]): number {
    const { key, rekeying } = this;
    let bytes = 0;
    for (const { name, value } of stored) {
      key.set(name, NAME_AT);
      rekeying?.apply(value);
      batch.put(key, value);
      // The batch has a copy, and the bytes are the caller's.
      rekeying?.apply(value);
      bytes += key.length + value.length;
    }
    return bytes;
  }

  private refuseOlder({ applied }: SnapshotHeader): void {
    const current = this.host.current(this.group)?.meta.applied.index ?? 0;
    if (applied.index >= current) return;
    throw new SnapshotRefusedError(
      'older',
      `it reaches index ${applied.index}, and the group is at ${current}`,
    );
  }
}

/** Names a generation as garbage, or one that is if nothing better happens; gives the bytes. */
export function markGarbage(
  batch: { put(key: Buffer, value: Buffer): void },
  group: number,
  generation: number,
): number {
  const key = clearingKey(generation);
  const owner = recordKeyBuffer(group, generation);
  batch.put(key, encodeValue(key, owner));
  return key.length + owner.length;
}
