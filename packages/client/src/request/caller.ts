/** Carries calls out: waits for a place, chooses a node, tries, judges, and tries again until there is an answer or no more time. */
import type { HookCall, Hooks, ScopeOptions } from '../api/options.js';
import {
  AbortError,
  AlthingError,
  AnswerLostError,
  ConnectionError,
  OutcomeUnknownError,
  ProtocolError,
  QueueFullError,
} from '../errors/errors.js';
import { queryErrorOf } from '../errors/query-errors.js';
import type { ScopeName } from '../scope.js';
import { Admission } from './admission.js';
import type { Attempt, AttemptEnd, Failure, Program, Reply, Sent, Transport } from './attempt.js';
import { Interruption } from './interruption.js';
import type { Login } from './login.js';
import type { NodeAddress, NodeList } from './node-list.js';
import { type RequestName, RequestNames } from './request-names.js';
import { RetryBudget } from './retry-budget.js';
import { SeenIndexes } from './seen-indexes.js';
import type { Surroundings } from './surroundings.js';
import { verdictOf } from './verdict.js';

export interface CallerOptions {
  readonly surroundings: Surroundings;
  readonly nodes: NodeList;
  /** Brings the list of nodes up to date; null when it is. */
  readonly refreshNodes: () => Promise<void> | null;
  /** Or what it comes by, where its code is still being loaded. */
  readonly transport: Transport | Promise<Transport>;
  readonly login: Login;
  readonly hooks: Hooks;
  readonly requestsMax: number;
  readonly waitingMax: number;
}

const TIMEOUT_MS = 30_000;
const ATTEMPT_TIMEOUT_MS = 12_000;

export class Caller {
  readonly #options: CallerOptions;
  readonly #admission: Admission;
  readonly #names: RequestNames;
  readonly #budget: RetryBudget;
  readonly #seen = new SeenIndexes();
  readonly #open = new Set<Interruption>();
  #isClosed = false;

  constructor(options: CallerOptions) {
    this.#options = options;
    this.#admission = new Admission(options.requestsMax, options.waitingMax);
    this.#names = new RequestNames(options.surroundings.newClientName);
    this.#budget = new RetryBudget(options.requestsMax);
  }

  /**
   * Sends a program until there is an answer.
   *
   * @param read makes the value of a good answer
   * @throws {AlthingError} as `Query` tells
   */
  async call<T>(
    scope: ScopeName,
    program: Program,
    options: ScopeOptions,
    read: (body: Uint8Array) => T,
  ): Promise<T> {
    const { surroundings, hooks } = this.#options;
    const { clock } = surroundings;
    const interruption = new Interruption(clock, options.timeoutMs ?? TIMEOUT_MS, options.signal);
    const hookCall: HookCall = {
      scope: scope.text,
      kind: program.kind === 'run' ? 'run' : 'query',
      procedure: program.kind === 'run' ? program.text : null,
    };
    const state = new CallState(clock.now());
    if (this.#isClosed) interruption.interrupt({ kind: 'closed' });
    this.#open.add(interruption);
    try {
      const headers = hooks.request?.(hookCall) ?? NO_HEADERS;
      if (!this.#admission.enter()) await this.#queue(interruption, state);
      try {
        const reply = await this.#attempts(scope, program, options, interruption, state, hookCall, headers);
        const value = this.#valueOf(reply, state, read);
        this.#tell(hookCall, state, null);
        return value;
      } finally {
        this.#admission.leave();
      }
    } catch (error) {
      this.#tell(hookCall, state, error);
      throw error;
    } finally {
      interruption.end();
      this.#open.delete(interruption);
      state.name?.end();
    }
  }

  /** Gives up all calls, and refuses those to come. */
  close(): void {
    this.#isClosed = true;
    for (const interruption of this.#open) interruption.interrupt({ kind: 'closed' });
  }

  async #queue(interruption: Interruption, state: CallState): Promise<void> {
    const { waiting } = this.#admission;
    let isFull = false;
    const hasEntered = await interruption.waitInTime((done) => {
      const leave = this.#admission.queue(done);
      isFull = leave === null;
      if (isFull) done();
      return leave ?? (() => {});
    });
    if (isFull) throw new QueueFullError(waiting);
    if (!hasEntered) throw this.#givenUp(interruption, state);
  }

  /** Tries until there is an answer that stands. */
  async #attempts(
    scope: ScopeName,
    program: Program,
    options: ScopeOptions,
    interruption: Interruption,
    state: CallState,
    hookCall: HookCall,
    requestHeaders: Readonly<Record<string, string>>,
  ): Promise<Reply> {
    const { surroundings, nodes, login, hooks, refreshNodes } = this.#options;
    const { clock, random } = surroundings;
    const { readOnly = false, dryRun = false } = options;
    // A dry run makes nothing, so it may be sent again, and needs no name.
    const idempotencyKey = dryRun ? null : (options.idempotencyKey ?? null);
    const transport =
      this.#options.transport instanceof Promise ? await this.#options.transport : this.#options.transport;
    const body = transport.bodyOf(scope, program);
    this.#budget.earn();
    if (idempotencyKey === null && !scope.isNode && !dryRun)
      state.name = this.#names.begin(scope.text, clock.now());
    state.key = idempotencyKey;
    const { consistency } = options;
    for (;;) {
      const refreshing = refreshNodes();
      if (refreshing !== null) await interruption.inTime(refreshing);
      const known = program.kind === 'session' ? program.credentials : login.current();
      const credentials =
        known instanceof Promise ? ((await interruption.inTime(known))?.value ?? null) : known;
      const leftMs = interruption.leftMs;
      if (interruption.interrupted !== null || leftMs <= 0) throw this.#givenUp(interruption, state);
      const node = state.stays ?? nodes.choose(clock.now(), state.tried);
      const isFresh = state.stays !== null;
      const failure = state.failures === 0 ? null : this.#failureText(state);
      state.begin(node);
      const attempt: Attempt = {
        node,
        scope,
        method: program.kind === 'session' ? program.text : 'POST',
        body,
        credentials,
        request: state.name?.header() ?? null,
        idempotencyKey,
        consistency,
        readOnly,
        dryRun,
        minIndex: consistency === 'stale' ? this.#seen.of(scope.text) : 0,
        timeoutMs: Math.min(options.attemptTimeoutMs ?? ATTEMPT_TIMEOUT_MS, leftMs),
        headers: {
          ...requestHeaders,
          ...hooks.attempt?.(hookCall, {
            attempt: state.attempts,
            node: state.where,
            bytes: body.length,
            failure,
          }),
        },
        isFresh,
      };
      const end = await endOf(transport.send(attempt), interruption);
      state.tried.add(node);
      this.#note(scope, node, end);
      if (end.kind === 'too_large')
        throw new ProtocolError(`the answer has more than ${end.bytesMax} bytes (limits.answerBytes)`);
      const verdict = verdictOf(
        end,
        {
          failures: state.failures,
          triedAll: nodes.areAllIn(state.tried),
          isNamed: state.name !== null || idempotencyKey !== null || dryRun !== false,
          canRenew: program.kind !== 'session' && login.canRenew && !state.hasRenewed,
        },
        random,
      );
      if (verdict.kind === 'final') return verdict.reply;
      state.fail(end);
      if (!dryRun && (verdict.kind === 'in_doubt' || verdict.inDoubt)) state.isInDoubt = true;
      const isOver =
        interruption.interrupted !== null ||
        state.attempts >= (options.attemptsMax ?? Number.POSITIVE_INFINITY);
      // Behind a pause that takes all the time left, an attempt of a moment would only put the call in doubt.
      if (isOver || verdict.kind === 'in_doubt' || verdict.pauseMs >= interruption.leftMs)
        throw this.#givenUp(interruption, state);
      if (verdict.renews) {
        login.refused(credentials);
        state.hasRenewed = true;
      }
      if (verdict.where === 'same') state.stays = node;
      else nodes.failed(node, clock.now(), verdict.avoidMs);
      await interruption.pause(verdict.pauseMs);
      if (verdict.pauseMs > 0 && nodes.areAllIn(state.tried)) state.tried.clear();
      if (verdict.costs) await this.#takeRepeat(interruption);
    }
  }

  /** Waits until the budget allows one more repeat. */
  async #takeRepeat(interruption: Interruption): Promise<void> {
    const { clock } = this.#options.surroundings;
    for (let waitMs = this.#budget.take(clock.now()); waitMs > 0; waitMs = this.#budget.take(clock.now())) {
      await interruption.pause(waitMs);
      if (interruption.interrupted !== null || interruption.leftMs <= 0) return;
    }
  }

  /** Remembers what an attempt tells of its node and scope. */
  #note(scope: ScopeName, node: NodeAddress, end: AttemptEnd): void {
    if (end.kind !== 'answered') return;
    const { nodes, surroundings } = this.#options;
    const { reply } = end;
    if (reply.index > 0) this.#seen.note(scope.text, reply.index);
    if (reply.status !== 503 && reply.status !== 429 && reply.failure !== 'malformed') nodes.served(node);
    if (reply.closes) nodes.leaves(node, surroundings.clock.now());
  }

  /** @throws {AlthingError} for an answer that is an error, or none */
  #valueOf<T>(reply: Reply, state: CallState, read: (body: Uint8Array) => T): T {
    const { failure, status } = reply;
    state.lastReply = reply;
    if (failure === null) {
      try {
        return read(reply.body);
      } catch (error) {
        // The caller wanted numbers that the answer does not have.
        if (error instanceof RangeError) throw error;
        throw new ProtocolError(`the answer is no value: ${messageOf(error)}`, 'unknown');
      }
    }
    if (failure === 'malformed') {
      const outcome = status >= 500 || state.isInDoubt ? 'unknown' : 'none';
      throw new ProtocolError(this.#failureText(state), outcome);
    }
    throw this.#errorOf(reply, failure, state);
  }

  /** The error that a node answered. */
  #errorOf({ status, node, requestId }: Reply, failure: Failure, state: CallState): AlthingError {
    const message = this.#failureText(state);
    if (failure.outcome === 'made' && status === 500) return new AnswerLostError(message, failure.code);
    // An earlier attempt may still come to a node, and succeed there.
    const outcome = state.isInDoubt && failure.outcome === 'none' ? 'unknown' : failure.outcome;
    return queryErrorOf({ ...failure, message, outcome, requestId, node });
  }

  /** The error for a call without an answer. */
  #givenUp(interruption: Interruption, state: CallState): AlthingError {
    const { interrupted } = interruption;
    const outcome = state.isInDoubt ? 'unknown' : 'not_sent';
    if (interrupted?.kind === 'aborted')
      return new AbortError('the call was aborted', outcome, interrupted.reason);
    if (interrupted?.kind === 'closed') return new AbortError('the client was closed', outcome);
    const { lastReply, lastError } = state;
    const text = this.#failureText(state);
    if (state.isInDoubt) {
      return new OutcomeUnknownError(
        `the request may have taken effect: ${text}`,
        state.name?.text ?? state.key,
        lastError ?? undefined,
      );
    }
    const failure = lastReply?.failure ?? 'malformed';
    if (lastReply !== null && failure !== 'malformed') return this.#errorOf(lastReply, failure, state);
    return new ConnectionError(
      state.attempts === 0 ? 'there was no time to send the request' : text,
      lastError ?? undefined,
    );
  }

  /** Why the last attempt came to nothing. */
  #failureText({ lastReply, lastError, where }: CallState): string {
    const failure = lastReply?.failure ?? 'malformed';
    return this.#options.login.redacted(
      failure !== 'malformed'
        ? failure.message
        : lastReply === null
          ? `${where} can't be reached: ${lastError === null ? 'no answer' : messageOf(lastError)}`
          : `${where} answered with status ${lastReply.status}, and no error`,
    );
  }

  #tell(call: HookCall, state: CallState, error: unknown): void {
    const { answer } = this.#options.hooks;
    if (answer === undefined) return;
    const { lastReply, begunAt, attempts, node, where } = state;
    try {
      answer(call, {
        durationMs: this.#options.surroundings.clock.now() - begunAt,
        attempts,
        node: node === null ? null : where,
        bytes: lastReply?.body.length ?? 0,
        index: lastReply?.index ?? 0,
        timing: lastReply?.timing ?? null,
        outcome: error === null ? 'ok' : error instanceof AlthingError ? error.outcome : 'none',
        error: error === null ? null : error instanceof Error ? error.name : 'Error',
      });
    } catch (defect) {
      // The call has ended, and must not end otherwise: the defect of the hook becomes an uncaught error.
      queueMicrotask(() => {
        throw defect;
      });
    }
  }
}

/** Gives the end of an attempt; when its call is interrupted, it is given up. */
async function endOf(sent: Sent, interruption: Interruption): Promise<AttemptEnd> {
  await interruption.wait((done) => {
    sent.end.then(done);
    return () => sent.cancel();
  });
  return sent.end;
}

const NO_HEADERS: Readonly<Record<string, string>> = {};

/** The state of one call. */
class CallState {
  readonly begunAt: number;
  name: RequestName | null = null;
  key: string | null = null;
  attempts = 0;
  /** Attempts that failed, for the length of pauses. */
  failures = 0;
  /** Nodes that were tried since the last pause. */
  readonly tried = new Set<NodeAddress>();
  /** The node to ask again on a new connection; null to choose one. */
  stays: NodeAddress | null = null;
  node: NodeAddress | null = null;
  /** True if an attempt may have been carried out, or may yet be. */
  isInDoubt = false;
  hasRenewed = false;
  lastError: unknown = null;
  lastReply: Reply | null = null;

  constructor(begunAt: number) {
    this.begunAt = begunAt;
  }

  /** Where the last attempt went, for messages. */
  get where(): string {
    return this.node === null ? 'the node' : addressOf(this.node);
  }

  begin(node: NodeAddress): void {
    this.attempts += 1;
    this.node = node;
    this.stays = null;
  }

  fail(end: AttemptEnd): void {
    this.failures += 1;
    this.lastReply = end.kind === 'answered' ? end.reply : null;
    this.lastError = end.kind === 'lost' || end.kind === 'unsent' ? end.error : null;
  }
}

function addressOf({ url, address }: NodeAddress): string {
  return address === null ? url.origin : `${url.origin} (${address})`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
