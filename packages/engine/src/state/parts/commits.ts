/**
 * The commit history of a scope as a part of the state of its group: who announced which change of definitions with `commit`.
 * Whether a scope has a history at all is told by the root scope, see `admin/histories.ts`: an entry belongs to the history
 * whose number it holds, and is no more when that one is not in force any more.
 *
 *   effect := 23 entry                        new entry
 *           | 24 count:varint id:varint*      delete entries
 *   entry  := id:varint history:varint created:varint by:text message:text code:text
 *
 * Record: COMMIT (id) holds `entry`.
 */
import { ByteReader, ByteWriter, FormatError } from '../../bytes.js';
import type { Dirty } from '../dirty.js';
import { RecordKind } from '../records.js';
import type { Transaction } from '../transaction.js';
import { type GroupPart, unknownEffect } from './part.js';

/** A change that was announced. */
export interface Commit {
  /** Number of the change in its scope. */
  readonly id: number;
  /** Number of the history that it belongs to. */
  readonly history: number;
  /** Unix seconds. */
  readonly createdAt: number;
  /** Name that the user had then. */
  readonly by: string;
  readonly message: string;
  /** The whole text of the query. */
  readonly code: string;
}

const Effect = { ADD: 0x23, DELETE: 0x24 } as const;

/** What an entry takes in memory besides its texts, roughly. */
const ENTRY_BYTES = 200;

export class Commits implements GroupPart {
  readonly effects = Object.values(Effect);
  readonly kinds = [RecordKind.COMMIT];
  /** By id; a rising order, as changes are numbered. */
  private entries = new Map<number, Commit>();
  private isOrdered = true;
  private readonly dirty: Dirty;
  /** Estimated bytes of all entries. */
  bytes = 0;

  constructor(dirty: Dirty) {
    this.dirty = dirty;
  }

  /** The entries of a history, oldest first. */
  of(history: number): Commit[] {
    this.order();
    return [...this.entries.values()].filter((commit) => commit.history === history);
  }

  /** Ids of all entries that do not belong to a history; null for none. */
  strangers(history: number | null): number[] {
    return [...this.entries.values()].filter((commit) => commit.history !== history).map(({ id }) => id);
  }

  find(id: number): Commit | undefined {
    return this.entries.get(id);
  }

  add(commit: Commit): void {
    this.index(commit);
    const out = new ByteWriter();
    writeCommit(out, commit);
    this.dirty.put(RecordKind.COMMIT, commit.id, 0, out.take());
  }

  delete(id: number): void {
    const commit = this.entries.get(id);
    if (commit === undefined) return;
    this.entries.delete(id);
    this.bytes -= bytesOf(commit);
    this.dirty.put(RecordKind.COMMIT, id, 0, null);
  }

  apply(operation: number, input: ByteReader): void {
    switch (operation) {
      case Effect.ADD:
        this.add(readCommit(input));
        break;
      case Effect.DELETE: {
        const count = input.varint();
        if (count > input.remaining) throw new FormatError(`${count} entries in ${input.remaining} bytes`);
        for (let i = 0; i < count; i++) this.delete(input.varint());
        break;
      }
      default:
        throw unknownEffect(operation);
    }
  }

  load(_kind: RecordKind, _id: number, _part: number, value: Uint8Array): void {
    this.index(readCommit(new ByteReader(value)));
  }

  flush(): void {
    // Records are put when an entry comes or goes.
  }

  clear(): void {
    this.entries.clear();
    this.isOrdered = true;
    this.bytes = 0;
  }

  /** A history is no data that would be in the way of a restore: it is replaced. */
  contents(): string | null {
    return null;
  }

  private index(commit: Commit): void {
    const old = this.entries.get(commit.id);
    if (old !== undefined) this.bytes -= bytesOf(old);
    this.entries.set(commit.id, commit);
    this.bytes += bytesOf(commit);
    this.isOrdered = false;
  }

  /** Records come in the order of ids, and taking a deletion back does not. */
  private order(): void {
    if (this.isOrdered) return;
    this.entries = new Map([...this.entries].sort(([a], [b]) => a - b));
    this.isOrdered = true;
  }
}

/** Changes a history in a query: applies, records the effect, and records the way back. */
export class CommitEditor {
  private readonly commits: Commits;
  private readonly transaction: Transaction;

  constructor(commits: Commits, transaction: Transaction) {
    this.commits = commits;
    this.transaction = transaction;
  }

  add(commit: Commit): void {
    const { commits, transaction } = this;
    transaction.effects.u8(Effect.ADD);
    writeCommit(transaction.effects, commit);
    commits.add(commit);
    transaction.onUndo(() => commits.delete(commit.id));
  }

  delete(ids: readonly number[]): void {
    const { commits, transaction } = this;
    if (ids.length === 0) return;
    transaction.effects.u8(Effect.DELETE);
    transaction.effects.varint(ids.length);
    const deleted: Commit[] = [];
    for (const id of ids) {
      transaction.effects.varint(id);
      const commit = commits.find(id);
      if (commit !== undefined) deleted.push(commit);
      commits.delete(id);
    }
    transaction.onUndo(() => {
      for (const commit of deleted) commits.add(commit);
    });
  }
}

function bytesOf({ by, message, code }: Commit): number {
  return ENTRY_BYTES + 2 * (by.length + message.length + code.length);
}

function writeCommit(out: ByteWriter, { id, history, createdAt, by, message, code }: Commit): void {
  out.varint(id);
  out.varint(history);
  out.varint(createdAt);
  out.text(by);
  out.text(message);
  out.text(code);
}

function readCommit(input: ByteReader): Commit {
  return {
    id: input.varint(),
    history: input.varint(),
    createdAt: input.varint(),
    by: input.text(),
    message: input.text(),
    code: input.text(),
  };
}
