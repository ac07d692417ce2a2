/** `mod_type(.., 'mod', ..)`: another definition of a property, at once or in the background; or other code of a method. */
import { operationError, type QueryError, typeError } from '../error.js';
import { defaultOf, isFixedDefault } from '../run/defaults.js';
import { lockForReading, unlockReading } from '../run/dispatch.js';
import { makeValid } from '../run/gone.js';
import { eachInstance } from '../run/instances.js';
import { type Callback, withCallback } from '../run/invoke.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import { storedCopyOf } from '../run/structure.js';
import { type Definition, isScalarDefinition } from '../schema/definition.js';
import { isExpiring, isMoment, sortKindOf } from '../schema/index-def.js';
import { parseDefinition } from '../schema/parse-definition.js';
import { refusal } from '../schema/rule.js';
import type { Field, FieldDef, TypeDef } from '../schema/type.js';
import { isWider } from '../schema/widen.js';
import { snapshot } from '../state/migrate.js';
import type { Closure } from '../value/closure.js';
import type { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { assertCount } from './action-call.js';
import { beginJob, isInBackground } from './jobs.js';
import {
  assertNotIndexed,
  assertNotLate,
  assertNotSucceeded,
  assertUnrelated,
  type Call,
  definitionArgument,
  failed,
  noPart,
  put,
} from './mod-type-call.js';
import { adopt, restore } from './mod-type-values.js';
import { copy } from './tasks.js';
import { fieldDefinition, isClosure, nextFieldId, provisionalField } from './type-fields.js';
import { defOf } from './types.js';

/** @returns the id of a job, if it is one */
export function modPart(call: Call, name: string): number | null {
  assertCount(call, 4, 5, 6);
  const { rt, codes, type } = call;
  const def = defOf(type);
  const field = def.fields.find((other) => other.name === name);
  const isMethod = def.methods.has(name);
  if (field === undefined && !isMethod && def.idName !== name) throw noPart(type, name);
  if (field !== undefined) assertUnrelated(type, field);
  if (field !== undefined) assertNotSucceeded(type, field);
  if (field !== undefined) assertNotLate(type, field);
  const given = definitionArgument(call, name);
  if (isClosure(given)) {
    if (!isMethod) throw typeError(`type \`${type.name}\`: \`${name}\` is a property, not a method`);
    assertCount(call, 4);
    const methods = new Map(def.methods);
    methods.set(name, storedCopyOf(call.rt, given));
    rt.schemaEditor.putType({ ...def, methods });
    return null;
  }
  if (field === undefined) throw typeError(`type \`${type.name}\`: \`${name}\` is no property`);
  if (given === '#')
    throw typeError(`type \`${type.name}\`: the property \`${name}\` can not become the name of the id`);
  const [, , , callbackCode, optionsCode] = codes;
  if (type.isWrapOnly) assertCount(call, 4);
  const closure = callbackCode?.();
  const isLater = optionsCode !== undefined && isInBackground(rt, optionsCode());
  if (closure !== undefined && !isClosure(closure)) {
    throw p.wrongType(closure, { function: 'mod_type', position: 5 }, 'callback', 'a closure');
  }
  const present = defOf(type);
  const others = { ...present, fields: present.fields.filter((other) => other.id !== field.id) };
  const definition = fieldDefinition(rt, others, name, given);
  if (sortKindOf(definition) === null) assertNotIndexed(rt, type, field);
  if (!isMoment(definition)) assertNotIndexed(rt, type, field, isExpiring);
  if (closure !== undefined) {
    if (isLater) return modLater(call, present, field, definition, closure);
    modByCallback(call, present, field, definition, closure);
    return null;
  }
  if (!type.isWrapOnly && !isWider(definition, field.definition)) {
    throw operationError(
      `type \`${type.name}\`, property \`${name}\`: values may not fit \`${String(given)}\`: a closure must convert them`,
    );
  }
  put(call, withDefinition(present, field, definition));
  return null;
}

/**
 * Lets a job make values of another definition for each instance, beside those that it has, which count until all have one.
 *
 * @returns the id of the job
 */
function modLater(
  call: Call,
  def: TypeDef,
  field: FieldDef,
  definition: Definition,
  closure: Closure,
): number {
  const { rt, type } = call;
  const { name } = field;
  const where = `type \`${type.name}\`, property \`${name}\``;
  if (!isScalarDefinition(field.definition) || !isScalarDefinition(definition)) throw notInBackground(where);
  assertNotIndexed(rt, type, field);
  if (def.successor !== null)
    throw operationError(
      `${where}: a job gives another property of the type another definition: it goes first`,
    );
  if (rt.needsChange(copy(rt, closure)))
    throw operationError(`${where}: the closure of a job may change nothing here: it gives the value`);
  const id = nextFieldId(rt, def);
  const initial = isFixedDefault(definition) ? defaultOf(rt, definition) : null;
  const mark = { isUndone: false };
  // No property has such a name.
  const successor = { id, name: `=${id}`, definition, relation: null, initial, mark, of: field.id };
  rt.schemaEditor.putType({ ...def, nextField: id + 1, successor });
  return beginJob(rt, { kind: 'succeed', type: type.id, field: field.id }, closure);
}

/** The error for a definition that can't come in the background, with the way that there is. */
function notInBackground(where: string): QueryError {
  return operationError(
    `${where}: in the background, properties change their definition that hold texts, numbers, bools, bytes, dates and the like, and go on to hold such: add a property beside it with {background: true}, then 'del' this one and 'ren' the other in one query`,
  );
}

function withDefinition(def: TypeDef, field: FieldDef, definition: Definition): TypeDef {
  return {
    ...def,
    fields: def.fields.map((other) => (other.id === field.id ? { ...other, definition } : other)),
  };
}

/**
 * Gives a property another definition and each instance what a closure makes of its value. While the closure runs, the property
 * accepts anything; at the end, every value must fit.
 */
function modByCallback(
  call: Call,
  before: TypeDef,
  field: FieldDef,
  definition: Definition,
  closure: Closure,
): void {
  const { rt, type, gone } = call;
  const { name } = field;
  const anything = parseDefinition('any', rt.schema);
  const target = provisionalField(type, { ...field, definition });
  const kept: { thing: Thing; value: Value }[] = [];
  const locked: Thing[] = [];
  for (const thing of eachInstance(rt, type, gone)) {
    rt.load(thing);
    rt.chargeFill(thing.get(name) as Value);
    kept.push({ thing, value: snapshot(thing.get(name) as Value) });
  }
  rt.schemaEditor.putType(withDefinition(before, field, anything));
  try {
    withCallback(rt, closure, (callback) => {
      for (const { thing } of kept) convertOne(rt, target, thing, callback);
    });
    for (const thing of locked) unlockReading(thing);
    locked.length = 0;
    for (const thing of eachInstance(rt, type, gone)) {
      rt.load(thing);
      const value = thing.get(name) as Value;
      rt.chargeFill(value);
      if (!target.rule.fits(value)) throw refusal(target, value, rt.schema);
    }
  } catch (error) {
    for (const thing of locked) unlockReading(thing);
    for (const { thing, value } of kept) restore(rt, thing, name, value);
    rt.schemaEditor.putType(before);
    throw failed(type, name, error);
  }
  put(call, withDefinition(before, field, definition));
  makeValid(rt, gone);
  adopt(rt, type, name);

  function convertOne(runtime: Runtime, to: Field, thing: Thing, callback: Callback): void {
    const value = callback.call(thing);
    runtime.load(thing);
    if (value !== null) {
      runtime.transaction.checkField(to, value);
      runtime.transaction.placeUnchecked(thing, name, value);
    } else if (!to.rule.fits(thing.get(name) as Value)) {
      throw refusal(to, thing.get(name) as Value, runtime.schema);
    }
    lockForReading(thing);
    locked.push(thing);
  }
}
