/**
 * Carries calls from one outcome of the engine to the next: those of clients, their futures, and runs of tasks.
 *
 * A call that lacks something before it changed anything gets it, and runs again from its first statement. Behind its first
 * change each future is a change of its own, proposed behind the one before. Between two of them other calls get their
 * turn. A call whose node loses the leadership in between ends there, and one that is about to give it away finishes what has begun.
 */
import {
  type Call,
  cancelledError,
  type Engine,
  ErrorCode,
  type ModuleAnswer,
  type ModuleAsk,
  nodeError,
  type Outcome,
  operationError,
  type PasswordHash,
  type QueryError,
  takeBack,
} from '@althing/engine';
import type { Clock } from '../base/clock.js';
import type { GroupId } from '../between/protocol.js';
import type { GroupSession } from '../groups/group-session.js';
import type { Positions } from '../groups/positions.js';
import { programOf } from './checks.js';
import { confirm } from './confirm.js';
import type { Answer, FuturesEnd, FuturesOwner } from './proposed-parts.js';
import { failed } from './replies.js';
import { CONFIRMING, HASHING, type PendingRequest, type Prerequisites, QUEUED } from './request.js';
import { SLOW_MS } from './run-costs.js';
import { NO_READS, RunningFutures } from './running-futures.js';
import type { Scheduler } from './scheduler.js';
import { workOf } from './work.js';

/** A call goes on with its futures. */
export type PendingFutures = Extract<Outcome, { readonly kind: 'more' }>;

/** A call that changed nothing can run again once it has what it lacks. */
type Lack = Extract<Outcome, { readonly kind: 'hash' | 'behind' | 'positions' }>;

/** Sends a request to a module; `answer` is called once, at once or later. */
export type AskModule = (ask: ModuleAsk, answer: (answer: ModuleAnswer) => void) => void;

export interface DriverOptions {
  readonly engine: Engine;
  /** The hash of a password that a call sets. */
  readonly hash: (password: string, saltKey: Uint8Array | null) => Promise<PasswordHash>;
  /** The session of a group, if it is open here. */
  readonly session: (group: GroupId) => GroupSession | undefined;
  /** Sends a request to a module of this node; by default there are none. */
  readonly askModule?: AskModule | undefined;
  /** The positions of the logs. */
  readonly positions: Pick<Positions, 'ask'>;
  /** Decides what runs when, of all that runs on this thread. */
  readonly scheduler: Scheduler;
  readonly clock: Pick<Clock, 'now' | 'after'>;
  /** Counts a run of a client's code, with its milliseconds. */
  readonly ran?: (ms: number) => void;
}

export class Driver {
  private requests = 0;
  /** Calls that had a slice of time, in the order in which they get another. */
  private readonly ready: RunningFutures[] = [];
  /** Calls that can't go on before a module answers. */
  private readonly idle = new Set<RunningFutures>();
  /** True if a look at them is planned. */
  private isLooking = false;
  /** When the statements had run of the call that ran last. */
  ranAt = 0;

  constructor(private readonly options: DriverOptions) {}

  /** Requests whose futures are under way. */
  get busy(): number {
    return this.requests;
  }

  /**
   * Runs the statements of a client's call.
   *
   * @returns null when it did not run, or runs again: the request waits for what it lacks
   */
  run(pending: PendingRequest, call: Call): Answer | PendingFutures | null {
    const { engine, clock, ran, session } = this.options;
    if (pending.hasActed) {
      pending.owner.refuse(pending, failed(ACTED));
      return null;
    }
    const program = programOf(call);
    if (this.defers(pending, program)) return null;
    pending.request.logs?.clear();
    const { sliceMs } = pending;
    const limited =
      sliceMs > 0 && Number.isFinite(sliceMs) && !pending.isExplained ? { ...call, sliceMs } : call;
    const { store } = call.scope;
    const { hits, misses } = store ?? NO_READS;
    const outcome = engine.run(pending.looksElsewhere ? { ...limited, fresh: pending } : limited);
    this.ranAt = clock.now();
    const ms = pending.charge(this.ranAt);
    pending.ranCall = call;
    if (store !== null) pending.noteReads(store.hits - hits, store.misses - misses);
    ran?.(ms);
    if (outcome.kind === 'slice_over') {
      this.options.scheduler.stopped(program, call.user.id, ms);
      pending.become(QUEUED);
      this.options.scheduler.enter(workOf(pending, program), ms);
      return null;
    }
    const isOverrun = outcome.kind === 'error' && outcome.error.code === ErrorCode.TIMEOUT;
    // The counters of an explained run take time that its program does not.
    this.options.scheduler.ran(pending.isExplained ? null : program, call.user.id, ms, isOverrun);
    switch (outcome.kind) {
      case 'value':
      case 'error':
      case 'more':
        return outcome;
      case 'needs_change':
        pending.needsLeader = true;
        pending.owner.advance(pending);
        return null;
      case 'hash':
      case 'positions':
        pending.become(outcome.kind === 'hash' ? HASHING : CONFIRMING);
        this.provide(
          outcome,
          pending,
          pending.request.saltKey ?? null,
          () => pending.owner.advance(pending),
          (error) => pending.owner.refuse(pending, failed(error)),
        );
        return null;
      case 'behind': {
        pending.looksElsewhere = true;
        if (pending.request.terms?.stale === true || session(outcome.collection) === undefined) {
          pending.addFresh(outcome.collection);
          pending.owner.advance(pending);
          return null;
        }
        pending.become(CONFIRMING);
        this.provide(
          outcome,
          pending,
          null,
          () => pending.owner.advance(pending),
          () => pending.owner.wait(pending, outcome.collection),
        );
        return null;
      }
      default:
        throw new Error(`only what is left of a call ends with ${outcome.kind}`);
    }
  }

  /** Charges the time since the attempt of a request began, or ran its call: a procedure may take too long to compile, and does not run then. */
  charge(pending: PendingRequest): void {
    const { scheduler, clock } = this.options;
    scheduler.ran(null, pending.request.user.id, pending.charge(clock.now()));
  }

  /** Notes that futures of a client's call ran: they tell nothing of how long the statements of its program take. */
  ranFutures(call: Call, ms: number): void {
    this.options.scheduler.ran(ms >= SLOW_MS ? programOf(call) : null, call.user.id, ms);
    this.options.ran?.(ms);
  }

  /**
   * Lets a request wait for its turn where it has none, and the scheduler says so.
   *
   * @param knownMs milliseconds that it takes, where that is known
   */
  defers(pending: PendingRequest, program: object | null, knownMs?: number): boolean {
    const { scheduler } = this.options;
    if (pending.sliceMs !== 0 || !scheduler.takes(program, pending.request.user.id)) return false;
    pending.become(QUEUED);
    scheduler.enter(workOf(pending, program, knownMs));
    return true;
  }

  /** Gets what a call lacks, and lets it go on. Calls back once. */
  provide(
    lack: Lack,
    to: Prerequisites,
    saltKey: Uint8Array | null,
    goOn: () => void,
    failed: (error: QueryError) => void,
  ): void {
    const { hash, session, clock, positions } = this.options;
    if (lack.kind === 'positions') {
      positions.ask(goOn);
      return;
    }
    if (lack.kind === 'hash') {
      const hashed = (made: PasswordHash): void => {
        to.addHash(lack.password, made);
        goOn();
      };
      hash(lack.password, saltKey).then(hashed, () => failed(TOO_MANY_PASSWORDS));
      return;
    }
    confirm(lack.collection, to, session(lack.collection), clock, (isConfirmed) =>
      isConfirmed ? goOn() : failed(NOT_READ),
    );
  }

  /** Goes on with a call whose own statements are done: at once, and later if it takes long. */
  start(first: PendingFutures, owner: FuturesOwner): void {
    const futures = new RunningFutures(owner, first.rest);
    if (owner.isRequest) this.requests += 1;
    if (this.propose(futures, first)) this.carryOn(futures);
  }

  /** Proposes what a step changed; returns false when it was refused, and the call has ended. */
  private propose(futures: RunningFutures, { change }: PendingFutures): boolean {
    if (change === null) return true;
    if (futures.awaitsNextLeader) {
      takeBack(change.undo);
      this.leaveToNext(futures);
      return false;
    }
    futures.noteInParts();
    const error = futures.parts.propose(change);
    if (error !== null) this.fail(futures, error);
    return error === null;
  }

  private carryOn(futures: RunningFutures): void {
    const { engine, clock, scheduler } = this.options;
    const { owner, rest } = futures;
    const { session, prerequisites } = owner;
    const takeTurn = (): void => {
      futures.hasTurn = true;
      this.carryOn(futures);
    };
    if (!futures.hasTurn && scheduler.defersUnstoppable(owner.userId, undefined, takeTurn)) return;
    futures.hasTurn = false;
    const begun = clock.now();
    const until = begun + SLICE_MS;
    const { hits, misses } = rest.call.scope.store ?? NO_READS;
    const reads = { hits, misses };
    for (;;) {
      if (futures.isOver(engine)) {
        engine.futures.drop(rest);
        // A request to a module must not be sent again, so this is the end of the call.
        this.end(futures, futures.hasActed && futures.parts.count === 0 ? HAS_ACTED : LOST);
        return;
      }
      if (session !== null && !session.readable) {
        clock.after(PAUSE_MS, () => this.carryOn(futures));
        return;
      }
      futures.noteRole();
      const mayChange = owner.mayChange && session?.refusal() === null;
      const hashes = prerequisites.hashes ?? NO_HASHES;
      const outcome = engine.futures.resume(rest, { mayChange, until, hashes, fresh: prerequisites });
      if (outcome.kind === 'asks') {
        if (!this.ask(futures, outcome.ask)) return;
      } else if (outcome.kind !== 'more') {
        futures.ran(clock.now() - begun, reads);
        this.take(outcome, futures);
        return;
      } else if (!this.propose(futures, outcome)) return;
      if (clock.now() < until) continue;
      futures.ran(clock.now() - begun, reads);
      this.yield(futures);
      return;
    }
  }

  private take(outcome: Exclude<Outcome, { readonly kind: 'more' | 'asks' }>, futures: RunningFutures): void {
    const { owner } = futures;
    switch (outcome.kind) {
      case 'value':
      case 'error':
        this.end(futures, outcome);
        return;
      case 'waits':
        this.idle.add(futures);
        this.lookLater();
        return;
      case 'hash':
      case 'behind':
      case 'positions':
        this.provide(
          outcome,
          owner.prerequisites,
          owner.saltKey,
          () => this.carryOn(futures),
          (error) => this.fail(futures, error),
        );
        return;
      case 'needs_change': {
        const refusal = owner.mayChange ? (owner.session?.refusal() ?? null) : null;
        if (refusal !== null) {
          this.fail(futures, refusal);
          return;
        }
        this.options.engine.futures.drop(futures.rest);
        this.end(futures, outcome);
        return;
      }
      case 'slice_over':
        throw new Error('futures have no slices');
    }
  }

  /** Gives all others their turn: of all calls with futures one gets a slice at a time, and then whatever else there is to do. */
  private yield(futures: RunningFutures): void {
    this.ready.push(futures);
    if (this.ready.length === 1) this.options.clock.after(0, () => this.carryOnNext());
  }

  private carryOnNext(): void {
    const [next] = this.ready;
    if (next === undefined) return;
    this.carryOn(next);
    this.ready.shift();
    if (this.ready.length > 0) this.options.clock.after(0, () => this.carryOnNext());
  }

  /**
   * Sends a request to a module once everything that the call did before is committed. Where the request of the client has a name, that
   * it was begun is committed before, so that no repetition of it ever sends it again.
   *
   * @returns false when the call has ended
   */
  private ask(futures: RunningFutures, ask: ModuleAsk): boolean {
    const { engine, askModule = noModules } = this.options;
    const { owner, parts, rest } = futures;
    if (!futures.hasActed) {
      if (futures.awaitsNextLeader) {
        this.leaveToNext(futures);
        return false;
      }
      futures.hasActed = true;
      futures.noteInParts();
      owner.acts();
      const error = owner.mayChange && parts.count === 0 && owner.isNamed ? parts.begin() : null;
      if (error !== null) {
        this.fail(futures, error);
        return false;
      }
    }
    parts.whenCommitted(() => {
      if (futures.isOver(engine)) return;
      askModule(ask, (answer) => {
        rest.take(ask.number, answer);
        this.wake(futures);
      });
    });
    return true;
  }

  /** Plans the next look at those that wait for modules; there is one timer at most, and none when none waits any more. */
  private lookLater(): void {
    if (this.isLooking || this.idle.size === 0) return;
    this.isLooking = true;
    this.options.clock.after(IDLE_LOOK_MS, () => {
      this.isLooking = false;
      for (const futures of this.idle) if (futures.isOver(this.options.engine)) this.wake(futures);
      this.lookLater();
    });
  }

  private wake(futures: RunningFutures): void {
    if (this.idle.delete(futures)) this.yield(futures);
  }

  /** Ends a call that did nothing that must not be done again: the next leader carries it out. */
  private leaveToNext(futures: RunningFutures): void {
    this.options.engine.futures.drop(futures.rest);
    this.end(futures, LOST);
  }

  private fail(futures: RunningFutures, error: QueryError): void {
    this.options.engine.futures.drop(futures.rest);
    this.end(futures, { kind: 'error', error });
  }

  private end(futures: RunningFutures, end: FuturesEnd): void {
    if (futures.owner.isRequest) this.requests -= 1;
    futures.end(end);
  }
}

function noModules(_ask: ModuleAsk, answer: (answer: ModuleAnswer) => void): void {
  answer({ ok: false, error: NO_MODULES });
}

/** Milliseconds that the futures of one call run before others get their turn. */
const SLICE_MS = 2;

/** Milliseconds between two looks at a state that can't be read for a moment. */
const PAUSE_MS = 20;

/** Milliseconds between two looks at calls that wait for modules. */
const IDLE_LOOK_MS = 100;

const NO_HASHES: ReadonlyMap<string, PasswordHash> = new Map();

const LOST: FuturesEnd = { kind: 'lost' };

/** A call that may have sent requests to modules can't go on. */
export const ACTED = cancelledError(
  'requests to modules were sent; then the node lost its leadership, or the state that the request ran on, and the futures that were left were ended',
);

const HAS_ACTED: FuturesEnd = { kind: 'error', error: ACTED };

const NO_MODULES = operationError('this node runs no modules');

const NOT_READ = nodeError(
  'a future depends on another scope, and no majority of its nodes could be reached',
);

const TOO_MANY_PASSWORDS = nodeError('too many passwords wait to be hashed');
