/**
 * Calls of which futures are left when their own statements are done. Each future is a change of its own, in its turn; between two of
 * them other calls may run.
 */

import type { Target } from '../admin/access-lists.js';
import { Privilege } from '../admin/privileges.js';
import type { User } from '../admin/user.js';
import { ErrorCode, forbiddenError, QueryError } from '../error.js';
import { readAnswer } from '../pack/module-answer.js';
import { invoke } from '../run/invoke.js';
import { assertLoose, Continuation, closureOf, failureOf, resultOf, valuesOf } from '../run/later.js';
import type { QueryLimits } from '../run/limits.js';
import type { Transaction } from '../state/transaction.js';
import type { Closure } from '../value/closure.js';
import type { Future } from '../value/future.js';
import type { Value } from '../value/value.js';
import { type Call, NEEDS_CHANGE, NO_CHARGE, type Outcome, type ResumeOptions, type Start } from './call.js';
import { changesOf, doubted, type Executor, secretOf } from './executor.js';
import { endRun } from './task-end.js';

export class Futures {
  constructor(private readonly executor: Executor) {}

  /**
   * Goes on with a call that has futures: runs them in their turn, up to the first that makes a change. Each changes everything it
   * says, or, when it ends in an error, nothing; and then the call has ended with that error.
   */
  resume(rest: Continuation, options: ResumeOptions): Outcome {
    const { until } = options;
    const { monotonic } = this.executor;
    rest.unpin(rest.call.scope.store);
    const begun = monotonic();
    for (;;) {
      const outcome = this.step(rest, options);
      if (outcome === null && monotonic() < until) continue;
      if (outcome?.kind === 'value' || outcome?.kind === 'error') this.drop(rest);
      else rest.pin(rest.call.scope.store, NO_CHARGE);
      // The search for things that are to stay in memory counts, too.
      rest.spentMs += monotonic() - begun;
      return outcome ?? { kind: 'more', change: null, rest };
    }
  }

  /** The limits of the rest of a call. */
  private limitsOf({ call: { scope, procedureName } }: Continuation, user: User): QueryLimits {
    const procedure = procedureName === null ? undefined : scope.procedure(procedureName);
    return this.executor.limitsOf({ scope, user }, procedure ?? null);
  }

  /** Gives up what is left of a call. */
  drop(rest: Continuation): void {
    this.executor.runtime.waitingFutures -= rest.count;
    rest.clear();
    rest.unpin(rest.call.scope.store);
  }

  /** Runs one future, or packs the answer when there is none; null when there is nothing to tell of it. */
  private step(rest: Continuation, options: ResumeOptions): Outcome | null {
    const { runtime: rt } = this.executor;
    const { next } = rest;
    const { scope } = rest.call;
    const user = this.executor.root.users.get(rest.call.userId);
    if (this.executor.scope(rest.call.target) !== scope) return { kind: 'error', error: STATE_GONE };
    if (user === undefined) return { kind: 'error', error: USER_GONE };
    const limits = this.limitsOf(rest, user);
    if (rest.spentMs > limits.durationMs) return { kind: 'error', error: FUTURES_TOO_LONG };
    if (rest.isIdle) return { kind: 'waits', rest };
    if (next !== undefined && next.request !== null && next.answered === null) {
      return next.answer === null
        ? this.ask(rest, next, user, options)
        : this.receive(rest, next, user, options);
    }
    const failure = next === undefined ? null : failureOf(next);
    if (failure !== null) return { kind: 'error', error: failure };
    const closure = next === undefined ? null : closureOf(next);
    if (next !== undefined && closure === null) {
      this.settle(rest, resultOf(next));
      return rest.next === undefined ? this.step(rest, options) : null;
    }
    const writes = closure !== null && scope.isAmong(changesOf(rt, closure));
    if (writes && !options.mayChange) return { kind: 'needs_change' };
    const start = { ...options, ...partOf(rest, user), run: rest.call.run };
    const transaction = this.executor.begin(start, rest.call.target, writes, rest.call.deep, null, limits);
    rt.procedureName = rest.call.procedureName;
    rt.requestId = rest.call.requestId;
    try {
      if (next !== undefined && closure !== null) {
        if (writes) this.assertMayChange(next, closure);
        rt.pending = rest.values;
        rt.futureDepth = next.depth;
        this.settle(rest, invoke(rt, closure, valuesOf(next)));
        if (transaction.outbox !== null && !options.mayChange) {
          transaction.rollback();
          return NEEDS_CHANGE;
        }
        rest.add(rt.futures);
        rt.waitingFutures += rt.takeFutures().length;
        rest.secrets.push(...rt.secrets);
      }
      if (rest.count > 0) {
        const change = this.executor.changeOf(scope.group, transaction);
        return change === null ? null : { kind: 'more', change, rest };
      }
      rt.deep = rest.call.deep;
      rt.flags = rest.call.flags;
      // Nobody gets the value of a task.
      const result = rest.call.run === null ? this.executor.pack(rest.answer, rest.call.format, scope) : '';
      if (rest.call.run !== null) endRun(scope, rest.call.run, transaction);
      const change = this.executor.changeOf(scope.group, transaction);
      return { kind: 'value', result, change, secret: secretOf(rest.secrets) };
    } catch (error) {
      return doubted(this.executor.failed(error, transaction), options.fresh);
    } finally {
      rt.end();
    }
  }

  /**
   * Has a request sent to a module. Once that is done the call must not run a second time, so whatever may yet make a change
   * is decided before.
   */
  private ask(rest: Continuation, future: Future, user: User, options: ResumeOptions): Outcome | null {
    const { request } = future;
    if (request === null) throw new Error('a future without a request asks nobody');
    const { scope } = rest.call;
    if (!options.mayChange && scope.group !== null && rest.hasClosures) return { kind: 'needs_change' };
    const { runtime: rt } = this.executor;
    if (!rt.askedFutures.admits(user.id)) {
      future.answered = { ok: false, error: TOO_MANY_ASKED };
      return null;
    }
    const transaction = this.beginReading(rest, user, options);
    try {
      const data = this.executor.packRequest(request, scope);
      return {
        kind: 'asks',
        ask: { number: rest.ask(), module: request.module.id, user: user.id, data },
        rest,
      };
    } catch (error) {
      if (!(error instanceof QueryError) || error.code !== ErrorCode.MAX_QUOTA || error.fatal)
        return this.executor.failed(error, transaction);
      future.answered = { ok: false, error };
      return null;
    } finally {
      rt.end();
    }
  }

  /** Begins a part of a call that changes nothing. */
  private beginReading(rest: Continuation, user: User, options: ResumeOptions): Transaction {
    const start = { ...options, ...partOf(rest, user) };
    return this.executor.begin(
      start,
      rest.call.target,
      false,
      rest.call.deep,
      null,
      this.limitsOf(rest, user),
    );
  }

  /** Reads what a module answered. */
  private receive(rest: Continuation, future: Future, user: User, options: ResumeOptions): Outcome | null {
    const { answer, request } = future;
    if (answer === null || request === null) throw new Error('there is no answer to read');
    future.answer = null;
    if (!answer.ok) {
      future.answered = answer;
      return null;
    }
    const transaction = this.beginReading(rest, user, options);
    try {
      this.executor.charge(answer.data.length);
      future.answered = { ok: true, value: readAnswer(answer.data, request.load, this.executor.wire) };
      return null;
    } catch (error) {
      if (!(error instanceof QueryError) || error.fatal) return this.executor.failed(error, transaction);
      future.answered = { ok: false, error };
      return null;
    } finally {
      this.executor.runtime.end();
    }
  }

  /** Ends the future whose turn it is. */
  private settle(rest: Continuation, result: Value): void {
    rest.settle(result);
    this.executor.runtime.waitingFutures -= 1;
  }

  /** Throws unless the closure of a future may make a change now, with what it gets. */
  private assertMayChange(future: Future, closure: Closure): void {
    const { runtime: rt } = this.executor;
    rt.access.require(Privilege.CHANGE);
    assertLoose(rt, closure, future.args);
  }

  /** Makes a continuation of a call of which the own statements are done. */
  suspend(
    { scope, user, format }: Pick<Call, 'scope' | 'user' | 'format'>,
    target: Target,
    value: Value,
    transaction: Transaction,
  ): Outcome & { readonly kind: 'more' } {
    const { runtime: rt } = this.executor;
    const { deep, flags, run, outlet, procedureName, requestId } = rt;
    rt.keepPassing();
    const rest = new Continuation(
      {
        scope,
        target,
        userId: user.id,
        format,
        value,
        deep,
        flags,
        run,
        outlet,
        procedureName,
        requestId,
        readOnly: rt.access.isReadOnly,
      },
      rt.askedFutures,
    );
    rest.secrets.push(...rt.secrets);
    rest.add(rt.futures);
    rest.pin(scope.store, this.executor.charge);
    const change = this.executor.changeOf(scope.group, transaction);
    rt.waitingFutures += rt.takeFutures().length;
    return { kind: 'more', change, rest };
  }
}

/** The start of a later part of a call. */
function partOf({ call: { scope, outlet, readOnly }, spentMs }: Continuation, user: User): Start {
  return { scope, user, spentMs, outlet, readOnly };
}

const STATE_GONE = new QueryError(
  ErrorCode.CANCELLED,
  'the futures of the query were ended: the collection is gone, or its state was replaced',
);

const TOO_MANY_ASKED = new QueryError(
  ErrorCode.MAX_QUOTA,
  'as many futures of the user wait for modules on this node as are left to all others: wait until some are answered',
);

const USER_GONE = forbiddenError('the futures of the query were ended: the user was deleted');

const FUTURES_TOO_LONG = new QueryError(
  ErrorCode.TIMEOUT,
  'the futures of the query together took longer than query_duration_limit_ms',
);
