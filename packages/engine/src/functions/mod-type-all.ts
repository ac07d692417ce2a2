/** `mod_type(.., 'all', ..)`: calls a closure with each instance, at once or in the background. */
import { eachInstance } from '../run/instances.js';
import { withCallback } from '../run/invoke.js';
import * as p from '../run/params.js';
import { snapshot } from '../state/migrate.js';
import type { Value } from '../value/value.js';
import { argumentOf, assertCount } from './action-call.js';
import { beginJob, isInBackground } from './jobs.js';
import type { Call } from './mod-type-call.js';
import { restore } from './mod-type-values.js';
import { isClosure } from './type-fields.js';

/** @returns the id of a job, if it is one */
export function callAll(call: Call): number | null {
  assertCount(call, 3, 4);
  const { rt, type, gone } = call;
  const closure = argumentOf(call, 3);
  const isLater = call.codes.length === 3 && isInBackground(rt, argumentOf(call, 4));
  if (!isClosure(closure))
    throw p.wrongType(closure, { function: 'mod_type', position: 3 }, 'closure', 'a closure');
  if (isLater) return beginJob(rt, { kind: 'call', type: type.id, field: 0 }, closure);
  const kept = Array.from(eachInstance(rt, type, gone), (thing) => {
    rt.load(thing);
    return { thing, values: thing.entries().map(([key, value]): [string, Value] => [key, snapshot(value)]) };
  });
  try {
    withCallback(rt, closure, (callback) => {
      for (const { thing } of kept) callback.call(thing);
    });
  } catch (error) {
    for (const { thing, values } of kept) for (const [key, value] of values) restore(rt, thing, key, value);
    throw error;
  }
  return null;
}
