import type { Thing } from '../value/thing.js';
import { heldThings } from './held.js';
import type { Runtime } from './runtime.js';

/**
 * Whether a stored thing that lost its last stored reference is gone for the rest of the query already. It is removed
 * when the query ends, but nobody may find it by its id any more once no variable and no unfinished expression holds
 * it. Expressions can't be looked into; so the answer is yes only between the statements of the query itself, before
 * the statement that runs has changed anything.
 */
export function isGone(rt: Runtime, thing: Thing): boolean {
  if (rt.store === null || rt.store.orphans.size === 0 || !rt.atStatement) return false;
  const doomed = rt.transaction.doomed();
  return doomed.has(thing) && !heldThings(rt, doomed).has(thing);
}
