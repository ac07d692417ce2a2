/** Calls that are only tried out. */
import type { Tally } from '../state/tally.js';
import type { Transaction } from '../state/transaction.js';
import { Future } from '../value/future.js';
import type { Value } from '../value/value.js';
import type { Call, Outcome } from './call.js';
import { type Executor, secretOf } from './executor.js';

/**
 * Ends a dry run: its answer is a map with the result, what the call would have changed by category, and how many futures it would have
 * started, if any. They are not started: each is a change of its own behind that of the call. Everything is taken back as after an
 * error, ids included, and nothing is left to replicate or to be told.
 */
export function endDryRun(
  executor: Executor,
  call: Call,
  value: Value,
  transaction: Transaction,
  tally: Tally,
): Outcome {
  const { runtime: rt } = executor;
  const futures = rt.takeFutures().length;
  const result = executor.packTold(
    value instanceof Future ? null : value,
    call,
    futures === 0 ? 1 : 2,
    (sink) => {
      // What nothing refers to any more goes at the end of a change, when its result is packed.
      transaction.finish();
      const counts = tally.entries();
      sink.key('changes');
      sink.beginMap(counts.length);
      for (const [category, count] of counts) {
        sink.key(category);
        sink.int(count);
      }
      sink.endMap();
      if (futures === 0) return;
      sink.key('futures');
      sink.int(futures);
    },
  );
  const secret = secretOf(rt.secrets);
  executor.takeBack(transaction);
  return { kind: 'value', result, change: null, secret };
}
