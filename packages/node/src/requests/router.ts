/**
 * Long because: the decisions about one request follow from each other, from `advance` to `settled`, and
 * stand in the order in which they are made.
 */
import {
  type Call,
  type Change,
  type Engine,
  ErrorCode,
  type Outcome,
  type PasswordHash,
  QueryError,
  type RestoreOrder,
  type RootEvent,
  type Target,
} from '@althing/engine';
import { type GroupId, type NodeId, type PreparedAnswer, ROOT_GROUP } from '../between/protocol.js';
import type { Calls } from '../calls/calls.js';
import type { GroupSession } from '../groups/group-session.js';
import type { FailedReply, Reply, Request, RequestBody, Respond } from '../groups/request.js';
import type { EngineMetrics } from '../telemetry/engine-metrics.js';
import { decodeBody } from './body.js';
import { Checks, dependsOnState, isLong, parsingMs, programOf, readsOf, StaleRefusal } from './checks.js';
import { decodeEmit, isEmit } from './forwarding/emits.js';
import { isShorterThan } from './forwarding/format.js';
import { Forwarder } from './forwarding/forwarder.js';
import { PendingRequest } from './forwarding/pending-request.js';
import { PendingRequests } from './forwarding/pending-requests.js';
import { NODE_DOWN } from './forwarding/refusals.js';
import { Sequences } from './forwarding/sequences.js';
import { type Answer, ASKED_ERROR, type Ask, type Course, FutureRunner, type More } from './future-runner.js';
import { HeldPrograms } from './held-programs.js';
import { type Begun, ImmediateReads } from './immediate-reads.js';
import { NamesBarrier } from './names-barrier.js';
import { noChange } from './parts.js';
import type { PasswordHasher } from './password.js';
import { clientNamesOf, hasClientName, Repetitions, veiled } from './repetitions.js';
import {
  failed,
  GONE,
  LATE_UNKNOWN,
  NO_LEADER,
  NOT_IN_TIME,
  replyAtEnd,
  replyOf,
  sealedReply,
  staleReply,
  TOO_MANY,
  TOO_SLOW,
} from './replies.js';
import { type Restore, restored } from './restoring.js';
import { SLOW_MS } from './run-costs.js';
import { Scheduler } from './scheduler.js';
import type { ChangedBy } from './task-runner.js';
import { Turns, waitsUnstoppable } from './turns.js';

/** Takes what ran long. */
export interface SlowReports {
  /** Milliseconds above which a request is told of. */
  readonly aboveMs: number;
  readonly report: (run: SlowRun) => void;
}

/** A request whose code ran long. */
export interface SlowRun {
  readonly request: Request;
  /** Milliseconds that its code ran on this node, and that it waited for whatever else. */
  readonly ranMs: number;
  readonly waitedMs: number;
  /** Things that it read from the disk. */
  readonly thingsRead: number;
}

export interface RouterOptions {
  readonly engine: Engine;
  readonly hasher: Pick<PasswordHasher, 'hash'>;
  readonly nodeId: NodeId;
  /** Which start of this node this is: later ones have larger numbers. */
  readonly incarnation: number;
  readonly calls: Calls;
  /** Whether this node is its whole cluster, for certain. */
  readonly alone: () => boolean;
  /** The session of a target's group; undefined for a collection that is not open on this node. */
  readonly session: (target: Target) => GroupSession | undefined;
  /**
   * How long a request may wait for a leader, for other nodes, or for its turn among slow queries, in
   * milliseconds.
   */
  readonly waitMs: number;
  /** Counts what happens. */
  readonly figures?: Pick<EngineMetrics, 'ran' | 'forwarded'>;
  /** Called for each request whose code ran here for longer than some milliseconds, when it has ended. */
  readonly slow?: SlowReports;
  /**
   * Called with what a request did to the root scope; `isKnown` says whether that is certain, or may yet come
   * to nothing.
   */
  readonly changed?: (request: ChangedBy, events: readonly RootEvent[], isKnown: boolean) => void;
  /** A clock in milliseconds. */
  readonly monotonic: () => number;
  /** Calls back after some milliseconds, unless it is called off by the function that it returns. */
  readonly delay: (ms: number, callback: () => void) => () => void;
  /** Calls back in the next turn of the event loop, when it was seen what has come in. */
  readonly soon: (callback: () => void) => void;
  /** Sends requests to the modules of this node; by default there are none. */
  readonly askModule?: Ask;
  /** Restores backups that this node has; by default there are none. */
  readonly restore?: Restore;
}

/**
 * Takes a request to where it runs.
 *
 * Each request is a pending one until it is answered: what may change something goes to the leader of its
 * group, under a name that makes it take effect once; what only reads runs here, as soon as this node is
 * known to have everything that was acknowledged before. What this node does not know of, it asks about
 * before it refuses a request for it. A node that is alone leads everything and knows everything, so nothing
 * waits there but for the log.
 */
export class Router {
  private readonly options: RouterOptions;
  private readonly checks: Checks;
  /** Decides what runs when, of all that runs on this thread. */
  readonly scheduler: Scheduler;
  private readonly turns: Turns;
  private readonly pendingRequests: PendingRequests;
  private readonly sequences = new Sequences();
  private readonly repetitions: Repetitions;
  private readonly forwarder: Forwarder;
  private readonly futures: FutureRunner;
  private readonly names: NamesBarrier;
  private readonly held = new HeldPrograms();
  private readonly immediate: ImmediateReads;
  /** Nodes that can't be reached. */
  private readonly down = new Set<NodeId>();
  /** Versions of the protocol that are spoken with other nodes. */
  private readonly protocols = new Map<NodeId, number>();

  constructor(options: RouterOptions) {
    this.options = options;
    const { engine, monotonic, delay, soon, waitMs, nodeId } = options;
    this.scheduler = new Scheduler({ now: monotonic, delay, soon, waitMaxMs: waitMs });
    this.turns = new Turns({
      scheduler: this.scheduler,
      advance: (pending) => this.advance(pending),
      expire: (pending) => this.refuse(pending, failed(TOO_SLOW)),
    });
    this.checks = new Checks({
      engine,
      nodeId,
      failedToPrepare: (userId, ms) => this.scheduler.ran(null, userId, ms),
      monotonic,
    });
    this.immediate = new ImmediateReads({
      engine,
      scheduler: this.scheduler,
      alone: options.alone,
      session: options.session,
      ran: (call, ms, outcome) => this.ran(call, ms, outcome),
      report: (request, ms, thingsRead, since) => this.reportSlow(request, ms, thingsRead, since),
      monotonic,
    });
    this.pendingRequests = new PendingRequests({
      monotonic,
      delay,
      advance: (pending) => this.advance(pending),
      expire: (pending) => {
        if (pending.asked && !pending.mayChange) {
          pending.end({ kind: 'reply', reply: failed(MODULE_SILENT) });
          return;
        }
        const unknown = pending.unknown || pending.called || pending.asked;
        const isHere = !unknown && !pending.asksMajority && pending.waitsFor === null;
        pending.end(isHere ? NOT_IN_TIME : { kind: 'late', unknown });
      },
    });
    this.repetitions = new Repetitions({
      nodeId,
      incarnation: options.incarnation,
      sequences: this.sequences,
      wait: (pending, group) => this.wait(pending, group),
      advance: (pending) => this.advance(pending),
    });
    this.forwarder = this.makeForwarder();
    this.names = new NamesBarrier({
      calls: options.calls,
      others: () => [...this.protocols.keys()].filter((node) => !this.down.has(node)),
      rootSession: () => this.rootSession,
      delay,
    });
    const { hasher } = options;
    this.futures = new FutureRunner({
      engine,
      hash: (password, saltKey) => hasher.hash(password, saltKey),
      session: (collection) => this.sessionOf(collection),
      ask: options.askModule ?? ((_, answer) => answer({ ok: false, error: NO_MODULES })),
      monotonic,
      delay,
    });
  }

  /** Repetitions that got the first one's answer. */
  get repeated(): number {
    return this.repetitions.count;
  }

  /** Requests that wait for something, of clients and of other nodes. */
  get busy(): number {
    return this.pendingRequests.size + this.futures.busy;
  }

  /** Requests in the lane of slow queries, and those that other nodes have. */
  get queues(): { readonly slow: number; readonly peer: number } {
    return { slow: this.scheduler.length, peer: this.forwarder.sent };
  }

  /**
   * Runs a request, now or later.
   *
   * @param begun when it came, by the router's clock
   * @returns whether its answer waits for nothing but events of the consensus side
   */
  handle(request: Request, respond: Respond, begun = this.options.monotonic()): boolean {
    const { readMs = 0 } = request;
    if (readMs > 0) this.scheduler.spend(readMs);
    const reply = this.immediate.answer(request, begun);
    if (reply === null) return this.handleOther(request, respond, begun);
    respond(reply, this.immediate.endedAt);
    return true;
  }

  /**
   * Puts off that a large body is read, where others have to be served before.
   *
   * @param read called when it may be read; never where nothing has to wait
   * @returns whether it is put off
   */
  readsLater(userId: number, bytes: number, read: () => void): boolean {
    return waitsUnstoppable(this.scheduler, userId, bytes * READING_MS, read);
  }

  /** As `handle`, for what is not answered at once. */
  private handleOther(request: Request, respond: Respond, begun: number): boolean {
    const { waitMs } = this.options;
    const pending = new PendingRequest({
      request,
      forwarded: null,
      group: null,
      deadline: begun + Math.min(request.waitMs ?? waitMs, waitMs),
      onEnd: (end) => {
        this.reportSlow(request, pending.ranMs, pending.thingsRead, begun);
        this.ended(pending);
        respond(replyAtEnd(end));
      },
    });
    const left = this.immediate.takeLeft();
    if (left.program !== null) this.held.hold(pending, left.program);
    if (left.begun === null) this.begin(pending, begun);
    else this.goOn(pending, left.begun);
    return !pending.needsMore && !pending.called && pending.waitsFor === null;
  }

  /** To be called when a session changed: it may lead now, or know who does. */
  sessionChanged(session: GroupSession): void {
    this.pendingRequests.groupChanged(session.id, versionOf(session));
  }

  /**
   * Resolves with true once this node has every change of the root scope that was acknowledged before this
   * call, or with false when the time for a request is over.
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
    const { engine, calls, incarnation, monotonic, delay } = this.options;
    return new Forwarder({
      calls,
      root: engine.root,
      rootSession: () => this.rootSession,
      sequences: this.sequences,
      protocolOf: (node) => this.protocols.get(node) ?? 0,
      incarnation,
      toMsgpack: (values) => engine.toMsgpack(values),
      decodeBody: (body) => this.decode(body),
      monotonic,
      delay,
      begin: (pending) => this.begin(pending),
      retry: (pending, group) => this.wait(pending, group),
      tried: (outcome) => this.options.figures?.forwarded(outcome),
      ended: (pending) => this.ended(pending),
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

  /** Sees to it that it is told what a call did to the root scope, as soon as that is decided. */
  private telling(request: Request, change: Change | null, respond: Respond): Respond {
    const events = change?.events;
    const { changed } = this.options;
    if (events === undefined || events.length === 0) return respond;
    const renames = events.some(({ event }) => RENAMING.has(event));
    return (reply) => {
      const isMade = reply.ok || reply.outcome === 'made';
      if (isMade || reply.outcome === 'unknown') changed?.(request, events, isMade);
      if (renames && reply.ok) this.names.await(this.indexOf(reply), () => respond(reply));
      else respond(reply);
    };
  }

  /** A position of the root log at which the change of a reply is applied. */
  private indexOf({ index = 0 }: Reply): number {
    return Math.max(index, this.rootSession.appliedIndex);
  }

  private ran(call: Call, ms: number, outcome: Outcome | null): void {
    const isOverrun = outcome?.kind === 'error' && outcome.error.code === ErrorCode.TIMEOUT;
    this.scheduler.ran(programOf(call), call.user.id, ms, isOverrun);
    this.options.figures?.ran(ms);
  }

  private reportSlow(request: Request, ranMs: number, thingsRead: number, since: number): void {
    const { slow, monotonic } = this.options;
    if (slow === undefined || ranMs <= slow.aboveMs) return;
    slow.report({ request, ranMs, waitedMs: Math.max(0, monotonic() - since - ranMs), thingsRead });
  }

  private begin(pending: PendingRequest, begun = this.options.monotonic()): void {
    pending.attemptedAt = begun;
    this.attempt(pending);
    // Most end at once, and need not be found again.
    if (!pending.ended) this.pendingRequests.add(pending);
  }

  /** Runs the futures of a call that has run by itself, and only reads. */
  private goOn(pending: PendingRequest, { call, first, session }: Begun): void {
    const done = (answer: Answer): void => {
      if (session === null) pending.end({ kind: 'reply', reply: replyOf(answer) });
      else session.settle(answer, (reply) => this.settled(pending, session, reply));
    };
    this.readOn(pending, call, first, session, done);
    if (!pending.ended) this.pendingRequests.add(pending);
  }

  private ended(pending: PendingRequest): void {
    this.pendingRequests.delete(pending);
    this.held.take(pending);
    if (pending.sequence !== 0 && pending.group !== null) {
      this.sequences.release(pending.group, pending.sequence);
    }
    this.repetitions.ended(pending);
  }

  /** Takes a pending request as far as it gets now. */
  private advance(pending: PendingRequest): void {
    if (pending.ended) return;
    // Texts that take long to compile count as long queries, too.
    pending.attemptedAt = this.options.monotonic();
    this.attempt(pending);
  }

  private attempt(pending: PendingRequest): void {
    try {
      this.step(pending);
    } catch (error) {
      if (error instanceof StaleRefusal) this.resolve(pending, error);
      else this.refuse(pending, failed(answerTo(error)));
    }
  }

  private step(pending: PendingRequest): void {
    if (pending.request.client.gone && !pending.unknown) {
      pending.end({ kind: 'late', unknown: false });
      return;
    }
    const { request } = pending;
    const target = this.targetOf(pending);
    const node = this.checks.otherNodeOf(request);
    if (node !== null) {
      if (this.down.has(node)) this.refuse(pending, NODE_DOWN);
      else this.forwarder.sendToNode(pending, node);
      return;
    }
    const scope = this.options.engine.scope(target);
    const session = target === 'node' ? null : this.options.session(target);
    const outage = session?.outage ?? null;
    if (outage !== null) {
      this.refuse(pending, failed(outage));
      return;
    }
    if (scope === undefined || session === undefined || session?.readable === false) {
      this.wait(pending, typeof target === 'number' ? target : ROOT_GROUP);
      return;
    }
    if (session !== null) {
      pending.roleGroup = session.id;
      pending.roleVersion = versionOf(session);
    }
    if (isLong(request) && this.turns.waits(pending, null, parsingMs(request))) return;
    const call = this.checks.callOf(request, scope, target, pending.hashes, this.held.take(pending));
    if (session === null || !dependsOnState(call)) this.runHere(pending, call);
    else if (pending.unknown || pending.changesLater || this.takesLeader(pending, call))
      this.write(pending, call, session);
    else this.read(pending, call, session);
  }

  /** Whether a call makes a change, or something else that only the leader can do. */
  private takesLeader(pending: PendingRequest, call: Call): boolean {
    const { engine } = this.options;
    return (engine.mayWrite(call) || engine.mayEmit(call)) && !this.mayRestore(pending, call);
  }

  /** Whether a call may order here that a backup is restored, and seems to do so. */
  private mayRestore({ forwarded, changesLater }: PendingRequest, call: Call): boolean {
    const { engine, restore } = this.options;
    return restore !== undefined && forwarded === null && !changesLater && engine.mayRestore(call);
  }

  /** The state that a pending request is about: always the same, once it was sent there. */
  private targetOf({ request, group }: PendingRequest): Target {
    if (group === null || request.scope.kind === 'node') return this.checks.targetOf(request);
    if (group === ROOT_GROUP) return 'thingsdb';
    if (this.options.engine.root.collections.has(group)) return group;
    throw new StaleRefusal(GONE, ROOT_GROUP);
  }

  /** Makes sure that a refusal does not come from a state that lags behind. */
  private resolve(pending: PendingRequest, { error, about }: StaleRefusal): void {
    const session = this.sessionOf(about);
    const isFinal =
      session === undefined || this.isFresh(pending, session) || pending.request.terms?.stale === true;
    if (isFinal && error === GONE) this.begunAnew(pending);
    else if (isFinal) this.refuse(pending, failed(error));
    else this.freshen(pending, session);
  }

  /**
   * The collection that a request was bound to is gone for good: its name is looked up anew, by the node that the
   * client asked. What an attempt may have done there before, nobody will find out.
   */
  private begunAnew(pending: PendingRequest): void {
    if (pending.unknown) {
      pending.end(LATE_UNKNOWN);
      return;
    }
    if (pending.forwarded !== null) {
      pending.end({ kind: 'elsewhere', leader: 0 });
      return;
    }
    if (pending.sequence !== 0 && pending.group !== null)
      this.sequences.release(pending.group, pending.sequence);
    pending.sequence = 0;
    pending.group = null;
    this.advance(pending);
  }

  /**
   * Ends a pending request that can't go on. If a change may have been made before, that has to be found out
   * first.
   */
  private refuse(pending: PendingRequest, refusal: FailedReply): void {
    if (pending.unknown) this.decide(pending, refusal);
    else pending.end({ kind: 'reply', reply: refusal });
  }

  /**
   * Ends a pending request with a refusal once it is certain that no attempt made the change, or will: the
   * leader, whose state holds all that was proposed before, knows nothing of it. If it does, that is the
   * answer.
   */
  private decide(pending: PendingRequest, refusal: FailedReply): void {
    const { group } = pending;
    const session = group === null ? undefined : this.sessionOf(group);
    if (group === null || session === undefined) {
      if (group !== null && this.options.engine.root.collections.has(group)) this.wait(pending, group);
      else if (group === null) pending.end(LATE_UNKNOWN);
      else this.resolve(pending, new StaleRefusal(GONE, ROOT_GROUP));
    } else if (!session.leading) {
      this.forward(pending, session);
    } else if (this.repetitions.isKnown(pending, session)) {
      // It has ended, or waits.
    } else if (needsSeal(pending, session)) {
      this.seal(pending, session, refusal.error);
    } else {
      const version = session.roleVersion;
      const isComplete = session.proposes;
      session.readIndex((ok) => {
        if (!ok || !isComplete || version !== session.roleVersion) {
          this.again(pending, session);
          return;
        }
        pending.settle();
        pending.end({ kind: 'reply', reply: refusal });
      });
    }
  }

  /**
   * Puts a refusal into the log before it is told. A copy of the request may still be on its way to a leader,
   * where it might succeed: then it finds that the request has failed. A client that repeats it begins anew.
   */
  private seal(pending: PendingRequest, session: GroupSession, error: QueryError): void {
    if (session.refusal() !== null) {
      this.again(pending, session);
      return;
    }
    pending.proposed = true;
    pending.group ??= session.id;
    const names = { request: this.repetitions.identityOf(pending, session.id), key: null, client: null };
    const sealed = sealedReply(error);
    const settled = (reply: Reply): void => {
      if (reply === sealed) pending.seal();
      this.decided(pending, session, reply);
    };
    session.propose(noChange(session.group), sealed, settled, names);
  }

  /** Whether the state of a group holds everything that was acknowledged before the request came. */
  private isFresh(pending: PendingRequest, session: GroupSession): boolean {
    return pending.isFresh(session.id) || (session.leading && this.options.alone());
  }

  /** Goes on once the state of a group holds everything that was acknowledged before. */
  private freshen(pending: PendingRequest, session: GroupSession): void {
    pending.asksMajority = true;
    session.readIndex((ok) => {
      pending.asksMajority = false;
      if (ok) pending.noteFresh(session.id);
      if (ok) this.advance(pending);
      else this.wait(pending, session.id);
    });
  }

  /**
   * Lets a query of the root scope run again once this node has all that was acknowledged in a collection.
   */
  private freshenCollection(pending: PendingRequest, collection: GroupId): void {
    pending.looksElsewhere = true;
    const session = this.sessionOf(collection);
    if (session !== undefined && pending.request.terms?.stale !== true) {
      this.freshen(pending, session);
      return;
    }
    pending.noteFresh(collection);
    this.advance(pending);
  }

  /** Runs what depends on no group. */
  private runHere(pending: PendingRequest, call: Call): void {
    const outcome = this.run(pending, call);
    if (outcome === null) return;
    const done = (answer: Answer): void => pending.end({ kind: 'reply', reply: replyOf(answer) });
    if (outcome.kind === 'more') this.readOn(pending, call, outcome, null, done);
    else done(outcome);
  }

  private read(pending: PendingRequest, call: Call, session: GroupSession): void {
    const { stale = false, minIndex = 0 } = pending.request.terms ?? {};
    if (!stale && !this.isFresh(pending, session)) {
      if (call.body.kind === 'query') this.held.hold(pending, call.body.prepared);
      this.freshen(pending, session);
      return;
    }
    if (session.appliedIndex < minIndex) {
      session.whenApplied(minIndex, () => this.advance(pending));
      return;
    }
    const mayRestore = this.mayRestore(pending, call);
    if (mayRestore && this.repetitions.isKnown(pending, session)) return;
    const outcome = this.run(pending, mayRestore ? { ...call, mayRestore } : call);
    if (outcome === null) return;
    if (outcome.kind === 'value' && outcome.restore !== undefined) {
      this.restore(pending, outcome, outcome.restore);
      return;
    }
    const settled = (reply: Reply): void => this.settled(pending, session, stale ? staleReply(reply) : reply);
    if (outcome.kind === 'more') {
      this.readOn(pending, call, outcome, session, (answer) => session.settle(answer, settled));
      return;
    }
    const now = session.replyNow(outcome);
    if (now === null) session.settle(outcome, settled);
    else settled(now);
  }

  /** Has a backup restored, for which a query asked that has changed nothing; its answer has no deadline. */
  private restore(
    pending: PendingRequest,
    { result }: Answer & { readonly kind: 'value' },
    order: RestoreOrder,
  ): void {
    const { restore } = this.options;
    if (restore === undefined) throw new Error('nothing restores backups here');
    const { user, id = '' } = pending.request;
    pending.needsMore = true;
    pending.deadline = Number.POSITIVE_INFINITY;
    void restored(restore, { order, user, id, names: clientNamesOf(pending), result }).then((reply) =>
      pending.end({ kind: 'reply', reply }),
    );
  }

  /**
   * Runs the futures of a call that only reads. If one makes a change, all of it runs again, where that can
   * be.
   */
  private readOn(
    pending: PendingRequest,
    call: Call,
    first: More,
    session: GroupSession | null,
    done: (answer: Answer) => void,
  ): void {
    this.futures.start(first, {
      ...this.courseOf(pending, call, session),
      mayChange: false,
      isNamed: () => false,
      begins: () => null,
      done: (end) => {
        if (end.kind === 'needs_change') {
          this.runOnLeader(pending);
        } else if (end.kind !== 'lost') {
          done(end);
        } else if (session === null) {
          pending.end({ kind: 'late', unknown: false });
        } else {
          this.again(pending, session);
        }
      },
    });
  }

  private courseOf(
    pending: PendingRequest,
    call: Call,
    session: GroupSession | null,
  ): Pick<Course, 'session' | 'saltKey' | 'asks' | 'telling' | 'isGone' | 'ran' | 'waits'> {
    // They may take more than one turn of the event loop.
    pending.needsMore = true;
    return {
      session,
      saltKey: pending.request.saltKey ?? null,
      telling: (change, told) => this.telling(pending.request, change, told),
      asks: () => {
        pending.asked = true;
      },
      isGone: () => pending.ended,
      ran: (ms) => this.ranFutures(pending, call, ms),
      waits: (knownMs, goOn) => waitsUnstoppable(this.scheduler, call.user.id, knownMs, goOn),
    };
  }

  /** Runs the futures of a call on the leader. */
  private writeOn(pending: PendingRequest, call: Call, first: More, session: GroupSession): void {
    pending.mayChange = true;
    let finished = (): void => undefined;
    const wasUnknown = pending.unknown;
    this.futures.start(first, {
      ...this.courseOf(pending, call, session),
      mayChange: true,
      isNamed: () => this.repetitions.namesOf(pending, session) !== null,
      begins: () => {
        pending.unknown = true;
        pending.proposed = true;
        pending.group ??= session.id;
        const names = this.repetitions.namesOf(pending, session);
        finished = this.repetitions.begun(session.id, names);
        // It is known only when all futures are done whether there is a password in the request.
        return names === null ? null : { ...names, key: veiled(names.key), client: veiled(names.client) };
      },
      done: (end, parts) => {
        if (parts.count === 0) {
          // The first part was refused, if there was one.
          finished();
          pending.proposed = false;
          pending.unknown = wasUnknown;
          if (end.kind === 'lost' || end.kind === 'needs_change') this.again(pending, session);
          else this.answer(pending, session, end);
          return;
        }
        const settled = (reply: Reply): void => {
          finished();
          // The log holds that it was begun, and what came of it.
          if (parts.outcome === 'none' && (reply.ok || reply.outcome !== 'unknown')) pending.seal();
          this.decided(pending, session, reply);
        };
        if (end.kind === 'lost' || end.kind === 'needs_change') settled(parts.interrupted);
        else parts.settle(end, this.repetitions.namesOf(pending, session), settled);
      },
    });
  }

  private write(pending: PendingRequest, call: Call, session: GroupSession): void {
    if (!session.leading) {
      this.forward(pending, session);
      return;
    }
    if (!this.takesName(pending, session.id) || this.repetitions.isKnown(pending, session)) return;
    const refusal = session.refusal();
    if (refusal !== null && session.awaitsEpoch && !this.options.alone()) {
      this.wait(pending, session.id);
      return;
    }
    if (refusal !== null) {
      this.refuse(pending, failed(refusal));
      return;
    }
    const unnamed = session.nameRefusal(clientNamesOf(pending));
    if (unnamed !== null) {
      this.refuse(pending, failed(unnamed));
      return;
    }
    call.mayEmit = true;
    const outcome = this.run(pending, call);
    if (outcome === null) return;
    if (outcome.kind === 'more') this.writeOn(pending, call, outcome, session);
    else this.answer(pending, session, outcome);
  }

  /** Answers what ran on the leader as one change, or none. */
  private answer(pending: PendingRequest, session: GroupSession, outcome: Answer): void {
    if (outcome.kind === 'error' && needsSeal(pending, session)) {
      this.seal(pending, session, outcome.error);
      return;
    }
    if (outcome.kind === 'error' || (outcome.change === null && !pending.unknown)) {
      this.settleUnchanged(pending, session, outcome);
      return;
    }
    const wasUnknown = pending.unknown;
    pending.unknown = true;
    pending.proposed = true;
    pending.group ??= session.id;
    // After an attempt that may yet come to a leader a second time, also that nothing was changed has to be
    // in the log.
    const change = outcome.change ?? noChange(session.group);
    const early = wasUnknown ? null : earlyAnswerTo(pending, outcome);
    const settled = this.telling(pending.request, change, (reply) => {
      // It was not proposed, or did not get as far as that.
      if (!reply.ok && reply.outcome !== 'unknown') pending.unknown = wasUnknown;
      if (reply.ok && early !== null) pending.early?.noteAnswered();
      this.decided(pending, session, reply);
    });
    session.settle({ ...outcome, change }, settled, this.repetitions.namesOf(pending, session), early);
  }

  /** The change of a pending request was committed, or lost. */
  private decided(pending: PendingRequest, session: GroupSession, reply: Reply): void {
    pending.proposed = false;
    if (!pending.ended) {
      this.settled(pending, session, reply);
      return;
    }
    this.repetitions.decided(pending);
  }

  /**
   * Answers what changed nothing, though it might have. That is a read: right only if this node led when it
   * ran, and what it saw is committed.
   */
  private settleUnchanged(pending: PendingRequest, session: GroupSession, outcome: Answer): void {
    const version = session.roleVersion;
    let settled: Reply | null = null;
    let confirmed = false;
    pending.asksMajority = true;
    const finish = (): void => {
      if (settled === null || !confirmed) return;
      pending.asksMajority = false;
      if (version !== session.roleVersion || (!settled.ok && settled.lost === true)) {
        this.again(pending, session);
        return;
      }
      // The leader had looked for earlier attempts before it ran this one.
      pending.settle();
      pending.end({ kind: 'reply', reply: settled });
    };
    session.settle(outcome, (reply) => {
      settled = reply;
      finish();
    });
    session.readIndex((ok) => {
      confirmed = true;
      if (!ok) settled = { ok: false, error: NO_LEADER, lost: true };
      finish();
    });
  }

  /** An answer came, or the group's leadership was lost before. */
  private settled(pending: PendingRequest, session: GroupSession, reply: Reply): void {
    const canRepeat = pending.forwarded !== null || pending.sequence !== 0 || hasClientName(pending);
    const isFinal = reply.ok || reply.outcome === 'made' || (reply.outcome === 'unknown' && !canRepeat);
    if (isFinal) pending.end({ kind: 'reply', reply });
    else if (reply.lost === true) this.again(pending, session);
    else this.refuse(pending, reply);
  }

  private again(pending: PendingRequest, session: GroupSession): void {
    if (pending.asked) pending.end({ kind: 'reply', reply: failed(ASKED_ERROR) });
    else if (pending.forwarded === null) this.wait(pending, session.id);
    else pending.end({ kind: 'lost', unknown: pending.unknown });
  }

  /** Sends a change to the leader of its group. */
  private forward(pending: PendingRequest, session: GroupSession): void {
    const { leader, id } = session;
    if (pending.forwarded !== null) {
      pending.end({ kind: 'elsewhere', leader });
    } else if (leader === 0 || leader === this.options.nodeId || this.down.has(leader)) {
      this.wait(pending, id);
    } else if (this.takesName(pending, id)) {
      this.send(pending, id, leader);
    }
  }

  /**
   * Sees to it that a change of this node's client has a name in its group, unless nothing could take it
   * twice.
   *
   * @returns false when no more can be given out; the pending request has ended then
   */
  private takesName(pending: PendingRequest, group: GroupId): boolean {
    if (pending.forwarded !== null || pending.sequence !== 0 || this.options.alone()) return true;
    pending.sequence = this.sequences.take(group);
    if (pending.sequence === 0) {
      this.refuse(pending, failed(TOO_MANY));
      return false;
    }
    pending.group = group;
    return true;
  }

  /** Runs a call; null when it does not run now. */
  private run(pending: PendingRequest, call: Call): Answer | More | null {
    const { engine, monotonic } = this.options;
    if (pending.asked) {
      this.refuse(pending, failed(ASKED_ERROR));
      return null;
    }
    if (this.turns.waits(pending, programOf(call))) return null;
    pending.request.logs?.clear();
    const { sliceMs } = pending;
    const limited = sliceMs > 0 && Number.isFinite(sliceMs) ? { ...call, sliceMs } : call;
    const reads = readsOf(call);
    const outcome = engine.run(pending.looksElsewhere ? { ...limited, fresh: pending } : limited);
    const ms = monotonic() - pending.attemptedAt;
    pending.ranMs += ms;
    pending.thingsRead += readsOf(call) - reads;
    if (outcome.kind === 'slice_over') {
      this.options.figures?.ran(ms);
      this.turns.goesToLane(pending, programOf(call), ms);
      return null;
    }
    this.ran(call, ms, outcome);
    if (outcome.kind === 'asks' || outcome.kind === 'waits')
      throw new Error(`only what is left of a call ends with ${outcome.kind}`);
    if (outcome.kind === 'needs_change') this.runOnLeader(pending);
    else if (outcome.kind === 'hash') this.hash(pending, outcome.password);
    else if (outcome.kind === 'behind') this.freshenCollection(pending, outcome.collection);
    else return outcome;
    return null;
  }

  /** Lets a call run again, all of it, where it may do what it is about to do. */
  private runOnLeader(pending: PendingRequest): void {
    pending.changesLater = true;
    this.advance(pending);
  }

  /** Futures ran: they tell nothing of how long the statements of their program take. */
  private ranFutures(pending: PendingRequest, call: Call, ms: number): void {
    pending.ranMs += ms;
    this.scheduler.ran(ms >= SLOW_MS ? programOf(call) : null, call.user.id, ms);
    this.options.figures?.ran(ms);
  }

  /** Sends a change to its leader. What came as JSON takes time to be written for it. */
  private send(pending: PendingRequest, group: GroupId, leader: NodeId): void {
    const { monotonic } = this.options;
    const { request } = pending;
    const isLarge = !isShorterThan(request.body, LARGE_BYTES);
    if (isLarge && this.turns.waits(pending, null)) return;
    const begun = monotonic();
    this.forwarder.send(pending, group, leader);
    if (isLarge) this.scheduler.ran(null, request.user.id, monotonic() - begun);
  }

  /** Computes the hash of a password for which a call asked, and lets the call run again. */
  private hash(pending: PendingRequest, password: string): void {
    pending.needsMore = true;
    const hashed = (hash: PasswordHash): void => {
      pending.hashes ??= new Map();
      pending.hashes.set(password, hash);
      this.advance(pending);
    };
    const error = new QueryError(ErrorCode.NODE, 'too many passwords wait to be hashed');
    this.options.hasher
      .hash(password, pending.request.saltKey)
      .then(hashed, () => this.refuse(pending, failed(error)));
  }

  private decode(body: Buffer): RequestBody {
    if (isEmit(body)) return decodeEmit(body);
    const { monotonic } = this.options;
    const begun = monotonic();
    const decoded = decodeBody(body, 'msgpack', { msgpackNestingMax: FORWARDED_NESTING_MAX });
    this.scheduler.spend(monotonic() - begun);
    return decoded;
  }

  /** Tries again when the roles in a group changed, or after a while. */
  private wait(pending: PendingRequest, group: GroupId): void {
    if (pending.ended) return;
    const session = this.sessionOf(group);
    this.pendingRequests.wait(pending, group, session === undefined ? NO_SESSION : versionOf(session));
  }
}

/** Milliseconds between two attempts to learn what the root scope is. */
const FRESHEN_PAUSE_MS = 50;

/** Changes after which the name of a collection means something else, or nothing. */
const RENAMING: ReadonlySet<RootEvent['event']> = new Set(['collection_deleted', 'collection_renamed']);

/** Arrays and maps inside each other in what nodes send each other: more than a client may send. */
const FORWARDED_NESTING_MAX = 10_000;

/** About how many milliseconds it takes to look through a byte of a body. */
const READING_MS = 8e-6;

/** Bytes of values from which on it takes time to write them anew. */
const LARGE_BYTES = 65_536;

const MODULE_SILENT = new QueryError(
  ErrorCode.CANCELLED,
  'no answer of a module came within request_timeout_ms; nothing was changed',
);

const NO_MODULES = new QueryError(ErrorCode.OPERATION, 'this node runs no modules');

const NO_SESSION = -1;

/**
 * The answer to the node that forwarded a request, to leave as soon as its change is committed; null where this node
 * has something to tell first.
 */
function earlyAnswerTo(
  { early }: PendingRequest,
  { change, result }: Extract<Answer, { readonly kind: 'value' }>,
): PreparedAnswer | null {
  if (early === null || change === null) return null;
  const { events, collectionEvents, roomEvents = [] } = change;
  if (events.length > 0 || collectionEvents.length > 0 || roomEvents.length > 0) return null;
  return early.prepare(result);
}

/** Whether a refusal is true only once the log holds it. */
function needsSeal(pending: PendingRequest, session: GroupSession): boolean {
  return pending.unknown && pending.hasCopies && session.keepsRefusals;
}

/** Another number means that another attempt may succeed. */
function versionOf({ roleVersion, readable }: GroupSession): number {
  return readable ? roleVersion * 2 : roleVersion * 2 + 1;
}

/** The answer to a client for something that was thrown. */
function answerTo(error: unknown): QueryError {
  if (error instanceof StaleRefusal) return error.error;
  if (error instanceof QueryError) return error;
  throw error;
}
