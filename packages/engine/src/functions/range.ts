import { operationError, valueError } from '../error.js';
import { type Entry, func } from '../run/builtin.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import { List } from '../value/containers.js';
import { toIntValue } from '../value/numbers.js';
import type { Value } from '../value/value.js';

const LENGTH_MAX = 100_000;

const STOP = p.int('start_or_stop');

export const RANGE: readonly Entry[] = [
  func('range', {
    doc: 'A list of ints up to a stop, or from a start to a stop (excluded) in steps.',
    params: [STOP, p.optional(p.int('stop')), p.optional(p.int('step'))],
    counts: countOrRange,
    run: (rt, first, second, step = 1) => {
      const [start, stop] = second === undefined ? [0, first] : [first, second];
      if (step === 0) throw valueError('the step of range() must not be 0');
      const isSafe =
        typeof start === 'number' &&
        typeof stop === 'number' &&
        typeof step === 'number' &&
        Number.isSafeInteger(stop - start);
      return new List(isSafe ? numbers(rt, start, stop, step) : bigints(rt, start, stop, step));
    },
  }),
];

/**
 * The bound of a loop over `range(stop)`, when it needs no list; else the list that `range` gives.
 *
 * @throws QueryError as `range`
 */
function countOrRange(rt: Runtime, stop: Value): number | List {
  if (typeof stop === 'number' && stop > 0) {
    checkLength(rt, stop);
    return stop;
  }
  const accepted = STOP.accept(stop, { function: 'range', position: 1 });
  return new List(bigints(rt, 0, accepted, 1));
}

function numbers(rt: Runtime, start: number, stop: number, step: number): Value[] {
  const length = Math.max(0, Math.ceil((stop - start) / step));
  checkLength(rt, length);
  const items = new Array<Value>(length);
  for (let i = 0, value = start; i < length; i++, value += step) items[i] = value;
  return items;
}

function bigints(rt: Runtime, start: number | bigint, stop: number | bigint, step: number | bigint): Value[] {
  const from = BigInt(start);
  const by = BigInt(step);
  const distance = (BigInt(stop) - from) * (by < 0n ? -1n : 1n);
  const stride = by < 0n ? -by : by;
  const length = distance <= 0n ? 0n : (distance + stride - 1n) / stride;
  checkLength(rt, length);
  const items: Value[] = [];
  for (let i = 0n; i < length; i++) items.push(toIntValue(from + i * by));
  return items;
}

function checkLength(rt: Runtime, length: number | bigint): void {
  if (length > LENGTH_MAX) throw operationError(`range() makes at most ${LENGTH_MAX} items, not ${length}`);
  rt.charge(Number(length));
}
