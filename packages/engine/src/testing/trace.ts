/** Traces of programs, for tests that run the same ones in two ways. */
import type { Harness } from './harness.js';

/** The answer or error of a query, and the number of its steps. */
export function trace(harness: Harness, code: string): string {
  const outcome = harness.outcome(code);
  const { steps, depth } = harness.engine.runtime;
  const answer =
    outcome.kind === 'value'
      ? Buffer.from(outcome.result).toString('base64')
      : outcome.kind === 'error'
        ? `${outcome.error.code} ${outcome.error.message}`
        : outcome.kind;
  return `${answer}, ${steps} steps left, depth ${depth}`;
}

/** Functions whose results depend on the moment. */
export const FICKLE: ReadonlySet<string> = new Set(['timeit', 'refs']);
