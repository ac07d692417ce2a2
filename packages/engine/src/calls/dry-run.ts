/** Calls that are only tried out. */
import { ErrorCode, QueryError } from '../error.js';
import { writeInfo } from '../pack/info.js';
import { JsonWriter } from '../pack/json-writer.js';
import { MsgpackWriter } from '../pack/msgpack-writer.js';
import { SliceOver } from '../run/meter.js';
import { Profile } from '../run/profile.js';
import { Tally } from '../state/tally.js';
import type { Transaction } from '../state/transaction.js';
import { Future } from '../value/future.js';
import type { Value } from '../value/value.js';
import type { Call, Outcome } from './call.js';
import { type Executor, secretOf } from './executor.js';
import { changesOf, errorInfo, explanationOf } from './explain.js';

/** Lets a call that has begun count what it does, if it is only tried out; with `explain`, by statement. */
export function beginDryRun({ runtime: rt }: Executor, { dryRun }: Call, transaction: Transaction): void {
  if (dryRun === 'explain') rt.profile = new Profile(rt);
  if (dryRun) transaction.tally = new Tally(rt.profile?.noteChange ?? null);
}

/**
 * Ends a dry run: its answer is a map with the result, what the call would have changed by category, how many futures it would have
 * started, if any, and what it took, if it was to be explained. Futures are not started: each is a change of its own behind that of the
 * call. Everything is taken back as after an error, and nothing is left to replicate or to be told.
 */
export function endDryRun(
  executor: Executor,
  call: Call,
  value: Value,
  transaction: Transaction,
  tally: Tally,
): Outcome {
  const { runtime: rt } = executor;
  const { profile } = rt;
  const futures = rt.takeFutures().length;
  const result = executor.packTold(
    value instanceof Future ? null : value,
    call,
    1 + (futures === 0 ? 0 : 1) + (profile === null ? 0 : 1),
    () => {
      // Things that nothing refers to any more go at the end of a change, when its result is packed.
      transaction.finish();
      return {
        changes: changesOf(tally),
        futures: futures > 0 ? futures : undefined,
        explain: profile === null ? undefined : explanationOf(rt, profile),
      };
    },
  );
  const secret = secretOf(rt.secrets);
  executor.takeBack(transaction);
  return { kind: 'value', result, change: null, secret };
}

/**
 * Ends a run that was to be explained and failed: its answer is a map with the error, what the call had changed up to there, and what it
 * took, since what a limit ends is what somebody most wants to have explained. Taking it back is left to the caller. Null for a failure
 * that is none of the code.
 */
export function explainFailure(
  { runtime: rt }: Executor,
  { format }: Call,
  error: unknown,
  transaction: Transaction,
): Outcome | null {
  const { profile } = rt;
  const { tally } = transaction;
  const isOfCode =
    error instanceof QueryError && !(error instanceof SliceOver) && error.code !== ErrorCode.INTERNAL;
  if (profile === null || tally === null || !isOfCode) return null;
  transaction.endRun();
  const sink = format === 'json' ? new JsonWriter() : new MsgpackWriter();
  writeInfo(sink, {
    error: errorInfo(error),
    changes: changesOf(tally),
    explain: explanationOf(rt, profile),
  });
  const result = sink instanceof JsonWriter ? sink.take() : sink.out.take();
  return { kind: 'value', result, change: null, secret: secretOf(rt.secrets) };
}
