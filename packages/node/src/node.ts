/**
 * A node: of which parts it is made, how they come up one after the other, and how they go down. What a part is made of in
 * its turn is in its own folder: `NodeConsensus`, `NodeCluster`, `NodeScopes`, `NodeBackups`, `openApi`.
 */
import type { Engine, Environment, QueryError } from '@althing/engine';
import { type DataFolder, DiskFullError } from '@althing/storage';
import { AuditLog } from './audit/audit-log.js';
import { PasswordHasher } from './auth/password.js';
import { NodeBackups } from './backup/node-backups.js';
import type { ClusterRecord } from './cluster/cluster-record.js';
import { RemovedError } from './cluster/formation.js';
import { LocalNode } from './cluster/local-node.js';
import { NodeCluster } from './cluster/node-cluster.js';
import { noteLeft } from './cluster/set-aside.js';
import { type Config, ExitCode } from './config/index.js';
import { NodeConsensus, type NodeEvent } from './consensus/node-consensus.js';
import { type GroupId, ROOT_GROUP } from './consensus/protocol.js';
import { type CountedElsewhere, Counters } from './counters.js';
import { systemEnvironment } from './environment.js';
import type { HttpListener } from './http/listener.js';
import { openApi } from './http/node-api.js';
import type { Identity } from './identity.js';
import { bootstrapCluster, DEFAULT_PASSWORD, hasDefaultPassword } from './life/bootstrap.js';
import { catchUp } from './life/catch-up.js';
import { DivergedError, noteDiverged } from './life/diverged.js';
import { makeEngine } from './life/engine.js';
import { describe, exitCodeOf, isDamage } from './life/failures.js';
import { greet, warnOfDefaultPassword } from './life/greet.js';
import { Leaving } from './life/leaving.js';
import { Patience } from './life/patience.js';
import { type RunningNode, STOPPING, StartError, type StopReason } from './life/running-node.js';
import { startWait } from './life/start-wait.js';
import { delay, delayed } from './life/timers.js';
import { LOG_LEVELS, type Logger } from './logger.js';
import { EngineMetrics } from './metrics/engine-metrics.js';
import type { Metrics } from './metrics/metrics.js';
import { Publisher } from './metrics/publisher.js';
import { REJECTION_OF } from './metrics/rejections.js';
import { watchThread } from './metrics/thread-watch.js';
import type { VersionRange } from './peers/greeting-format.js';
import { Router } from './router.js';
import type { DiskKeeper } from './scopes/disk-keeper.js';
import type { GroupSession } from './scopes/group-session.js';
import { keepDisk } from './scopes/node-disk.js';
import { NodeScopes } from './scopes/node-scopes.js';
import type { State } from './scopes/state.js';
import { LocalRead } from './status/local-read.js';
import { Phase, SharedStatus } from './status/shared-status.js';
import type { Certificates } from './tls/certificates.js';
import { NodeCertificates } from './tls/node-certificates.js';

/** Time between two looks at what is due, in milliseconds. */
const HOUSEKEEPING_MS = 100;

/** How long a start waits for the leaders of all groups, in milliseconds; what needs none is served without. */
const SERVING_WAIT_MS = 5000;

/** How long the last steps of a stop may take once the node is to stop at once, in milliseconds. */
const CLOSE_MS = 1000;

export interface NodeParts {
  readonly config: Config;
  readonly version: string;
  /** Of the protocol between nodes. */
  readonly protocolVersions: VersionRange;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly folder: DataFolder;
  readonly state: State;
  readonly identity: Identity;
  /** Gives the start up while it waits for other nodes. */
  readonly signal: AbortSignal;
}

export class Node implements RunningNode {
  readonly closed: Promise<number>;
  private readonly parts: NodeParts;
  private readonly status = new SharedStatus();
  private readonly hasher = new PasswordHasher();
  private readonly counters: Counters;
  private readonly figures: EngineMetrics;
  private readonly local: LocalNode;
  private readonly audit: AuditLog;
  private readonly environment: Environment;
  private readonly engine: Engine;
  private readonly leaving: Leaving;

  // Made by `connect`.
  private certificates!: NodeCertificates;
  private disk!: DiskKeeper;
  private consensus!: NodeConsensus;

  // Made by `compose`.
  private cluster!: NodeCluster;
  private router!: Router;
  private scopes!: NodeScopes;
  private backups!: NodeBackups;
  private publisher!: Publisher;
  private localRead!: LocalRead;
  private housekeeping: NodeJS.Timeout | null = null;
  private unwatch: () => void = () => {};

  /** Made last: what it lets in, everything else is ready for. */
  private listener!: HttpListener;

  /** Null until the node is to stop. */
  private patience: Patience | null = null;
  /** When it began to turn requests away, by a monotonic clock in milliseconds. */
  private leavingSince: number | null = null;
  /** Why requests are not served any more; null as long as they are. */
  private refusal: QueryError | null = null;
  private ended = false;
  /** Why the node ended, for a start that was under way. */
  private failure: Error | null = null;
  private close!: (exitCode: number) => void;

  /** Starts everything; the node serves when this is fulfilled. */
  static async start(parts: NodeParts): Promise<Node> {
    const node = new Node(parts);
    try {
      await node.open();
      return node;
    } catch (error) {
      node.ended = true;
      if (node.housekeeping !== null) clearInterval(node.housekeeping);
      node.certificates?.stop();
      await node.consensus?.stop();
      throw error;
    }
  }

  private constructor(parts: NodeParts) {
    this.parts = parts;
    const { config, log } = parts;
    this.closed = new Promise((resolve) => {
      this.close = resolve;
    });
    this.counters = new Counters(
      () => Date.now(),
      () => this.countedElsewhere(),
    );
    this.figures = new EngineMetrics(parts.metrics, REJECTION_OF);
    this.local = this.makeLocalNode();
    this.audit = new AuditLog(config, log);
    this.environment = systemEnvironment(log, this.local, () => this.scopes.sessions.voters);
    this.engine = makeEngine(config, this.environment, (error) => this.internalError(error));
    this.leaving = new Leaving({
      config,
      ask: (timeoutMs) => this.cluster.members.askToLeave(timeoutMs),
      report: (level, event, message) => log[level]({ event }, message),
    });
  }

  stop(reason: StopReason): void {
    if (this.patience !== null) {
      if (reason === 'now') this.patience.lose();
      return;
    }
    this.patience = new Patience(this.parts.config.shutdownTimeoutMs);
    if (reason === 'now') this.patience.lose();
    this.parts.log.info({ event: 'stopping', reason }, 'stopping');
    this.shutDown(this.patience).then(
      () => this.end(ExitCode.Done),
      (error: unknown) => this.fail('the node could not stop cleanly', error, ExitCode.Fatal),
    );
  }

  reload(config: Config): void {
    const { log } = this.parts;
    log.level = LOG_LEVELS[config.logLevel];
    try {
      this.audit.reopen();
      this.renewCertificates();
      log.info(
        { event: 'reloaded' },
        'the level of the log and the certificates were read again, and the audit log was opened anew',
      );
    } catch (error) {
      log.error({ event: 'reload_failed', error: describe(error) }, 'not everything could be renewed');
    }
  }

  private async open(): Promise<void> {
    const { config } = this.parts;
    this.status.beat();
    await this.connect();
    await this.until(() => this.consensus.formed !== null);
    const { formed } = this.consensus;
    if (formed === null) throw new Error('the node belongs to no cluster');
    const { record, incarnation } = formed;
    this.compose(record, incarnation);
    await this.scopes.sessions.open();
    await bootstrapCluster({
      root: this.engine.root,
      session: this.scopes.sessions.root,
      founders: record.founders,
      password: config.adminPassword ?? DEFAULT_PASSWORD,
      hasher: this.hasher,
      until: (condition) => this.until(condition),
    });
    await this.untilServing();
    this.listener = this.listen();
    this.readLocally();
    this.status.phase = Phase.READY;
    void this.catchUp();
    await this.greet();
  }

  /** Starts the consensus thread, and what has to be there before. */
  private async connect(): Promise<void> {
    const { config, version, protocolVersions, folder, identity, log, metrics } = this.parts;
    this.certificates = new NodeCertificates(config, log, metrics);
    // The log may tell at once that its disk is full.
    this.disk = keepDisk({
      config,
      folder,
      log,
      setLevel: (level) => this.scopes?.sessions.setDisk(level),
      reopenState: (makeRoom) => this.scopes.reopenState(makeRoom),
      onFailure: (error) => this.fail('the data can not be kept', error),
    });
    this.consensus = await NodeConsensus.start({
      config,
      version,
      protocolVersions,
      identity,
      folder,
      certificates: this.certificates,
      metrics: metrics.buffer,
      status: this.status.buffer,
      log,
      onDisk: (level) => this.disk.noteLevel(level),
      onRemoved: () => this.removed(),
      onFailure: (message, error, exitCode) => this.fail(message, error, exitCode),
    });
    this.certificates.watch((renewed) => this.useCertificates(renewed));
  }

  /** Makes what works for a cluster, and sets it going. */
  private compose(record: ClusterRecord, incarnation: number): void {
    this.cluster = this.makeCluster(record, incarnation);
    this.router = this.makeRouter(incarnation);
    this.scopes = this.makeScopes(record);
    this.cluster.members.rootChanged();
    this.consensus.listen((event) => this.takeEvent(event));
    this.backups = this.makeBackups(record);
    this.publisher = this.makePublisher();
    this.localRead = this.makeLocalRead();
    this.housekeeping = setInterval(() => this.keepHouse(), HOUSEKEEPING_MS);
    this.unwatch = watchThread(this.parts.metrics, 'engine');
  }

  /** Waits for what events bring about, unless the start is given up before. */
  private until(condition: () => boolean): Promise<void> {
    const { signal } = this.parts;
    const ended = (): Error | null => (this.ended ? new Error('the node ended while it started') : null);
    return startWait(condition, { failure: () => this.failure ?? ended(), signal, disk: this.disk });
  }

  /** Waits until every group has a leader; but what can be served without is not held up for long. */
  private async untilServing(): Promise<void> {
    const alone = this.engine.root.members.size <= 1;
    const end = performance.now() + SERVING_WAIT_MS;
    await this.until(() => this.scopes.sessions.areServing || (!alone && performance.now() > end));
  }

  /** Tells that this node serves, once it votes in every group and holds all that was acknowledged before. */
  private async catchUp(): Promise<void> {
    const { nodeId } = this.parts.identity;
    const goesOn = (): boolean => !this.ended && this.status.phase === Phase.READY;
    if (await catchUp(this.scopes.sessions, nodeId, goesOn)) this.status.isCaughtUp = true;
  }

  private async greet(): Promise<void> {
    const { config, log, folder, version } = this.parts;
    const isTls = this.certificates.present !== null;
    const greeting = { config, version, path: folder.path, isTls };
    greet(log, greeting);
    if (config.httpApiPort === 0 || !(await hasDefaultPassword(this.engine.root, this.hasher))) return;
    warnOfDefaultPassword(log, greeting);
  }

  private sessionChanged(session: GroupSession): void {
    this.router.sessionChanged(session);
    if (session.id === ROOT_GROUP) this.cluster.members.rootChanged();
  }

  private makeCluster(cluster: ClusterRecord, incarnation: number): NodeCluster {
    const { config, identity, log } = this.parts;
    return new NodeCluster({
      config,
      nodeId: identity.nodeId,
      incarnation,
      cluster,
      bridge: this.consensus.bridge,
      root: this.engine.root,
      sessions: () => this.scopes.sessions,
      departs: () => this.depart(),
      state: () => this.local.state(),
      audit: this.audit,
      log,
    });
  }

  private makeRouter(epoch: number): Router {
    const { config, identity } = this.parts;
    return new Router({
      engine: this.engine,
      hasher: this.hasher,
      nodeId: identity.nodeId,
      epoch,
      calls: this.cluster.calls,
      alone: () => this.scopes.sessions.alone,
      session: (target) => this.scopes.sessions.of(target),
      waitMs: config.requestTimeoutMs,
      figures: this.figures,
      changed: (request, events, isKnown) => this.audit.changed(request, events, isKnown),
      monotonic: () => performance.now(),
      delay,
    });
  }

  private makeScopes(cluster: ClusterRecord): NodeScopes {
    const { config, state, identity, log } = this.parts;
    return new NodeScopes({
      config,
      engine: this.engine,
      state,
      consensus: this.consensus.bridge,
      calls: this.cluster.calls,
      nodeId: identity.nodeId,
      cluster,
      disk: this.disk,
      clocks: this.environment,
      figures: this.figures,
      log,
      changed: (session) => this.sessionChanged(session),
      onDefect: (error) => this.internalError(error),
      onDiverged: (group, index) => this.diverged(group, index),
      onFailure: (message, error) => this.fail(message, error),
    });
  }

  private makeBackups({ clusterId }: ClusterRecord): NodeBackups {
    const { config, version, identity, folder, state, log } = this.parts;
    return new NodeBackups({
      config,
      version,
      nodeId: identity.nodeId,
      clusterId,
      path: folder.path,
      root: this.engine.root,
      state,
      sessions: this.scopes.sessions,
      checkpointer: this.scopes.checkpointer,
      calls: this.cluster.calls,
      freshenRoot: () => this.router.freshenRoot(),
      changes: () => this.local.state().committed,
      figures: this.figures,
      audit: this.audit,
      log,
      onFailure: (error) => this.internalError(error),
    });
  }

  private makePublisher(): Publisher {
    const { config, folder } = this.parts;
    return new Publisher({
      config,
      figures: this.figures,
      engine: this.engine,
      router: this.router,
      scopes: this.scopes,
      disk: this.disk,
      folder,
      listener: () => this.listener,
    });
  }

  private makeLocalRead(): LocalRead {
    return new LocalRead({
      engine: this.engine,
      state: this.parts.state,
      session: () => this.scopes.sessions.ofGroup(ROOT_GROUP) ?? null,
      onFailure: (error) => this.internalError(error),
    });
  }

  private makeLocalNode(): LocalNode {
    const { config, identity, log, state, version } = this.parts;
    return new LocalNode({
      nodeId: identity.nodeId,
      version,
      config,
      engine: () => this.engine,
      members: () => this.cluster?.members ?? null,
      groups: () => this.scopes?.sessions.all ?? [],
      storedIndex: (group) => state.storedIndex(group),
      phase: () => this.status.phase,
      connections: () => this.listener?.connections ?? 0,
      counters: this.counters,
      backups: () => this.backups?.scheduled ?? null,
      log,
      stop: () => this.stop('drain'),
      monotonic: () => performance.now(),
    });
  }

  private countedElsewhere(): CountedElsewhere {
    return {
      changes: this.scopes?.sessions.changes ?? 0,
      garbage: this.engine?.garbageCount ?? 0,
      cacheHits: this.engine?.programHits ?? 0,
    };
  }

  private renewCertificates(): void {
    this.certificates.renew((renewed) => this.useCertificates(renewed));
  }

  /** @throws Error when they are unfit for the API */
  private useCertificates({ cert, key, ca, apiClientCa }: Certificates): void {
    this.listener?.renewTls();
    this.consensus.bridge.send({ kind: 'renew_tls', cert, key, ca, apiClientCa });
  }

  private listen(): HttpListener {
    const { config, log } = this.parts;
    return openApi({
      config,
      engine: this.engine,
      router: this.router,
      hasher: this.hasher,
      transfers: this.backups.transfers,
      wait: (done) => this.consensus.bridge.waitFor(done, 20),
      refusal: () => this.refusal,
      figures: this.figures,
      counters: this.counters,
      audit: this.audit,
      log,
      onDefect: (error) => this.internalError(error),
    });
  }

  private takeEvent(event: NodeEvent): void {
    if (event.kind === 'peer') this.router.peerChanged(event.node, event.up, event.protocol);
    if ('group' in event && event.kind !== 'membership_answer') this.scopes.sessions.handle(event);
    else this.cluster.handle(event);
  }

  private readLocally(): void {
    if (this.localRead.attempt()) this.status.noteLocalRead();
  }

  private keepHouse(): void {
    this.status.beat();
    this.readLocally();
    this.status.connections = this.listener?.connections ?? 0;
    this.scopes.consider();
    this.cluster.members.tick();
    this.disk.consider();
    this.backups.scheduled.consider();
    this.publisher.consider();
  }

  /** A defect of the engine, damaged data, or no room for them. A defect fails its query; damage stops the node. */
  private internalError(error: unknown): void {
    if (isDamage(error)) {
      this.figures.checked('mismatch');
      this.fail('the data on disk are damaged', error, ExitCode.DataDamaged);
    } else if (error instanceof DiskFullError) this.disk.noteStateFull();
    else this.parts.log.error({ event: 'internal_error', error: describe(error) }, 'internal error');
  }

  /** Ends the node because the cluster has removed it. */
  private removed(): void {
    if (this.ended || this.leaving.noteRemoved()) return;
    const { config, identity, folder, log } = this.parts;
    const error = new RemovedError(identity.nodeId);
    const wasMember = this.status.isCaughtUp;
    log.fatal({ event: 'removed' }, error.message);
    this.failure = error;
    if (wasMember) noteLeft(folder.path, Date.now());
    this.end(config.rejoinWhenRemoved && !wasMember ? ExitCode.Fatal : error.exitCode);
  }

  /** Ends the node because its state is not that of the majority. */
  private diverged(group: GroupId, index: number): void {
    if (this.ended) return;
    const { path } = this.parts.folder;
    const collection = this.engine.root.collections.get(group)?.name;
    const what =
      group === ROOT_GROUP ? 'what it holds of users and collections' : `its collection ${collection}`;
    const error = new DivergedError(what, path);
    this.parts.log.fatal({ event: 'diverged', group, index }, error.message);
    this.failure = error;
    noteDiverged(path, what);
    this.end(error.exitCode);
  }

  /** Ends the node because it can't go on. */
  private fail(message: string, error: unknown, exitCode = exitCodeOf(error)): void {
    if (this.ended) return;
    this.parts.log.fatal({ event: 'failed', error: error === null ? undefined : describe(error) }, message);
    this.failure = new StartError(message, exitCode);
    this.end(exitCode);
  }

  private end(exitCode: number): void {
    if (this.ended) return;
    this.ended = true;
    this.status.phase = Phase.STOPPED;
    if (this.housekeeping !== null) clearInterval(this.housekeeping);
    this.unwatch();
    this.certificates?.stop();
    this.listener?.close();
    this.close(exitCode);
  }

  private async shutDown(patience: Patience): Promise<void> {
    const { config, log, state, folder } = this.parts;
    const { sessions, checkpointer } = this.scopes;
    this.turnAway();
    const backedUp = this.backups.scheduled.stop();
    const isGone = await this.leaving.attempt(patience);
    if (!isGone) {
      await patience.wait(this.cluster.members.giveAway());
      await patience.pause(config.drainDelayMs);
    }
    this.status.phase = Phase.DRAINING;
    if (isGone) this.refusal = STOPPING;
    await patience.wait(this.listener.drain());
    this.refusal = STOPPING;
    await patience.wait(backedUp);
    // What a removed node has is of no use any more.
    if (!patience.lost && !isGone) {
      for (const session of sessions.all) await patience.wait(checkpointer.flush(session));
    }
    if (this.housekeeping !== null) clearInterval(this.housekeeping);
    await this.scopes.abandon(STOPPING);
    // What was acknowledged is durable: whatever takes too long from here on can as well be cut off.
    await patience.wait(this.consensus.stop(), CLOSE_MS);
    const closed = state.close().then(() => folder.close());
    await patience.wait(closed, CLOSE_MS);
    log.info({ event: 'stopped' }, 'stopped');
  }

  /** This node is to be removed: it still serves for a while, and asks for no more requests. */
  private depart(): Promise<void> {
    const since = this.turnAway();
    return delayed(since + this.parts.config.drainDelayMs - performance.now());
  }

  /** Says that the node serves no more for long; gives since when it does. */
  private turnAway(): number {
    if (this.status.phase === Phase.READY) this.status.phase = Phase.LEAVING;
    this.listener?.leave();
    this.leavingSince ??= performance.now();
    return this.leavingSince;
  }
}
