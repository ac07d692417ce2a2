/** The time that the language takes, as a multiple of plain JavaScript. */
import { isDeepStrictEqual } from 'node:util';
import { intervalText, median, table } from '../harness/table.js';
import { type Ratio, ratioOf } from './contest.js';
import { type LangProgram, langPrograms } from './lang-programs.js';
import { Machine } from './machine.js';

export interface LangRow {
  readonly name: string;
  /** Time of one run, with the garbage collections that it brings about. */
  readonly oursMs: number;
  readonly plainMs: number;
  readonly ratio: Ratio;
  readonly target: number;
}

export interface LangOptions {
  /** Measurements of each program, of which the median counts. */
  readonly rounds: number;
  /** Only programs whose name contains this. */
  readonly only: string;
}

/** Before the first round that counts: both sides are compiled by then. */
const WARMUP_MEASUREMENTS = 3;
const WARMUP_MS = 500;

/**
 * Time that one side runs in a row, of which the time of one run is the mean, and runs before them whose time is not taken. A collection of
 * the young generation takes as long as many runs of plain JavaScript, and is due every few runs: where the sides take turns run by
 * run, mostly the one that allocates more meets all of them, those of the other's garbage too, and what becomes of a median is chance. The
 * runs in front clear away what the other side left.
 */
const MEASUREMENT_MS = 150;
const RUNS_IN_FRONT = 2;

/** Measures each program in turns with the same in plain JavaScript. */
export function benchPrograms({ rounds, only }: LangOptions): LangRow[] {
  return langPrograms
    .filter(({ name }) => name.includes(only))
    .map((program) => benchProgram(program, rounds));
}

export function langText(rows: readonly LangRow[]): string {
  return table([
    ['', 'ours', 'plain JavaScript', 'ratio', 'of 95 %', 'target', ''],
    ...rows.map(({ name, oursMs, plainMs, ratio, target }) => [
      name,
      `${oursMs.toFixed(2)} ms`,
      `${plainMs.toFixed(2)} ms`,
      ratio.median.toFixed(1),
      intervalText(ratio),
      String(target),
      ratio.median <= target ? '' : 'missed',
    ]),
  ]);
}

function benchProgram(program: LangProgram, rounds: number): LangRow {
  const machine = new Machine();
  const { name, setup, code, fresh, plain, target } = program;
  if (setup !== undefined) machine.run(setup);
  const renew = (): void => {
    machine.clear();
    if (setup !== undefined) machine.run(setup);
  };
  const ours = { run: () => JSON.parse(machine.run(code)) as unknown, renew: fresh === true ? renew : null };
  const sides: Side[] = [ours, { run: plain, renew: null }];
  const times: number[][] = [];
  const warmUntil = performance.now() + WARMUP_MS;
  for (let round = 0; times.length < rounds; round++) {
    const measured = sides.map((side) => {
      for (let i = 0; i < RUNS_IN_FRONT; i++) measure(side, 0);
      return measure(side, MEASUREMENT_MS);
    });
    const [expected] = measured.slice(1);
    for (const { result } of measured) {
      if (isDeepStrictEqual(result, expected?.result)) continue;
      throw new Error(`${name}: ${JSON.stringify(result)} instead of ${JSON.stringify(expected?.result)}`);
    }
    if (round < WARMUP_MEASUREMENTS || performance.now() < warmUntil) continue;
    times.push(measured.map(({ ms }) => ms));
  }
  const timesOf = (side: number): number[] => times.map((each) => each[side] ?? Number.NaN);
  return {
    name,
    oursMs: median(timesOf(0)),
    plainMs: median(timesOf(1)),
    ratio: ratioOf(timesOf(0), timesOf(1)),
    target,
  };
}

/** One side of a comparison: a program, and what makes everything as it was before it. */
interface Side {
  readonly run: () => unknown;
  readonly renew: (() => void) | null;
}

/** Milliseconds of one of the runs that follow each other for a time, and what the last one gave. */
function measure({ run, renew }: Side, forMs: number): { readonly ms: number; readonly result: unknown } {
  for (let runs = 1, ms = 0; ; runs++) {
    const began = performance.now();
    const result = run();
    ms += performance.now() - began;
    renew?.();
    if (ms >= forMs) return { ms: ms / runs, result };
  }
}
