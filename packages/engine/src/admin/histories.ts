/**
 * Scopes that have a commit history, as a part of the root scope. The entries lie in the group of each scope, see
 * `state/parts/commits.ts`; deleted ones of a collection are named here, since a change of the root scope can't change a
 * collection, and go there with its next commit.
 *
 *   effect  := 50 history                       a scope has this history from now on
 *            | 51 target:varint                 it has none any more
 *   history := target:varint number:varint count:varint id:varint*
 *
 * `number` tells a history from an earlier one of the same scope; the ids are those of deleted entries. Record: HISTORY
 * (target) holds `history`.
 */
import { ByteReader, ByteWriter } from '../bytes.js';
import type { Dirty } from '../state/dirty.js';
import { effect, effectsOn } from '../state/effect.js';
import type { GroupPart } from '../state/parts/part.js';
import { RecordKind } from '../state/records.js';
import { one } from '../state/tally.js';

/** The history of a scope. */
export interface History {
  /** 0 for @thingsdb, else the id of the collection. */
  readonly target: number;
  /** Number of the change of the root scope that began it. */
  readonly number: number;
  /** Ids of entries that were deleted and may still lie in the collection, rising. */
  readonly deleted: readonly number[];
}

/** Number of @thingsdb among the targets of histories. */
export const ROOT_HISTORY = 0;

export class Histories implements GroupPart {
  readonly effects = effectsOn(this, HistoryEffect);
  readonly kinds = [RecordKind.HISTORY];
  private readonly byTarget = new Map<number, History>();

  constructor(private readonly dirty: Dirty) {}

  /** The history of a scope; undefined when it has none. */
  of(target: number): History | undefined {
    return this.byTarget.get(target);
  }

  get all(): Iterable<History> {
    return this.byTarget.values();
  }

  put(history: History): void {
    this.byTarget.set(history.target, history);
    const out = new ByteWriter();
    writeHistory(out, history);
    this.dirty.put(RecordKind.HISTORY, history.target, 0, out.take());
  }

  remove(target: number): void {
    if (!this.byTarget.delete(target)) return;
    this.dirty.put(RecordKind.HISTORY, target, 0, null);
  }

  load(_kind: RecordKind, _id: number, _part: number, value: Uint8Array): void {
    const history = readHistory(new ByteReader(value));
    this.byTarget.set(history.target, history);
  }

  clear(): void {
    this.byTarget.clear();
  }

  /** A history is no data that would be in the way of a restore: it is replaced. */
  contents(): string | null {
    return null;
  }
}

export const HistoryEffect = {
  /** A scope has this history from now on. */
  SET: effect<Histories, [history: History]>({
    code: 0x50,
    write: writeHistory,
    read: (input) => [readHistory(input)],
    apply: (histories, history) => histories.put(history),
    inverse: (histories, { target }) => {
      const old = histories.of(target);
      return () => (old === undefined ? histories.remove(target) : histories.put(old));
    },
    cost: () => NS_PER_UNDO,
    counts: one('settings'),
  }),
  REMOVE: effect<Histories, [target: number]>({
    code: 0x51,
    write: (out, target) => out.varint(target),
    read: (input) => [input.varint()],
    apply: (histories, target) => histories.remove(target),
    inverse: (histories, target) => {
      const old = histories.of(target);
      return () => (old === undefined ? undefined : histories.put(old));
    },
    cost: () => NS_PER_UNDO,
    counts: one('settings'),
  }),
};

/** How long it takes to take a change of a history back, in nanoseconds. */
const NS_PER_UNDO = 2000;

function writeHistory(out: ByteWriter, { target, number, deleted }: History): void {
  out.varint(target);
  out.varint(number);
  out.varints(deleted);
}

function readHistory(input: ByteReader): History {
  return { target: input.varint(), number: input.varint(), deleted: input.varints() };
}
