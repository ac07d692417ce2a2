/** Taking items out of lists and putting them in, for stored lists and loose ones. */
import { List, noteAdded, noteRemoved } from '../value/containers.js';
import type { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { Pieces } from './pieces.js';

/** Replaces `count` items of a list from `start` on by others; returns the removed ones. */
export function spliceItems(list: List, start: number, count: number, added: readonly Value[]): Value[] {
  const removed = spliceArray(list.held, start, count, added);
  noteRemoved(list, removed);
  noteAdded(list, added);
  return removed;
}

/** The same for a stored list, which may lie in pieces. */
export function spliceItemsOf(list: List, start: number, count: number, added: readonly Value[]): Value[] {
  if (!isPieced(list)) return spliceItems(list, start, count, added);
  return list.backing.splice(start, count, added.length, () => spliceItems(list, start, count, added));
}

/** Puts a value that holds no others at the end of a stored list, which may lie in pieces. */
export function appendItem(list: List, value: Value): void {
  if (isPieced(list)) list.backing.append(value);
  else list.held.push(value);
}

/** The highest number of a piece of one of a thing's lists; 0 for none. */
export function lastListPart(owner: Thing): number {
  let last = 0;
  owner.forEach((_, value) => {
    if (isPieced(value)) last = Math.max(last, value.backing.lastPart);
  });
  return last;
}

/** Neighbouring items of a list: the first, and how many. */
export interface Run {
  readonly start: number;
  readonly count: number;
}

/** Takes the items of some runs, which are in order and apart from each other, out of a list. */
export function takeRuns(list: List, runs: readonly Run[]): Value[] {
  const { items } = list;
  const removed: Value[] = [];
  let end = runs[0]?.start ?? items.length;
  for (let i = 0; i < runs.length; i++) {
    const { start, count } = runs[i] as Run;
    const next = start + count;
    for (let j = start; j < next; j++) removed.push(items[j] as Value);
    const keptTo = runs[i + 1]?.start ?? items.length;
    for (let j = next; j < keptTo; j++) items[end++] = items[j] as Value;
  }
  items.length = end;
  noteRemoved(list, removed);
  return removed;
}

/** Puts items back that `takeRuns` took. */
export function putRuns(list: List, runs: readonly Run[], removed: readonly Value[]): void {
  const { items } = list;
  const kept = items.slice();
  let keptFrom = 0;
  let removedFrom = 0;
  items.length = 0;
  for (const { start, count } of runs) {
    while (items.length < start) items.push(kept[keptFrom++] as Value);
    for (let i = 0; i < count; i++) items.push(removed[removedFrom++] as Value);
  }
  while (keptFrom < kept.length) items.push(kept[keptFrom++] as Value);
  noteAdded(list, removed);
}

/** `Array.prototype.splice` for any number of items. */
function spliceArray(items: Value[], start: number, count: number, added: readonly Value[]): Value[] {
  if (added.length === 1) {
    if (start === items.length) {
      items.push(added[0] as Value);
      return [];
    }
    if (count === 1) {
      const removed = items[start] as Value;
      items[start] = added[0] as Value;
      return [removed];
    }
  }
  if (added.length < SPREAD_MAX) return items.splice(start, count, ...added);
  const tail = items.splice(start);
  const removed = tail.splice(0, count);
  for (const item of added) items.push(item);
  for (const item of tail) items.push(item);
  return removed;
}

/** Arguments of one call at most; more could overflow the stack. */
const SPREAD_MAX = 10_000;

/** A list that lies in pieces. */
export type PiecedList = List & { readonly backing: Pieces };

/** Whether a value is a list that lies in pieces. */
export function isPieced(value: Value): value is PiecedList {
  return value instanceof List && value.backing instanceof Pieces;
}
