/** One call of `mod_type`, and what all actions do with it. */
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import type { Type, TypeDef } from '../schema/type.js';
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

/** Where a definition is expected as the fourth argument: a text, a closure, or what a nested one is made of. */
export function definitionArgument(call: Call, name: string): Value {
  const { type } = call;
  const given = argumentOf(call, 4);
  const isNested = given instanceof Thing || given instanceof List;
  if (isNested && !type.isWrapOnly) throw nestedRefused(type.name, name);
  if (typeof given === 'string' || isClosure(given) || isNested) return given;
  throw p.wrongType(given, { function: 'mod_type', position: 4 }, 'definition', 'a str or closure');
}
