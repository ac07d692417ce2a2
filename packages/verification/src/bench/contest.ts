/**
 * Servers that take the same requests in turns. Their rounds are short, and neighbouring rounds are compared, so that a machine which others
 * use, too, or whose clock changes, shows in all of them. The figures are medians; how far the median of the ratios is certain is told with it.
 */

import { type Interval, intervalText, median, medianInterval, table, timeText } from '../harness/table.js';
import type { Generator, Measurement, Target } from './measure.js';

/** A server, or a cluster, that takes part. */
export interface Contender<Case> {
  readonly name: string;
  /**
   * The load of a round, and its target; null where it has no part in a case.
   *
   * @param count of requests at least, where none may come twice
   */
  readonly load: (of: Case, count: number) => Promise<Sent | null>;
}

export interface Sent {
  readonly targets: readonly Target[];
  readonly requests: readonly Buffer[];
}

export interface ContestOptions {
  /** Numbers of connections; each case is measured with each. */
  readonly connections: readonly number[];
  /** Length of one round of one server, and how long it is under load before, in milliseconds. */
  readonly durationMs: number;
  readonly warmupMs: number;
  /** Time that a case runs on each before the first round: programs that are compiled as they run get faster for seconds. */
  readonly heatMs: number;
  readonly rounds: number;
}

/** Figures of one server in one case. */
export interface Figures {
  /** Processor time for each request, of all servers and of the generator, in µs. */
  readonly cpuUs: number;
  readonly generatorUs: number;
  readonly ratePerS: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export type Ratio = Interval & { readonly median: number };

/** Another server beside the first one. */
export interface Compared {
  readonly name: string;
  readonly figures: Figures;
  /** Figures of the first one to those of this one. */
  readonly ratios: Readonly<Record<keyof typeof COMPARED, Ratio>>;
}

/** One case with one number of connections. */
export interface Row {
  readonly name: string;
  readonly connections: number;
  readonly own: Figures;
  readonly others: readonly Compared[];
  readonly errors: number;
  readonly lastError: string | undefined;
}

interface Side<Case> {
  readonly contender: Contender<Case>;
  readonly measured: Measurement[];
  ratePerS: number;
}

/** Figures that are compared. */
const COMPARED = {
  CPU: ({ serverUs }: Measurement): number => serverUs ?? Number.NaN,
  rate: ({ ratePerS }: Measurement): number => ratePerS,
  p50: ({ p50Ms }: Measurement): number => p50Ms,
  p99: ({ p99Ms }: Measurement): number => p99Ms,
} as const;

/** Requests a second that are taken for many until it is known. */
const RATE_AT_FIRST = 3000;

/**
 * Measures a case on all contenders, of which the first one is compared with the others.
 *
 * @param title of the case
 */
export async function contest<Case>(
  generator: Generator,
  contenders: readonly Contender<Case>[],
  of: Case,
  title: string,
  options: ContestOptions,
  onRow: (row: Row) => void,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const connections of options.connections) {
    const sides = contenders.map(
      (contender): Side<Case> => ({ contender, measured: [], ratePerS: RATE_AT_FIRST }),
    );
    const measure = async (side: Side<Case>, warmupMs: number, durationMs: number): Promise<void> => {
      const count = Math.ceil((1.5 * side.ratePerS * (warmupMs + durationMs)) / 1000) + 2 * connections;
      const sent = await side.contender.load(of, count);
      if (sent === null) return;
      const wanted = { requests: sent.requests, connections, durationMs, warmupMs };
      const measurement = await generator.measure(sent.targets, wanted);
      side.ratePerS = measurement.ratePerS;
      side.measured.push(measurement);
    };
    for (const side of sides) await measure(side, 0, options.heatMs);
    const failed = sides.flatMap(({ measured }) => measured.splice(0)).filter(({ errors }) => errors > 0);
    await inTurns(sides, options.rounds, (side) => measure(side, options.warmupMs, options.durationMs));
    const [own, ...others] = sides;
    if (own === undefined) throw new Error('nobody takes part');
    failed.push(...sides.flatMap(({ measured }) => measured).filter(({ errors }) => errors > 0));
    const row: Row = {
      name: title,
      connections,
      own: figuresOf(own.measured),
      others: others
        .filter(({ measured }) => measured.length > 0)
        .map(({ contender: { name }, measured }) => compared(name, own.measured, measured)),
      errors: failed.reduce((total, { errors }) => total + errors, 0),
      lastError: failed[0]?.lastError,
    };
    rows.push(row);
    onRow(row);
  }
  return rows;
}

/**
 * Does something with each side in each round. Each is first every other time: the second finds another machine. So the number of rounds is
 * better even, or the first side has the worse place once more, which the median of few ratios shows.
 */
export async function inTurns<Side>(
  sides: readonly Side[],
  rounds: number,
  work: (side: Side) => Promise<void>,
): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    for (const side of round % 2 === 0 ? sides : [...sides].reverse()) await work(side);
  }
}

/** The median of the ratios of neighbouring rounds, and where it lies with a certainty of 95 %. */
export function ratioOf(own: readonly number[], other: readonly number[]): Ratio {
  const ratios = other.flatMap((value, index) => {
    const ours = own[index];
    return ours === undefined ? [] : [ours / value];
  });
  return { median: median(ratios), ...medianInterval(ratios) };
}

/** The figures as text: a line for the first server, and one for each other one, with the ratios of the first to it. */
export function rowsText(rows: readonly Row[]): string {
  if (rows.length === 0) return 'nothing has such a title';
  const names = rows.some(({ others }) => others.length > 0) ? Object.keys(COMPARED) : [];
  const lines = rows.flatMap(({ name, connections, own, others }) => [
    [`${name}, ${connections}`, ...cellsOf(own), ...names.flatMap(() => ['', ''])],
    ...others.map(({ name: other, figures, ratios }) => [
      `  of ${other}`,
      ...cellsOf(figures),
      ...Object.values(ratios).flatMap((ratio) => [ratio.median.toFixed(3), intervalText(ratio)]),
    ]),
  ]);
  const heads = ['', 'CPU', 'of the load', 'per s', 'p50', 'p99', ...names.flatMap((name) => [name, '95 %'])];
  const problems = rows.flatMap(({ name, errors, lastError }) =>
    errors === 0 ? [] : [`${name}: ${errors} errors, such as: ${lastError}`],
  );
  return [table([heads, ...lines]), ...problems].join('\n');
}

function cellsOf({ cpuUs, generatorUs, ratePerS, p50Ms, p99Ms }: Figures): string[] {
  const times = [`${cpuUs.toFixed(1)} µs`, `${generatorUs.toFixed(1)} µs`, ratePerS.toFixed(0)];
  return [...times, timeText(p50Ms), timeText(p99Ms)];
}

function figuresOf(measured: readonly Measurement[]): Figures {
  const middle = (of: (measurement: Measurement) => number): number => median(measured.map(of));
  return {
    cpuUs: middle(COMPARED.CPU),
    generatorUs: middle(({ generatorUs }) => generatorUs),
    ratePerS: middle(COMPARED.rate),
    p50Ms: middle(COMPARED.p50),
    p99Ms: middle(COMPARED.p99),
  };
}

/** Rounds of the first server and those of another one that ran beside them. */
function compared(name: string, own: readonly Measurement[], other: readonly Measurement[]): Compared {
  const ratio = (of: (measurement: Measurement) => number): Ratio => ratioOf(own.map(of), other.map(of));
  const { CPU, rate, p50, p99 } = COMPARED;
  const ratios = { CPU: ratio(CPU), rate: ratio(rate), p50: ratio(p50), p99: ratio(p99) };
  return { name, figures: figuresOf(other), ratios };
}
