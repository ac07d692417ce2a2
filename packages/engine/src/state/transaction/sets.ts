import {
  assertMembers,
  chargeFill,
  type ThingSet,
  UNITS_PER_MEMBER,
  UNITS_PER_REFERENCE,
} from '../../value/containers.js';
import type { Thing } from '../../value/thing.js';
import { perform } from '../effect.js';
import { nsOfMembers, ThingEffect } from '../effects.js';
import type { Relations } from '../relations.js';
import { ListChanges } from './lists.js';
import { chargeLoads } from './undo-costs.js';

/** Changes of sets, which may be one side of a relation. */
export abstract class SetChanges extends ListChanges {
  protected abstract readonly relations: Relations;

  /** Adds things to a set; returns how many were not in it. Relations are kept. */
  addMembers(set: ThingSet, things: Iterable<Thing>): number {
    const given = [...things];
    // Brings the owner up to date, and with it the rule.
    void set.stored;
    if (set.rule?.isRelated !== true) return this.addUnrelated(set, given);
    this.checkItems(set.rule, given);
    this.assertWritable(set);
    this.checkUnique((check) => this.relations.planAdd(check, set, given));
    return this.inParts(() => this.relations.add(set, given));
  }

  /** Adds things to a set, on this side alone of a relation. */
  addUnrelated(set: ThingSet, things: readonly Thing[]): number {
    set.endFilling(this.counting);
    this.count(UNITS_PER_MEMBER * things.length);
    const added = [...new Set(things)].filter((thing) => !set.has(thing, this.counting));
    assertMembers(set.size + added.length);
    const { stored } = set;
    if (set.rule !== null) this.checkItems(set.rule, added);
    if (!stored) {
      addAll(set, added);
      if (this.isDetached(set)) this.undoBy(() => removeAll(set, added), nsOfMembers(added.length));
      return added.length;
    }
    this.assertWritable(set);
    if (added.length === 0) return 0;
    const store = this.needStore();
    for (const thing of added) chargeLoads(thing, this.counting);
    this.storeThings(added);
    this.count(UNITS_PER_PAGED * added.length);
    perform(this, ThingEffect.ADD_MEMBERS, store, set, added);
    return added.length;
  }

  /** Takes things out of a set; returns those that were in it, in the given order, in an array that is the caller's own. */
  removeMembers(set: ThingSet, things: Iterable<Thing>): Thing[] {
    const given = [...things];
    void set.stored;
    if (set.rule?.isRelated !== true) return this.removeUnrelated(set, given);
    this.assertWritable(set);
    const removed = [...new Set(given)].filter((thing) => set.has(thing, this.counting));
    this.relations.remove(set, removed);
    return removed;
  }

  /** Takes things out of a set, on this side alone of a relation. */
  removeUnrelated(set: ThingSet, things: readonly Thing[]): Thing[] {
    set.endFilling(this.counting);
    this.count(UNITS_PER_MEMBER * things.length);
    const removed = [...new Set(things)].filter((thing) => set.has(thing, this.counting));
    if (removed.length === set.size) chargeFill(set, this.counting);
    if (!set.stored) {
      if (this.isDetached(set)) {
        this.keepMemberOrder(set);
        this.undoBy(() => addAll(set, removed), nsOfMembers(removed.length));
      }
      removeAll(set, removed);
      return removed.slice();
    }
    this.assertWritable(set);
    if (removed.length === 0) return removed;
    for (const thing of removed) chargeLoads(thing, this.counting);
    this.keepMemberOrder(set);
    this.count(UNITS_PER_PAGED * removed.length);
    perform(this, ThingEffect.REMOVE_MEMBERS, this.needStore(), set, removed);
    return removed.slice();
  }

  /** Gives a set exactly these members, as the compound set operators do. */
  assignMembers(set: ThingSet, members: ReadonlySet<Thing>): void {
    this.assertWritable(set);
    if (set.rule !== null) this.checkItems(set.rule, [...members]);
    const leaving = [...set.members].filter((thing) => !members.has(thing));
    this.checkUnique((check) => {
      if (set.rule?.isRelated === true) {
        this.relations.planRemove(check, set, leaving);
        this.relations.planAdd(check, set, [...members]);
      } else for (const thing of members) check.storeAll(thing);
    });
    this.inParts(() => {
      this.removeMembers(set, leaving);
      this.addMembers(set, members);
    });
  }
}

/** Units charged for a member of a stored set that comes or goes, besides: its reference and its place in a page. */
const UNITS_PER_PAGED = UNITS_PER_REFERENCE + 128;

function addAll(set: ThingSet, things: readonly Thing[]): void {
  for (const thing of things) set.members.add(thing);
}

function removeAll(set: ThingSet, things: readonly Thing[]): void {
  for (const thing of things) set.members.delete(thing);
}
