/**
 * How fast the language runs, as a multiple of plain JavaScript, and how long a text takes that was never seen before.
 */
import { isDeepStrictEqual } from 'node:util';
import { type LangProgram, langPrograms, NEW_TEXT_TARGET_US, NEW_TEXTS } from './lang-programs.js';
import { Machine } from './machine.js';
import { median, table } from './table.js';

export interface LangRow {
  readonly name: string;
  readonly oursMs: number;
  readonly plainMs: number;
  readonly ratio: number;
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
}

/** Before the first round that counts: both sides are compiled by then. */
const WARMUP_ROUNDS = 8;
const WARMUP_MS = 500;

const NEW_TEXTS_PER_ROUND = 1000;

/** Measures each program in turns with the same in plain JavaScript. */
export function benchPrograms({ rounds, only }: LangOptions): LangRow[] {
  return langPrograms
    .filter(({ name }) => name.includes(only))
    .map((program) => benchProgram(program, rounds));
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
  return [
    table([
      ['', 'ours', 'plain JavaScript', 'ratio', 'target', ''],
      ...rows.map((row) => [
        row.name,
        `${row.oursMs.toFixed(2)} ms`,
        `${row.plainMs.toFixed(2)} ms`,
        row.ratio.toFixed(1),
        String(row.target),
        row.ratio <= row.target ? '' : 'missed',
      ]),
    ]),
    table([
      ['a text never seen before', 'parsed and compiled', 'target', ''],
      ...newTexts.map((row) => [
        row.code,
        `${row.preparedUs.toFixed(1)} µs`,
        `${row.targetUs} µs`,
        row.preparedUs <= row.targetUs ? '' : 'missed',
      ]),
    ]),
  ].join('\n\n');
}

function benchProgram(program: LangProgram, rounds: number): LangRow {
  const machine = new Machine();
  const { name, setup, code, fresh, plain, target } = program;
  if (setup !== undefined) machine.run(setup);
  const renew = (): void => {
    machine.clear();
    if (setup !== undefined) machine.run(setup);
  };
  const ours: number[] = [];
  const theirs: number[] = [];
  const warmUntil = performance.now() + WARMUP_MS;
  for (let round = 0; ours.length < rounds; round++) {
    const start = performance.now();
    const result = machine.run(code);
    const middle = performance.now();
    const expected = plain();
    const end = performance.now();
    if (!isDeepStrictEqual(JSON.parse(result), expected)) {
      throw new Error(`${name}: ${result} instead of ${JSON.stringify(expected)}`);
    }
    if (fresh === true) renew();
    if (round < WARMUP_ROUNDS || end < warmUntil) continue;
    ours.push(middle - start);
    theirs.push(end - middle);
  }
  const oursMs = median(ours);
  const plainMs = median(theirs);
  return { name, oursMs, plainMs, ratio: oursMs / plainMs, target };
}
