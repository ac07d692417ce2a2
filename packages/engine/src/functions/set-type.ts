/** `set_type`: makes a type, and changes one that is there. */
import { operationError, typeError } from '../error.js';
import { DEFINES_COLLECTION, type Entry, func } from '../run/builtin.js';
import { makeValid, surelyGoneThings } from '../run/gone.js';
import { assertUnused, whileInUse } from '../run/instance.js';
import { countInstances, goneInstances } from '../run/instances.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import { parseDefinition } from '../schema/parse-definition.js';
import { inWords } from '../schema/rule.js';
import { type Type, type TypeDef, TypeFlag } from '../schema/type.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { definitionLiteral } from './export-literal.js';
import { mayChange } from './known-options.js';
import { addPart } from './mod-type.js';
import { modPart } from './mod-type-definition.js';
import {
  assertNewName,
  assertPartName,
  assertUnlocked,
  inSteps,
  isClosure,
  withPart,
} from './type-fields.js';
import { assertNotNeeded, defOf, flagBits, newType } from './types.js';

export const SET_TYPE: readonly Entry[] = [
  func('set_type', {
    doc: 'Gives a type its properties and methods: a thing with a definition or closure for each. Makes the type if there is none; with {change: true} changes one that has some.',
    changes: DEFINES_COLLECTION,
    params: [
      p.str('name'),
      p.later(p.thing('definitions')),
      p.optional(p.later(p.any('flags'))),
      p.optional(p.later(p.any('hide_id'))),
    ],
    run: (rt, name, definitions, flags, hideId) => {
      const args = { definitions, flags, hideId };
      const type = rt.schema.typeNamed(name);
      if (type === undefined) setNewType(rt, name, args);
      else {
        assertUnused(type);
        setType(rt, type, args);
      }
      return null;
    },
  }),
];

/** The arguments of `set_type` behind the name, to be evaluated in this order. */
interface SetTypeArguments {
  readonly definitions: () => Thing;
  /** Flags, or a thing with options, which ThingsDB does not have. */
  readonly flags: (() => Value) | undefined;
  readonly hideId: (() => Value) | undefined;
}

/**
 * Makes a type before the arguments are evaluated, which find it in use. It has no instances until it is complete, and goes again when
 * it can't be completed.
 */
function setNewType(rt: Runtime, name: string, args: SetTypeArguments): void {
  assertNewName(rt, name);
  const def = newType(rt, name, TypeFlag.WRAP_ONLY);
  const { transaction } = rt;
  const before = transaction.mark();
  rt.schemaEditor.putType(def);
  const begun = transaction.mark();
  const type = rt.schema.type(def.id);
  type.isUnfinished = true;
  try {
    whileInUse(type, () => rt.schemaEditor.putType(definedBy(rt, type, { ...def, flags: 0 }, args)));
  } catch (error) {
    // Nothing refers to a type that was never complete. Only what its arguments changed besides stays.
    if (transaction.isAt(begun)) transaction.takeBackTo(before);
    else rt.schemaEditor.dropType(type, name);
    throw error;
  } finally {
    type.isUnfinished = false;
  }
}

function setType(rt: Runtime, type: Type, args: SetTypeArguments): void {
  const present = defOf(type);
  if (present.fields.length > 0) {
    const changed = whileInUse(type, () => changesOf(rt, args));
    if (changed === null) {
      throw operationError(
        `the type \`${type.name}\` has properties already: mod_type() changes it, and so does the option {change: true}`,
      );
    }
    changeType(rt, type, changed);
    return;
  }
  const def = whileInUse(type, () => definedBy(rt, type, present, args));
  const gone = goneInstances(rt, type);
  rt.schemaEditor.putType({ ...def, modifiedAt: rt.seconds() });
  makeValid(rt, gone);
}

/** A type without properties, with what the arguments of `set_type` say. */
function definedBy(rt: Runtime, type: Type, present: TypeDef, args: SetTypeArguments): TypeDef {
  const defs = args.definitions();
  const given = args.flags?.();
  const flags = given instanceof Thing && mayChange(rt, 'set_type', given) ? undefined : given;
  const hideId = args.hideId?.();
  rt.load(defs);
  if (countInstances(rt, type) > 0) throw operationError(`the type \`${type.name}\` has instances already`);
  const bits = flagBits(present.flags, flags, hideId);
  if ((bits & ~present.flags & TypeFlag.WRAP_ONLY) !== 0) assertNotNeeded(rt, type);
  let def: TypeDef = { ...present, flags: bits };
  for (const [key, value] of defs.entries()) {
    rt.charge(64);
    def = withPart(rt, def, key, value);
  }
  return def;
}

/** The definitions that a type which has some is to get; null where the arguments do not say that it may change. */
function changesOf(rt: Runtime, { definitions, flags, hideId }: SetTypeArguments): Thing | null {
  if (flags === undefined || hideId !== undefined) return null;
  const given = definitions();
  const options = flags();
  return options instanceof Thing && mayChange(rt, 'set_type', options) ? given : null;
}

/**
 * Gives a type the properties and methods that it lacks, and others another definition, as `mod_type` does without a closure. What is not
 * named stays as it is.
 */
function changeType(rt: Runtime, type: Type, definitions: Thing): void {
  assertUnlocked(type);
  rt.load(definitions);
  const parts = definitions.entries();
  const gone = surelyGoneThings(rt);
  const set = ([name, given]: readonly [string, Value]): boolean => {
    rt.charge(64);
    assertPartName(name);
    if (!isClosure(given) && typeof given !== 'string') {
      throw typeError(
        `type \`${type.name}\`, property \`${name}\`: expected a definition or closure, got ${inWords(given)}`,
      );
    }
    const def = defOf(type);
    const isThere = hasPart(def, name);
    if (isThere && isDefined(rt, def, name, given)) return false;
    const codes = [() => 'mod', () => name, () => given];
    const call = { function: 'mod_type', rt, type, codes, gone } as const;
    if (isThere) modPart(call, name);
    else addPart(call, name);
    return true;
  };
  whileInUse(type, () => rt.transaction.inParts(() => inSteps(parts, set)));
}

function hasPart({ idName, methods, fields }: TypeDef, name: string): boolean {
  return idName === name || methods.has(name) || fields.some((field) => field.name === name);
}

/** True if a property has this definition already: in a relation it could not get any. */
function isDefined(rt: Runtime, { idName, fields }: TypeDef, name: string, given: Value): boolean {
  if (given === '#') return idName === name;
  const field = fields.find((other) => other.name === name);
  if (field === undefined || typeof given !== 'string') return false;
  const textOf = (definition: typeof field.definition): string => definitionLiteral(rt, definition, 0);
  return textOf(parseDefinition(given, rt.schema)) === textOf(field.definition);
}
