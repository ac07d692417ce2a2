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
import { type GroupId, type NodeId, ROOT_GROUP } from './consensus/protocol.js';
import type { Request } from './request.js';
import { RESTORING } from './scopes/group-session.js';

/** A refusal that rests on the state of a group as this node knows it, which may lag behind. */
export class Doubt {
  readonly error: QueryError;
  readonly about: GroupId;

  constructor(error: QueryError, about: GroupId) {
    this.error = error;
    this.about = about;
  }
}

export interface ChecksOptions {
  readonly engine: Engine;
  readonly nodeId: NodeId;
  /** Told of a text that is no program, with the milliseconds that it took to find out. */
  readonly failedToPrepare: (userId: number, ms: number) => void;
  readonly monotonic: () => number;
}

/** What can be told of a request before it runs. */
export class Checks {
  private readonly options: ChecksOptions;

  constructor(options: ChecksOptions) {
    this.options = options;
  }

  /**
   * The state that a request is about. That of another node counts as that of any node: see `otherNodeOf`.
   *
   * @throws QueryError, Doubt
   */
  targetOf({ scope, body }: Request): Target {
    if (scope.kind === 'thingsdb') return 'thingsdb';
    if (scope.kind === 'node') {
      if (body.type === 'run') throw badData('procedures can not be run in the scope of a node');
      return 'node';
    }
    const collection = this.options.engine.root.collectionsByName.get(scope.name);
    if (collection === undefined) {
      throw new Doubt(lookup(`there is no collection '${scope.name}'`), ROOT_GROUP);
    }
    return collection.id;
  }

  /**
   * The node that a request names by its number; null when that is this one, or none is named.
   *
   * @throws Doubt
   */
  otherNodeOf({ scope }: Request): NodeId | null {
    if (scope.kind !== 'node' || scope.id === null) return null;
    const member = this.options.engine.root.memberByNumber(scope.id);
    if (member === undefined) throw new Doubt(lookup(`there is no node ${scope.id}`), ROOT_GROUP);
    return member.nodeId === this.options.nodeId ? null : member.nodeId;
  }

  /**
   * Makes a call of a request, in the order of checks that the protocol gives.
   *
   * @throws QueryError, Doubt
   */
  callOf(
    request: Request,
    scope: Scope,
    target: Target,
    hashes?: ReadonlyMap<string, PasswordHash> | null,
  ): Call {
    const { user, body, format } = request;
    const { engine } = this.options;
    if (target !== 'node' && engine.root.restoring !== '') throw new Doubt(RESTORING, ROOT_GROUP);
    let call: Call;
    if (body.type === 'query') {
      this.require(request, target, Privilege.QUERY);
      const prepared = this.prepare(body.code, user.id);
      call = { scope, user, format, body: { kind: 'query', prepared, vars: body.vars } };
    } else {
      const procedure = scope.procedure(body.name);
      if (procedure === undefined) {
        const about = typeof target === 'number' ? target : ROOT_GROUP;
        throw new Doubt(lookup(`there is no procedure '${body.name}'`), about);
      }
      this.require(request, target, Privilege.RUN);
      call = { scope, user, format, body: { kind: 'run', procedure, args: body.args } };
    }
    if (engine.mayWrite(call)) this.require(request, target, Privilege.CHANGE);
    return hashes ? { ...call, hashes } : call;
  }

  /** The program of a text. A long text that is none takes its time as well. */
  private prepare(code: string, userId: number): Prepared {
    const { engine, monotonic, failedToPrepare } = this.options;
    if (code.length <= LONG_CODE) return engine.prepare(code);
    const begun = monotonic();
    try {
      return engine.prepare(code);
    } catch (error) {
      failedToPrepare(userId, monotonic() - begun);
      throw error;
    }
  }

  private require({ user, scope }: Request, target: Target, privilege: number): void {
    if (!this.options.engine.root.allows(target, user.id, privilege)) {
      throw new Doubt(missingPrivilege(user, privilege, scopeText(scope)), ROOT_GROUP);
    }
  }
}

/** Whether it takes noticeable time to parse the code of a request. */
export function isLong({ body }: Request): boolean {
  return body.type === 'query' && body.code.length > LONG_CODE;
}

/** Whether an answer depends on stored data. */
export function dependsOnState({ scope, body }: Call): boolean {
  if (body.kind === 'run') return true;
  return body.prepared.usesState || scope.isAmong(body.prepared.unit.changes);
}

/** What is measured as one: the text of a query, or a procedure. */
export function programOf({ body }: Call): object {
  return body.kind === 'query' ? body.prepared : body.procedure;
}

/** Characters of code that take noticeable time to parse. */
const LONG_CODE = 16_384;

/** A scope in words. */
export function scopeText(scope: ScopeName): string {
  return scope.kind === 'collection' ? `@collection:${scope.name}` : `@${scope.kind}`;
}

function lookup(message: string): QueryError {
  return new QueryError(ErrorCode.LOOKUP, message);
}

function badData(message: string): QueryError {
  return new QueryError(ErrorCode.BAD_DATA, message);
}
