import { lookupError, type QueryError, typeError } from '../error.js';
import { getOrInsertComputed } from '../get-or-insert.js';
import { assertUnused } from '../run/instance.js';
import { looseThings, storedInstances, UNITS_PER_READ } from '../run/instances.js';
import type { Runtime } from '../run/runtime.js';
import { inWords } from '../schema/rule.js';
import type { FieldDef, RelationEnd, Type } from '../schema/type.js';
import { ThingSet } from '../value/containers.js';
import { Thing } from '../value/thing.js';
import { typeName, type Value } from '../value/value.js';
import { assertUnlocked } from './type-fields.js';
import { defOf } from './types.js';

/**
 * `mod_type(X, 'rel', f, g)`: makes a relation of two properties, whose values are completed first, or removes one (`nil`).
 *
 * @throws QueryError lookup_err for a property that is not there, type_err for what can't be related, and for values that contradict
 *   each other
 */
export function relate(rt: Runtime, type: Type, name: string, other: Value): void {
  const f = fieldNamed(type, name);
  if (other === null) {
    unrelate(rt, type, f);
    return;
  }
  if (typeof other !== 'string')
    throw typeError(`mod_type() takes the name of a property or nil, not ${inWords(other)}`);
  const partner = partnerOf(rt, type, f);
  if (partner !== type) {
    assertUnused(partner);
    assertUnlocked(partner);
  }
  const g = fieldNamed(partner, other);
  if (partnerOf(rt, partner, g) !== type) throw cannot(partner, g, `it does not name \`${type.name}\``);
  for (const [of, field] of [
    [type, f],
    [partner, g],
  ] as const) {
    if (field.relation !== null) throw cannot(of, field, 'it is in a relation already');
  }
  const [loose] = looseThings(rt);
  if (loose !== undefined) {
    throw typeError(
      `a variable holds a ${typeName(loose)} that is not stored: relations are made between stored things only`,
    );
  }
  complete(rt, { type, f, partner, g });
  setRelation(rt, type, f, { type: partner.id, field: g.id });
  if (partner !== type || f.id !== g.id) setRelation(rt, partner, g, { type: type.id, field: f.id });
}

function unrelate(rt: Runtime, type: Type, f: FieldDef): void {
  const { relation } = f;
  if (relation === null) throw cannot(type, f, 'it is in no relation');
  const partner = rt.schema.type(relation.type);
  if (partner !== type) {
    assertUnused(partner);
    assertUnlocked(partner);
  }
  setRelation(rt, type, f, null);
  const g = defOf(partner).fields.find(({ id }) => id === relation.field);
  if (g !== undefined && g.relation !== null) setRelation(rt, partner, g, null);
}

function setRelation(rt: Runtime, type: Type, field: FieldDef, relation: RelationEnd | null): void {
  const def = defOf(type);
  const fields = def.fields.map((other) => (other.id === field.id ? { ...other, relation } : other));
  rt.schemaEditor.putType({ ...def, fields, modifiedAt: rt.seconds() });
}

function fieldNamed(type: Type, name: string): FieldDef {
  const field = defOf(type).fields.find((other) => other.name === name);
  if (field === undefined) throw lookupError(`type \`${type.name}\` has no property \`${name}\``);
  return field;
}

/** The type that a property names in a form that a relation can have: `Y?` or `{Y}`. */
function partnerOf(rt: Runtime, type: Type, field: FieldDef): Type {
  const { base, nillable } = field.definition;
  if (base.kind === 'type' && nillable) return rt.schema.type(base.id);
  if (base.kind === 'set' && !nillable && base.item?.base.kind === 'type')
    return rt.schema.type(base.item.base.id);
  throw cannot(type, field, 'a property in a relation is defined like `User?` or `{User}`');
}

function cannot(type: Type, { name }: FieldDef, why: string): QueryError {
  return typeError(`type \`${type.name}\`, property \`${name}\`: it can not be related: ${why}`);
}

interface Pair {
  readonly type: Type;
  readonly f: FieldDef;
  readonly partner: Type;
  readonly g: FieldDef;
}

/** Gives every instance its missing side. All is looked at before anything changes. */
function complete(rt: Runtime, { type, f, partner, g }: Pair): void {
  const xs = storedInstances(rt, type);
  const ys = partner === type ? xs : storedInstances(rt, partner);
  /** The relation, said by either side. */
  const ofX = new Map<Thing, Set<Thing>>();
  const ofY = new Map<Thing, Set<Thing>>();
  const note = (a: Thing, b: Thing): void => {
    rt.charge(UNITS_PER_LINK);
    into(ofX, a).add(b);
    into(ofY, b).add(a);
  };
  for (const a of xs) for (const b of partnersIn(rt, a, f)) note(a, b);
  for (const b of ys) for (const a of partnersIn(rt, b, g)) note(a, b);
  if (f.id === g.id && type === partner) {
    // The same property is both sides, so who is related to somebody is so in both directions.
    for (const [a, bs] of [...ofX]) for (const b of [...bs]) note(b, a);
  }
  assertPossible(type, f, ofX);
  assertPossible(partner, g, ofY);
  fill(rt, f, ofX);
  if (f.id !== g.id || type !== partner) fill(rt, g, ofY);
}

function into(map: Map<Thing, Set<Thing>>, key: Thing): Set<Thing> {
  return getOrInsertComputed(map, key, () => new Set());
}

function partnersIn(rt: Runtime, thing: Thing, { name }: FieldDef): Iterable<Thing> {
  rt.charge(UNITS_PER_READ);
  rt.load(thing);
  const value = thing.get(name);
  if (value instanceof Thing) return [value];
  if (!(value instanceof ThingSet)) return [];
  rt.chargeFill(value);
  return value.members;
}

function assertPossible(type: Type, field: FieldDef, partners: ReadonlyMap<Thing, ReadonlySet<Thing>>): void {
  if (field.definition.base.kind === 'set') return;
  for (const [thing, { size }] of partners) {
    if (size > 1) throw cannot(type, field, `the thing with the id ${thing.id} would have ${size} partners`);
  }
}

function fill(rt: Runtime, { name }: FieldDef, partners: ReadonlyMap<Thing, ReadonlySet<Thing>>): void {
  const { transaction } = rt;
  for (const [thing, others] of partners) {
    rt.load(thing);
    const value = thing.get(name);
    if (value instanceof ThingSet) {
      transaction.addUnrelated(value, [...others]);
      continue;
    }
    const [other = null] = others;
    if (value !== other) transaction.placeUnchecked(thing, name, other);
  }
}

/** Units charged for a pair of related things. */
const UNITS_PER_LINK = 64;
