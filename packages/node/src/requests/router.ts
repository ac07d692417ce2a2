import { type Call, type Prepared, QueryError, type Target } from '@althing/engine';
import type { Clock } from '../base/clock.js';
import { type GroupId, type NodeId, ROOT_GROUP } from '../between/protocol.js';
import type { Calls } from '../calls/calls.js';
import type { GroupSession } from '../groups/group-session.js';
import type { FailedReply, ProgramBody, Request, Respond } from '../groups/request.js';
import type { EngineMetrics } from '../telemetry/engine-metrics.js';
import { Checks, dependsOnState, isLong, parsingMs, StaleRefusal } from './checks.js';
import { Driver, type DriverOptions } from './driver.js';
import { Forwarder } from './forward.js';
import { decodeForwarded, isShorterThan, readForwarded } from './forwarded-body.js';
import { HeldPrograms } from './held-programs.js';
import { Leader } from './leader.js';
import type { PasswordHasher } from './password.js';
import { PendingRequests } from './pending-requests.js';
import { PresentRequests } from './present-requests.js';
import { Reader, type ReaderOptions } from './reader.js';
import { Repetitions, type RepetitionsOptions } from './repetitions.js';
import { failed, GONE, LATE_UNKNOWN, MODULE_SILENT, NODE_DOWN, NOT_IN_TIME, replyAtEnd } from './replies.js';
import { type OnEnd, PendingRequest, type RequestEnd, type RequestOwner } from './request.js';
import type { RequestFigures } from './request-figures.js';
import { RootReports, type RootReportsOptions } from './root-reports.js';
import { routeCall, routeToLeader, routeToState, versionOf } from './route.js';
import { Scheduler } from './scheduler.js';
import { Sequences } from './sequences.js';
import { reportSlow, type SlowReports } from './slow-reports.js';
import { timed } from './timing.js';
import { UserBudgets } from './user-budgets.js';

export interface RouterOptions
  extends Pick<RepetitionsOptions, 'nodeId' | 'incarnation'>,
    Pick<DriverOptions, 'engine' | 'askModule' | 'positions'>,
    Pick<ReaderOptions, 'alone' | 'restore' | 'snapshots'>,
    Pick<RootReportsOptions, 'changed'> {
  readonly hasher: Pick<PasswordHasher, 'hash'>;
  readonly calls: Calls;
  /** The session of a target's group; undefined for a collection that is not open on this node. */
  readonly session: (target: Target) => GroupSession | undefined;
  /** Longest wait of a request for a leader, for other nodes, or for its turn among slow queries, in milliseconds. */
  readonly waitMs: number;
  /** Counts what happens. */
  readonly figures?: Pick<EngineMetrics, 'ran' | 'forwarded'> | undefined;
  /** Counts what ran here, by what it was. */
  readonly runs?: Pick<RequestFigures, 'note'> | undefined;
  /** Called for each request whose code ran here for longer than some milliseconds, when it has ended. */
  readonly slow?: SlowReports | undefined;
  /** `soon` calls back in the next turn of the event loop, when it was seen what has come in. */
  readonly clock: Pick<Clock, 'now' | 'after'> & { readonly soon: (callback: () => void) => void };
  /** Sends what goes to the consensus thread and need not wait for more. */
  readonly sendReady: () => void;
}

/**
 * Takes a request to where it runs (`route.ts`), and to its answer.
 *
 * A call that may change something goes to the leader of its group, under a name that makes it take effect once (`leader.ts`); a read runs here, as
 * soon as this node is known to have everything that was acknowledged before. A request is refused for what this node does not know of once a
 * majority has confirmed that there is none. A node that is alone leads everything and knows everything: nothing waits there but for the log.
 */
export class Router implements RequestOwner {
  private readonly checks: Checks;
  /** Decides what runs when, of all that runs on this thread. */
  readonly scheduler: Scheduler;
  readonly driver: Driver;
  readonly reports: RootReports;
  /** The requests that are not answered. */
  readonly present: PresentRequests;
  private readonly repetitions: Repetitions;
  private readonly pendingRequests: PendingRequests;
  private readonly sequences = new Sequences();
  private readonly forwarder: Forwarder;
  private readonly leader: Leader;
  private readonly reader: Reader;
  private readonly held = new HeldPrograms();
  private readonly budgets: UserBudgets;
  readonly nodeId: NodeId;
  /** Nodes that can't be reached. */
  readonly down = new Set<NodeId>();
  /** Other nodes that could be reached once. */
  private readonly others = new Set<NodeId>();

  constructor(private readonly options: RouterOptions) {
    const { engine, clock, nodeId, incarnation, calls, alone, waitMs } = options;
    const { askModule, figures, hasher, changed, restore, positions } = options;
    const { sequences } = this;
    const session = (group: GroupId): GroupSession | undefined => this.sessionOf(group);
    this.nodeId = nodeId;
    this.scheduler = new Scheduler({
      now: clock.now,
      delay: clock.after,
      soon: clock.soon,
      waitMaxMs: waitMs,
      sendReady: options.sendReady,
      owesAnswers: () => this.pendingRequests.all().some(({ isOwed }) => isOwed),
    });
    this.budgets = new UserBudgets(engine.root, clock.now);
    this.checks = new Checks({ engine, nodeId, monotonic: clock.now });
    this.driver = new Driver({
      engine,
      hash: (password, saltKey) => hasher.hash(password, saltKey),
      session,
      askModule,
      positions,
      scheduler: this.scheduler,
      clock,
      ...(figures === undefined ? {} : { ran: (ms) => figures.ran(ms) }),
    });
    this.reports = new RootReports({
      calls,
      others: () => [...this.others].filter((node) => !this.down.has(node)),
      rootSession: () => this.rootSession,
      clock,
      changed,
    });
    this.pendingRequests = new PendingRequests(clock, (pending) => this.expire(pending));
    this.present = new PresentRequests(this.pendingRequests, engine.root, clock.now);
    this.repetitions = new Repetitions({ nodeId, incarnation, sequences });
    this.leader = new Leader({
      driver: this.driver,
      repetitions: this.repetitions,
      sequences,
      reports: this.reports,
      alone,
      session,
      toLeader: (pending, group) => this.toLeader(pending, group),
      noGroup: (pending, group) => this.noGroup(pending, group),
    });
    this.reader = new Reader({
      engine,
      driver: this.driver,
      leader: this.leader,
      repetitions: this.repetitions,
      reports: this.reports,
      held: this.held,
      clock,
      alone,
      restore,
      rootSession: () => this.rootSession,
      snapshots: options.snapshots,
    });
    this.forwarder = new Forwarder({
      calls,
      root: engine.root,
      rootSession: () => this.rootSession,
      sequences,
      incarnation,
      toMsgpack: (values) => engine.toMsgpack(values),
      decodeBody: (body, userId) => decodeForwarded(body, (program) => this.decode(program, userId)),
      readsLater: (userId, bytes, read) => this.readsLater(userId, bytes, read),
      clock,
      owner: this,
      begin: (pending) => this.begin(pending, clock.now()),
      tried: (outcome) => figures?.forwarded(outcome),
    });
  }

  /** Repetitions that got the first one's answer. */
  get repeated(): number {
    return this.repetitions.count;
  }

  /** Requests that wait for something, of clients and of other nodes. */
  get busy(): number {
    return this.pendingRequests.size + this.driver.busy;
  }

  /** Requests in the lane of slow queries, and those that other nodes have. */
  get queues(): { readonly slow: number; readonly peer: number } {
    return { slow: this.scheduler.length, peer: this.forwarder.sent };
  }

  /**
   * Carries out a request of a client, now or later.
   *
   * @param begun when it came, by the router's clock
   * @returns whether its answer waits for nothing but events of the consensus side
   */
  handle(request: Request, respond: Respond, begun = this.options.clock.now()): boolean {
    const { waitMs } = this.options;
    if (request.readMs) this.scheduler.read(request.user.id, request.readMs);
    const deadline = begun + Math.min(request.waitMs ?? waitMs, waitMs);
    const pending = new PendingRequest(this, request, begun, deadline, this.answer, null, respond);
    this.begin(pending, begun);
    return pending.waitsForConsensus;
  }

  /** Made once, and not for each request. */
  private readonly answer: OnEnd = (end, pending, now) => {
    const { slow, clock } = this.options;
    if (slow !== undefined) reportSlow(slow, pending, clock.now);
    pending.respond?.(timed(replyAtEnd(end), pending, clock, now), now);
  };

  /**
   * Puts off that a large body is read, where others have to be served before.
   *
   * @param read called when it may be read; never where nothing has to wait
   * @returns whether it is put off
   */
  readsLater(userId: number, bytes: number, read: () => void): boolean {
    return this.scheduler.defersUnstoppable(userId, bytes * READING_MS, read);
  }

  /** To be called when a session changed: it may lead now, or know who does. */
  sessionChanged(session: GroupSession): void {
    this.pendingRequests.groupChanged(session.id, versionOf(session));
  }

  /** Resolves with true once this node has every change of the root scope that was acknowledged before, with false at the end of the time. */
  freshenRoot(): Promise<boolean> {
    return this.reader.freshen(this.rootSession, this.options.waitMs);
  }

  /** Another node can be reached, or can't any more. */
  peerChanged(node: NodeId, up: boolean): void {
    if (up) this.down.delete(node);
    else this.down.add(node);
    this.others.add(node);
  }

  private get rootSession(): GroupSession {
    const session = this.options.session('thingsdb');
    if (session === undefined) throw new Error('the root group is not open');
    return session;
  }

  private sessionOf(group: GroupId): GroupSession | undefined {
    return this.options.session(group === ROOT_GROUP ? 'thingsdb' : group);
  }

  private begin(pending: PendingRequest, begun: number): void {
    pending.chargedUntil = begun;
    pending.hasWaited = this.scheduler.isCatchingUp;
    const refusal = this.budgets.refusalOf(pending);
    if (refusal === null) this.attempt(pending);
    else this.leader.refuse(pending, refusal);
    // Most end at once, and need not be found again.
    if (!pending.isAnswered) this.pendingRequests.add(pending);
  }

  advance(pending: PendingRequest): void {
    if (!pending.resume()) return;
    pending.chargedUntil = this.options.clock.now();
    this.attempt(pending);
  }

  wait(pending: PendingRequest, group: GroupId): void {
    if (!pending.resume()) return;
    const session = this.sessionOf(group);
    this.pendingRequests.wait(pending, group, session === undefined ? NO_SESSION : versionOf(session));
  }

  refuse(pending: PendingRequest, refusal: FailedReply): void {
    if (pending.resume()) this.leader.refuse(pending, refusal);
  }

  ended(pending: PendingRequest, end: RequestEnd, now?: number): void {
    this.options.runs?.note(pending, end, now);
    this.budgets.spend(pending);
    if (pending.place !== 0) this.pendingRequests.delete(pending);
    this.held.take(pending);
    this.releaseSequence(pending);
    this.repetitions.answered(pending);
  }

  private releaseSequence({ sequence, group }: PendingRequest): void {
    if (sequence !== 0 && group !== null) this.sequences.release(group, sequence);
  }

  /** Ends a request whose deadline passed. */
  private expire(pending: PendingRequest): void {
    const { state, doubt, hasActed } = pending;
    if (hasActed && state.kind === 'running' && !state.onLeader) {
      pending.end(MODULE_SILENT);
      return;
    }
    const unknown = doubt !== 'none' || (state.kind === 'sent' && !pending.isDryRun) || hasActed;
    const isHere = !unknown && state.kind !== 'confirming' && state.kind !== 'waiting';
    pending.end(isHere ? NOT_IN_TIME : { kind: 'late', unknown });
  }

  private attempt(pending: PendingRequest): void {
    try {
      this.step(pending);
    } catch (error) {
      if (error instanceof StaleRefusal) this.resolve(pending, error);
      else if (error instanceof QueryError) {
        this.leader.refuse(pending, failed(error));
        this.driver.charge(pending);
      } else throw error;
    }
    // A long text takes its time also where it does not run now, or is no program.
    if (isLong(pending.request)) this.driver.charge(pending);
  }

  private step(pending: PendingRequest): void {
    const { request } = pending;
    if (pending.isUnwanted) {
      pending.end({ kind: 'late', unknown: false });
      return;
    }
    const target = this.targetOf(pending);
    const node = this.checks.otherNodeOf(request);
    if (node !== null) {
      if (this.down.has(node)) this.leader.refuse(pending, NODE_DOWN);
      else this.forwarder.sendToNode(pending, node);
      return;
    }
    const session = target === 'node' ? null : this.options.session(target);
    const scope = this.options.engine.scope(target);
    const early = routeToState(session);
    if (early?.kind === 'refuse') this.leader.refuse(pending, failed(early.error));
    else if (early !== null || session === undefined || scope === undefined)
      this.wait(pending, typeof target === 'number' ? target : ROOT_GROUP);
    else {
      if (session !== null) {
        pending.roleGroup = session.id;
        pending.roleVersion = versionOf(session);
      }
      if (isLong(request) && this.driver.defers(pending, null, parsingMs(request))) return;
      const program = this.held.take(pending) ?? this.knownWhileClosed(request);
      // A new text is parsed when it has its turn, and not before as well.
      if (program === 'new' && this.driver.defers(pending, null)) return;
      const atHand = program === 'new' ? null : program;
      const call = this.checks.callOf(request, scope, target, pending.hashes, atHand);
      if (request.terms?.snapshot) this.reader.readSnapshot(pending, call, session);
      else this.follow(pending, call, session);
    }
  }

  /** The program of a query, or `new` where nobody has one yet; null for anything else, and as long as nobody has to wait for a turn. */
  private knownWhileClosed({ body }: Request): Prepared | 'new' | null {
    if (!this.scheduler.isClosedNow || body.type !== 'query') return null;
    return this.options.engine.known(body.code) ?? 'new';
  }

  /** Goes the way of a call that was checked. */
  private follow(pending: PendingRequest, call: Call, session: GroupSession | null): void {
    const usesState = session !== null && dependsOnState(call);
    const route = routeCall(
      {
        usesState,
        needsLeader:
          usesState && (pending.doubt !== 'none' || pending.needsLeader || this.needsLeader(pending, call)),
        isForwarded: pending.forwarded !== null,
        isFresh:
          usesState && (pending.request.terms?.stale === true || this.reader.isFresh(pending, session)),
        prefersLeader: session?.delay === 'long' && this.reader.canMove(pending, call),
      },
      session,
      this,
    );
    if (session === null || route.kind === 'run') this.reader.runHere(pending, call);
    else if (route.kind === 'read') this.reader.read(pending, call, session);
    else if (route.kind === 'lead') this.leader.lead(pending, call, session);
    else if (route.kind === 'read_as_leader') this.reader.readAsLeader(pending, call, session);
    else if (route.kind === 'confirm') this.reader.confirm(pending, session, call);
    else this.toLeader(pending, session);
  }

  /** Takes a request that only the leader may carry on to where that is. */
  private toLeader(pending: PendingRequest, session: GroupSession): void {
    const route = routeToLeader(session, pending.forwarded !== null, this);
    if (route.kind === 'elsewhere') pending.end(route);
    else if (route.kind !== 'forward') this.wait(pending, session.id);
    else if (this.leader.takesName(pending, session.id)) this.send(pending, session.id, route.to);
  }

  /** True if a call makes a change, or something else that only the leader can do. */
  private needsLeader(pending: PendingRequest, call: Call): boolean {
    const { engine } = this.options;
    return (engine.mayWrite(call) || engine.mayEmit(call)) && !this.reader.mayRestore(pending, call);
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
      session === undefined || this.reader.isFresh(pending, session) || pending.request.terms?.stale === true;
    if (!isFinal) this.reader.confirm(pending, session);
    else if (error === GONE) this.beginAnew(pending);
    else this.leader.refuse(pending, failed(error));
  }

  private noGroup(pending: PendingRequest, group: GroupId): void {
    if (this.options.engine.root.collections.has(group)) this.wait(pending, group);
    else this.resolve(pending, new StaleRefusal(GONE, ROOT_GROUP));
  }

  /**
   * The collection that a request was bound to is gone for good: its name is looked up anew, by the node that the
   * client asked. What an attempt may have done there before, nobody will find out.
   */
  private beginAnew(pending: PendingRequest): void {
    if (pending.doubt !== 'none') {
      pending.end(LATE_UNKNOWN);
      return;
    }
    if (pending.forwarded !== null) {
      pending.end({ kind: 'elsewhere', leader: 0 });
      return;
    }
    this.releaseSequence(pending);
    pending.sequence = 0;
    pending.group = null;
    this.advance(pending);
  }

  /** Sends a change to its leader. What came as JSON takes time to be written for it. */
  private send(pending: PendingRequest, group: GroupId, leader: NodeId): void {
    const isLarge = !isShorterThan(pending.request.body, LARGE_BYTES);
    if (isLarge && this.driver.defers(pending, null)) return;
    this.forwarder.send(pending, group, leader);
    if (isLarge) this.driver.charge(pending);
  }

  private decode(body: Buffer, userId: number): ProgramBody {
    const begun = this.options.clock.now();
    const decoded = readForwarded(body);
    this.scheduler.read(userId, this.options.clock.now() - begun);
    return decoded;
  }
}

/** About how many milliseconds it takes to look through a byte of a body. */
const READING_MS = 8e-6;

/** Bytes of values from which on it takes time to write them anew. */
const LARGE_BYTES = 65_536;

const NO_SESSION = -1;
