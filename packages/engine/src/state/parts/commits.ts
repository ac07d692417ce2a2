/**
 * The commit history of a scope as a part of the state of its group: who announced which change of definitions with `commit`.
 * The root scope tells if a scope has a history at all, see `admin/histories.ts`: an entry belongs to the history
 * whose number it holds, and is no more when that one is not in force any more.
 *
 *   effect := 23 entry                        new entry
 *           | 24 count:varint id:varint*      delete entries
 *   entry  := id:varint history:varint created:varint by:text message:text code:text
 *
 * Record: COMMIT (id) holds `entry`.
 */
import { ByteReader, ByteWriter } from '../../bytes.js';
import type { Dirty } from '../dirty.js';
import { effect, effectsOn } from '../effect.js';
import { RecordKind } from '../records.js';
import { one } from '../tally.js';
import type { GroupPart } from './part.js';

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

/** Bytes of an entry in memory besides its texts, roughly. */
const ENTRY_BYTES = 200;

export class Commits implements GroupPart {
  readonly effects = effectsOn(this, CommitEffect);
  readonly kinds = [RecordKind.COMMIT];
  /** The commits by id, which is a rising order, as changes are numbered. */
  private entries = new Map<number, Commit>();
  private isOrdered = true;
  /** Estimated bytes of all entries. */
  bytes = 0;

  constructor(private readonly dirty: Dirty) {}

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

  load(_kind: RecordKind, _id: number, _part: number, value: Uint8Array): void {
    this.index(readCommit(new ByteReader(value)));
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

export const CommitEffect = {
  ADD: effect<Commits, [commit: Commit]>({
    code: 0x23,
    write: writeCommit,
    read: (input) => [readCommit(input)],
    apply: (commits, commit) => commits.add(commit),
    inverse:
      (commits, { id }) =>
      () =>
        commits.delete(id),
    cost: () => NS_PER_UNDO,
    counts: one('commits'),
  }),
  DELETE: effect<Commits, [ids: readonly number[]]>({
    code: 0x24,
    write: (out, ids) => out.varints(ids),
    read: (input) => [input.varints()],
    apply: (commits, ids) => {
      for (const id of ids) commits.delete(id);
    },
    inverse: (commits, ids) => {
      const deleted = ids.flatMap((id) => commits.find(id) ?? []);
      return () => {
        for (const commit of deleted) commits.add(commit);
      };
    },
    cost: () => NS_PER_UNDO,
    counts: (_, { length }) => ['commits', length],
  }),
};

/** Time it takes to take a change of a history back, in nanoseconds. */
const NS_PER_UNDO = 2000;

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
