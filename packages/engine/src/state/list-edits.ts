/** Taking items out of lists and putting them in, for stored lists and loose ones. */
import { type List, noteAdded, noteRemoved } from '../value/containers.js';
import type { Value } from '../value/value.js';

/** Replaces `count` items of a loose list from `start` on by others; returns the removed ones. */
export function spliceItems(list: List, start: number, count: number, added: readonly Value[]): Value[] {
  becomeWhole(list);
  return replaceItems(list, start, count, added);
}

/** The same for any list where the items are in memory. */
export function replaceItems(list: List, start: number, count: number, added: readonly Value[]): Value[] {
  const removed = spliceArray(list.held, start, count, added);
  noteRemoved(list, removed);
  noteAdded(list, added);
  return removed;
}

/** Makes a list that was a property independent of the pages that it lay in. */
function becomeWhole(list: List): void {
  void list.items;
  list.backing = null;
}

/** Neighbouring items of a list: the first, and how many. */
export interface Run {
  readonly start: number;
  readonly count: number;
}

/** Takes the items of some runs, which are in order and apart from each other, out of a list. */
export function takeRuns(list: List, runs: readonly Run[]): Value[] {
  becomeWhole(list);
  return removeRuns(list, runs);
}

/** The same for any list where the items are in memory. */
export function removeRuns(list: List, runs: readonly Run[]): Value[] {
  const items = list.held;
  const removed: Value[] = [];
  let end = runs[0]?.start ?? items.length;
  for (let i = 0; i < runs.length; i++) {
    const { start, count } = runs[i]!;
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
  becomeWhole(list);
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
