/** An exploration from beginning to end: its limits, its progress, and what is said at the end. */
import type { RaftNodeClass } from '../testing/plant.js';
import { type Bounds, modelOf } from './bounds.js';
import { Explorer, type Outcome, type Progress } from './explorer.js';
import { pathLines } from './path.js';

export interface Limits {
  readonly states: number;
  readonly ms: number;
}

export interface Report {
  readonly outcome: Outcome;
  readonly ms: number;
  /** A shortest path to the violation, if there is one. */
  readonly lines: readonly string[];
}

/**
 * Explores within limits. `onProgress` is called every few seconds, with the milliseconds since the
 * beginning.
 */
export function explore(
  bounds: Bounds,
  nodeClass: RaftNodeClass,
  limits: Limits,
  onProgress: (progress: Progress, ms: number) => void,
): Report {
  const model = modelOf(bounds, nodeClass);
  const explorer = new Explorer(model);
  const began = performance.now();
  let told = 0;
  const outcome = explorer.run((progress) => {
    const ms = performance.now() - began;
    if (ms - told >= PROGRESS_MS) {
      told = ms;
      onProgress(progress, ms);
    }
    return progress.states >= limits.states || ms >= limits.ms;
  });
  const ms = performance.now() - began;
  const { finding } = outcome;
  const lines = finding === null ? [] : pathLines(model, finding.steps, explorer.automaton.messages);
  return { outcome, ms, lines };
}

const PROGRESS_MS = 5000;
