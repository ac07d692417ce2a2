/** The look-ups that are measured, in memory and behind a restart, with their targets. */
import type { SqliteTimes } from '../yardsticks/sqlite.js';
import { addressAt, numberAt, PER_CUSTOMER } from './orders.js';

export type Heat = 'hot' | 'cold';

/** A look-up, so many times in each of some queries. */
export interface LookUp {
  readonly name: string;
  readonly heat: Heat;
  readonly times: number;
  /** The look-up with the number `i`, among a part of all things. */
  readonly code: (part: Part) => string;
  readonly part: Part;
  readonly targetMs: number | null;
  readonly sqliteMs: number | null;
}

/** Things with the numbers behind a share of all, up to another share. */
interface Part {
  readonly from: number;
  readonly to: number;
}

/** Look-ups of a query: what is around them is spread over so many. */
export const TIMES = { hot: 20_000, cold: 400 };
const RANGES = { hot: 2000, cold: 40 };
/** Queries of each kind. */
const QUERIES = 5;
/**
 * The place of the query that counts among those of its kind, ordered by time: of hot ones the best, as all but the first find everything in
 * memory; of cold ones, each of which looks up other orders, the middle one, as V8 goes over all of its memory within one or two of them.
 */
export const SHARE = { hot: 0, cold: 0.5 };

/** Targets, in milliseconds: of one look-up in the engine, of a hundred by range, of a count. */
const HOT = { one: 0.004, range: 0.06, count: 0.02 };
const COLD = { one: 0.03, range: 1, count: null };

const ALL: Part = { from: 0, to: 1 };
/** Numbers that have one first digit in common, where all of them are a power of ten, and so no page of an index with the others. */
const HEATING: Part = { from: 0.1, to: 0.2 };
const MEASURED_COLD: Part = { from: 0.2, to: 1 };
/** The code has its last form by then. */
const HEATING_QUERIES = 10;

export function lookUpsOf(
  heat: Heat,
  {
    orders,
    total,
    sqlite,
  }: { readonly orders: number; readonly total: number; readonly sqlite: SqliteTimes | null },
): readonly LookUp[] {
  const isHot = heat === 'hot';
  const targets = isHot ? HOT : COLD;
  const beside = isHot ? sqlite : null;
  const part = isHot ? ALL : MEASURED_COLD;
  const times = TIMES[heat];
  const counted = Math.min(100_000, orders / 10);
  const customers = Math.ceil(total / PER_CUSTOMER);
  return [
    {
      name: `one_by a number, ${heat}`,
      heat,
      times,
      code: (within) => `one_by('Order', 'nr', ${numberAt(...numbersOf(orders, within))}).amount`,
      part,
      targetMs: targets.one,
      sqliteMs: beside?.one ?? null,
    },
    {
      name: `one_by an address, ${heat}`,
      heat,
      times,
      code: (within) => `one_by('Order', 'email', ${addressAt(...numbersOf(orders, within))}).amount`,
      part,
      targetMs: targets.one,
      sqliteMs: beside?.text ?? null,
    },
    {
      name: `the last 100 of a customer, ${heat}`,
      heat,
      times: RANGES[heat],
      code: (within) =>
        `all_by('Order', 'by_customer', ${numberAt(...numbersOf(customers, within))}, {limit: 100, reverse: true})`,
      part,
      targetMs: targets.range,
      sqliteMs: beside?.range ?? null,
    },
    {
      name: `count_by of ${counted}, ${heat}`,
      heat,
      times: RANGES[heat],
      code: ({ from }) => {
        const first = `${Math.floor(from * (orders - counted))} + i * 7`;
        return `count_by('Order', 'nr', nil, {from: ${first}, before: ${first} + ${counted}})`;
      },
      part,
      targetMs: targets.count,
      sqliteMs: beside?.count ?? null,
    },
  ];
}

/** The queries that are measured. */
export function queriesOf({ heat, times, code, part }: LookUp): string[] {
  return Array.from({ length: QUERIES }, (_, at) => loop(heat === 'hot' ? 0 : at * times, times, code(part)));
}

/** Look-ups of other things than those that are measured. */
export function heatingCode({ times, code }: LookUp): string {
  return loop(0, HEATING_QUERIES * times, code(HEATING));
}

function loop(first: number, times: number, code: string): string {
  return `range(${first}, ${first + times}).each(|i| ${code}); nil;`;
}

/** The number of orders that a part of all has, and the first one. */
function numbersOf(all: number, { from, to }: Part): [count: number, first: number] {
  const first = Math.floor(from * all);
  return [Math.floor(to * all) - first, first];
}
