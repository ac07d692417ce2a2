/**
 * What instances of types cost beside plain things with the same properties: in time, in both tiers of the language, and in
 * memory. Each program runs in turns on plain things and on instances, and neighbouring runs are compared.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Machine } from './machine.js';
import { type Interval, median, medianInterval, table } from './table.js';

export interface TypesOptions {
  /** Runs of each program that count. */
  readonly rounds: number;
  /** Things that a program works on. */
  readonly things: number;
  /** Only programs whose name contains this. */
  readonly only: string;
}

/** Code that is compiled once it has run often enough, and code that never is. */
export type Tier = 'compiled' | 'interpreted';

export interface TypesRow {
  readonly name: string;
  readonly tier: Tier;
  /** For each thing, in ns. */
  readonly plainNs: number;
  readonly typedNs: number;
  readonly ratio: Interval & { readonly median: number };
}

export interface TypesMemory {
  /** Bytes that a stored thing takes in memory. */
  readonly plainBytes: number;
  readonly typedBytes: number;
}

export interface TypesFigures {
  readonly rows: readonly TypesRow[];
  /** Undefined when only some programs are measured. */
  readonly memory: TypesMemory | undefined;
}

/** What instances may cost, as a multiple of what plain things do. */
export const TYPES_TARGET = 1.05;

interface Program {
  readonly name: string;
  /** @param made makes a thing, or an instance, of these properties */
  readonly code: (things: number, made: (properties: string) => string) => string;
  /** What it leaves behind is taken away after each run. */
  readonly isFresh?: boolean;
}

const TYPE = `try(set_type('Person', {name: 'str<1:40>', age: 'int<0:999>', score: 'float?', tag: 'any'}));`;
const PROPERTIES = `name: 'somebody', age: i % 100, score: 1.5, tag: nil`;

const programs: readonly Program[] = [
  { name: 'read', code: () => 'sum = 0; for (p in .people) sum += p.age; sum;' },
  { name: 'read in a closure', code: () => '.people.reduce(|sum, p| sum + p.age, 0);' },
  { name: 'write, any', code: () => 'for (p in .people) p.tag = 5; 0;' },
  { name: 'write, int<0:999>', code: () => 'for (p in .people) p.age = 7; 0;' },
  { name: 'write, str<1:40>', code: () => "for (p in .people) p.name = 'another'; 0;" },
  {
    name: 'write +=, int<0:999>',
    code: () => 'for (p in .people) p.age += 1; for (p in .people) p.age -= 1; 0;',
  },
  { name: 'write in a closure', code: () => '.people.each(|p| p.age = 8); 0;' },
  { name: 'make, loose', code: (things, made) => `range(${things}).map(|i| ${made(PROPERTIES)}).len();` },
  {
    name: 'make, stored one by one',
    code: (things, made) => `for (i in range(${things})) .more.push(${made(PROPERTIES)}); .more.len();`,
    isFresh: true,
  },
];

/** Runs before the first that counts: code has its last form by then. */
const WARM_ROUNDS = 8;

/** Things whose memory is measured. */
const MEMORY_THINGS = 50_000;

/** Measures everything in this process. */
export function benchTypes({ rounds, things, only }: TypesOptions): TypesFigures {
  const wanted = programs.filter(({ name }) => name.includes(only));
  const rows = wanted.flatMap((program) =>
    (['compiled', 'interpreted'] as const).map((tier) => benchProgram(program, tier, rounds, things)),
  );
  return { rows, memory: only === '' ? measureMemory(MEMORY_THINGS) : undefined };
}

export function typesText({ rows, memory }: TypesFigures): string {
  const note = (ratio: number): string => (ratio <= TYPES_TARGET ? '' : 'missed');
  const lines = rows.map(({ name, tier, plainNs, typedNs, ratio }) => [
    `${name}, ${tier}`,
    `${plainNs.toFixed(1)} ns`,
    `${typedNs.toFixed(1)} ns`,
    ratio.median.toFixed(3),
    `${ratio.low.toFixed(3)} to ${ratio.high.toFixed(3)}`,
    note(ratio.low),
  ]);
  if (memory !== undefined) {
    const { plainBytes, typedBytes } = memory;
    const ratio = typedBytes / plainBytes;
    lines.push([
      'memory of a stored thing',
      `${plainBytes.toFixed(0)} bytes`,
      `${typedBytes.toFixed(0)} bytes`,
      ratio.toFixed(3),
      '',
      note(ratio),
    ]);
  }
  return table([['for each thing', 'plain', 'instance', 'ratio', '95 %', ''], ...lines]);
}

/** A collection of plain things, or of instances. */
class Side {
  readonly machine = new Machine();
  readonly isTyped: boolean;

  constructor(isTyped: boolean, tier: Tier, things: number) {
    this.isTyped = isTyped;
    if (tier === 'interpreted') this.machine.engine.runtime.hotRuns = Number.POSITIVE_INFINITY;
    if (isTyped) this.machine.run(TYPE);
    this.machine.run(`.people = range(${things}).map(|i| ${this.made(PROPERTIES)}); .more = []; nil;`);
  }

  made(properties: string): string {
    return `${this.isTyped ? 'Person' : ''}{${properties}}`;
  }

  /** Runs a program; the time that it took, in ms. */
  time({ code, isFresh }: Program, things: number): number {
    const text = code(things, (properties) => this.made(properties));
    const begin = performance.now();
    this.machine.run(text);
    const ms = performance.now() - begin;
    if (isFresh === true) this.machine.run('.more = []; nil;');
    return ms;
  }
}

function benchProgram(program: Program, tier: Tier, rounds: number, things: number): TypesRow {
  const plain = new Side(false, tier, things);
  const typed = new Side(true, tier, things);
  const plainMs: number[] = [];
  const typedMs: number[] = [];
  for (let round = -WARM_ROUNDS; round < rounds; round++) {
    const turns: readonly (readonly [Side, number[]])[] = [
      [plain, plainMs],
      [typed, typedMs],
    ];
    for (const [side, times] of round % 2 === 0 ? turns : [...turns].reverse()) {
      const ms = side.time(program, things);
      if (round >= 0) times.push(ms);
    }
  }
  const ratios = typedMs.map((ms, i) => ms / (plainMs[i] ?? Number.NaN));
  const nsOf = (times: readonly number[]): number => (1e6 * median(times)) / things;
  return {
    name: program.name,
    tier,
    plainNs: nsOf(plainMs),
    typedNs: nsOf(typedMs),
    ratio: { median: median(ratios), ...medianInterval(ratios) },
  };
}

/** What the things of a collection take. */
function measureMemory(things: number): TypesMemory {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  const used = (): number => {
    if (typeof collect === 'function') collect();
    return process.memoryUsage().heapUsed;
  };
  // Code and tables that all have alike are there before; everything stays alive until the end.
  const sides = [new Side(false, 'compiled', things), new Side(true, 'compiled', things)];
  const bytes = [false, true].map((isTyped) => {
    const before = used();
    sides.push(new Side(isTyped, 'compiled', things));
    return (used() - before) / things;
  });
  if (sides.some((side) => side.machine.run('.people.len();') !== String(things)))
    throw new Error('things are lost');
  return { plainBytes: bytes[0] ?? Number.NaN, typedBytes: bytes[1] ?? Number.NaN };
}
