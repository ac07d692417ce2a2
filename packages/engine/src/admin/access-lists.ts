/**
 * Access lists: which privileges each user has for each target.
 *
 *   lists  := targets:varint (target users:varint (user:varint mask:u8)*)*
 *   target := a collection's id, 0 for @thingsdb, or 1 beyond the largest id for @node, as varint
 */

import type { ByteReader, ByteWriter } from '../bytes.js';
import { getOrInsertComputed } from '../get-or-insert.js';

/** The owner of an access list: `@thingsdb`, `@node`, or a collection, by id. */
export type Target = 'thingsdb' | 'node' | number;

/** Number that stands for `@node` among targets; ids of collections stay below. */
const NODE_TARGET = Number.MAX_SAFE_INTEGER;

export class AccessLists {
  private readonly lists = new Map<Target, Map<number, number>>();

  clear(): void {
    this.lists.clear();
  }

  /** Sets what a user may do; null takes the entry away. */
  set(target: Target, userId: number, mask: number | null): void {
    const list = getOrInsertComputed(this.lists, target, () => new Map());
    if (mask === null) list.delete(userId);
    else list.set(userId, mask);
  }

  /** The privileges of a user; undefined when it has no entry. */
  maskOf(target: Target, userId: number): number | undefined {
    return this.lists.get(target)?.get(userId);
  }

  /** The number of users that have an entry. */
  countOf(target: Target): number {
    return this.lists.get(target)?.size ?? 0;
  }

  /** Takes away all entries of a user. */
  removeUser(userId: number): void {
    for (const list of this.lists.values()) list.delete(userId);
  }

  /** Takes away the list of a target, and gives what was in it: privileges by the ids of users. */
  removeTarget(target: Target): ReadonlyMap<number, number> {
    const list = this.lists.get(target);
    this.lists.delete(target);
    return list ?? new Map<number, number>();
  }

  /** The same bytes for the same lists, however they came about: where a change was taken back, they lie in another order. */
  write(out: ByteWriter): void {
    const lists = [...this.lists].filter(([, list]) => list.size > 0).sort(byTarget);
    out.varint(lists.length);
    for (const [target, list] of lists) {
      writeTarget(out, target);
      out.varint(list.size);
      for (const [userId, mask] of [...list].sort(([a], [b]) => a - b)) {
        out.varint(userId);
        out.u8(mask);
      }
    }
  }

  /** Adds what was written. */
  read(input: ByteReader): void {
    for (let targets = input.varint(); targets > 0; targets--) {
      const target = readTarget(input);
      for (let users = input.varint(); users > 0; users--) {
        this.set(target, input.varint(), input.u8());
      }
    }
  }
}

export function writeTarget(out: ByteWriter, target: Target): void {
  out.varint(numberOf(target));
}

function numberOf(target: Target): number {
  return target === 'thingsdb' ? 0 : target === 'node' ? NODE_TARGET : target;
}

function byTarget([a]: readonly [Target, unknown], [b]: readonly [Target, unknown]): number {
  return numberOf(a) - numberOf(b);
}

export function readTarget(input: ByteReader): Target {
  const number = input.varint();
  return number === 0 ? 'thingsdb' : number === NODE_TARGET ? 'node' : number;
}
