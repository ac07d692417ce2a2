/**
 * Linearizability of a register with compare-and-set, as a black box: the search of Wing and Gong ("Testing and verifying
 * concurrent objects", 1993) with Lowe's memory of configurations ("Testing for linearizability", 2017).
 */
import { Anomaly, type Operation } from './history.js';

export interface RegisterStep {
  readonly operation: Operation;
  readonly begin: number;
  /** Infinite if nobody knows whether it took effect. */
  readonly end: number;
  readonly kind: 'get' | 'swap';
  readonly expected: number;
  readonly value: number;
  /** True if a swap did it; null if nobody knows. */
  readonly swapped: boolean | null;
}

export type Verdict = 'ok' | 'wrong' | 'undecided';

const CONFIGURATIONS_MAX = 200_000;

/** True if there is an order of the steps that agrees with real time and in which each has the answer that it got. */
export function isLinearizable(
  steps: readonly RegisterStep[],
  initial: number,
  configurationsMax = CONFIGURATIONS_MAX,
): Verdict {
  const sorted = [...steps].sort((left, right) => left.begin - right.begin);
  const required = sorted.filter(({ end }) => Number.isFinite(end)).length;
  const seen = new Set<string>();
  const stack: Configuration[] = [{ done: 0n, first: 0, doneRequired: 0, value: initial }];
  for (;;) {
    const configuration = stack.pop();
    if (configuration === undefined) return 'wrong';
    if (configuration.doneRequired === required) return 'ok';
    const key = `${configuration.done}:${configuration.value}`;
    if (seen.has(key)) continue;
    seen.add(key);
    if (seen.size > configurationsMax) return 'undecided';
    stack.push(...nextOf(configuration, sorted));
  }
}

/**
 * @returns `undecided` if the search took too long
 * @throws Anomaly
 */
export function checkRegister(
  register: string,
  operations: readonly Operation[],
  initial: number,
): Exclude<Verdict, 'wrong'> {
  const steps = operations.flatMap((operation) => stepOf(operation, register));
  const verdict = isLinearizable(steps, initial);
  if (verdict !== 'wrong') return verdict;
  throw new Anomaly(
    `register ${register}`,
    `no order explains ${steps.map(({ operation }) => operation.id).join(' ')}`,
  );
}

interface Configuration {
  /** One bit for each step that took effect. */
  readonly done: bigint;
  /** All steps before this one took effect. */
  readonly first: number;
  readonly doneRequired: number;
  readonly value: number;
}

/** The steps that may be next: they began before any other that has to be done ended. */
function nextOf(
  { done, first, doneRequired, value }: Configuration,
  steps: readonly RegisterStep[],
): Configuration[] {
  const next: Configuration[] = [];
  let earliestEnd = Number.POSITIVE_INFINITY;
  for (let at = first; at < steps.length; at++) {
    const step = steps[at] as RegisterStep;
    if (step.begin > earliestEnd) break;
    if ((done >> BigInt(at)) & 1n) continue;
    earliestEnd = Math.min(earliestEnd, step.end);
    const result = effectOf(step, value);
    if (result === null) continue;
    const nowDone = done | (1n << BigInt(at));
    let nowFirst = first;
    while ((nowDone >> BigInt(nowFirst)) & 1n) nowFirst += 1;
    const isRequired = Number.isFinite(step.end) ? 1 : 0;
    next.push({ done: nowDone, first: nowFirst, doneRequired: doneRequired + isRequired, value: result });
  }
  return next;
}

/** The value of the register after a step; null if the step can't be now. */
function effectOf({ kind, expected, value, swapped }: RegisterStep, before: number): number | null {
  if (kind === 'get') return before === value ? before : null;
  const does = before === expected;
  if (swapped !== null && swapped !== does) return null;
  return does ? value : before;
}

function stepOf(operation: Operation, register: string): RegisterStep[] {
  const { action, outcome, begin, end, answer } = operation;
  if (action.kind !== 'get' && action.kind !== 'swap') return [];
  if (action.register !== register || outcome === 'failed') return [];
  if (action.kind === 'get') {
    if (outcome !== 'ok') return [];
    return [{ operation, begin, end, kind: 'get', expected: 0, value: Number(answer), swapped: null }];
  }
  const swapped = outcome === 'ok' ? answer === true : null;
  const ends = outcome === 'ok' ? end : Number.POSITIVE_INFINITY;
  const { expected, value } = action;
  return [{ operation, begin, end: ends, kind: 'swap', expected, value, swapped }];
}
