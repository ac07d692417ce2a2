/** Random programs on a leader and a follower, until something is wrong or the time is up. */
import { builtIns } from '../../functions/index.js';
import { randomOf } from '../harness.js';
import { RandomPrograms, STORED_PLACES } from '../random-program.js';
import { type FuzzProgram, World, type WorldOptions } from './world.js';

export interface FuzzReport {
  readonly programs: number;
  /** The number of those that gave a value, and of those among them that made a change. */
  readonly succeeded: number;
  readonly changes: number;
  readonly finding: Finding | null;
}

export interface Finding {
  readonly wrong: string;
  readonly options: WorldOptions;
  /** The programs that lead to it, in order; the last one goes wrong. */
  readonly programs: readonly FuzzProgram[];
}

/** A world is left behind when it has grown to this. */
const THINGS_MAX = 400;
const PROGRAMS_PER_WORLD = 300;

/** Functions whose results depend on the moment; a finding could not be repeated. */
const FICKLE = new Set(['timeit']);

/** Growth of the heap that is none of ours: code of Node.js, its caches. */
const HEAP_SLACK_BYTES = 64 * 1024 * 1024;

/**
 * @param goOn asked before each program
 * @param heapUsed bytes in use after a collection of garbage; left out where that can't be had
 */
export function fuzz(
  seed: number,
  goOn: (programs: number) => boolean,
  heapUsed: () => number = () => 0,
): FuzzReport {
  const random = randomOf(seed);
  const entries = builtIns().filter(({ name }) => !FICKLE.has(name));
  const inCollection = new RandomPrograms(random, { entries, stored: true });
  const inRoot = new RandomPrograms(random, { entries, stored: false });
  const counts = { programs: 0, succeeded: 0, changes: 0 };
  const heapAtFirst: number[] = [];
  /** A world from its beginning to its end, of which nothing is left when the heap is looked at. */
  const runWorld = (options: WorldOptions): Finding | null => {
    const world = new World(options);
    const programs: FuzzProgram[] = [];
    for (let i = 0; i < PROGRAMS_PER_WORLD && world.size < THINGS_MAX && goOn(counts.programs); i++) {
      const program = i === 0 ? FIRST : nextProgram(random, inCollection, inRoot);
      programs.push(program);
      const { wrong, outcome } = world.run(program);
      counts.programs += 1;
      if (outcome?.kind === 'value') counts.succeeded += 1;
      if (outcome?.kind === 'value' && outcome.change !== null) counts.changes += 1;
      if (wrong !== null) return shrunk({ wrong, options, programs });
    }
    return null;
  };
  while (goOn(counts.programs)) {
    const options = {
      seed: Math.floor(random() * 2 ** 31),
      hotRuns: [1, 4, 1500][Math.floor(random() * 3)] ?? 1,
    };
    const finding = runWorld(options);
    if (finding !== null) return { ...counts, finding };
    const heap = heapUsed();
    // The first worlds fill the caches.
    if (heapAtFirst.length < WARMUP_WORLDS) heapAtFirst.push(heap);
    else if (heap > Math.max(...heapAtFirst) + HEAP_SLACK_BYTES) {
      return { ...counts, finding: { wrong: `the heap has grown to ${heap} bytes`, options, programs: [] } };
    }
  }
  return { ...counts, finding: null };
}

const WARMUP_WORLDS = 10;

const FIRST: FuzzProgram = { scope: 'collection', statements: [STORED_PLACES] };

function nextProgram(
  random: () => number,
  inCollection: RandomPrograms,
  inRoot: RandomPrograms,
): FuzzProgram {
  if (random() < 0.1) return { scope: 'thingsdb', statements: inRoot.statements() };
  return { scope: 'collection', statements: inCollection.statements() };
}

/** Time to make a finding smaller, in milliseconds. */
const SHRINK_MS = 20_000;

/** The finding with as few programs and statements as still lead to something wrong. */
export function shrunk(finding: Finding): Finding {
  const until = performance.now() + SHRINK_MS;
  let { programs, wrong } = finding;
  const tryOut = (candidate: readonly FuzzProgram[]): boolean => {
    const found = replay(finding.options, candidate);
    if (found === null) return false;
    programs = candidate.slice(0, found.count);
    wrong = found.wrong;
    return true;
  };
  // Not everything can be repeated: what depends on a limit of time may not.
  if (!tryOut(programs)) return finding;
  for (let size = programs.length >> 1; size > 0; size >>= 1) {
    for (let at = programs.length - size; at >= 0 && performance.now() < until; at -= size) {
      tryOut([...programs.slice(0, at), ...programs.slice(at + size)]);
    }
  }
  for (let i = programs.length - 1; i >= 0; i--) {
    for (let j = (programs[i]?.statements.length ?? 0) - 1; j >= 0 && performance.now() < until; j--) {
      const program = programs[i];
      if (program === undefined || program.statements.length === 1) continue;
      tryOut(programs.with(i, { ...program, statements: program.statements.toSpliced(j, 1) }));
    }
  }
  return { ...finding, programs, wrong };
}

/** The first failure when some programs run, and after how many of them; null when there is none. */
export function replay(
  options: WorldOptions,
  programs: readonly FuzzProgram[],
): { readonly wrong: string; readonly count: number } | null {
  const world = new World(options);
  for (const [i, program] of programs.entries()) {
    const { wrong } = world.run(program);
    if (wrong !== null) return { wrong, count: i + 1 };
  }
  return null;
}
