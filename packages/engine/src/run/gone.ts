import { List, ThingSet } from '../value/containers.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
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
  return doomed.has(thing) && !isHeld(rt, thing, doomed);
}

/** Whether a variable holds a thing, directly or through what else only variables hold. */
function isHeld(rt: Runtime, wanted: Thing, doomed: ReadonlySet<Thing>): boolean {
  const seen = new Set<Thing>();
  const open: Value[] = rt.symbols.values();
  const visit = (value: Value): void => {
    if (typeof value !== 'object' || value === null) return;
    if (value instanceof List) {
      rt.charge(UNITS_PER_VALUE + value.length);
      for (const item of value.items) visit(item);
    } else if (value instanceof ThingSet) {
      rt.charge(UNITS_PER_VALUE + value.members.size);
      for (const member of value.members) visit(member);
    } else if (value instanceof Thing && !seen.has(value)) {
      // What is stored and stays stored does not refer to what will go.
      if (value.id !== 0 && !doomed.has(value)) return;
      seen.add(value);
      open.push(value);
    }
  };
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (value === wanted) return true;
    if (!(value instanceof Thing)) {
      visit(value);
      continue;
    }
    rt.charge(UNITS_PER_VALUE);
    rt.load(value);
    value.forEach((_, property) => {
      visit(property);
    });
  }
  return false;
}

/** Units charged for looking into a thing, list or set. */
const UNITS_PER_VALUE = 64;
