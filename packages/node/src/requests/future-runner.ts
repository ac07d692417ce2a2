import {
  type Change,
  type Continuation,
  type Engine,
  ErrorCode,
  type ModuleAnswer,
  type ModuleAsk,
  type Outcome,
  type PasswordHash,
  QueryError,
} from '@althing/engine';
import type { GroupSession } from '../groups/group-session.js';
import type { Names } from '../groups/names.js';
import type { Respond } from '../groups/request.js';
import { Parts } from './parts.js';

/** The part of an outcome that is an answer. */
export type Answer = Extract<Outcome, { readonly kind: 'value' | 'error' }>;

/** A future asks a module. */
type Asks = Extract<Outcome, { readonly kind: 'asks' }>;

/** A call goes on with its futures. */
export type More = Extract<Outcome, { readonly kind: 'more' }>;

export interface FutureRunnerOptions {
  readonly engine: Engine;
  /** The hash of a password that a future sets. */
  readonly hash: (password: string, saltKey: Uint8Array | null) => Promise<PasswordHash>;
  /** The session of a group, if it is open here. */
  readonly session: (collection: number) => GroupSession | undefined;
  /** Sends a request to a module of this node. Answers once, at once or later. */
  readonly ask: Ask;
  readonly monotonic: () => number;
  /** Calls back after some milliseconds. */
  readonly delay: (ms: number, callback: () => void) => () => void;
}

/** Sends a request to a module; `answer` is called once. */
export type Ask = (ask: ModuleAsk, answer: (answer: ModuleAnswer) => void) => void;

/** One call, as the runner sees it. */
export interface Course {
  /** The session whose state the call runs on; null where it depends on none. */
  readonly session: GroupSession | null;
  /** See `Request`; null for none. */
  readonly saltKey: Uint8Array | null;
  /** Whether its futures may make changes here. */
  readonly mayChange: boolean;
  /**
   * Called before the first part of it is proposed; gives the names by which the request is known from then
   * on, or null.
   */
  readonly begins: () => Names | null;
  /** Whether the request has names, by which its repetitions are known: to be told of before it acts outside. */
  readonly isNamed: () => boolean;
  /** Called before its first request to a module is sent: it must not be carried out again from then on. */
  readonly asks: () => void;
  /** Wraps what is to be told of a change, when it is committed or lost. */
  readonly telling: (change: Change, respond: Respond) => Respond;
  /** Whether nobody waits for a call that has changed nothing yet. */
  readonly isGone: () => boolean;
  /** Called for each piece of work, with its milliseconds. */
  readonly ran: (ms: number) => void;
  /**
   * Whether the futures have to wait, since others have to be served before what may take long.
   *
   * @param knownMs milliseconds that they took the last time; undefined for the first
   * @param goOn called when they may go on
   */
  readonly waits: (knownMs: number | undefined, goOn: () => void) => boolean;
  readonly done: (end: End, parts: Parts) => void;
}

/** How the futures of a call came to their end. */
export type End =
  | Answer
  /**
   * The state is not there any more on which the call ran; if it changed nothing, another attempt may
   * succeed.
   */
  | { readonly kind: 'lost' }
  /** A future makes a change, which it may not here. Nothing was done. */
  | { readonly kind: 'needs_change' };

/**
 * Runs the futures of calls: each is a change of its own, proposed behind that of the query. Between two of
 * them other calls get their turn. A call whose node loses the leadership in between ends there.
 */
export class FutureRunner {
  private readonly options: FutureRunnerOptions;
  private running = 0;
  /** Calls that had a slice of time, in the order in which they get another. */
  private readonly ready: Run[] = [];
  /** Calls that can't go on before a module answers. */
  private readonly idle = new Set<Run>();
  /** Whether a look at them is planned. */
  private isLooking = false;

  constructor(options: FutureRunnerOptions) {
    this.options = options;
  }

  /** Calls whose futures are under way. */
  get busy(): number {
    return this.running;
  }

  /** Goes on with a call whose own statements are done: at once, and later if it takes long. */
  start(first: More, course: Course): void {
    const parts = new Parts(course);
    const run: Run = {
      ...course,
      parts,
      role: roleOf(course),
      hashes: new Map(),
      fresh: new Set(),
      rest: first.rest,
      asked: false,
      hasTurn: false,
      lastMs: undefined,
    };
    this.running += 1;
    if (this.propose(run, first)) this.goOn(run);
  }

  /** Proposes what a step changed; returns false when it was refused, and the call has ended. */
  private propose(run: Run, { change, rest }: More): boolean {
    const error = change === null ? null : run.parts.propose(change);
    if (error === null) return true;
    this.options.engine.drop(rest);
    this.end(run, { kind: 'error', error });
    return false;
  }

  private goOn(run: Run): void {
    const { engine, monotonic, delay } = this.options;
    const { session, rest } = run;
    const isWaiting = !run.hasTurn && run.waits(run.lastMs, () => this.takeTurn(run));
    if (isWaiting) return;
    run.hasTurn = false;
    const begun = monotonic();
    const until = begun + SLICE_MS;
    for (;;) {
      if (isOver(run, engine)) {
        engine.drop(rest);
        // What was sent to a module must not be sent again, so this is the end of the call.
        this.end(run, run.asked && run.parts.count === 0 ? ASKED : LOST);
        return;
      }
      if (session !== null && !session.readable) {
        delay(PAUSE_MS, () => this.goOn(run));
        return;
      }
      run.role ??= roleOf(run);
      const mayChange = run.mayChange && session?.refusal() === null;
      const { hashes } = run;
      const fresh = { isFresh: (collection: number): boolean => run.fresh.has(collection) };
      const outcome = engine.resume(rest, { mayChange, until, hashes, fresh });
      if (outcome.kind === 'asks') {
        if (!this.ask(run, outcome.ask)) return;
      } else if (outcome.kind !== 'more') {
        note(run, monotonic() - begun);
        this.take(outcome, run);
        return;
      } else if (!this.propose(run, outcome)) return;
      if (monotonic() < until) continue;
      note(run, monotonic() - begun);
      this.yield(run);
      return;
    }
  }

  private takeTurn(run: Run): void {
    run.hasTurn = true;
    this.goOn(run);
  }

  /** Gives all others their turn: of all calls with futures one gets a slice at a time, and then whatever else there is to do. */
  private yield(run: Run): void {
    this.ready.push(run);
    if (this.ready.length === 1) this.options.delay(0, () => this.goOnWithNext());
  }

  private goOnWithNext(): void {
    const [next] = this.ready;
    if (next === undefined) return;
    this.goOn(next);
    this.ready.shift();
    if (this.ready.length > 0) this.options.delay(0, () => this.goOnWithNext());
  }

  /**
   * Sends a request to a module once everything that the call did before is committed. Where the request of the client has a name, that
   * it was begun is committed before, so that no repetition of it ever sends it again.
   *
   * @returns false when the call has ended
   */
  private ask(run: Run, ask: ModuleAsk): boolean {
    const { parts, rest, mayChange } = run;
    if (!run.asked) {
      run.asked = true;
      run.asks();
      const error = mayChange && parts.count === 0 && run.isNamed() ? parts.begin() : null;
      if (error !== null) {
        this.fail(run, error);
        return false;
      }
    }
    parts.whenCommitted(() => {
      if (isOver(run, this.options.engine)) return;
      this.options.ask(ask, (answer) => {
        rest.take(ask.number, answer);
        this.wake(run);
      });
    });
    return true;
  }

  /** Waits for modules. Others run; now and then it is looked whether there is still a reason to wait. */
  private rest(run: Run): void {
    this.idle.add(run);
    this.lookLater();
  }

  /** Plans the next look at those that wait; there is one timer at most, and none when nobody waits any more. */
  private lookLater(): void {
    if (this.isLooking || this.idle.size === 0) return;
    this.isLooking = true;
    this.options.delay(IDLE_LOOK_MS, () => {
      this.isLooking = false;
      for (const run of this.idle) if (isOver(run, this.options.engine)) this.wake(run);
      this.lookLater();
    });
  }

  private wake(run: Run): void {
    if (this.idle.delete(run)) this.yield(run);
  }

  private take(outcome: Exclude<Outcome, More | Asks>, run: Run): void {
    const { engine, hash } = this.options;
    if (outcome.kind === 'waits') {
      this.rest(run);
      return;
    }
    if (outcome.kind === 'hash') {
      const { password } = outcome;
      hash(password, run.saltKey).then(
        (made) => {
          run.hashes.set(password, made);
          this.goOn(run);
        },
        () => this.fail(run, TOO_MANY_PASSWORDS),
      );
      return;
    }
    if (outcome.kind === 'behind') {
      this.freshen(run, outcome.collection);
      return;
    }
    if (outcome.kind === 'needs_change') {
      engine.drop(run.rest);
      const refusal = run.mayChange ? (run.session?.refusal() ?? null) : null;
      this.end(run, refusal === null ? outcome : { kind: 'error', error: refusal });
      return;
    }
    if (outcome.kind === 'slice_over') throw new Error('futures have no slices');
    this.end(run, outcome);
  }

  /** Sees to it that this node has all that was acknowledged in another collection. */
  private freshen(run: Run, collection: number): void {
    const session = this.options.session(collection);
    const goOn = (ok: boolean): void => {
      if (!ok) {
        this.fail(run, NOT_READ);
        return;
      }
      run.fresh.add(collection);
      this.goOn(run);
    };
    if (session === undefined) goOn(true);
    else session.readIndex(goOn);
  }

  private fail(run: Run, error: QueryError): void {
    this.options.engine.drop(run.rest);
    this.end(run, { kind: 'error', error });
  }

  private end(run: Run, end: End): void {
    this.running -= 1;
    run.done(end, run.parts);
  }
}

/**
 * Whether a call can't go on: nobody waits, the leadership is lost, the node stops, or the state is gone that it ran on. What was sent to a module
 * goes on without anybody who waits: what the answer is for may be a change.
 */
function isOver({ session, parts, rest, role, isGone, asked }: Run, engine: Engine): boolean {
  if (parts.count === 0 && !asked && isGone()) return true;
  if (parts.lost !== null) return true;
  if (session === null) return false;
  const isElsewhere = role !== null && role !== session.roleVersion;
  return session.isEnded || isElsewhere || engine.scope(rest.target) !== rest.scope;
}

/**
 * The role in the group that a call depends on. A leader's state has changes that are not committed yet, and go with its leadership; what
 * a call has read on another node is committed, whoever leads the group.
 */
function roleOf({ session, mayChange }: Pick<Course, 'session' | 'mayChange'>): number | null {
  return session !== null && (mayChange || session.leading) ? session.roleVersion : null;
}

interface Run extends Course {
  readonly parts: Parts;
  /** The number of the role that the call depends on, see `roleOf`; null for none until now. */
  role: number | null;
  readonly hashes: Map<string, PasswordHash>;
  /** Other collections of which this node has all that was acknowledged. */
  readonly fresh: Set<number>;
  readonly rest: Continuation;
  /** Whether a request to a module was sent, or is about to be. */
  asked: boolean;
  /** Whether it waited for its turn, and has it. */
  hasTurn: boolean;
  /** Milliseconds that it ran the last time; undefined before it ran. */
  lastMs: number | undefined;
}

function note(run: Run, ms: number): void {
  run.lastMs = ms;
  run.ran(ms);
}

/** Milliseconds that the futures of one call run before others get their turn. */
const SLICE_MS = 2;

/** Milliseconds between two looks at a state that can't be read for a moment. */
const PAUSE_MS = 20;

const LOST: End = { kind: 'lost' };

/** A call that may have sent requests to modules can't go on. */
export const ASKED_ERROR = new QueryError(
  ErrorCode.CANCELLED,
  'requests to modules were sent; then the node lost its leadership, or the state that the request ran on, and the futures that were left were ended',
);

const ASKED: End = { kind: 'error', error: ASKED_ERROR };

/** Milliseconds between two looks at calls that wait for modules. */
const IDLE_LOOK_MS = 100;

const NOT_READ = new QueryError(
  ErrorCode.NODE,
  'a future depends on another scope, and no majority of its nodes could be reached',
);

const TOO_MANY_PASSWORDS = new QueryError(ErrorCode.NODE, 'too many passwords wait to be hashed');
