import {
  type Call,
  type Engine,
  ErrorCode,
  type Outcome,
  type PasswordHash,
  QueryError,
  type RootEvent,
  type Target,
} from '@althing/engine';
import type { PasswordHasher } from './auth/password.js';
import { Checks, Doubt, dependsOnState, isLong, programOf } from './checks.js';
import type { Calls } from './cluster/calls.js';
import { type GroupId, type NodeId, ROOT_GROUP } from './consensus/protocol.js';
import { encodeBody } from './forwarding/format.js';
import { Forwarder } from './forwarding/forwarder.js';
import { type End, Journey } from './forwarding/journey.js';
import { Journeys } from './forwarding/journeys.js';
import { KeysUnderWay } from './forwarding/keys-under-way.js';
import { Sequences } from './forwarding/sequences.js';
import { type BodyOptions, decodeBody } from './http/body.js';
import type { EngineMetrics } from './metrics/engine-metrics.js';
import { conflictingKey, type Reply, type Request, type RequestBody, type Respond } from './request.js';
import type { IdempotencyKey, RequestIdentity } from './scopes/entry.js';
import type { GroupSession, Names } from './scopes/group-session.js';
import type { Found } from './scopes/results.js';
import { SlowLane } from './slow-lane.js';

export interface RouterOptions {
  readonly engine: Engine;
  readonly hasher: Pick<PasswordHasher, 'hash'>;
  readonly nodeId: NodeId;
  /** Which start of this node this is: later ones have larger numbers. */
  readonly epoch: number;
  readonly calls: Calls;
  /** Whether this node is its whole cluster, for certain. */
  readonly alone: () => boolean;
  /** The session of a target's group; undefined for a collection that is not open on this node. */
  readonly session: (target: Target) => GroupSession | undefined;
  /** How long a request may wait for a leader, for other nodes, or for its turn among slow queries, in milliseconds. */
  readonly waitMs: number;
  /** Who counts. */
  readonly figures?: Pick<EngineMetrics, 'ran' | 'forwarded'>;
  /** Told what a request did to the root scope; `isKnown` says whether that is certain, or may yet come to nothing. */
  readonly changed?: (request: Request, events: readonly RootEvent[], isKnown: boolean) => void;
  /** A clock in milliseconds. */
  readonly monotonic: () => number;
  /** Calls back after some milliseconds, unless it is called off by the function that it returns. */
  readonly delay: (ms: number, callback: () => void) => () => void;
}

/** The part of an outcome that is an answer. */
type Answer = Outcome & { readonly kind: 'value' | 'error' };

/**
 * Takes a request to where it runs.
 *
 * A node that is alone runs everything at once. In a cluster a request is a journey: what may change something goes to
 * the leader of its group, under a name that makes it take effect once; what only reads runs here, as soon as this node
 * is known to have everything that was acknowledged before. What this node does not know of, it asks about before it
 * refuses a request for it.
 */
export class Router {
  private readonly options: RouterOptions;
  private readonly checks: Checks;
  private readonly slowLane: SlowLane;
  private readonly journeys: Journeys;
  private readonly sequences = new Sequences();
  private readonly keys = new KeysUnderWay();
  private readonly forwarder: Forwarder;
  /** Requests of other nodes that are late, though their change may yet be committed: by `nameOf`. */
  private readonly undecided = new Set<string>();
  /** Nodes that can't be reached. */
  private readonly down = new Set<NodeId>();
  /** Versions of the protocol that are spoken with other nodes. */
  private readonly protocols = new Map<NodeId, number>();
  /** Repetitions that got the first one's answer. */
  repeated = 0;

  constructor(options: RouterOptions) {
    this.options = options;
    const { engine, monotonic, delay, waitMs, nodeId } = options;
    this.slowLane = new SlowLane({ now: monotonic, delay, waitMaxMs: waitMs });
    this.checks = new Checks({
      engine,
      nodeId,
      failedToPrepare: (userId, ms) => this.slowLane.ran(null, userId, ms),
      monotonic,
    });
    this.journeys = new Journeys({
      monotonic,
      delay,
      advance: (journey) => this.advance(journey),
      expire: (journey) => journey.end({ kind: 'late', unknown: journey.unknown || journey.called }),
    });
    this.forwarder = this.makeForwarder();
  }

  /** Requests that wait for something, of clients and of other nodes. */
  get busy(): number {
    return this.journeys.size;
  }

  /** Requests in the lane of slow queries, and those that other nodes have. */
  get queues(): { readonly slow: number; readonly peer: number } {
    return { slow: this.slowLane.length, peer: this.forwarder.sent };
  }

  /**
   * Runs a request, now or later.
   *
   * @returns whether its answer waits for nothing but events of the consensus side
   */
  handle(request: Request, respond: Respond): boolean {
    if (!this.options.alone() || (request.terms ?? null) !== null) return this.travel(request, respond);
    return this.tryAtOnce(request, respond, false);
  }

  /** To be called when a session changed: it may lead now, or know who does. */
  sessionChanged(session: GroupSession): void {
    this.journeys.groupChanged(session.id, versionOf(session));
  }

  /**
   * Resolves with true once this node has every change of the root scope that was acknowledged before this call, or with
   * false when the time for a request is over.
   */
  freshenRoot(): Promise<boolean> {
    const { monotonic, waitMs, delay } = this.options;
    const deadline = monotonic() + waitMs;
    return new Promise((resolve) => {
      const cancel = delay(waitMs, () => resolve(false));
      const attempt = (): void =>
        this.rootSession.readIndex((ok) => {
          if (ok) {
            cancel();
            resolve(true);
          } else if (monotonic() < deadline) {
            delay(FRESHEN_PAUSE_MS, attempt);
          }
        });
      attempt();
    });
  }

  /** Another node can be reached, with a version of the protocol between nodes, or can't any more. */
  peerChanged(node: NodeId, up: boolean, protocol = 0): void {
    if (up) this.down.delete(node);
    else this.down.add(node);
    this.protocols.set(node, protocol);
  }

  private makeForwarder(): Forwarder {
    const { engine, calls, epoch, monotonic, delay } = this.options;
    return new Forwarder({
      calls,
      root: engine.root,
      rootSession: () => this.rootSession,
      sequences: this.sequences,
      protocolOf: (node) => this.protocols.get(node) ?? 0,
      epoch,
      decodeBody: (body) => this.decode(body),
      monotonic,
      delay,
      begin: (journey) => this.begin(journey),
      retry: (journey, group) => this.wait(journey, group),
      tried: (outcome) => this.options.figures?.forwarded(outcome),
      ended: (journey) => this.ended(journey),
    });
  }

  private get rootSession(): GroupSession {
    const session = this.options.session('thingsdb');
    if (session === undefined) throw new Error('the root group is not open');
    return session;
  }

  private sessionOf(group: GroupId): GroupSession | undefined {
    return this.options.session(group === ROOT_GROUP ? 'thingsdb' : group);
  }

  /** @param itsTurn whether the request stood in the slow lane already */
  private tryAtOnce(request: Request, respond: Respond, itsTurn: boolean): boolean {
    try {
      return this.runAtOnce(request, respond, itsTurn);
    } catch (error) {
      respond({ ok: false, error: answerTo(error) });
      return true;
    }
  }

  private runAtOnce(request: Request, respond: Respond, itsTurn: boolean): boolean {
    const { engine, monotonic } = this.options;
    const { user } = request;
    const target = this.checks.targetOf(request);
    if (target === 'node' && this.checks.otherNodeOf(request) !== null) return this.travel(request, respond);
    const scope = engine.scope(target);
    const session = this.options.session(target);
    if (scope === undefined || session === undefined || !session.leading) {
      return this.travel(request, respond);
    }
    if (!itsTurn && isLong(request) && this.slowLane.takes(null, user.id)) {
      return this.enterLane(request, respond);
    }
    const begun = monotonic();
    const call = this.checks.callOf(request, scope, target);
    if (!itsTurn && this.slowLane.takes(programOf(call), user.id)) {
      return this.enterLane(request, respond);
    }
    const stateless = target === 'node' || !dependsOnState(call);
    const refusal = stateless || !engine.mayWrite(call) ? null : session.refusal();
    if (refusal !== null) {
      respond({ ok: false, error: refusal });
      return true;
    }
    const outcome = engine.run(call);
    this.ran(call, monotonic() - begun);
    if (outcome.kind === 'hash') return this.travel(request, respond, outcome.password);
    if (stateless) respond(replyOf(outcome));
    else session.settle(outcome, this.telling(request, outcome, respond));
    return true;
  }

  /** Sees to it that it is told what a call did to the root scope, as soon as that is decided. */
  private telling(request: Request, outcome: Answer, respond: Respond): Respond {
    const events = outcome.kind === 'value' ? outcome.change?.events : undefined;
    const { changed } = this.options;
    if (events === undefined || events.length === 0 || changed === undefined) return respond;
    return (reply) => {
      if (reply.ok || reply.lost === 'unknown') changed(request, events, reply.ok);
      respond(reply);
    };
  }

  private ran(call: Call, ms: number): void {
    this.slowLane.ran(programOf(call), call.user.id, ms);
    this.options.figures?.ran(ms);
  }

  private enterLane(request: Request, respond: Respond): false {
    const { user, client } = request;
    this.slowLane.enter(user.id, {
      gone: () => client.gone,
      run: () => {
        this.tryAtOnce(request, respond, true);
      },
      expire: () => respond({ ok: false, error: TOO_SLOW }),
    });
    return false;
  }

  /** Sends a request on its way. Returns as `handle` does. */
  private travel(request: Request, respond: Respond, password: string | null = null): boolean {
    const { monotonic, waitMs } = this.options;
    const journey = new Journey({
      request,
      forwarded: null,
      group: null,
      deadline: monotonic() + waitMs,
      onEnd: (end) => {
        this.ended(journey);
        respond(replyAtEnd(end));
      },
    });
    this.journeys.add(journey);
    if (password === null) this.advance(journey);
    else this.hash(journey, password);
    return !journey.called && journey.waitsFor === null && password === null;
  }

  private begin(journey: Journey): void {
    this.journeys.add(journey);
    this.advance(journey);
  }

  private ended(journey: Journey): void {
    this.journeys.delete(journey);
    if (journey.sequence !== 0 && journey.group !== null) {
      this.sequences.release(journey.group, journey.sequence);
    }
    // Until its change is decided, a repetition of the request must not begin.
    if (!journey.proposed) this.releaseKey(journey);
    else if (journey.forwarded !== null) this.undecided.add(nameOf(journey.forwarded, journey.group));
  }

  private releaseKey(journey: Journey): void {
    this.keys.release(journey, (other) => queueMicrotask(() => this.advance(other)));
  }

  /** Takes a journey as far as it gets now. */
  private advance(journey: Journey): void {
    if (journey.ended) return;
    try {
      this.step(journey);
    } catch (error) {
      if (error instanceof Doubt) this.resolve(journey, error);
      else this.refuse(journey, answerTo(error));
    }
  }

  private step(journey: Journey): void {
    if (journey.request.client.gone && !journey.unknown) {
      journey.end({ kind: 'late', unknown: false });
      return;
    }
    this.renewValues(journey);
    const { request } = journey;
    const target = this.targetOf(journey);
    const node = this.checks.otherNodeOf(request);
    if (node !== null) {
      this.forwarder.sendToNode(journey, node);
      return;
    }
    const scope = this.options.engine.scope(target);
    const session = target === 'node' ? null : this.options.session(target);
    const outage = session?.outage ?? null;
    if (outage !== null) {
      this.refuse(journey, outage);
      return;
    }
    if (scope === undefined || session === undefined || session?.readable === false) {
      this.wait(journey, typeof target === 'number' ? target : ROOT_GROUP);
      return;
    }
    if (session !== null) {
      journey.roleGroup = session.id;
      journey.roleVersion = versionOf(session);
    }
    if (isLong(request) && this.standsInLane(journey, null)) return;
    const call = this.checks.callOf(request, scope, target, journey.hashes);
    if (session === null || !dependsOnState(call)) this.runHere(journey, call);
    else if (this.options.engine.mayWrite(call)) this.write(journey, call, session);
    else this.read(journey, call, session);
  }

  /** The state that a journey is about: always the same, once it was sent there. */
  private targetOf({ request, group }: Journey): Target {
    if (group === null || request.scope.kind === 'node') return this.checks.targetOf(request);
    if (group === ROOT_GROUP) return 'thingsdb';
    if (this.options.engine.root.collections.has(group)) return group;
    throw new Doubt(GONE, ROOT_GROUP);
  }

  /** Makes sure that a refusal does not come from a state that lags behind. */
  private resolve(journey: Journey, { error, about }: Doubt): void {
    const session = this.sessionOf(about);
    const isFinal = session === undefined || journey.isFresh(about) || journey.request.terms?.stale === true;
    if (isFinal) this.refuse(journey, error);
    else this.freshen(journey, session);
  }

  /** Ends a journey that can't go on; if a change may have been made before, that is what must be said. */
  private refuse(journey: Journey, error: QueryError): void {
    journey.end(journey.unknown ? LATE_UNKNOWN : { kind: 'reply', reply: { ok: false, error } });
  }

  /** Goes on once the state of a group holds everything that was acknowledged before. */
  private freshen(journey: Journey, session: GroupSession): void {
    session.readIndex((ok) => {
      if (ok) journey.noteFresh(session.id);
      if (ok) this.advance(journey);
      else this.wait(journey, session.id);
    });
  }

  /** Runs what depends on no group. */
  private runHere(journey: Journey, call: Call): void {
    const outcome = this.run(journey, call);
    if (outcome !== null) journey.end({ kind: 'reply', reply: replyOf(outcome) });
  }

  private read(journey: Journey, call: Call, session: GroupSession): void {
    const { stale = false, minIndex = 0 } = journey.request.terms ?? {};
    if (!stale && !journey.isFresh(session.id)) {
      this.freshen(journey, session);
      return;
    }
    if (session.appliedIndex < minIndex) {
      session.whenApplied(minIndex, () => this.advance(journey));
      return;
    }
    const outcome = this.run(journey, call);
    if (outcome === null) return;
    session.settle(outcome, (reply) => this.settled(journey, session, stale ? staleReply(reply) : reply));
  }

  private write(journey: Journey, call: Call, session: GroupSession): void {
    if (!session.leading) {
      this.forward(journey, session);
      return;
    }
    if (!this.takesName(journey, session.id) || this.isKnown(journey, session)) return;
    const refusal = session.refusal();
    if (refusal !== null && session.awaitsOffice && !this.options.alone()) {
      this.wait(journey, session.id);
      return;
    }
    if (refusal !== null) {
      this.refuse(journey, refusal);
      return;
    }
    const outcome = this.run(journey, call);
    if (outcome === null) return;
    if (outcome.kind !== 'value' || outcome.change === null) {
      this.settleUnchanged(journey, session, outcome);
      return;
    }
    journey.unknown = true;
    journey.proposed = true;
    const settled = this.telling(journey.request, outcome, (reply) => {
      journey.proposed = false;
      if (!journey.ended) {
        this.settled(journey, session, reply);
        return;
      }
      if (journey.forwarded !== null) this.undecided.delete(nameOf(journey.forwarded, journey.group));
      this.releaseKey(journey);
    });
    session.settle(outcome, settled, this.namesOf(journey, session.id));
  }

  /**
   * Answers what changed nothing, though it might have. That is a read: right only if this node led when it ran, and what
   * it saw is committed.
   */
  private settleUnchanged(journey: Journey, session: GroupSession, outcome: Answer): void {
    const version = session.roleVersion;
    let settled: Reply | null = null;
    let confirmed = false;
    const finish = (): void => {
      if (settled === null || !confirmed) return;
      if (version === session.roleVersion) this.settled(journey, session, settled);
      else this.again(journey, session);
    };
    session.settle(outcome, (reply) => {
      settled = reply;
      finish();
    });
    session.readIndex((ok) => {
      confirmed = true;
      if (!ok) settled = { ok: false, error: NO_LEADER, lost: 'undone' };
      finish();
    });
  }

  /** An answer came, or the group's leadership was lost before. */
  private settled(journey: Journey, session: GroupSession, reply: Reply): void {
    const lost = reply.ok ? undefined : reply.lost;
    const canRepeat = journey.forwarded !== null || journey.sequence !== 0 || keyOf(journey) !== null;
    if (lost === undefined || (lost === 'unknown' && !canRepeat)) journey.end({ kind: 'reply', reply });
    else this.again(journey, session);
  }

  private again(journey: Journey, session: GroupSession): void {
    if (journey.forwarded === null) this.wait(journey, session.id);
    else journey.end({ kind: 'lost', unknown: journey.unknown });
  }

  /** Sends a change to the leader of its group. */
  private forward(journey: Journey, session: GroupSession): void {
    const { leader, id } = session;
    if (journey.forwarded !== null) {
      journey.end({ kind: 'elsewhere', leader });
    } else if (leader === 0 || leader === this.options.nodeId || this.down.has(leader)) {
      this.wait(journey, id);
    } else if (this.takesName(journey, id)) {
      this.forwarder.send(journey, id, leader);
    }
  }

  /**
   * Sees to it that a change of this node's client has a name in its group, unless nothing could take it twice.
   *
   * @returns false when no more can be given out; the journey has ended then
   */
  private takesName(journey: Journey, group: GroupId): boolean {
    if (journey.forwarded !== null || journey.sequence !== 0 || this.options.alone()) return true;
    journey.sequence = this.sequences.take(group);
    if (journey.sequence === 0) {
      journey.end({ kind: 'reply', reply: { ok: false, error: TOO_MANY } });
      return false;
    }
    journey.group = group;
    return true;
  }

  /** Ends a journey whose change was made before, or lets it wait for one with the same key. */
  private isKnown(journey: Journey, session: GroupSession): boolean {
    const name = this.identityOf(journey, session.id);
    if (name !== null && this.undecided.size > 0 && this.undecided.has(nameOf(name, journey.group))) {
      this.wait(journey, session.id);
      return true;
    }
    if (name !== null && this.endsAs(journey, session.results.find(name), session)) return true;
    const key = keyOf(journey);
    if (key === null) return false;
    if (this.endsAs(journey, session.results.findKey(key), session)) return true;
    const taken = this.keys.take(session.id, key, journey);
    if (taken === 'conflict') journey.end({ kind: 'reply', reply: conflictingKey() });
    return taken !== 'taken';
  }

  private endsAs(journey: Journey, found: Found, session: GroupSession): boolean {
    switch (found.kind) {
      case 'new':
        return false;
      case 'outdated':
        journey.end(LATE_UNKNOWN);
        return true;
      case 'conflict':
        journey.end({ kind: 'reply', reply: conflictingKey() });
        return true;
      case 'reply': {
        const { reply } = found;
        this.repeated += 1;
        const index = session.appliedIndex;
        const kept: Reply =
          reply.kind === 'too_large'
            ? { ok: false, error: ANSWER_TOO_LARGE, index }
            : { ok: true, result: reply.result, index };
        journey.end({ kind: 'reply', reply: kept });
        return true;
      }
    }
  }

  private identityOf(journey: Journey, group: GroupId): RequestIdentity | null {
    const { forwarded, sequence } = journey;
    if (forwarded !== null || sequence === 0) return forwarded;
    const { nodeId, epoch } = this.options;
    return { origin: nodeId, epoch, sequence, low: this.sequences.low(group) };
  }

  private namesOf(journey: Journey, group: GroupId): Names | null {
    const request = this.identityOf(journey, group);
    const key = keyOf(journey);
    return request === null && key === null ? null : { request, key };
  }

  /** Runs a call; null when it does not run now. */
  private run(journey: Journey, call: Call): Answer | null {
    const { engine, monotonic } = this.options;
    if (this.standsInLane(journey, programOf(call))) return null;
    this.keepValues(journey);
    const begun = monotonic();
    const outcome = engine.run(call);
    this.ran(call, monotonic() - begun);
    if (outcome.kind !== 'hash') return outcome;
    this.hash(journey, outcome.password);
    return null;
  }

  private standsInLane(journey: Journey, program: object | null): boolean {
    const { request } = journey;
    if (journey.hadItsTurn || !this.slowLane.takes(program, request.user.id)) return false;
    this.slowLane.enter(request.user.id, {
      gone: () => journey.ended || (request.client.gone && !journey.unknown),
      run: () => {
        journey.hadItsTurn = true;
        this.advance(journey);
      },
      expire: () => journey.end({ kind: 'reply', reply: { ok: false, error: TOO_SLOW } }),
    });
    return true;
  }

  /** Computes the hash of a password for which a call asked, and lets the call run again. */
  private hash(journey: Journey, password: string): void {
    const goOn = (hash: PasswordHash): void => {
      journey.hashes ??= new Map();
      journey.hashes.set(password, hash);
      this.advance(journey);
    };
    const error = new QueryError(ErrorCode.NODE, 'too many passwords wait to be hashed');
    this.options.hasher
      .hash(password)
      .then(goOn, () => journey.end({ kind: 'reply', reply: { ok: false, error } }));
  }

  /** A query may change the values that came with it; an attempt that follows needs them as they were. */
  private keepValues(journey: Journey): void {
    if (!hasValues(journey.request.body)) return;
    journey.body ??= encodeBody(journey.request.body);
    journey.used = true;
  }

  private renewValues(journey: Journey): void {
    if (!journey.used || journey.body === null) return;
    journey.used = false;
    journey.request = { ...journey.request, body: this.decode(Buffer.from(journey.body)) };
  }

  private decode(body: Buffer): RequestBody {
    const options: BodyOptions = {
      shapes: this.options.engine.runtime.shapes,
      msgpackNestingMax: FORWARDED_NESTING_MAX,
    };
    return decodeBody(body, 'msgpack', options);
  }

  /** Tries again when the roles in a group changed, or after a while. */
  private wait(journey: Journey, group: GroupId): void {
    if (journey.ended) return;
    const session = this.sessionOf(group);
    this.journeys.wait(journey, group, session === undefined ? NO_SESSION : versionOf(session));
  }
}

/** Milliseconds between two attempts to learn what the root scope is. */
const FRESHEN_PAUSE_MS = 50;

/** Arrays and maps inside each other in what nodes send each other: more than a client may send. */
const FORWARDED_NESTING_MAX = 10_000;

const NO_SESSION = -1;

/** Another number means that another attempt may succeed. */
function versionOf({ roleVersion, readable }: GroupSession): number {
  return readable ? roleVersion * 2 : roleVersion * 2 + 1;
}

function keyOf({ request }: Journey): IdempotencyKey | null {
  const key = request.terms?.key ?? null;
  return key === null ? null : { user: request.user.id, ...key };
}

/** Tells requests of all nodes and groups from each other. */
function nameOf({ origin, epoch, sequence }: RequestIdentity, group: GroupId | null): string {
  return `${group} ${sequence} ${origin} ${epoch}`;
}

function hasValues(body: RequestBody): boolean {
  if (body.type === 'query') return body.vars !== null;
  return (Array.isArray(body.args) ? body.args.length : (body.args as ReadonlyMap<string, unknown>).size) > 0;
}

function replyOf(outcome: Answer): Reply {
  if (outcome.kind === 'value') return { ok: true, result: outcome.result, index: 0 };
  return { ok: false, error: outcome.error, index: 0 };
}

function staleReply(reply: Reply): Reply {
  return reply.ok ? { ...reply, stale: true } : reply;
}

/** What the client is told at the end of its journey. */
function replyAtEnd(end: End): Reply {
  if (end.kind === 'reply') return end.reply;
  const unknown = end.kind !== 'elsewhere' && end.unknown;
  return { ok: false, error: unknown ? OUTCOME_UNKNOWN : NO_LEADER };
}

/** What a client is told of something that was thrown. */
function answerTo(error: unknown): QueryError {
  if (error instanceof Doubt) return error.error;
  if (error instanceof QueryError) return error;
  throw error;
}

const LATE_UNKNOWN: End = { kind: 'late', unknown: true };

function nodeError(message: string): QueryError {
  return new QueryError(ErrorCode.NODE, message);
}

const TOO_SLOW = nodeError('other slow queries took too long to leave room for this one: try again');
const TOO_MANY = nodeError('too many changes wait for their answer: try again');
export const NO_LEADER = nodeError(
  'no majority of the nodes could be reached in time; nothing was changed: try again',
);
const OUTCOME_UNKNOWN = new QueryError(
  ErrorCode.TIMEOUT,
  'the change was not confirmed in time; it may or may not take effect',
);
const ANSWER_TOO_LARGE = new QueryError(
  ErrorCode.RESULT_TOO_LARGE,
  'the change was made before; its answer was too large to be kept',
);
const GONE = new QueryError(ErrorCode.LOOKUP, 'the collection was deleted');
