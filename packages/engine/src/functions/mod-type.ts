import { operationError, QueryError, valueError } from '../error.js';
import { DEFINES_COLLECTION, type Entry, variadic } from '../run/builtin.js';
import { defaultOf, isFixedDefault } from '../run/defaults.js';
import { makeValid, surelyGoneThings } from '../run/gone.js';
import { assertUnused, typeNamed, whileInUse } from '../run/instance.js';
import { countInstances, eachInstance, goneInstances, looseInstancesIn } from '../run/instances.js';
import { withCallback } from '../run/invoke.js';
import * as p from '../run/params.js';
import type { Definition } from '../schema/definition.js';
import { type FieldDef, type TypeDef, TypeFlag } from '../schema/type.js';
import type { Closure } from '../value/closure.js';
import type { Value } from '../value/value.js';
import { actionOf, argumentOf, assertCount, partNameOf } from './action-call.js';
import { setExpiry } from './indexes.js';
import { beginJob, isInBackground } from './jobs.js';
import { callAll } from './mod-type-all.js';
import {
  assertNotIndexed,
  assertNotSucceeded,
  assertUnrelated,
  type Call,
  definitionArgument,
  failed,
  noPart,
  put,
} from './mod-type-call.js';
import { modPart } from './mod-type-definition.js';
import { fieldOf, fill, isFlat, ownCopy, releaseValues } from './mod-type-values.js';
import { relate } from './relate.js';
import {
  assertFreePart,
  assertPartName,
  assertUnlocked,
  fieldDefinition,
  isClosure,
  provisionalField,
  withField,
  withMethod,
  withPart,
} from './type-fields.js';
import { assertNotNeeded, defOf } from './types.js';

/** Changing a type that may have instances. */
export const MOD_TYPE: readonly Entry[] = [
  variadic('mod_type', {
    doc: "Changes a type: 'add', 'del', 'mod', 'ren' a property or method, 'rel' for relations, 'ttl' says by which property instances expire, 'all' calls a closure with each instance, {background: true} behind the closure of 'all', 'add' or 'mod' makes a job of it and gives its id, 'hid', 'idx', 'strict', 'wpo' set flags.",
    changes: DEFINES_COLLECTION,
    params: [p.str('name')],
    rest: p.lazy('action, arguments'),
    min: 3,
    max: 6,
    run: (rt, name, codes) => {
      const type = typeNamed(rt, name);
      assertUnused(type);
      assertUnlocked(type);
      const call: Call = { function: 'mod_type', rt, type, codes, gone: surelyGoneThings(rt) };
      let job: number | null = null;
      whileInUse(type, () =>
        rt.transaction.inParts(() => {
          job = actionOf(call, ACTIONS)(call);
        }),
      );
      return job;
    },
  }),
];

/** Actions; a number is the id of the job that goes on with it. */
const ACTIONS: ReadonlyMap<string, (call: Call) => number | null> = new Map([
  ['add', (call: Call) => addPart(call, partName(call))],
  ['del', atOnce((call) => del(call, partName(call)))],
  ['mod', (call: Call) => modPart(call, partName(call))],
  ['ren', atOnce((call) => ren(call, partName(call)))],
  ['rel', atOnce(rel)],
  ['all', callAll],
  ['hid', atOnce((call) => setFlag(call, TypeFlag.HIDE_ID))],
  ['idx', atOnce((call) => setFlag(call, TypeFlag.INDEX))],
  ['ttl', atOnce(ttl)],
  ['strict', atOnce((call) => setFlag(call, TypeFlag.STRICT))],
  ['wpo', atOnce(setWrapOnly)],
]);

/** An action that never goes on in the background. */
function atOnce(act: (call: Call) => void): (call: Call) => null {
  return (call) => {
    act(call);
    return null;
  };
}

function partName(call: Call): string {
  return partNameOf(call, 'property');
}

function rel(call: Call): void {
  const name = partName(call);
  assertCount(call, 4);
  relate(call.rt, call.type, name, argumentOf(call, 4));
}

function ttl(call: Call): void {
  assertCount(call, 3);
  const given = argumentOf(call, 3);
  if (given !== null && typeof given !== 'string')
    throw p.wrongType(given, { function: 'mod_type', position: 3 }, 'property', 'a str or nil');
  setExpiry(call.rt, call.type, given);
}

export function addPart(call: Call, name: string): number | null {
  const { rt, type, codes } = call;
  assertCount(call, 4, 5, 6);
  assertFreePart(defOf(type), name);
  const given = definitionArgument(call, name);
  const [, , , initCode, optionsCode] = codes;
  if (isClosure(given)) {
    assertCount(call, 4);
    // Adding a method does not count as a modification: programs rely on it.
    rt.schemaEditor.putType(withMethod(rt, defOf(type), name, given));
    return null;
  }
  if (given === '#') {
    assertCount(call, 4);
    put(call, withPart(rt, defOf(type), name, given));
    return null;
  }
  if (type.isWrapOnly) assertCount(call, 4);
  const init = initCode?.();
  const isLater = optionsCode !== undefined && isInBackground(rt, optionsCode());
  if (isLater && !isClosure(init ?? null))
    throw p.wrongType(init ?? null, { function: 'mod_type', position: 5 }, 'init', 'a closure');
  // Instances that the init made are among those that are there.
  const before = defOf(type);
  const definition = fieldDefinition(rt, before, name, given);
  if (type.isWrapOnly) {
    put(call, withField(rt, before, name, definition, null));
    return null;
  }
  if (init === undefined || isClosure(init)) {
    if (isLater && !isFixedDefault(definition)) {
      throw operationError(
        `type \`${type.name}\`, property \`${name}\`: instances need a value at once: let it be nillable to fill it in the background`,
      );
    }
    addWithDefault(call, name, definition);
    if (init === undefined || !isClosure(init)) return null;
    if (isLater) return fillLater(call, name, init);
    fillByCallback(call, before, name, init);
    return null;
  }
  const field = provisionalField(type, { ...noField(before), name, definition });
  rt.transaction.checkField(field, init);
  addWithValue(call, name, definition, init);
  return null;
}

/** A field definition to be completed, for checks. */
function noField({ nextField }: TypeDef): Omit<FieldDef, 'name' | 'definition'> {
  return { id: nextField, relation: null, initial: null, mark: { isUndone: false } };
}

function addWithDefault(call: Call, name: string, definition: Definition): void {
  const { rt, type } = call;
  if (isFixedDefault(definition) || countInstances(rt, type) === 0) {
    const initial = isFixedDefault(definition) ? defaultOf(rt, definition) : null;
    const gone = goneInstances(rt, type);
    put(call, withField(rt, defOf(type), name, definition, initial));
    makeValid(rt, gone);
    return;
  }
  const values = Array.from(eachInstance(rt, type), (thing) => ({
    thing,
    value: defaultOf(rt, definition),
  }));
  put(call, withField(rt, defOf(type), name, definition, null));
  fill(rt, name, values);
}

function addWithValue(call: Call, name: string, definition: Definition, init: Value): void {
  const { rt, type } = call;
  if (isFlat(init)) {
    put(call, withField(rt, defOf(type), name, definition, ownCopy(rt, init)));
    return;
  }
  const things = new Set(eachInstance(rt, type));
  // Instances that only the value holds have the property from now on, too.
  for (const thing of looseInstancesIn(rt, type, init)) things.add(thing);
  const values = Array.from(things, (thing) => ({ thing, value: ownCopy(rt, init) }));
  put(call, withField(rt, defOf(type), name, definition, null));
  fill(rt, name, values);
}

/** Lets a job give each instance what a closure says, in place of the default of a property that was just added. */
function fillLater({ rt, type }: Call, name: string, closure: Closure): number {
  const id = defOf(type).fields.find((field) => field.name === name)?.id ?? 0;
  return beginJob(rt, { kind: 'fill', type: type.id, field: id }, closure);
}

/** Calls a closure with each instance, which gives the value of a property that was just added. */
function fillByCallback(call: Call, before: TypeDef, name: string, closure: Closure): void {
  const { rt, type, gone } = call;
  try {
    withCallback(rt, closure, (callback) => {
      for (const thing of eachInstance(rt, type, gone)) {
        const value = callback.call(thing);
        const field = fieldOf(rt, thing, name);
        if (value === null || value === thing.get(name)) continue;
        rt.transaction.checkField(field, value);
        rt.transaction.placeField(thing, field, value);
      }
    });
  } catch (error) {
    releaseValues(rt, type, name);
    // The id of the field stays given: records of instances may have its values.
    rt.schemaEditor.putType({ ...before, nextField: defOf(type).nextField });
    throw failed(type, name, error);
  }
}

function del(call: Call, name: string): void {
  assertCount(call, 3);
  const { rt, type } = call;
  const def = defOf(type);
  if (def.idName === name) {
    put(call, { ...def, idName: null });
    return;
  }
  if (def.methods.has(name)) {
    put(call, { ...def, methods: new Map([...def.methods].filter(([key]) => key !== name)) });
    return;
  }
  const field = def.fields.find((other) => other.name === name);
  if (field === undefined) throw noPart(type, name);
  assertUnrelated(type, field);
  assertNotIndexed(rt, type, field);
  releaseValues(rt, type, name);
  put(call, { ...def, fields: def.fields.filter((other) => other !== field) });
}

function ren(call: Call, name: string): void {
  assertCount(call, 4);
  const { type } = call;
  const def = defOf(type);
  const isKnown =
    def.idName === name || def.methods.has(name) || def.fields.some((field) => field.name === name);
  if (!isKnown) throw noPart(type, name);
  for (const field of def.fields) if (field.name === name) assertNotSucceeded(type, field);
  const to = p.str('to').accept(argumentOf(call, 4), { function: 'mod_type', position: 4 });
  if (to === name) return;
  assertPartName(to);
  try {
    assertFreePart(def, to);
  } catch (error) {
    throw error instanceof QueryError ? valueError(error.message) : error;
  }
  put(call, {
    ...def,
    idName: def.idName === name ? to : def.idName,
    methods: new Map(Array.from(def.methods, ([key, closure]) => [key === name ? to : key, closure])),
    fields: def.fields.map((field) => (field.name === name ? { ...field, name: to } : field)),
  });
}

function setFlag(call: Call, flag: number): void {
  assertCount(call, 3);
  const { type } = call;
  const on = p.bool('flag').accept(argumentOf(call, 3), { function: 'mod_type', position: 3 });
  const def = defOf(type);
  const flags = on ? def.flags | flag : def.flags & ~flag;
  if (flags !== def.flags) put(call, { ...def, flags });
}

function setWrapOnly(call: Call): void {
  assertCount(call, 3);
  const { rt, type } = call;
  const on = p.bool('flag').accept(argumentOf(call, 3), { function: 'mod_type', position: 3 });
  const def = defOf(type);
  if (on === type.isWrapOnly) return;
  if (on) {
    if (countInstances(rt, type) > 0) throw operationError(`the type \`${type.name}\` has instances`);
    assertNotNeeded(rt, type);
    for (const thing of goneInstances(rt, type)) rt.transaction.convert(thing, null);
  } else {
    for (const { name, definition } of def.fields) {
      const { base, nillable } = definition;
      const isPlainType = base.kind === 'type' && !nillable;
      const needsInstance = isPlainType && (base.id === type.id || rt.schema.type(base.id).isWrapOnly);
      if (base.kind === 'nested' || needsInstance) {
        throw operationError(
          `type \`${type.name}\`, property \`${name}\`: only a wrap-only type can have it`,
        );
      }
    }
  }
  put(call, { ...def, flags: on ? def.flags | TypeFlag.WRAP_ONLY : def.flags & ~TypeFlag.WRAP_ONLY });
}
