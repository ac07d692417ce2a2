/** Making instances: `T{a: 1}`, `T(x)`, `new('T', x)`, and what they share. */
import type { Entry as AstEntry } from '@althing/language';
import { argumentsError, lookupError, operationError, type QueryError, typeError } from '../error.js';
import { assertName } from '../schema/name.js';
import { inWords } from '../schema/rule.js';
import { type Field, Type } from '../schema/type.js';
import { attach } from '../state/attach.js';
import { toProperty } from '../state/transaction.js';
import { chargeOwn, ThingSet } from '../value/containers.js';
import { isInt } from '../value/numbers.js';
import { Float } from '../value/scalars.js';
import type { Shape } from '../value/shape.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { isGone } from './gone.js';
import { namedBy } from './named.js';
import type { Runtime } from './runtime.js';
import type { Code } from './unit.js';

/**
 * A new instance with values by slot; undefined where the default is wanted. The values are checked.
 *
 * @param given becomes the instance's own
 */
export function makeInstance(rt: Runtime, type: Type, given: (Value | undefined)[]): Thing {
  const shape = shapeOf(type);
  const { fields } = shape;
  const { transaction } = rt;
  let defaults = given.length < fields.length;
  for (let i = 0; i < given.length; i++) {
    const value = given[i];
    if (value === undefined) {
      defaults = true;
      continue;
    }
    const field = fields[i]!;
    if (typeof value === 'object' || !field.rule.fits(value)) transaction.checkField(field, value);
    if (field.relation !== null) assertNoPartner(field, value);
  }
  const slots = given as Value[];
  const thing = new Thing(0, shape, slots);
  for (let i = 0; i < slots.length; i++) {
    const value = slots[i];
    if (typeof value === 'object' && value !== null) slots[i] = ownValue(rt, thing, fields[i]!, value);
  }
  if (defaults) fillDefaults(rt, thing, fields);
  rt.step(instanceSteps(slots.length));
  return thing;
}

/** Steps that a new instance costs: one at least, since one of few fields can bring any number of others as their defaults. */
export function instanceSteps(fields: number): number {
  return 1 + ((UNITS_PER_FIELD * fields) >> 6);
}

/** The entries of a literal as fields of a type, each once. */
export interface WholeInstance {
  readonly type: Type;
  readonly shape: Shape;
  /** The slot of each entry. */
  readonly slots: readonly number[];
}

/** The form of a literal with these keys by the present types; null when it is not one value for each field of a type. */
export function wholeInstance(rt: Runtime, name: string, keys: readonly string[]): WholeInstance | null {
  const type = rt.schema.typeNamed(name);
  const shape = type?.isWrapOnly === false ? type.shape : null;
  if (type === undefined || shape === null || !isWhole(shape, keys)) return null;
  return { type, shape, slots: keys.map((key) => shape.index.get(key) ?? -1) };
}

/** True if keys are those of all fields, each once, and none is part of a relation. */
function isWhole({ fields, index }: Shape, keys: readonly string[]): boolean {
  const slots = new Set(keys.map((key) => index.get(key)));
  const isComplete = keys.length === fields.length && slots.size === fields.length && !slots.has(undefined);
  return isComplete && fields.every(({ relation }) => relation === null);
}

/** Gives an instance what it has no values for. Instances inside it may have instances inside them, and so on. */
function fillDefaults(rt: Runtime, thing: Thing, fields: readonly Field[]): void {
  const slots = thing.slots as (Value | undefined)[];
  rt.enter(2);
  try {
    for (let i = 0; i < fields.length; i++) {
      if (slots[i] === undefined) slots[i] = ownDefault(rt, thing, fields[i]!);
    }
  } finally {
    rt.leave(2);
  }
}

/**
 * A new instance of what a plain thing, or an instance of the type, has. Properties that the type lacks are left out.
 *
 * @throws lookup_err for such a property where the type is strict
 */
export function instanceFrom(rt: Runtime, type: Type, source: Thing): Thing {
  const sourceType = source.type;
  if (sourceType !== null && sourceType !== type) {
    throw typeError(`an instance of \`${sourceType.name}\` can not become one of \`${type.name}\``);
  }
  const shape = shapeOf(type);
  if (type.isStrict && sourceType === null) {
    rt.load(source);
    // Ends behind as many keys as the type has properties.
    source.forEach((key) => {
      if (!shape.index.has(key)) throw unknownProperty(type, key);
    });
  }
  return makeInstance(
    rt,
    type,
    shape.fields.map(({ name }) => source.read(name)),
  );
}

/** The type of a name. Throws lookup_err when there is none, value_err when there can be none. */
export function typeNamed(rt: Runtime, name: string): Type {
  const type = rt.schema.typeNamed(name);
  if (type !== undefined) return type;
  assertName(name);
  throw lookupError(`there is no type '${name}'`);
}

/** Keeps a type, or an enum, from being changed while something works. */
export function whileInUse<T>(of: { uses: number }, work: () => T): T {
  of.uses += 1;
  try {
    return work();
  } finally {
    of.uses -= 1;
  }
}

/** Throws operation_err while a type or enum is in use. */
export function assertUnused(of: { readonly uses: number; readonly name: string }): void {
  if (of.uses > 0) throw operationError(`\`${of.name}\` is in use: it can not be changed now`);
}

/** `T(...)`: an instance with defaults, the instance itself, one from a plain thing, or the stored one with an id. */
export function callType(rt: Runtime, type: Type, args: readonly Code[]): Value {
  return whileInUse(type, () => {
    const [code, ...others] = args;
    if (others.length > 0)
      throw argumentsError(`${type.name}() takes at most 1 argument, not ${args.length}`);
    if (code === undefined) return makeInstance(rt, type, []);
    const value = code();
    if (value instanceof Thing) return value.type === type ? value : instanceFrom(rt, type, value);
    if (isInt(value)) return storedInstance(rt, type, value);
    throw typeError(`${type.name}() takes a thing or an id, not ${inWords(value)}`);
  });
}

export function storedInstance(rt: Runtime, type: Type, id: number | bigint): Thing {
  shapeOf(type);
  const thing = rt.store?.find(Number(id));
  if (thing === undefined || isGone(rt, thing)) throw lookupError(`there is no thing with the id ${id}`);
  if (thing.type !== type) throw typeError(`the thing with the id ${id} is no instance of \`${type.name}\``);
  return thing;
}

/**
 * Code of `T{a: x, b:}`. What the type has no property for is not evaluated; where the type is strict, it is an error before anything is.
 */
export function instanceLiteral(
  rt: Runtime,
  name: string,
  entries: readonly AstEntry[],
  codes: readonly Code[],
): Code {
  const named = namedBy(rt, name);
  let known: Shape | null = null;
  /** The slot of each entry; -1 for none. */
  let slots: readonly number[] = [];
  /** The first key that is no property. */
  let unknown: string | undefined;
  /** True if the entries give each field one value. */
  let whole = false;
  const look = (shape: Shape): void => {
    slots = entries.map(({ key }) => shape.index.get(key) ?? -1);
    unknown = entries.find(({ key }) => !shape.index.has(key))?.key;
    whole = isWhole(
      shape,
      entries.map(({ key }) => key),
    );
    known = shape;
  };
  const makeWhole = (type: Type, shape: Shape): Thing => {
    const given = new Array<Value>(codes.length);
    type.uses += 1;
    try {
      for (let i = 0; i < codes.length; i++) given[slots[i]!] = codes[i]!();
    } finally {
      type.uses -= 1;
    }
    if (!fitAsTheyAre(shape.fields, given)) return makeInstance(rt, type, given);
    rt.step(instanceSteps(given.length));
    return new Thing(0, shape, given);
  };
  return () => {
    const of = named();
    const type = of instanceof Type ? of : typeNamed(rt, name);
    const shape = shapeOf(type);
    if (shape !== known) look(shape);
    if (whole) return makeWhole(type, shape);
    if (unknown !== undefined && type.isStrict) throw unknownProperty(type, unknown);
    const given = new Array<Value | undefined>(shape.fields.length).fill(undefined);
    type.uses += 1;
    try {
      for (let i = 0; i < codes.length; i++) {
        const slot = slots[i]!;
        if (slot >= 0) given[slot] = codes[i]!();
        // A variable that is named must be there.
        else if (entries[i]!.value === null) codes[i]!();
      }
    } finally {
      type.uses -= 1;
    }
    return makeInstance(rt, type, given);
  };
}

function unknownProperty({ name }: Type, key: string): QueryError {
  return lookupError(
    `type \`${name}\` is strict and has no property \`${key}\`: take it out, or add it with mod_type('${name}', 'add', ...)`,
  );
}

/** True if values fit, and need not be changed to be those of an instance: they have no parts of their own. */
function fitAsTheyAre(fields: readonly Field[], values: readonly Value[]): boolean {
  for (let i = 0; i < fields.length; i++) {
    const value = values[i] as Value;
    if (typeof value === 'object' && value !== null && !(value instanceof Float)) return false;
    if (!fields[i]!.rule.fits(value)) return false;
  }
  return true;
}

/** The shape of new instances. Throws type_err for a type that has none. */
function shapeOf(type: Type): Shape {
  if (type.isUnfinished)
    throw operationError(`the type \`${type.name}\` is being made: it has no instances yet`);
  if (type.isWrapOnly) throw typeError(`the type \`${type.name}\` only wraps: it has no instances`);
  if (type.shape === null) throw lookupError(`the type \`${type.name}\` was deleted`);
  return type.shape;
}

function ownDefault(rt: Runtime, thing: Thing, field: Field): Value {
  const value = rt.makeDefault(field.definition);
  attach(thing, field.name, value);
  return value;
}

function ownValue(rt: Runtime, thing: Thing, { name, rule }: Field, given: Value): Value {
  chargeOwn(given, rt.charging);
  const value = toProperty(given);
  if (rule.restriction !== null && value instanceof Thing)
    rt.transaction.demandRestriction(value, rule.restriction);
  attach(thing, name, value);
  return value;
}

function assertNoPartner(field: Field, value: Value): void {
  const isEmpty =
    value === null || (typeof value === 'object' && value instanceof ThingSet && value.size === 0);
  if (isEmpty) return;
  throw typeError(
    `type \`${field.type.name}\`, property \`${field.name}\`: only a stored thing can have partners in a relation`,
  );
}

/** Units charged for one property of a new instance. */
const UNITS_PER_FIELD = 8;
