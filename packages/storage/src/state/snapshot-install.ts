import { asBuffer } from '../bytes.js';
import { demand, SnapshotRefusedError } from '../errors.js';
import type { StorageMutant } from '../mutants.js';
import { putMeta } from './checkpoint.js';
import type { GroupHandle } from './group-handle.js';
import type { Applied, GroupMeta } from './group-meta.js';
import type { Journal } from './journal.js';
import { clearingKey, nameRecord, type RecordName, recordKeyBuffer } from './keys.js';
import { VALUE_BYTES_MAX } from './limits.js';
import {
  decodeContent,
  isWhole,
  nextTotal,
  type Piece,
  type SnapshotChunk,
  type SnapshotHeader,
} from './snapshot-format.js';
import { encodeValue } from './values.js';

/** What an installation needs of the store. */
export type InstallHost = {
  readonly journal: Journal;
  readonly mutants: ReadonlySet<StorageMutant>;
  /** The group as it is now, if anything of it is stored. */
  current(group: number): GroupHandle | undefined;
  register(group: number, meta: GroupMeta): GroupHandle;
  /** The records of a generation are garbage now. */
  clear(group: number, generation: number): void;
  ended(group: number): void;
};

/**
 * Takes in a snapshot from another node. Its records are written under a generation of their own while the group is
 * read and used as before; `commit` switches the group over in one batch. Whatever happens before leaves the group as
 * it was, and the half-written generation is cleared.
 */
export class SnapshotInstaller {
  readonly group: number;
  readonly #host: InstallHost;
  readonly #generation: number;
  readonly #key: Buffer;
  #state: 'open' | 'complete' | 'failed' | 'ended' = 'open';
  #header: SnapshotHeader | undefined;
  #nextSequence = 0;
  #records = 0;
  #total: Buffer | undefined;
  #lastName: RecordName | undefined;
  /** Pieces of the value that is being put together. */
  #pieces: Piece[] = [];
  #pieceBytes = 0;
  #isStaged = false;
  #turn: Promise<void> = Promise.resolve();

  constructor(host: InstallHost, group: number, generation: number) {
    this.group = group;
    this.#host = host;
    this.#generation = generation;
    this.#key = recordKeyBuffer(group, generation);
  }

  /** The chunk that must come next: what a sender is told to go on with. */
  get nextSequence(): number {
    return this.#nextSequence;
  }

  /** The trailer has come and all is verified. */
  get isComplete(): boolean {
    return this.#state === 'complete';
  }

  /**
   * Takes the next chunk; resolves when the one after it is welcome. A chunk that was there before is passed over. Throws
   * `SnapshotRefusedError`: for a chunk that was changed on its way, or one too many, the right one may still come;
   * otherwise nothing but `abort` is left.
   */
  write(chunk: SnapshotChunk): Promise<void> {
    const result = this.#turn.then(() => this.#take(chunk));
    this.#turn = result.catch(() => undefined);
    return result;
  }

  /**
   * Switches the group to the snapshot, durably and at once. Throws `SnapshotRefusedError` if it is older than what the
   * group has by now.
   */
  async commit(): Promise<Applied> {
    await this.#turn;
    demand(
      this.#state === 'complete' && this.#header !== undefined,
      'a snapshot was committed before its end',
    );
    this.#refuseOlder(this.#header);
    this.#state = 'ended';
    try {
      await this.#host.journal.flush();
      if (!this.#switchesEarly) await this.#switch(this.#header);
      return this.#header.applied;
    } finally {
      this.#host.ended(this.group);
    }
  }

  /** Gives the snapshot up; the group is as it was. */
  async abort(): Promise<void> {
    await this.#turn;
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    if (this.#isStaged) this.#host.clear(this.group, this.#generation);
    this.#host.ended(this.group);
  }

  async #take(chunk: SnapshotChunk): Promise<void> {
    demand(this.#state !== 'ended', 'a chunk came after the end of an installation');
    if (!isWhole(chunk))
      throw new SnapshotRefusedError('damaged', `chunk ${chunk.sequence} does not hold its checksum`);
    if (chunk.sequence < this.#nextSequence) return;
    if (chunk.sequence > this.#nextSequence || this.#state !== 'open') {
      throw new SnapshotRefusedError(
        'out_of_order',
        `chunk ${chunk.sequence} came, not ${this.#nextSequence}`,
      );
    }
    try {
      await this.#takeContent(asBuffer(chunk.bytes));
    } catch (error) {
      this.#state = 'failed';
      throw error;
    }
    this.#nextSequence++;
  }

  async #takeContent(bytes: Buffer): Promise<void> {
    const content = decodeContent(bytes);
    if ((content.kind === 'header') !== (this.#nextSequence === 0))
      throw damaged('its header is not its first chunk');
    switch (content.kind) {
      case 'header':
        if (content.header.group !== this.group) {
          throw new SnapshotRefusedError(
            'wrong_group',
            `it is of group ${content.header.group}, not of ${this.group}`,
          );
        }
        this.#refuseOlder(content.header);
        this.#header = content.header;
        await this.#stage(content.header);
        break;
      case 'records':
        await this.#put(content.pieces);
        break;
      case 'trailer': {
        const isAll = this.#pieces.length === 0 && content.records === this.#records;
        if (!isAll || this.#total === undefined || !content.total.equals(this.#total)) {
          throw damaged('it is not what its trailer says');
        }
        this.#state = 'complete';
      }
    }
    this.#total = nextTotal(this.#total, bytes);
  }

  /** From now on a crash leaves garbage that has a name. */
  async #stage(header: SnapshotHeader): Promise<void> {
    this.#isStaged = true;
    await this.#host.journal.write((batch) => markGarbage(batch, this.group, this.#generation));
    if (this.#switchesEarly) await this.#switch(header);
  }

  /** One batch: the group has the new generation, and the old one is garbage. */
  async #switch({ applied }: SnapshotHeader): Promise<void> {
    const before = this.#host.current(this.group)?.meta.generation;
    const meta: GroupMeta = { generation: this.#generation, applied, redo: undefined };
    await this.#host.journal.write((batch) => {
      if (before !== undefined) markGarbage(batch, this.group, before);
      batch.delete(clearingKey(this.#generation));
      return putMeta(batch, this.group, meta);
    });
    this.#host.register(this.group, meta);
    if (before !== undefined) this.#host.clear(this.group, before);
  }

  get #switchesEarly(): boolean {
    return this.#host.mutants.has('snapshot_install_not_atomic');
  }

  async #put(pieces: readonly Piece[]): Promise<void> {
    const values: { readonly key: Buffer; readonly value: Buffer }[] = [];
    for (const piece of pieces) {
      const payload = this.#assemble(piece);
      if (payload === undefined) continue;
      this.#checkOrder(piece);
      nameRecord(this.#key, piece.kind, piece.id, piece.part);
      values.push({ key: Buffer.from(this.#key), value: encodeValue(this.#key, payload) });
      this.#records++;
    }
    await this.#host.journal.writeBulk((batch) => {
      let bytes = 0;
      for (const { key, value } of values) {
        batch.put(key, value);
        bytes += key.length + value.length;
      }
      return bytes;
    });
  }

  /** The whole value once its last piece is there. */
  #assemble(piece: Piece): Buffer | undefined {
    const before = this.#pieces[0];
    const isSame = before === undefined || compareNames(before, piece) === 0;
    this.#pieceBytes += piece.data.length;
    if (!isSame || this.#pieceBytes > VALUE_BYTES_MAX) throw damaged('a value in pieces has a wrong form');
    if (piece.more) {
      this.#pieces.push({ ...piece, data: Buffer.from(piece.data) });
      return undefined;
    }
    const payload =
      before === undefined ? piece.data : Buffer.concat([...this.#pieces, piece].map(({ data }) => data));
    this.#pieces = [];
    this.#pieceBytes = 0;
    return payload;
  }

  #checkOrder(name: RecordName): void {
    if (this.#lastName !== undefined && compareNames(this.#lastName, name) >= 0)
      throw damaged('its records are not in order');
    this.#lastName = { kind: name.kind, id: name.id, part: name.part };
  }

  #refuseOlder({ applied }: SnapshotHeader): void {
    const current = this.#host.current(this.group)?.meta.applied.index ?? 0;
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

function compareNames(a: RecordName, b: RecordName): number {
  return a.kind - b.kind || a.id - b.id || a.part - b.part;
}

function damaged(what: string): SnapshotRefusedError {
  return new SnapshotRefusedError('damaged', what);
}
