/** A child process of the pool: it makes runs, one after the other. */
import { inspect } from 'node:util';
import type { Cut } from './cut.js';
import { Anomaly } from './history.js';
import { Planters } from './mutants.js';
import { type SimulationReport, simulate } from './simulate.js';
import { TooLong } from './too-long.js';
import { Violation } from './watcher.js';

/** The run that the parent asks for. */
export interface Assignment {
  readonly seed: number;
  readonly mutants: readonly string[];
  readonly cut: Cut;
  /** Events after which the run is given up; it has not ended then. */
  readonly turnsMax?: number;
}

/** The result of a run; `error` is null when all was well. */
export interface Result extends SimulationReport {
  readonly error: string | null;
  /** The property that was broken: equal for two runs that fail for the same reason. Empty when all was well. */
  readonly broken: string;
  /** Faults that came, and what clients did, in that order, by their names. */
  readonly decisions: readonly string[];
  /** The kinds of those. */
  readonly kinds: readonly string[];
  /** True if the run came to its end; its process may have died, or taken too long, or the run was given up. */
  readonly ended: boolean;
}

export function workAsChild(): void {
  const planters = new Planters();
  process.on('message', (assignment: Assignment) => {
    live(assignment, planters).then((result) => process.send?.(result));
  });
}

/** A result before anything is known. */
export function resultOf(seed: number): Result {
  return {
    seed,
    error: null,
    broken: '',
    decisions: [],
    kinds: [],
    traceHash: 0,
    ended: true,
    events: 0,
    operations: 0,
    acknowledged: 0,
    reached: [],
  };
}

/** Makes a run; what goes wrong is told by the result. */
export async function live(assignment: Assignment, planters = new Planters()): Promise<Result> {
  const { seed, mutants, cut, turnsMax } = assignment;
  const decisions: string[] = [];
  const kinds = new Set<string>();
  const onDecision = (name: string, kind: string): void => {
    decisions.push(name);
    kinds.add(kind);
  };
  let result = resultOf(seed);
  try {
    result = {
      ...result,
      ...(await simulate({ seed, mutants: new Set(mutants), cut, turnsMax, onDecision }, planters)),
    };
  } catch (error) {
    const ended = !(error instanceof TooLong);
    result = { ...result, error: textOf(error), broken: brokenBy(error), ended };
  }
  return { ...result, decisions, kinds: [...kinds] };
}

function brokenBy(error: unknown): string {
  if (error instanceof Violation) return error.invariant;
  // The list or register of an anomaly does not matter.
  if (error instanceof Anomaly) return error.check.split(' ')[0] ?? '';
  return error instanceof Error ? error.name : 'unknown';
}

function textOf(error: unknown): string {
  if (!(error instanceof Error)) return inspect(error);
  const cause = error.cause instanceof Error ? ` (${error.cause.name}: ${error.cause.message})` : '';
  return `${error.message}${cause}`.slice(0, 1000);
}
