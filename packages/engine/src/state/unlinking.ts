/**
 * Unlinking of a circle of garbage that is too large to go in one step: its things let go of what they refer to, some at a time, so that each
 * goes when nothing refers to it any more. Whoever comes to one of them by its id meanwhile finds it without what it let go of.
 */
import type { Field } from '../schema/type.js';
import { List, ThingSet } from '../value/containers.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { isPagedList } from './pages/list-pages.js';
import { isRelated, type Place, placesOf, refersToAny } from './portion.js';
import type { Store } from './store.js';
import type { Transaction } from './transaction.js';

/** References that are let go of in one change. */
const REFERENCES_MAX = 1024;

/** References in relations that are let go of in the place of one other: two changes leave each. */
const REFERENCES_PER_PARTNER = 4;

export class Unlinking {
  /** Ids of the things that properties get which can't be nil, by type and field: all have the same one, so that the others can go. */
  private readonly standIns = new Map<string, number>();

  constructor(private readonly store: Store) {}

  /**
   * Lets things go of what they refer to, as far as there is room in a change.
   *
   * @returns the number of those that had their turn in full
   */
  unlink(transaction: Transaction, things: readonly Thing[]): number {
    let left = REFERENCES_MAX;
    for (const [i, thing] of things.entries()) {
      this.store.load(thing);
      for (const place of placesOf(thing, mayRefer)) {
        if (left <= 0) return i;
        left -= this.giveUp(transaction, thing, place, left);
      }
      if (left <= 0) return i;
    }
    return things.length;
  }

  /** Lets go of a property, or of so much of it; returns how much that was. */
  private giveUp(transaction: Transaction, owner: Thing, { key, value, field }: Place, most: number): number {
    const each = isRelated(field) ? REFERENCES_PER_PARTNER : 1;
    if (value instanceof List) {
      const count = Math.min(value.length, most);
      transaction.spliceList(value, value.length - count, count, []);
      return count;
    }
    if (value instanceof ThingSet) {
      const members: Thing[] = [];
      for (const member of value.anyMembers) {
        if (members.length * each >= most) break;
        members.push(member);
      }
      transaction.removeMembers(value, members);
      return members.length * each;
    }
    if (field === undefined) transaction.deleteProperty(owner, key);
    else if (field.rule.fits(null)) transaction.placeField(owner, field, null);
    else if (!(value instanceof Thing) || !this.replace(transaction, owner, field, value)) return 0;
    return each;
  }

  /** Gives a property that can't be nil the thing that all of its kind get; false where it has that already. */
  private replace(transaction: Transaction, owner: Thing, field: Field, value: Thing): boolean {
    const { store, standIns } = this;
    const { type } = owner;
    if (type === null) return false;
    // In a unique index no two may have the same.
    if (store.indexes.of(type).some(({ isUnique, def }) => isUnique && def.fields.includes(field.id)))
      return false;
    const kind = `${type.id}:${field.id}`;
    const known = store.find(standIns.get(kind) ?? 0);
    if (known !== undefined) store.load(known);
    if (known === undefined || !field.rule.fits(known)) standIns.set(kind, value.id);
    if (known === undefined || known === value || !field.rule.fits(known)) return false;
    transaction.placeField(owner, field, known);
    return true;
  }
}

/** A list in pages is not brought into memory for that. */
function mayRefer(value: Value): boolean {
  return isPagedList(value) ? value.length > 0 : refersToAny(value);
}
