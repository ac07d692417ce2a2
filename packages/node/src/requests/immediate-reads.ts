import { type Call, type Engine, type Outcome, type Prepared, Privilege, type Target } from '@althing/engine';
import type { GroupSession } from '../groups/group-session.js';
import type { Reply, Request } from '../groups/request.js';
import { dependsOnState, isLong, programOf, readsOf } from './checks.js';
import type { More } from './future-runner.js';
import { replyOf } from './replies.js';
import { SLOW_MS } from './run-costs.js';
import type { Scheduler } from './scheduler.js';

export interface ImmediateReadsOptions {
  readonly engine: Engine;
  readonly scheduler: Scheduler;
  /** Whether this node is its whole cluster, for certain. */
  readonly alone: () => boolean;
  /** The session of a target's group; undefined for a collection that is not open on this node. */
  readonly session: (target: Target) => GroupSession | undefined;
  /** Called for each call that ran, with the milliseconds that it took. */
  readonly ran: (call: Call, ms: number, outcome: Outcome) => void;
  /** Called for each request that was answered. */
  readonly report: (request: Request, ranMs: number, thingsRead: number, since: number) => void;
  readonly monotonic: () => number;
}

/** What was begun here of a request that is left to others. */
export interface Left {
  /** Its program, so that it need not be looked for again; null for a procedure, or where it has to be made. */
  readonly program: Prepared | null;
  /** A call that has run, and has futures; null where nothing ran. */
  readonly begun: Begun | null;
}

/** A call that has run, and has futures, which go on elsewhere. */
export interface Begun {
  readonly call: Call;
  readonly first: More;
  /** The session of the state that it depends on; null for none. */
  readonly session: GroupSession | null;
}

/**
 * Requests that are answered where they come in, without a pending one: reads of collections that have nothing to wait for, which
 * are most requests of most clients. All that makes a request special is left to the router; so are the reasons why one is refused.
 */
export class ImmediateReads {
  private readonly options: ImmediateReadsOptions;
  /** Programs that had to run again elsewhere: with a change, or behind a look at another group. */
  private readonly others = new WeakSet<object>();
  private hasOthers = false;
  private program: Prepared | null = null;
  private begun: Begun | null = null;
  /** When the last one that was answered had run. */
  endedAt = 0;

  constructor(options: ImmediateReadsOptions) {
    this.options = options;
  }

  /** Hands over what was begun of the request that came last and was not answered. */
  takeLeft(): Left {
    const { program, begun } = this;
    this.program = null;
    this.begun = null;
    return { program, begun };
  }

  /**
   * Runs a request, if it can be answered at once.
   *
   * @param since when it came, by the clock
   * @returns null where it is left to others, see `takeLeft`; it has changed nothing then
   */
  answer(request: Request, since: number): Reply | null {
    const { engine, scheduler, alone, session: sessionOf, ran, report, monotonic } = this.options;
    const { scope: name, terms } = request;
    this.program = null;
    this.begun = null;
    if (name.kind !== 'collection' || (terms !== undefined && terms !== null)) return null;
    if (request.client.gone || engine.root.restoring !== '' || isLong(request)) return null;
    const info = engine.root.collectionsByName.get(name.name);
    if (info === undefined) return null;
    const session = sessionOf(info.id);
    if (session === undefined || !session.readable || session.outage !== null) return null;
    const call = this.callOf(request, info.id);
    if (call === null) return null;
    const isRead = dependsOnState(call);
    if (isRead && !(session.leading && !session.hasUncommitted && alone())) return null;
    if (engine.mayWrite(call) || engine.mayEmit(call)) return null;
    const program = programOf(call);
    if (this.hasOthers && program !== null && this.others.has(program)) return null;
    if (scheduler.takes(program, request.user.id)) return null;
    request.logs?.clear();
    const reads = readsOf(call);
    const outcome = engine.run(call);
    this.endedAt = monotonic();
    const ms = this.endedAt - since;
    ran(call, ms, outcome);
    if (ms >= SLOW_MS) report(request, ms, readsOf(call) - reads, since);
    if (outcome.kind === 'value' || outcome.kind === 'error') {
      const reply = isRead ? session.replyNow(outcome) : replyOf(outcome);
      if (reply === null) throw new Error('what only reads changed something');
      return reply;
    }
    if (outcome.kind === 'more') {
      this.begun = { call, first: outcome, session: isRead ? session : null };
    } else if (program !== null) {
      this.others.add(program);
      this.hasOthers = true;
    }
    return null;
  }

  /** The call of a request that its user may make; null for any other, and where it takes more than a look to tell. */
  private callOf(
    { user, body, format, readMs, logs, id: requestId }: Request,
    collection: number,
  ): Call | null {
    const { engine } = this.options;
    const { root } = engine;
    const scope = engine.scope(collection);
    if (scope === undefined) return null;
    const spentMs = readMs ?? 0;
    const outlet = logs ?? null;
    if (body.type === 'query') {
      if (!root.allows(collection, user.id, Privilege.QUERY)) return null;
      const prepared = engine.known(body.code);
      this.program = prepared;
      if (prepared === null) return null;
      const query = { kind: 'query', prepared, vars: body.vars } as const;
      return { scope, user, format, body: query, spentMs, outlet, requestId, mayEmit: false };
    }
    if (body.type !== 'run' || !root.allows(collection, user.id, Privilege.RUN)) return null;
    const procedure = scope.procedure(body.name);
    if (procedure === undefined || root.whitelistOf(user.id, 'procedures') !== undefined) return null;
    const run = { kind: 'run', procedure, args: body.args } as const;
    return { scope, user, format, body: run, spentMs, outlet, requestId, mayEmit: false };
  }
}
