import {
  badDataError,
  type Call,
  CHANGING_PRIVILEGES,
  type Engine,
  forbiddenError,
  lookupError,
  mayKnow,
  missingPrivilege,
  type PasswordHash,
  type Prepared,
  Privilege,
  type QueryError,
  type RoomBody as RoomCallBody,
  refusalOf,
  type Scope,
  type ScopeName,
  type Target,
  type User,
} from '@althing/engine';
import { type GroupId, type NodeId, ROOT_GROUP } from '../between/protocol.js';
import { RESTORING } from '../groups/refusals.js';
import { ORDINARY_TERMS, type ProgramBody, type Request, type RoomBody } from '../groups/request.js';

/** A refusal that rests on the state of a group as this node knows it, which may lag behind. */
export class StaleRefusal {
  constructor(
    readonly error: QueryError,
    readonly about: GroupId,
  ) {}
}

export interface ChecksOptions {
  readonly engine: Engine;
  readonly nodeId: NodeId;
  readonly monotonic: () => number;
}

/** Checks of a request before it runs. */
export class Checks {
  constructor(private readonly options: ChecksOptions) {}

  /**
   * The state that a request is about. That of another node counts as that of any node: see `otherNodeOf`.
   *
   * @throws QueryError, StaleRefusal
   */
  targetOf({ scope, body, user, terms }: Request): Target {
    if (body.type === 'session') return 'thingsdb';
    if (scope.kind === 'node' && terms?.dryRun)
      throw badDataError(
        'a dry run is of the root scope or of a collection: what a node does can not be taken back',
      );
    if (scope.kind !== 'collection' && body.type in ROOM_REQUESTS) {
      throw badDataError('there are rooms in collections only: use the scope of a collection, as in @:stuff');
    }
    if (scope.kind === 'thingsdb') return 'thingsdb';
    if (scope.kind === 'node') {
      if (body.type === 'run') throw badDataError('procedures can not be run in the scope of a node');
      return 'node';
    }
    const { root } = this.options.engine;
    const collection = root.collectionsByName.get(scope.name);
    // A user without a privilege there must not learn whether there is such a collection: not by words, nor
    // by what happens next. A procedure whose name it guesses tells all the same: clients of ThingsDB get this answer.
    if (!mayKnow(root, user, collection)) {
      if (body.type === 'run') {
        this.requireListed(user, body.name);
        const place = collection === undefined ? undefined : this.options.engine.scope(collection.id);
        // A procedure that is not there is the same whether its collection is.
        if (place?.procedure(body.name) === undefined) {
          throw new StaleRefusal(noProcedure(body.name), ROOT_GROUP);
        }
      }
      throw new StaleRefusal(missingPrivilege(user, PRIVILEGES[body.type], scopeText(scope)), ROOT_GROUP);
    }
    if (collection === undefined) {
      throw new StaleRefusal(lookupError(`there is no collection '${scope.name}'`), ROOT_GROUP);
    }
    return collection.id;
  }

  /**
   * The node that a request names by its number or its name; null when that is this one, or none is named.
   *
   * @throws StaleRefusal
   */
  otherNodeOf({ scope }: Request): NodeId | null {
    if (scope.kind !== 'node' || scope.id === null) return null;
    const { id } = scope;
    const { root } = this.options.engine;
    const member = typeof id === 'number' ? root.memberByNumber(id) : root.memberByName(id);
    if (member === undefined) throw new StaleRefusal(lookupError(`there is no node ${id}`), ROOT_GROUP);
    return member.nodeId === this.options.nodeId ? null : member.nodeId;
  }

  /**
   * Makes a call of a request, in the order of checks that the protocol gives.
   *
   * @param held the program of a query that was checked before; null for none
   * @throws QueryError, StaleRefusal
   */
  callOf(
    request: Request,
    scope: Scope,
    target: Target,
    hashes?: ReadonlyMap<string, PasswordHash> | null,
    held: Prepared | null = null,
  ): Call {
    const { user, body, format, id: requestId } = request;
    const { readOnly, dryRun } = request.terms ?? ORDINARY_TERMS;
    const { engine, monotonic } = this.options;
    if (target !== 'node' && engine.root.restoring !== '') throw new StaleRefusal(RESTORING, ROOT_GROUP);
    let call: Call;
    let spentMs = request.readMs ?? 0;
    const outlet = request.logs ?? null;
    if (body.type === 'query') {
      this.require(request, target, Privilege.QUERY);
      const begun = isLong(request) ? monotonic() : 0;
      const prepared = held ?? engine.prepare(body.code, { scope, user });
      if (begun !== 0) spentMs += monotonic() - begun;
      const query = { kind: 'query', prepared, vars: body.vars } as const;
      call = { scope, user, format, body: query, spentMs, outlet, requestId, readOnly, mayEmit: false };
    } else if (body.type === 'run') {
      this.requireListed(user, body.name);
      const procedure = scope.procedure(body.name);
      if (procedure === undefined) {
        const about = typeof target === 'number' ? target : ROOT_GROUP;
        throw new StaleRefusal(noProcedure(body.name), about);
      }
      this.require(request, target, Privilege.RUN);
      const run = { kind: 'run', procedure, args: body.args } as const;
      if (procedure.closure.unit === null) {
        // The scopes that it may change have to be known below, and finding that out is part of its time.
        const begun = monotonic();
        engine.compile(run, { scope, user });
        spentMs += monotonic() - begun;
      }
      call = { scope, user, format, body: run, spentMs, outlet, requestId, readOnly, mayEmit: false };
    } else if (body.type === 'session') {
      // Everybody may have sessions, whatever its privileges.
      return { scope, user, format, body: { kind: 'session', ask: body.ask }, requestId };
    } else {
      this.require(request, target, Privilege.JOIN);
      const rooms = roomCall(body);
      call = { scope, user, format, body: rooms, spentMs, outlet, requestId, readOnly, mayEmit: false };
    }
    if (dryRun) call = { ...call, dryRun };
    if (dryRun || engine.mayWrite(call)) this.require(request, target, Privilege.CHANGE);
    return hashes ? { ...call, hashes } : call;
  }

  /** A whitelist comes first: what it does not allow must not be told from what does not exist. */
  private requireListed(user: User, procedure: string): void {
    if (this.options.engine.root.isAllowed(user.id, 'procedures', procedure)) return;
    const why = `the whitelist of user '${user.name}' does not allow the procedure '${procedure}'`;
    throw new StaleRefusal(forbiddenError(why), ROOT_GROUP);
  }

  private require({ user, scope, terms }: Request, target: Target, privilege: number): void {
    const isWithheld = terms?.readOnly === true && (privilege & CHANGING_PRIVILEGES) !== 0;
    if (isWithheld) throw refusalOf(user, privilege, scopeText(scope), true);
    if (!this.options.engine.root.allows(target, user.id, privilege)) {
      throw new StaleRefusal(missingPrivilege(user, privilege, scopeText(scope)), ROOT_GROUP);
    }
  }
}

function roomCall(body: RoomBody): RoomCallBody {
  const { type: kind } = body;
  return kind === 'emit' ? { ...body, kind } : { ...body, kind };
}

/** Requests about rooms. */
const ROOM_REQUESTS = { emit: true, find_rooms: true };

/** The privilege that each kind of request needs, beside the one for changes. */
const PRIVILEGES: Readonly<Record<(ProgramBody | RoomBody)['type'], number>> = {
  query: Privilege.QUERY,
  run: Privilege.RUN,
  emit: Privilege.JOIN,
  find_rooms: Privilege.JOIN,
};

/** True if it takes noticeable time to parse the code of a request. */
export function isLong({ body }: Request): boolean {
  return body.type === 'query' && body.code.length > LONG_CODE;
}

/** About how many milliseconds it takes to parse and compile the code of a request. */
export function parsingMs({ body }: Request): number {
  return body.type === 'query' ? body.code.length * PARSING_MS : 0;
}

/** True if an answer depends on stored data. */
export function dependsOnState({ scope, body }: Call): boolean {
  if (body.kind !== 'query') return true;
  return body.prepared.usesState || scope.isAmong(body.prepared.changes);
}

/**
 * The unit that is measured: the text of a query, or a procedure; null for what takes next to no time, and for a text that came for
 * the first time, which nobody would find again.
 */
export function programOf({ body }: Call): object | null {
  if (body.kind === 'query') return body.prepared.isKept ? body.prepared : null;
  return body.kind === 'run' ? body.procedure : null;
}

/** Time to parse one character, in milliseconds. */
const PARSING_MS = 2e-4;

/** Characters of code that take noticeable time to parse. */
const LONG_CODE = 16_384;

/** A scope in words. */
export function scopeText(scope: ScopeName): string {
  return scope.kind === 'collection' ? `@collection:${scope.name}` : `@${scope.kind}`;
}

function noProcedure(name: string): QueryError {
  return lookupError(`there is no procedure '${name}'`);
}
