/** Defaults of properties in queries. */
import type { Definition } from '../schema/definition.js';
import { defaultValue } from '../state/default-value.js';
import type { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { makeInstance } from './instance.js';
import type { Runtime } from './runtime.js';

/** The default of a definition: a value of its own each time. */
export function defaultOf(rt: Runtime, definition: Definition): Value {
  return defaultValue(rt, definition, instanceOf);
}

function instanceOf(rt: Runtime, type: number): Thing {
  return makeInstance(rt, rt.schema.type(type), []);
}

/** True if the default is the same for all and forever, and refers to no thing or member. */
export function isFixedDefault({ base, nillable, hasDefault }: Definition): boolean {
  if (nillable && !hasDefault) return true;
  switch (base.kind) {
    case 'plain':
      return base.name !== 'thing' && base.name !== 'room' && base.name !== 'task';
    case 'type':
    case 'enum':
    case 'restricted':
      return false;
    default:
      return true;
  }
}
