/** A thread that runs queries one after the other: its heap is its own, as that of the engine thread of a node. */
import { parentPort } from 'node:worker_threads';
import { Harness } from './harness.js';
import { threadClock } from './thread-clock.js';

export interface TimedQuery {
  readonly code: string;
  /** Its limit, in milliseconds of the thread. */
  readonly limitMs: number;
}

export interface TimedOutcome {
  /** Time that the query took, taking back included, in milliseconds of the thread. */
  readonly ms: number;
  /** The message of its error, else what its outcome is. */
  readonly end: string;
}

const clock = threadClock();

parentPort?.on('message', ({ code, limitMs }: TimedQuery) => {
  const db = new Harness({ limits: { durationMs: limitMs }, monotonic: clock });
  const begun = clock();
  const outcome = db.outcome(code);
  const ms = clock() - begun;
  const end = outcome.kind === 'error' ? outcome.error.message : outcome.kind;
  parentPort?.postMessage({ ms, end } satisfies TimedOutcome);
});
