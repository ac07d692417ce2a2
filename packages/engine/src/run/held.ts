/** Values that the running call holds besides those that are stored: its variables, and the arguments of its futures. */
import { List, ThingSet } from '../value/containers.js';
import { Future } from '../value/future.js';
import { Member } from '../value/member.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { Wrap } from '../value/wrap.js';
import type { Runtime } from './runtime.js';

/**
 * The things that the running call holds, also through lists, sets, wraps and each other: the loose ones, and those of `entered`. What
 * an unfinished expression alone holds is not found.
 *
 * @param entered stored things that are looked into as well; those that stay stored are not
 * @param visitMember called with each member of an enum that is held
 */
export function heldThings(
  rt: Runtime,
  entered: ReadonlySet<Thing> = NONE,
  visitMember: (member: Member) => void = () => {},
): Set<Thing> {
  return thingsIn(rt, [...rt.symbols.values(), ...rt.futures, ...rt.pending], entered, visitMember);
}

/** The same for what values hold, or are. */
export function thingsIn(
  rt: Runtime,
  values: readonly Value[],
  entered: ReadonlySet<Thing> = NONE,
  visitMember: (member: Member) => void = () => {},
): Set<Thing> {
  const found = new Set<Thing>();
  const futures = new Set<Future>();
  const open = [...values];
  const visit = (value: Value): void => {
    if (typeof value !== 'object' || value === null) return;
    if (value instanceof Thing) {
      if (found.has(value) || (value.id !== 0 && !entered.has(value))) return;
      found.add(value);
      open.push(value);
    } else if (value instanceof List) {
      rt.chargeFill(value);
      rt.charge(UNITS_PER_VALUE + value.length);
      for (const item of value.items) visit(item);
    } else if (value instanceof ThingSet) {
      rt.chargeFill(value);
      rt.charge(UNITS_PER_VALUE + value.size);
      for (const member of value.members) visit(member);
    } else if (value instanceof Wrap) visit(value.thing);
    else if (value instanceof Member) visitMember(value);
    else if (value instanceof Future && !futures.has(value)) {
      futures.add(value);
      open.push(...value.args, ...(value.request?.holds ?? []), value.result ?? null);
      if (value.answered?.ok === true) open.push(value.answered.value);
    }
  };
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (!(value instanceof Thing) || !found.has(value)) {
      visit(value);
      continue;
    }
    rt.charge(UNITS_PER_VALUE);
    rt.load(value);
    value.forEach((_, property) => {
      visit(property);
    });
  }
  return found;
}

const NONE: ReadonlySet<Thing> = new Set();

/** Units charged for looking into a thing, list or set. */
const UNITS_PER_VALUE = 64;
