/** The figures of several nodes as one. */
import { isWireMap, type WireValue } from '@althing/client';
import { at, itemsOf, listAt, numberAt, textAt } from '../state/values.js';

/** Figures of a node that add up; of all others, which are delays, the worst counts. */
const SUMMED: readonly string[] = [
  'requests',
  'resident_bytes',
  'cache_bytes',
  'disk_free_bytes',
  'connections',
  'in_flight',
];

/** One history of those of several nodes, by time: a step in which a node had no figures is that of the others. */
export function historyOfAll(histories: readonly WireValue[]): WireValue {
  const [first = null] = histories;
  if (histories.length === 1) return first;
  const step = numberAt(first, 'step') ?? 5;
  const slots = histories.map((history) => listAt(history, 'times').map((time) => slotOf(time, step)));
  const all = [...new Set(slots.flat())].sort((a, b) => a - b);
  const merged = (key: string, values: readonly (WireValue | undefined)[]): WireValue => {
    const parts = new Set(values.flatMap((each) => (isWireMap(each) ? [...each.keys()] : [])));
    if (parts.size > 0)
      return new Map(
        [...parts].map((part) => [
          part,
          merged(
            key,
            values.map((each) => at(each, part)),
          ),
        ]),
      );
    const add = SUMMED.includes(key) ? (a: number, b: number) => a + b : Math.max;
    const bySlot = new Map<number, number>();
    values.forEach((each, i) => {
      itemsOf(each).forEach((value, n) => {
        const slot = slots[i]?.[n];
        const number = numberOf(value);
        if (slot === undefined || number === null) return;
        const before = bySlot.get(slot);
        bySlot.set(slot, before === undefined ? number : add(before, number));
      });
    });
    return all.map((slot) => bySlot.get(slot) ?? null);
  };
  const keys = isWireMap(first) ? [...first.keys()].filter((key) => !OWN.includes(key)) : [];
  return new Map<string, WireValue>([
    ['step', step],
    ['times', all.map((slot) => slot * step)],
    ['marks', histories.flatMap((history) => listAt(history, 'marks'))],
    ...keys.map((key): [string, WireValue] => [
      key,
      merged(
        key,
        histories.map((each) => at(each, key)),
      ),
    ]),
  ]);
}

/** Keys of a history that are no figures. */
const OWN: readonly string[] = ['step', 'times', 'marks'];

/** A query shape on all nodes that ran it. Times are seconds. */
export interface Shape {
  readonly scope: string;
  readonly query: string;
  readonly count: number;
  readonly failures: number;
  readonly total: number;
  /** The worst of the nodes. */
  readonly p99: number;
}

/** Sorted by time taken, the longest first. */
export function shapesOfAll(lists: readonly (readonly WireValue[])[]): Shape[] {
  const shapes = new Map<string, Shape>();
  for (const each of lists.flat()) {
    const [scope, query] = [textAt(each, 'scope'), textAt(each, 'query')];
    const before = shapes.get(`${scope} ${query}`);
    const sum = (key: string, so: number | undefined): number => (numberAt(each, key) ?? 0) + (so ?? 0);
    shapes.set(`${scope} ${query}`, {
      scope,
      query,
      count: sum('count', before?.count),
      failures: sum('failures', before?.failures),
      total: sum('run_total', before?.total),
      p99: Math.max(numberAt(each, 'run_p99') ?? 0, before?.p99 ?? 0),
    });
  }
  return [...shapes.values()].sort((a, b) => b.total - a.total);
}

function slotOf(time: WireValue, step: number): number {
  return Math.round((numberOf(time) ?? 0) / step);
}

function numberOf(value: WireValue): number | null {
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : null;
}
