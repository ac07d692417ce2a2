import {
  type Call,
  type Engine,
  ErrorCode,
  missingPrivilege,
  type PasswordHash,
  type Prepared,
  Privilege,
  QueryError,
  type Scope,
  type ScopeName,
  type Target,
} from '@althing/engine';
import type { PasswordHasher } from './auth/password.js';
import type { Request, Respond } from './request.js';
import type { GroupSession } from './scopes/group-session.js';
import { SlowLane } from './slow-lane.js';

export interface RouterOptions {
  readonly engine: Engine;
  readonly hasher: PasswordHasher;
  /** The session of a target's group; undefined for a collection that is not open on this node. */
  readonly session: (target: Target) => GroupSession | undefined;
  /** How long a request may wait for a leader, or for its turn among slow queries, in milliseconds. */
  readonly waitMs: number;
  /** A clock in milliseconds. */
  readonly monotonic: () => number;
  /** Calls back after some milliseconds, unless it is called off by the function that it returns. */
  readonly delay: (ms: number, callback: () => void) => () => void;
}

/**
 * Takes a request to where it runs. Checks come in the order that the protocol gives: the scope, the privilege to run
 * code there at all, the code, the privilege to change something.
 */
export class Router {
  private readonly options: RouterOptions;
  /** Requests that wait until this node leads their group. */
  private readonly waiting = new Map<GroupSession, Set<() => void>>();

  private readonly slowLane: SlowLane;

  constructor(options: RouterOptions) {
    this.options = options;
    this.slowLane = new SlowLane({ now: options.monotonic, delay: options.delay, waitMaxMs: options.waitMs });
  }

  /**
   * Runs a request, now or later.
   *
   * @returns whether it has run: then its answer waits for nothing but the log
   */
  handle(request: Request, respond: Respond): boolean {
    return this.answering(respond, () => this.route(request, respond, false));
  }

  /** To be called when a session changed: it may lead now. */
  sessionChanged(session: GroupSession): void {
    if (!session.leading) return;
    const waiting = this.waiting.get(session);
    if (waiting === undefined) return;
    this.waiting.delete(session);
    for (const retry of waiting) retry();
  }

  /** @param itsTurn whether the request stood in the slow lane already */
  private route(request: Request, respond: Respond, itsTurn: boolean): boolean {
    const { engine, monotonic } = this.options;
    const { user, body } = request;
    const target = this.targetOf(request);
    const scope = engine.scope(target);
    if (scope === undefined) throw notReady(request.scope);
    const isLong = body.type === 'query' && body.code.length > LONG_CODE;
    if (!itsTurn && isLong && this.slowLane.takes(null, user.id)) return this.wait(request, respond);
    const begun = monotonic();
    const call = this.callOf(request, scope, target, begun);
    if (!itsTurn && this.slowLane.takes(programOf(call), user.id)) return this.wait(request, respond);
    if (target === 'node' || !this.dependsOnState(call)) return this.execute(call, null, respond, begun);
    const session = this.options.session(target);
    if (session === undefined) throw notReady(request.scope);
    if (session.leading) return this.execute(call, session, respond, begun);
    this.waitForLeader(session, request, respond);
    return false;
  }

  /** Lets a request stand in the slow lane. It is checked anew when it has its turn. */
  private wait(request: Request, respond: Respond): boolean {
    this.slowLane.enter(request.user.id, {
      gone: () => request.client.gone,
      run: () => {
        this.answering(respond, () => this.route(request, respond, true));
      },
      expire: () => respond({ ok: false, error: TOO_SLOW }),
    });
    return false;
  }

  /** What is thrown becomes the answer. */
  private answering(respond: Respond, work: () => boolean): boolean {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      respond({ ok: false, error });
      return true;
    }
  }

  private targetOf({ scope, body }: Request): Target {
    if (scope.kind === 'thingsdb') return 'thingsdb';
    if (scope.kind === 'node') {
      if (body.type === 'run') throw badData('procedures can not be run in the scope of a node');
      if (scope.id === null || scope.id === 0) return 'node';
      throw lookup(`there is no node ${scope.id}`);
    }
    const collection = this.options.engine.root.collectionsByName.get(scope.name);
    if (collection === undefined) throw lookup(`there is no collection '${scope.name}'`);
    return collection.id;
  }

  /** Checks what can be checked before the request runs. */
  private callOf(request: Request, scope: Scope, target: Target, begun: number): Call {
    const { user, body, format } = request;
    const { engine } = this.options;
    let call: Call;
    if (body.type === 'query') {
      this.require(request, target, Privilege.QUERY);
      const prepared = this.prepare(body.code, user.id, begun);
      call = { scope, user, format, body: { kind: 'query', prepared, vars: body.vars } };
    } else {
      const procedure = scope.procedure(body.name);
      if (procedure === undefined) throw lookup(`there is no procedure '${body.name}'`);
      this.require(request, target, Privilege.RUN);
      call = { scope, user, format, body: { kind: 'run', procedure, args: body.args } };
    }
    if (engine.mayWrite(call)) this.require(request, target, Privilege.CHANGE);
    return call;
  }

  /** The program of a text. A long text that is none takes its time as well. */
  private prepare(code: string, userId: number, begun: number): Prepared {
    try {
      return this.options.engine.prepare(code);
    } catch (error) {
      this.slowLane.ran(null, userId, this.options.monotonic() - begun);
      throw error;
    }
  }

  private require({ user, scope }: Request, target: Target, privilege: number): void {
    if (!this.options.engine.root.allows(target, user.id, privilege)) {
      throw missingPrivilege(user, privilege, scopeText(scope));
    }
  }

  /** Whether the answer depends on stored data, so that it must come from the state of the group's leader. */
  private dependsOnState({ scope, body }: Call): boolean {
    if (body.kind === 'run') return true;
    return body.prepared.usesState || scope.isAmong(body.prepared.unit.changes);
  }

  /** @returns whether the call has run */
  private execute(call: Call, session: GroupSession | null, respond: Respond, begun: number): boolean {
    const { engine, hasher, monotonic } = this.options;
    if (session !== null && engine.mayWrite(call)) {
      const refusal = session.refusal();
      if (refusal !== null) {
        respond({ ok: false, error: refusal });
        return true;
      }
    }
    const outcome = engine.run(call);
    this.slowLane.ran(programOf(call), call.user.id, monotonic() - begun);
    if (outcome.kind === 'hash') {
      hasher.hash(outcome.password).then(
        (hash) => this.executeAgain(call, session, outcome.password, hash, respond),
        () =>
          respond({
            ok: false,
            error: new QueryError(ErrorCode.NODE, 'too many passwords wait to be hashed'),
          }),
      );
      return false;
    }
    if (session !== null) session.settle(outcome, respond);
    else if (outcome.kind === 'value') respond({ ok: true, result: outcome.result });
    else respond({ ok: false, error: outcome.error });
    return true;
  }

  /** Runs a call again that changed nothing because it lacked the hash of a password. */
  private executeAgain(
    call: Call,
    session: GroupSession | null,
    password: string,
    hash: PasswordHash,
    respond: Respond,
  ): void {
    if (session !== null && !session.leading) {
      respond({ ok: false, error: notLeading() });
      return;
    }
    const hashes = new Map([...(call.hashes ?? []), [password, hash]]);
    this.execute({ ...call, hashes }, session, respond, this.options.monotonic());
  }

  private waitForLeader(session: GroupSession, request: Request, respond: Respond): void {
    let waiting = this.waiting.get(session);
    if (waiting === undefined) {
      waiting = new Set();
      this.waiting.set(session, waiting);
    }
    const others = waiting;
    const cancel = this.options.delay(this.options.waitMs, () => {
      others.delete(retry);
      respond({ ok: false, error: notLeading() });
    });
    const retry = (): void => {
      cancel();
      this.handle(request, respond);
    };
    waiting.add(retry);
  }
}

/** Characters of code that take noticeable time to parse. */
const LONG_CODE = 16_384;

/** What is measured as one: the text of a query, or a procedure. */
function programOf({ body }: Call): object {
  return body.kind === 'query' ? body.prepared : body.procedure;
}

const TOO_SLOW = new QueryError(
  ErrorCode.NODE,
  'other slow queries took too long to leave room for this one: try again',
);

function scopeText(scope: ScopeName): string {
  return scope.kind === 'collection' ? `@collection:${scope.name}` : `@${scope.kind}`;
}

function lookup(message: string): QueryError {
  return new QueryError(ErrorCode.LOOKUP, message);
}

function badData(message: string): QueryError {
  return new QueryError(ErrorCode.BAD_DATA, message);
}

function notReady(scope: ScopeName): QueryError {
  return new QueryError(ErrorCode.NODE, `the scope ${scopeText(scope)} is not ready on this node: try again`);
}

function notLeading(): QueryError {
  return new QueryError(ErrorCode.NODE, 'no leader could be found in time: try again');
}
