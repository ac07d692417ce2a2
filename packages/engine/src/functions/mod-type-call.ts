/** One call of `mod_type`, and what all actions do with it. */
import { lookupError, operationError, QueryError, typeError } from '../error.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import type { IndexDef } from '../schema/index-def.js';
import type { FieldDef, Type, TypeDef } from '../schema/type.js';
import { List } from '../value/containers.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { type ActionCall, argumentOf } from './action-call.js';
import { isClosure, nestedRefused } from './type-fields.js';

/** One call of `mod_type`. */
export interface Call extends ActionCall {
  readonly rt: Runtime;
  readonly type: Type;
  /** Instances that no callback is called with. */
  readonly gone: ReadonlySet<Thing>;
}

/** Replaces what is known of the type, with the time of the change. */
export function put({ rt }: Call, def: TypeDef): void {
  rt.schemaEditor.putType({ ...def, modifiedAt: rt.seconds() });
}

/** The fourth argument, where it must be a definition: a text, a closure, or what a nested one is made of. */
export function definitionArgument(call: Call, name: string): Value {
  const { type } = call;
  const given = argumentOf(call, 4);
  const isNested = given instanceof Thing || given instanceof List;
  if (isNested && !type.isWrapOnly) throw nestedRefused(type.name, name);
  if (typeof given === 'string' || isClosure(given) || isNested) return given;
  throw p.wrongType(given, { function: 'mod_type', position: 4 }, 'definition', 'a str or closure');
}

/** The failure of a callback is a part of the message; limits stay what they are. */
export function failed(type: Type, name: string, error: unknown): unknown {
  if (!(error instanceof QueryError) || error.fatal) return error;
  return operationError(`type \`${type.name}\`, property \`${name}\`: nothing was changed: ${error.message}`);
}

/** The error for a name that nothing of the type has. */
export function noPart(type: Type, name: string): QueryError {
  return lookupError(`type \`${type.name}\` has no property or method \`${name}\``);
}

/** Throws type_err where an index has a property, whose values have to stay, and have to have an order. */
export function assertNotIndexed(
  rt: Runtime,
  type: Type,
  { id, name }: FieldDef,
  counts: (def: IndexDef) => boolean = () => true,
): void {
  const index = rt.store?.indexes.of(type).find(({ def }) => def.fields.includes(id) && counts(def));
  if (index !== undefined)
    throw typeError(`type \`${type.name}\`, property \`${name}\`: it is in the index \`${index.def.name}\``);
}

/** Throws type_err for a property of a relation. */
export function assertUnrelated(type: Type, { name, relation }: FieldDef): void {
  if (relation !== null) throw typeError(`type \`${type.name}\`, property \`${name}\`: it is in a relation`);
}

/** Throws operation_err for a property to which a job gives another definition. */
export function assertNotSucceeded(type: Type, { id, name }: FieldDef): void {
  if (type.def?.successor?.of === id)
    throw operationError(
      `type \`${type.name}\`, property \`${name}\`: a job gives it another definition: cancel_job() ends that`,
    );
}

/** Throws operation_err for a property that a job gives to instances, whose values are not all there. */
export function assertNotLate(type: Type, { id, name }: FieldDef): void {
  const { shape } = type;
  const slot = shape?.fields.find((field) => field.id === id)?.slot;
  if (slot !== undefined && shape?.late?.has(slot) === true)
    throw operationError(
      `type \`${type.name}\`, property \`${name}\`: a job gives instances its values: cancel_job() ends that`,
    );
}
