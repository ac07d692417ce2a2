import {
  type Call,
  type Engine,
  ErrorCode,
  missingPrivilege,
  type PasswordHash,
  Privilege,
  QueryError,
  type Scope,
  type ScopeName,
  type Target,
} from '@althing/engine';
import type { PasswordHasher } from './auth/password.js';
import type { Request, Respond } from './request.js';
import type { GroupSession } from './scopes/group-session.js';

export interface RouterOptions {
  readonly engine: Engine;
  readonly hasher: PasswordHasher;
  /** The session of a target's group; undefined for a collection that is not open on this node. */
  readonly session: (target: Target) => GroupSession | undefined;
  /** How long a request may wait for a leader, in milliseconds. */
  readonly leaderWaitMs: number;
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

  constructor(options: RouterOptions) {
    this.options = options;
  }

  handle(request: Request, respond: Respond): void {
    try {
      this.route(request, respond);
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      respond({ ok: false, error });
    }
  }

  /** To be called when a session changed: it may lead now. */
  sessionChanged(session: GroupSession): void {
    if (!session.leading) return;
    const waiting = this.waiting.get(session);
    if (waiting === undefined) return;
    this.waiting.delete(session);
    for (const retry of waiting) retry();
  }

  private route(request: Request, respond: Respond): void {
    const { engine } = this.options;
    const target = this.targetOf(request);
    const scope = engine.scope(target);
    if (scope === undefined) throw notReady(request.scope);
    const call = this.callOf(request, scope, target);
    if (target === 'node' || !this.dependsOnState(call)) {
      this.execute(call, null, respond);
      return;
    }
    const session = this.options.session(target);
    if (session === undefined) throw notReady(request.scope);
    if (session.leading) this.execute(call, session, respond);
    else this.waitForLeader(session, request, respond);
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
  private callOf(request: Request, scope: Scope, target: Target): Call {
    const { user, body, format } = request;
    const { engine } = this.options;
    let call: Call;
    if (body.type === 'query') {
      this.require(request, target, Privilege.QUERY);
      const prepared = engine.prepare(body.code);
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

  private execute(call: Call, session: GroupSession | null, respond: Respond): void {
    const { engine, hasher } = this.options;
    if (session !== null && engine.mayWrite(call)) {
      const refusal = session.refusal();
      if (refusal !== null) {
        respond({ ok: false, error: refusal });
        return;
      }
    }
    const outcome = engine.run(call);
    if (outcome.kind === 'hash') {
      hasher.hash(outcome.password).then(
        (hash) => this.executeAgain(call, session, outcome.password, hash, respond),
        () =>
          respond({
            ok: false,
            error: new QueryError(ErrorCode.NODE, 'too many passwords wait to be hashed'),
          }),
      );
    } else if (session !== null) {
      session.settle(outcome, respond);
    } else if (outcome.kind === 'value') {
      respond({ ok: true, result: outcome.result });
    } else {
      respond({ ok: false, error: outcome.error });
    }
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
    this.execute({ ...call, hashes: new Map([...(call.hashes ?? []), [password, hash]]) }, session, respond);
  }

  private waitForLeader(session: GroupSession, request: Request, respond: Respond): void {
    let waiting = this.waiting.get(session);
    if (waiting === undefined) {
      waiting = new Set();
      this.waiting.set(session, waiting);
    }
    const others = waiting;
    const cancel = this.options.delay(this.options.leaderWaitMs, () => {
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
