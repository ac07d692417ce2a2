import { argumentsError, typeError, valueError } from '../error.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import { Thing } from '../value/thing.js';
import { typeName, type Value } from '../value/value.js';

/**
 * The entries of a thing with options.
 *
 * @param name of the function
 * @throws QueryError value_err for one that is not known
 */
export function knownOptions(
  rt: Runtime,
  name: string,
  given: Thing,
  known: readonly string[],
): ReadonlyMap<string, Value> {
  rt.load(given);
  rt.charge(UNITS_PER_OPTION * given.shape.size);
  const values = new Map(given.entries());
  for (const key of values.keys()) {
    if (!known.includes(key))
      throw valueError(`${name}() has no option '${key}'; known: ${known.join(', ')}`);
  }
  return values;
}

/** Units charged for a property of the thing with the options. */
const UNITS_PER_OPTION = 64;

/** Options behind what ThingsDB knows: what is no thing is one argument too many, as it is there. */
export function optionsAfter(what: string, example: string): p.Param<Thing> {
  return {
    ...p.thing('options'),
    accept(value, where) {
      if (value instanceof Thing) return value;
      throw argumentsError(`${where.function}() takes ${what}, and options as a thing, such as ${example}`);
    },
  };
}

/** The option `change` of functions that make something: whether what is there may be changed. */
export function mayChange(rt: Runtime, name: string, options: Thing): boolean {
  const given = knownOptions(rt, name, options, ['change']).get('change') ?? false;
  if (typeof given !== 'boolean')
    throw typeError(`${name}(): the option 'change' is a bool, not ${typeName(given)}`);
  return given;
}
