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
import type { ByteReader, ByteWriter } from '../bytes.js';
import type { Dirty } from '../state/dirty.js';
import { effect } from '../state/effect.js';
import { removeEffect, ValuesById, wayBack } from '../state/parts/values-by-id.js';
import { RecordKind } from '../state/records.js';
import { one } from '../state/tally.js';

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

/** The histories, by their targets. */
export class Histories extends ValuesById<History> {
  constructor(dirty: Dirty) {
    super(dirty, RecordKind.HISTORY, { write: writeHistory, read: readHistory }, HistoryEffect);
  }
}

export const HistoryEffect = {
  /** A scope has this history from now on. */
  SET: effect<ValuesById<History>, [history: History]>({
    code: 0x50,
    write: writeHistory,
    read: (input) => [readHistory(input)],
    apply: (histories, history) => histories.set(history.target, history),
    inverse: (histories, { target }) => wayBack(histories, target),
    cost: () => NS_PER_UNDO,
    counts: one('settings'),
  }),
  REMOVE: removeEffect<History>({ code: 0x51, cost: () => NS_PER_UNDO, counts: one('settings') }),
};

/** Nanoseconds that it takes to take a change of a history back. */
const NS_PER_UNDO = 2000;

function writeHistory(out: ByteWriter, { target, number, deleted }: History): void {
  out.varint(target);
  out.varint(number);
  out.varints(deleted);
}

function readHistory(input: ByteReader): History {
  return { target: input.varint(), number: input.varint(), deleted: input.varints() };
}
