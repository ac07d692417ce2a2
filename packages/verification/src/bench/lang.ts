/**
 * How fast the language runs, as a multiple of plain JavaScript, and how long a text takes that was never seen before.
 */
import { isDeepStrictEqual } from 'node:util';
import { type LangProgram, langPrograms, NEW_TEXT_TARGET_US, NEW_TEXTS } from './lang-programs.js';
import { Machine } from './machine.js';
import { type Interval, median, medianInterval, table } from './table.js';

export interface LangRow {
  readonly name: string;
  /** Time of one run, with the garbage collections that it brings about. */
  readonly oursMs: number;
  readonly plainMs: number;
  /** Of the bare path, if it was asked for and there is one. */
  readonly bareMs: number | null;
  /** Median of the ratios of neighbouring measurements, and where it lies. */
  readonly ratio: number;
  readonly ratioInterval: Interval;
  readonly target: number;
}

export interface NewTextRow {
  readonly code: string;
  /** Parsed, checked and compiled. */
  readonly preparedUs: number;
  readonly targetUs: number;
}

export interface LangOptions {
  /** Measurements of each program, of which the median counts. */
  readonly rounds: number;
  /** Only programs whose name contains this. */
  readonly only: string;
  /** Whether the bare path is measured, too. */
  readonly withBare: boolean;
}

/** Before the first round that counts: both sides are compiled by then. */
const WARMUP_ROUNDS = 8;
const WARMUP_MEASUREMENTS = 3;
const WARMUP_MS = 500;

/**
 * How long one side runs in a row, of which the time of one run is the mean, and runs before them whose time is not taken. A collection of
 * the young generation takes as long as many runs of plain JavaScript, and is due every few runs: where the sides take turns run by
 * run, mostly the one that allocates more meets all of them, those of the other's garbage too, and what becomes of a median is chance. The
 * runs in front clear away what the other side left.
 */
const MEASUREMENT_MS = 150;
const RUNS_IN_FRONT = 2;

const NEW_TEXTS_PER_ROUND = 1000;

/** Measures each program in turns with the same in plain JavaScript. */
export function benchPrograms({ rounds, only, withBare }: LangOptions): LangRow[] {
  return langPrograms
    .filter(({ name }) => name.includes(only))
    .map((program) => benchProgram(program, rounds, withBare));
}

/** Measures texts that are new each time. */
export function benchNewTexts(rounds: number): NewTextRow[] {
  const machine = new Machine();
  let number = 0;
  const times = NEW_TEXTS.map((): number[] => []);
  for (let round = 0; round < rounds + WARMUP_ROUNDS; round++) {
    for (const [i, textOf] of NEW_TEXTS.entries()) {
      const codes = Array.from({ length: NEW_TEXTS_PER_ROUND }, () => textOf(number++));
      const began = performance.now();
      for (const code of codes) machine.engine.prepare(code);
      const us = (1000 * (performance.now() - began)) / NEW_TEXTS_PER_ROUND;
      if (round >= WARMUP_ROUNDS) times[i]?.push(us);
    }
  }
  return NEW_TEXTS.map((textOf, i) => ({
    code: textOf(0),
    preparedUs: median(times[i] ?? []),
    targetUs: NEW_TEXT_TARGET_US,
  }));
}

export function langText(rows: readonly LangRow[], newTexts: readonly NewTextRow[]): string {
  const texts: string[] = [];
  if (rows.length > 0) texts.push(programsText(rows));
  if (newTexts.length > 0) texts.push(newTextsText(newTexts));
  return texts.join('\n\n');
}

function programsText(rows: readonly LangRow[]): string {
  const withBare = rows.some(({ bareMs }) => bareMs !== null);
  const bareCells = (...cells: readonly string[]): readonly string[] => (withBare ? cells : []);
  return table([
    ['', 'ours', 'plain JavaScript', 'ratio', 'of 95 %', 'target', '', ...bareCells('bare', 'of bare')],
    ...rows.map(({ name, oursMs, plainMs, bareMs, ratio, ratioInterval, target }) => [
      name,
      `${oursMs.toFixed(2)} ms`,
      `${plainMs.toFixed(2)} ms`,
      ratio.toFixed(1),
      `${ratioInterval.low.toFixed(1)} to ${ratioInterval.high.toFixed(1)}`,
      String(target),
      ratio <= target ? '' : 'missed',
      ...(bareMs === null
        ? bareCells('', '')
        : bareCells(`${bareMs.toFixed(2)} ms`, (oursMs / bareMs).toFixed(1))),
    ]),
  ]);
}

function newTextsText(rows: readonly NewTextRow[]): string {
  return table([
    ['a text never seen before', 'parsed and compiled', 'target', ''],
    ...rows.map((row) => [
      row.code,
      `${row.preparedUs.toFixed(1)} µs`,
      `${row.targetUs} µs`,
      row.preparedUs <= row.targetUs ? '' : 'missed',
    ]),
  ]);
}

function benchProgram(program: LangProgram, rounds: number, withBare: boolean): LangRow {
  const machine = new Machine();
  const { name, setup, code, fresh, plain, bare, target } = program;
  if (setup !== undefined) machine.run(setup);
  const renew = (): void => {
    machine.clear();
    if (setup !== undefined) machine.run(setup);
  };
  const ours = { run: () => JSON.parse(machine.run(code)) as unknown, renew: fresh === true ? renew : null };
  const sides: Side[] = [ours, { run: plain, renew: null }];
  if (withBare && bare !== undefined) sides.push({ run: bare, renew: null });
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
  const medianOf = (side: number): number => median(times.map((each) => each[side] ?? Number.NaN));
  const ratios = times.map(([oursMs = Number.NaN, plainMs = Number.NaN]) => oursMs / plainMs);
  return {
    name,
    oursMs: medianOf(0),
    plainMs: medianOf(1),
    bareMs: sides.length > 2 ? medianOf(2) : null,
    ratio: median(ratios),
    ratioInterval: medianInterval(ratios),
    target,
  };
}

/** What is measured: a program, and what makes everything as it was before it. */
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
