/**
 * Which scopes have a commit history, as a part of the root scope. The entries lie in the group of each scope, see
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
import { ByteReader, ByteWriter, FormatError } from '../bytes.js';
import type { Dirty } from '../state/dirty.js';
import { type GroupPart, unknownEffect } from '../state/parts/part.js';
import { RecordKind } from '../state/records.js';

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

const Effect = { SET: 0x50, REMOVE: 0x51 } as const;

export class Histories implements GroupPart {
  readonly effects = Object.values(Effect);
  readonly kinds = [RecordKind.HISTORY];
  private readonly byTarget = new Map<number, History>();
  private readonly dirty: Dirty;

  constructor(dirty: Dirty) {
    this.dirty = dirty;
  }

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

  apply(operation: number, input: ByteReader): void {
    if (operation === Effect.SET) this.put(readHistory(input));
    else if (operation === Effect.REMOVE) this.remove(input.varint());
    else throw unknownEffect(operation);
  }

  load(_kind: RecordKind, _id: number, _part: number, value: Uint8Array): void {
    const history = readHistory(new ByteReader(value));
    this.byTarget.set(history.target, history);
  }

  flush(): void {
    // Records are put when a history changes.
  }

  clear(): void {
    this.byTarget.clear();
  }

  /** A history is no data that would be in the way of a restore: it is replaced. */
  contents(): string | null {
    return null;
  }
}

export function writeSetHistory(out: ByteWriter, history: History): void {
  out.u8(Effect.SET);
  writeHistory(out, history);
}

export function writeRemoveHistory(out: ByteWriter, target: number): void {
  out.u8(Effect.REMOVE);
  out.varint(target);
}

function writeHistory(out: ByteWriter, { target, number, deleted }: History): void {
  out.varint(target);
  out.varint(number);
  out.varint(deleted.length);
  for (const id of deleted) out.varint(id);
}

function readHistory(input: ByteReader): History {
  const target = input.varint();
  const number = input.varint();
  const count = input.varint();
  if (count > input.remaining) throw new FormatError(`${count} deleted entries in ${input.remaining} bytes`);
  return { target, number, deleted: Array.from({ length: count }, () => input.varint()) };
}
