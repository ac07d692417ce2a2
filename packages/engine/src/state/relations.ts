/**
 * Relations: two properties that are kept in step. b is in or at a.f exactly when a is in or at b.g.
 *
 * A write to one side is applied with what it does to the other, each as an effect of its own; followers need to know nothing of
 * relations. Values have been checked before.
 */
import { typeError } from '../error.js';
import type { Catalog } from '../schema/catalog.js';
import type { Field } from '../schema/type.js';
import { ThingSet } from '../value/containers.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import type { UniqueCheck } from './transaction/unique.js';

/** The side of a transaction that relations need: changes of one side alone. */
export interface OneSided {
  placeUnchecked(thing: Thing, key: string, value: Value): void;
  addUnrelated(set: ThingSet, things: readonly Thing[]): number;
  removeUnrelated(set: ThingSet, things: readonly Thing[]): readonly Thing[];
}

export class Relations {
  constructor(
    private readonly schema: Catalog,
    private readonly sides: OneSided,
  ) {}

  /** `a.f = value`; gives what the property holds then. */
  assign(a: Thing, f: Field, value: Value): Value {
    const present = partnersAt(a, f);
    if (present instanceof ThingSet) {
      const wanted = value instanceof ThingSet ? [...value.members] : [];
      if (wanted.length > 0) assertStored(a, f);
      const kept = new Set(wanted);
      this.remove(
        present,
        [...present.members].filter((member) => !kept.has(member)),
      );
      this.add(present, wanted);
      return present;
    }
    if (present === value) return value;
    if (value instanceof Thing) assertStored(a, f);
    if (present instanceof Thing) this.unlink(a, f, present);
    if (value instanceof Thing) this.link(a, f, value);
    return value;
  }

  /** `a.f.add(...)`; gives how many things count as added. */
  add(set: ThingSet, things: readonly Thing[]): number {
    const { owner: a, field: f } = sideOf(set);
    if (things.length > 0) assertStored(a, f);
    const isOneToMany = !isSet(this.end(f));
    let added = 0;
    for (const b of new Set(things)) {
      if (set.has(b)) {
        // A thing that is there already counts where it can have one partner only: programs rely on it.
        if (isOneToMany) added += 1;
        continue;
      }
      this.link(a, f, b);
      added += 1;
    }
    return added;
  }

  /** Says what `assign` does to unique indexes. What two things have of each other alone, no others keep. */
  planAssign(check: UniqueCheck, a: Thing, f: Field, value: Value): void {
    const present = partnersAt(a, f);
    if (present instanceof ThingSet) {
      const wanted = value instanceof ThingSet ? value.members : new Set<Thing>();
      this.planRemove(
        check,
        present,
        [...present.members].filter((member) => !wanted.has(member)),
      );
      this.planAdd(check, present, [...wanted]);
    } else if (isSet(this.end(f))) check.set(a, f.slot, value);
    else check.storeAll(value);
  }

  /** The same for `add`. */
  planAdd(check: UniqueCheck, set: ThingSet, things: readonly Thing[]): void {
    this.planOthers(check, set, things, sideOf(set).owner);
  }

  /** The same for `remove`. */
  planRemove(check: UniqueCheck, set: ThingSet, things: readonly Thing[]): void {
    this.planOthers(check, set, things, null);
  }

  private planOthers(check: UniqueCheck, set: ThingSet, things: readonly Thing[], value: Value): void {
    const g = this.end(sideOf(set).field);
    for (const b of things) {
      check.storeAll(b);
      if (isSet(g)) continue;
      // Brings it into memory, in its present form.
      void b.type;
      check.set(b, g.slot, value);
    }
  }

  /** Takes things out of a set; they must be in it. */
  remove(set: ThingSet, things: readonly Thing[]): void {
    const { owner: a, field: f } = sideOf(set);
    for (const b of things) this.unlink(a, f, b);
  }

  /** Makes two things partners, which they are not yet; whatever stands in the way is unlinked. */
  private link(a: Thing, f: Field, b: Thing): void {
    const g = this.end(f);
    const before = partnersAt(b, g);
    if (!isSet(g) && before instanceof Thing) this.unlink(b, g, before);
    this.put(a, f, b);
    if (a !== b || f.mark !== g.mark) this.put(b, g, a);
  }

  private unlink(a: Thing, f: Field, b: Thing): void {
    const g = this.end(f);
    this.take(a, f, b);
    if (a !== b || f.mark !== g.mark) this.take(b, g, a);
  }

  private put(thing: Thing, field: Field, partner: Thing): void {
    const present = partnersAt(thing, field);
    if (present instanceof ThingSet) {
      if (present.has(partner)) return;
      forIterations(present);
      this.sides.addUnrelated(present, [partner]);
    } else {
      this.sides.placeUnchecked(thing, field.name, partner);
    }
  }

  private take(thing: Thing, field: Field, partner: Thing): void {
    const present = partnersAt(thing, field);
    if (present instanceof ThingSet) {
      if (!present.has(partner)) return;
      forIterations(present);
      this.sides.removeUnrelated(present, [partner]);
    } else if (present === partner) {
      this.sides.placeUnchecked(thing, field.name, null);
    }
  }

  /** The other side of a relation. */
  private end(field: Field): Field {
    const { relation } = field;
    if (relation === null) throw new Error(`the property ${field.name} is in no relation`);
    const end = this.schema.type(relation.type).shape?.fields.find(({ id }) => id === relation.field);
    if (end === undefined) throw new Error(`the relation of ${field.name} has no other side`);
    return end;
  }
}

function isSet({ definition }: Field): boolean {
  return definition.base.kind === 'set';
}

function partnersAt(thing: Thing, field: Field): Value {
  // Brings it into memory, in its present form.
  void thing.type;
  return thing.slots[field.slot] ?? null;
}

function sideOf(set: ThingSet): { readonly owner: Thing; readonly field: Field } {
  const { owner, rule } = set;
  if (owner === null || rule === null) throw new Error('a set that is in a relation has an owner');
  return { owner, field: rule.field };
}

function assertStored({ id }: Thing, { name, type }: Field): void {
  if (id !== 0) return;
  throw typeError(
    `type \`${type.name}\`, property \`${name}\`: only a stored thing can have partners in a relation`,
  );
}

/** An iteration over a set goes on with the members that it had at the start. */
function forIterations(set: ThingSet): void {
  if (set.isIterated && set.held !== null) set.held = new Set(set.held);
}
