/** The form of calls of `mod_type` and `mod_enum`: an action, the name of a part, and arguments that depend on the action. */
import { argumentsError, valueError } from '../error.js';
import * as p from '../run/params.js';
import type { Code } from '../run/unit.js';
import { isSchemaName } from '../schema/definition.js';
import type { Value } from '../value/value.js';
import { assertPartName } from './type-fields.js';

export interface ActionCall {
  readonly function: 'mod_type' | 'mod_enum';
  /** The arguments behind the name of the type or enum, the action first. */
  readonly codes: readonly Code[];
}

/**
 * The action, by its name.
 *
 * @throws QueryError type_err, or value_err for what is no action
 */
export function actionOf<Action>(call: ActionCall, actions: ReadonlyMap<string, Action>): Action {
  const name = p.str('action').accept(argumentOf(call, 2), { function: call.function, position: 2 });
  if (!isSchemaName(name)) throw valueError(`'${name}' is no action of ${call.function}()`);
  const action = actions.get(name);
  if (action !== undefined) return action;
  const known = [...actions.keys()].sort();
  throw valueError(
    `${call.function}() has no action '${name}': it knows ${known.slice(0, -1).join(', ')} and ${known.at(-1)}`,
  );
}

/** The name of a part of the type or enum, behind the action. `what` it is the name of, for the message. */
export function partNameOf(call: ActionCall, what: string): string {
  const name = p.str(what).accept(argumentOf(call, 3), { function: call.function, position: 3 });
  assertPartName(name);
  return name;
}

/** Evaluates an argument that there is; the name of the type or enum is the first. */
export function argumentOf({ codes }: ActionCall, position: number): Value {
  const code = codes[position - 2];
  if (code === undefined) throw new Error(`there is no argument ${position}`);
  return code();
}

/** Throws num_arguments_err unless the call has one of these numbers of arguments. */
export function assertCount(call: ActionCall, ...counts: readonly number[]): void {
  const count = call.codes.length + 1;
  if (counts.includes(count)) return;
  throw argumentsError(`${call.function}() takes ${counts.join(' or ')} arguments for this, not ${count}`);
}
