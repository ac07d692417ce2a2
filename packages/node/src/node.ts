/**
 * Composition of a node: everything that it is made of is made and connected here, and nowhere else.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { bootstrap, Engine, ErrorCode, type PasswordHash, QueryError } from '@althing/engine';
import { type DataFolder, DiskFullError } from '@althing/storage';
import { AuditLog } from './audit/audit-log.js';
import { Authenticator } from './auth/authenticator.js';
import { Backoff } from './auth/backoff.js';
import { PasswordHasher } from './auth/password.js';
import { NodeBackups } from './backup/node-backups.js';
import { scopeText } from './checks.js';
import { Calls } from './cluster/calls.js';
import type { ClusterRecord } from './cluster/cluster-record.js';
import { LocalNode } from './cluster/local-node.js';
import { Members } from './cluster/members.js';
import { type Config, ExitCode, portInUse } from './config/index.js';
import type { Bridge } from './consensus/bridge.js';
import { startNodeConsensus } from './consensus/node-consensus.js';
import { type Event, ROOT_GROUP } from './consensus/protocol.js';
import { type CountedElsewhere, Counters } from './counters.js';
import { systemEnvironment } from './environment.js';
import type { TlsFiles } from './http/apps.js';
import { BODIES_FULL, HttpListener, QUEUE_FULL, TOO_MANY_LOGINS } from './http/listener.js';
import type { Identity } from './identity.js';
import { describe, exitCodeOf, isDamage } from './life/failures.js';
import { type RunningNode, StartError, StartStoppedError, type StopReason } from './life/running-node.js';
import { delay, delayed } from './life/timers.js';
import { LOG_LEVELS, type Logger } from './logger.js';
import { EngineMetrics } from './metrics/engine-metrics.js';
import type { Rejection } from './metrics/families.js';
import type { Metrics } from './metrics/metrics.js';
import { watchThread } from './metrics/thread-watch.js';
import type { VersionRange } from './peers/greeting-format.js';
import type { Reply, Request } from './request.js';
import { NO_LEADER, Router } from './router.js';
import { Checkpointer, type CheckpointReport } from './scopes/checkpointer.js';
import { type DiskEvent, DiskKeeper } from './scopes/disk-keeper.js';
import { GarbageCollector } from './scopes/garbage-collector.js';
import { DISK_FULL, DISK_LOW, type GroupSession } from './scopes/group-session.js';
import { MemoryKeeper } from './scopes/memory-keeper.js';
import { Sessions } from './scopes/sessions.js';
import { Snapshots } from './scopes/snapshots.js';
import type { State } from './scopes/state.js';
import { Phase, SharedStatus } from './status/shared-status.js';
import { NodeCertificates } from './tls/node-certificates.js';

const MiB = 1024 * 1024;

/** Time between two looks at what is due, in milliseconds. */
const HOUSEKEEPING_MS = 100;

/** Pause between two slices of a search for garbage, in milliseconds. */
const GARBAGE_PAUSE_MS = 5;

/** How long a start waits for room on a full disk, in milliseconds. */
const START_FULL_MS = 10_000;

/** How long a start waits for the leaders of all groups, in milliseconds; what needs none is served without. */
const SERVING_WAIT_MS = 5000;

/** Time between two looks at what a start waits for, in milliseconds. */
const POLL_MS = 2;

/** Time between two looks at whether the node has caught up, in milliseconds. */
const CATCH_UP_MS = 20;

/** Time between two looks at figures for the status port, in milliseconds. */
const PUBLISH_MS = 500;

/** How long the last steps of a stop may take once the node is to stop at once, in milliseconds. */
const CLOSE_MS = 1000;

/** More calls than a node makes in a millisecond: starts are numbered by the clock, and calls behind them. */
const CALLS_PER_MS = 1024;

/** Password of a fresh installation that was given none. */
const DEFAULT_PASSWORD = 'pass';

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
  private readonly engine: Engine;
  private bridge!: Bridge;
  private sessions!: Sessions;
  private router!: Router;
  private checkpointer!: Checkpointer;
  private memory!: MemoryKeeper;
  private disk!: DiskKeeper;
  private garbage!: GarbageCollector;
  private listener!: HttpListener;
  private housekeeping: NodeJS.Timeout | null = null;
  private close!: (exitCode: number) => void;
  private stopping: StopReason | null = null;
  private ended = false;
  /** Why the node ended, for a start that was under way. */
  private failure: StartError | null = null;
  private stopWaiting: (() => void) | null = null;
  private consensusStopped: (() => void) | null = null;
  /** Null until it is known. */
  private cluster: ClusterRecord | null = null;
  /** Higher at each start. */
  private incarnation = 0;
  private calls!: Calls;
  private snapshots!: Snapshots;
  private handedOver: (() => void) | null = null;
  /** The number of the command that gives everything away at the end. */
  private leavingId = 0;
  /** Events that came too early; null once none do. */
  private early: Event[] | null = [];
  private members: Members | null = null;
  /** Null until the node is far enough. */
  private backups: NodeBackups | null = null;
  private readonly counters: Counters;
  private readonly figures: EngineMetrics;
  private certificates!: NodeCertificates;
  private unwatch: () => void = () => {};
  private publishedAt = 0;
  private readonly local: LocalNode;
  private readonly audit: AuditLog;
  private lastId = 0;

  /** Starts everything; the node serves when this is fulfilled. */
  static async start(parts: NodeParts): Promise<Node> {
    const node = new Node(parts);
    try {
      await node.open();
      return node;
    } catch (error) {
      node.ended = true;
      if (node.housekeeping !== null) clearInterval(node.housekeeping);
      await node.stopConsensus();
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
    this.figures = new EngineMetrics(parts.metrics, REJECTIONS);
    this.local = this.makeLocalNode();
    this.audit = new AuditLog(config, log);
    this.engine = new Engine({
      environment: systemEnvironment(log, this.local, () => this.sessions.voters),
      limits: {
        durationMs: config.queryDurationLimitMs,
        memoryBytes: config.queryMemoryLimitMb * MiB,
        valueBytes: config.valueSizeLimit,
        resultBytes: config.resultSizeLimit,
        codeLength: config.codeSizeLimit,
      },
      quotas: {
        tokensPerUser: config.maxTokensPerUser,
        users: config.maxUsers,
        collections: config.maxCollections,
        procedures: config.maxProcedures,
      },
      programCacheBytes: config.programCacheMb * MiB,
      onInternalError: (error) => this.internalError(error),
    });
  }

  stop(reason: StopReason): void {
    if (this.stopping === 'now' || this.stopping === reason) return;
    const first = this.stopping === null;
    this.stopping = reason;
    if (!first) {
      this.stopWaiting?.();
      return;
    }
    this.shutDown().then(
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
    const { config, version, protocolVersions, folder, state, identity, log, metrics } = this.parts;
    this.certificates = new NodeCertificates(config, log, metrics);
    this.status.beat();
    // The log may tell at once that its disk is full.
    this.disk = this.makeDiskKeeper();
    this.bridge = await startNodeConsensus({
      config,
      version,
      protocolVersions,
      identity,
      folder,
      certificates: this.certificates,
      metrics: metrics.buffer,
      status: this.status.buffer,
      onExit: (code, error) => this.consensusExited(code, error),
    });
    this.bridge.onEvent = (event) => this.handleEvent(event);
    await this.until(() => this.cluster !== null);
    const { cluster } = this;
    if (cluster === null) throw new Error('the node belongs to no cluster');
    const environment = systemEnvironment(log, this.local, () => this.sessions.voters);
    this.calls = new Calls({
      send: (command) => this.bridge.send(command),
      delay,
      firstId: this.incarnation * CALLS_PER_MS,
    });
    this.router = new Router({
      engine: this.engine,
      hasher: this.hasher,
      nodeId: identity.nodeId,
      epoch: this.incarnation,
      calls: this.calls,
      alone: () => this.sessions.alone,
      session: (target) => this.sessions.of(target),
      waitMs: config.requestTimeoutMs,
      figures: this.figures,
      changed: (request, events, isKnown) => this.audit.changed(request, events, isKnown),
      monotonic: environment.monotonic,
      delay,
    });
    this.snapshots = new Snapshots({
      state,
      consensus: this.bridge,
      calls: this.calls,
      ensureStored: (session) => this.checkpointer.ensureStored(session),
      replace: (session, applied) => this.sessions.replace(session, applied),
      session: (group) => this.sessions.ofGroup(group),
      delay,
      onDiskFull: () => this.disk.noteStateFull(),
      onFailure: (error) => this.fail('a snapshot could not be installed', error, exitCodeOf(error)),
      onInstalled: (session, index) =>
        log.info({ event: 'snapshot_installed', group: session.id, index }, 'a snapshot became the state'),
      figures: this.figures,
    });
    this.sessions = new Sessions({
      engine: this.engine,
      state,
      consensus: this.bridge,
      nodeId: identity.nodeId,
      cluster,
      snapshots: this.snapshots,
      now: environment.now,
      changed: (session) => this.sessionChanged(session),
      onFailure: (error) => this.internalError(error),
    });
    this.sessions.setDisk(this.disk.level);
    this.checkpointer = new Checkpointer({
      state,
      consensus: this.bridge,
      intervalMs: config.checkpointIntervalMs,
      sizeBytes: config.checkpointSizeMb * MiB,
      monotonic: environment.monotonic,
      yield: nextTurn,
      blocked: (session) => session.isImposing || this.snapshots.isReceiving(session.id),
      onFailure: (session, error) => this.checkpointFailed(session, error),
      onDone: (session, report) => this.checkpointDone(session, report),
    });
    this.sessions.useCheckpointer(this.checkpointer);
    this.memory = new MemoryKeeper(this.engine, config.cacheSizeMb * MiB, environment.monotonic, (work) =>
      setImmediate(work),
    );
    this.garbage = new GarbageCollector({
      engine: this.engine,
      intervalMs: config.garbageIntervalMs,
      monotonic: environment.monotonic,
      pause: (work) => {
        setTimeout(work, GARBAGE_PAUSE_MS).unref();
      },
      propose: (session, change) => session.propose(change, { ok: true, result: '' }, () => {}),
      onFailure: (error) => this.internalError(error),
    });
    this.members = this.makeMembers(cluster);
    this.members.rootChanged();
    this.takeEarly();
    this.backups = this.makeBackups(cluster);
    this.housekeeping = setInterval(() => this.keepHouse(), HOUSEKEEPING_MS);
    this.unwatch = watchThread(this.parts.metrics, 'engine');
    await this.sessions.open();
    await this.bootstrap();
    await this.untilServing();
    this.listen(this.backups);
    this.status.phase = Phase.READY;
    void this.catchUp();
    await this.greet();
  }

  /** Waits until every group has a leader; but what can be served without is not held up for long. */
  private async untilServing(): Promise<void> {
    const alone = this.engine.root.members.size <= 1;
    const end = performance.now() + SERVING_WAIT_MS;
    await this.until(() => this.sessions.areServing || (!alone && performance.now() > end));
  }

  /** Tells that this node serves, once it votes in every group and holds all that was acknowledged before. */
  private async catchUp(): Promise<void> {
    const { nodeId } = this.parts.identity;
    const asked = new Set<GroupSession>();
    const current = new Set<GroupSession>();
    const ask = (session: GroupSession): void => {
      if (asked.has(session) || !session.membership.voters.includes(nodeId)) return;
      asked.add(session);
      session.readIndex((ok) => {
        asked.delete(session);
        if (ok) current.add(session);
      });
    };
    while (!this.ended && this.status.phase === Phase.READY) {
      const open = [...this.sessions.all].filter((session) => !current.has(session));
      if (open.length === 0 && this.sessions.areServing) {
        this.status.isCaughtUp = true;
        return;
      }
      for (const session of open) ask(session);
      await delayed(CATCH_UP_MS);
    }
  }

  private sessionChanged(session: GroupSession): void {
    this.router.sessionChanged(session);
    if (session.id === ROOT_GROUP) this.members?.rootChanged();
  }

  private makeMembers({ founders }: ClusterRecord): Members {
    const { config, identity, log } = this.parts;
    return new Members({
      self: {
        nodeId: identity.nodeId,
        name: config.nodeName,
        host: config.nodeName,
        port: config.listenNodePort,
      },
      root: () => this.engine.root,
      session: () => this.sessions.ofGroup(ROOT_GROUP) ?? null,
      memberships: () => this.sessions.memberships,
      founders,
      send: (command) => this.bridge.send(command),
      calls: this.calls,
      nextId: () => ++this.lastId,
      departs: () => this.depart(),
      state: () => this.local.state(),
      replaceAfterMs: config.replaceAfterMs,
      monotonic: () => performance.now(),
      random: Math.random,
      report: (level, event, message) => log[level]({ event }, message),
      changed: (events) => this.audit.changedItself(events),
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
      sessions: this.sessions,
      checkpointer: this.checkpointer,
      calls: this.calls,
      freshenRoot: () => this.router.freshenRoot(),
      changes: () => this.local.state().committed,
      figures: this.figures,
      audit: this.audit,
      log,
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
      members: () => this.members,
      groups: () => this.sessions?.all ?? [],
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
    let changes = 0;
    for (const { group, uncommitted } of this.sessions?.all ?? []) changes += group.changeCount - uncommitted;
    return {
      changes,
      garbage: this.engine?.garbageCount ?? 0,
      cacheHits: this.engine?.programHits ?? 0,
    };
  }

  private makeDiskKeeper(): DiskKeeper {
    const { config, folder, state } = this.parts;
    return new DiskKeeper({
      reserve: folder,
      freeBytes: () => folder.stateDisk.freeBytes(),
      reserveBytes: config.diskReserveMb * MiB,
      setLevel: (level) => this.sessions?.setDisk(level),
      reopenState: async () => {
        await this.checkpointer.hold();
        await this.sessions.pause();
        await state.reopen();
        this.sessions.resume();
        this.checkpointer.release();
      },
      report: (event) => this.reportDisk(event),
      onFailure: (error) => this.fail('the data can not be kept', error, exitCodeOf(error)),
    });
  }

  /** Makes the first change of a new cluster, if this node comes to lead its root group; else waits for it. */
  private async bootstrap(): Promise<void> {
    const { root } = this.engine;
    await this.until(() => this.sessions.root.leading || root.users.size > 0);
    if (root.users.size > 0) return;
    const hash = await this.hasher.hash(this.parts.config.adminPassword ?? DEFAULT_PASSWORD);
    for (;;) {
      await this.until(() => this.sessions.root.leading || root.users.size > 0);
      if (root.users.size > 0 || (await this.tryBootstrap(hash))) return;
    }
  }

  /** @returns false if another node leads now: then that one makes the change, or has it already */
  private tryBootstrap(password: PasswordHash): Promise<boolean> {
    const { root } = this.engine;
    const { collectionEvents } = root;
    const members = (this.cluster?.founders ?? []).map((founder, number) => ({
      ...founder,
      number,
      leaving: false,
    }));
    const change = bootstrap(root, Math.floor(Date.now() / 1000), password, members);
    return new Promise((resolve) => {
      this.sessions.root.propose(
        { ...change, collectionEvents: collectionEvents.splice(0) },
        { ok: true, result: '' },
        (reply) => resolve(reply.ok),
      );
    });
  }

  private renewCertificates(): void {
    const renewed = this.certificates.renew();
    if (renewed === null) return;
    this.listener.renewTls();
    const { cert, key, ca } = renewed;
    this.bridge.send({ kind: 'renew_tls', cert, key, ca });
  }

  private listen(backups: NodeBackups): void {
    const { config } = this.parts;
    this.listener = new HttpListener({
      authenticator: new Authenticator({
        root: this.engine.root,
        freshen: () => this.router.freshenRoot(),
        hasher: this.hasher,
        backoff: new Backoff(
          {
            delayMs: config.loginBackoffMs,
            delayMaxMs: config.loginBackoffLimitMs,
            waitingMax: 8,
            checkingMax: 32,
            keysMax: 10_000,
          },
          () => performance.now(),
        ),
        onLogin: (login) => {
          this.figures.loggedIn(login.method, login.outcome);
          this.audit.login(login);
        },
        cacheMs: config.credentialCacheMs,
        now: Date.now,
        delay: (ms, callback) => {
          setTimeout(callback, ms).unref();
        },
      }),
      tls: tlsFilesOf(config),
      nodeName: config.nodeName,
      handle: (request, respond) =>
        this.router.handle(
          request,
          this.figures.counting(request, respond, (reply, ms) => this.answered(request, reply, ms)),
        ),
      transfers: backups.transfers,
      wait: (done) => this.bridge.waitFor(done, 20),
      refusal: () => (this.status.phase < Phase.DRAINING ? null : STOPPING),
      body: { shapes: this.engine.runtime.shapes, msgpackNestingMax: config.nestingLimit },
      bodySizeMax: config.requestSizeLimit,
      bodyMemoryMax: config.requestMemoryLimitMb * MiB,
      bodyTimeoutMs: config.bodyTimeoutMs,
      figures: this.figures,
      onDefect: (error) => this.internalError(error),
      connectionsMax: config.maxConnections,
      connectionsPerAddressMax: config.maxConnectionsPerAddress,
      pendingMax: config.requestQueueLimit,
    });
    if (config.httpApiPort === 0) return;
    const port = this.listener.listen(config.bindClientAddr, config.httpApiPort);
    if (port === null) throw portInUse('http_api_port', config.bindClientAddr, config.httpApiPort);
  }

  private answered(request: Request, reply: Reply, ms: number): void {
    this.counters.count(reply, ms);
    const { slowRequestMs } = this.parts.config;
    const isSlow = slowRequestMs > 0 && ms > slowRequestMs;
    const isDefect = !reply.ok && reply.error.code === ErrorCode.INTERNAL;
    if (!isSlow && !isDefect) return;
    const { id, user, scope, body } = request;
    // Not the code of a query: it may hold secrets.
    const what = body.type === 'run' ? { procedure: body.name } : { characters: body.code.length };
    const fields = { request: id, user: user.name, scope: scopeText(scope), ...what, ms: Math.round(ms) };
    if (isSlow) this.parts.log.warn({ event: 'slow_request', ...fields }, 'a request took long');
    if (isDefect)
      this.parts.log.error({ event: 'request_failed', ...fields }, 'a request failed by a defect');
  }

  /** Says what a newcomer needs to know. */
  private async greet(): Promise<void> {
    const { config, log, folder, version } = this.parts;
    const scheme = this.certificates.present === null ? 'http' : 'https';
    const address = config.bindClientAddr.includes(':')
      ? `[${config.bindClientAddr}]`
      : config.bindClientAddr;
    log.info({ event: 'data', path: folder.path }, `Althing ${version}: data in ${folder.path}`);
    if (config.httpStatusPort !== 0) {
      log.info(
        { event: 'status', port: config.httpStatusPort },
        `status on ${scheme}://${address}:${config.httpStatusPort}/status`,
      );
    }
    if (config.httpApiPort === 0) {
      log.info({ event: 'api_disabled' }, 'the HTTP API is disabled (http_api_port = 0)');
      return;
    }
    const url = `${scheme}://${address}:${config.httpApiPort}`;
    log.info({ event: 'api', port: config.httpApiPort }, `HTTP API on ${url}`);
    if (!(await this.hasDefaultPassword())) return;
    log.warn(
      { event: 'default_password' },
      `user 'admin' has the default password '${DEFAULT_PASSWORD}': make a token and remove it before others can reach this node`,
    );
    log.info(
      { event: 'try' },
      `try: curl -u admin:${DEFAULT_PASSWORD} -H 'Content-Type: application/json' -d '{"type":"query","code":"1 + 1;"}' ${url}//stuff`,
    );
  }

  private async hasDefaultPassword(): Promise<boolean> {
    const admin = this.engine.root.usersByName.get('admin');
    if (admin === undefined || admin.password === null) return false;
    return this.hasher.verify(DEFAULT_PASSWORD, admin.password);
  }

  private handleEvent(event: Event): void {
    try {
      this.takeEvent(event);
    } catch (error) {
      this.fail('an event of the log could not be taken', error, exitCodeOf(error));
    }
  }

  /** Takes what came before there was anybody to take it. */
  private takeEarly(): void {
    const events = this.early ?? [];
    this.early = null;
    for (const event of events) this.handleEvent(event);
  }

  private takeEvent(event: Event): void {
    // Other nodes may be heard as soon as there is a cluster, before this one is ready for them.
    if (this.early !== null && !ALWAYS_TAKEN.has(event.kind)) {
      this.early.push(event);
      return;
    }
    switch (event.kind) {
      case 'failed':
        this.fail(event.failure.message, null, event.failure.exitCode);
        return;
      case 'disk':
        this.disk.noteLevel(event.level);
        return;
      case 'stopped':
        this.consensusStopped?.();
        return;
      case 'formed':
        this.incarnation = event.incarnation;
        this.cluster = event.record;
        return;
      case 'called':
      case 'returned':
        this.calls.handle(event);
        return;
      case 'handed_over':
        if (event.id === this.leavingId) this.handedOver?.();
        else this.members?.handle(event);
        return;
      case 'asked_to_join':
      case 'invited':
      case 'membership_answer':
        this.members?.handle(event);
        return;
      case 'peer':
        this.router.peerChanged(event.node, event.up, event.protocol);
        this.members?.handle(event);
        return;
      case 'log':
        this.parts.log[event.level]({ event: event.event }, event.message);
        return;
      default:
        if ('group' in event) this.sessions.handle(event);
    }
  }

  private reportDisk(event: DiskEvent): void {
    const { log } = this.parts;
    switch (event.kind) {
      case 'level':
        if (event.level === 'ok') log.info({ event: 'disk', level: event.level }, DISK_TEXT[event.level]);
        else log.error({ event: 'disk', level: event.level }, DISK_TEXT[event.level]);
        return;
      case 'reserve_released':
        log.warn({ event: event.kind }, 'the reserve was given up to make room for a checkpoint');
        return;
      case 'reserve_restored':
        log.info({ event: event.kind }, 'the reserve is there again');
        return;
      case 'state_reopened':
        log.info({ event: event.kind }, 'the state was opened again and takes checkpoints');
    }
  }

  private keepHouse(): void {
    this.status.beat();
    this.status.connections = this.listener?.connections ?? 0;
    for (const session of this.sessions.all) {
      this.checkpointer.consider(session);
      this.garbage.consider(session);
    }
    this.members?.tick();
    this.memory.consider();
    this.disk.consider();
    this.backups?.scheduled.consider();
    if (performance.now() - this.publishedAt >= PUBLISH_MS) this.publish();
  }

  /** Tells the figures that are not counted where something happens. */
  private publish(): void {
    const { config, folder } = this.parts;
    this.publishedAt = performance.now();
    const waiting = { commit: 0, read: 0, ...this.router.queues };
    for (const { queues } of this.sessions.all) {
      waiting.commit += queues.commit;
      waiting.read += queues.read;
    }
    this.figures.publish({
      engine: this.engine.figures,
      inFlight: this.listener?.inFlight ?? 0,
      connections: this.listener?.connections ?? 0,
      bodyBytes: this.listener?.bodyBytes ?? 0,
      waiting,
      repeated: this.router.repeated,
      cacheLimitBytes: config.cacheSizeMb * MiB,
      checkpointAgeMs: this.checkpointer.ageMs,
      reserveBytes: folder.hasReserve ? config.diskReserveMb * MiB : 0,
      isDiskFull: this.disk.level !== 'ok',
    });
  }

  private checkpointDone(session: GroupSession, { things, durationMs, bytes }: CheckpointReport): void {
    this.figures.checkpointed(durationMs, bytes);
    this.parts.log.debug(
      { event: 'checkpoint', group: session.id, things, ms: Math.round(durationMs) },
      'checkpoint',
    );
    this.sessions.checkpointed(session);
  }

  private checkpointFailed(session: GroupSession, error: unknown): void {
    if (!(error instanceof DiskFullError)) {
      this.fail(`the checkpoint of group ${session.id} failed`, error, exitCodeOf(error));
      return;
    }
    this.parts.log.error(
      { event: 'checkpoint_disk_full', group: session.id },
      'no room on the disk for a checkpoint; it will be tried again',
    );
    this.disk.noteStateFull();
  }

  /** A defect of the engine, damaged data, or no room for them. A defect fails its query; damage stops the node. */
  private internalError(error: unknown): void {
    if (isDamage(error)) {
      this.figures.checked('mismatch');
      this.fail('the data on disk are damaged', error, ExitCode.DataDamaged);
    } else if (error instanceof DiskFullError) this.disk.noteStateFull();
    else this.parts.log.error({ event: 'internal_error', error: describe(error) }, 'internal error');
  }

  private consensusExited(code: number, error: Error | null): void {
    if (this.consensusStopped !== null) this.consensusStopped();
    else this.fail(`the consensus thread ended with code ${code}`, error, ExitCode.InvariantBroken);
  }

  /** Ends the node because it can't go on. */
  private fail(message: string, error: unknown, exitCode: number): void {
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
    this.listener?.close();
    this.close(exitCode);
  }

  private async shutDown(): Promise<void> {
    const { config, log, state, folder } = this.parts;
    log.info({ event: 'stopping', reason: this.stopping }, 'stopping');
    const deadline = performance.now() + config.shutdownTimeoutMs;
    this.status.phase = Phase.LEAVING;
    const scheduled = this.backups?.scheduled.stop();
    await this.orNow(this.handOver(), deadline);
    await this.pause(config.drainDelayMs);
    this.status.phase = Phase.DRAINING;
    await this.orNow(this.listener.drain(), deadline);
    await this.orNow(scheduled ?? Promise.resolve(), deadline);
    if (this.stopping !== 'now') {
      for (const session of this.sessions.all) await this.orNow(this.checkpointer.flush(session), deadline);
    }
    if (this.housekeeping !== null) clearInterval(this.housekeeping);
    for (const session of this.sessions.all) {
      session.abandon(STOPPING);
      await this.checkpointer.forget(session);
    }
    // What was acknowledged is durable: whatever takes too long from here on can as well be cut off.
    await this.orNow(this.stopConsensus(), deadline, CLOSE_MS);
    await this.orNow(
      state.close().then(() => folder.close()),
      deadline,
      CLOSE_MS,
    );
    log.info({ event: 'stopped' }, 'stopped');
  }

  /** This node is to be removed: it still serves for a while, and asks for no more requests. */
  private depart(): Promise<void> {
    if (this.status.phase === Phase.READY) this.status.phase = Phase.LEAVING;
    return delayed(this.parts.config.drainDelayMs);
  }

  /** Gives all leaderships to other nodes; resolves when that is done, or can't be. */
  private handOver(): Promise<void> {
    return new Promise((resolve) => {
      this.handedOver = resolve;
      this.leavingId = ++this.lastId;
      this.bridge.send({ kind: 'hand_over', group: null, id: this.leavingId, to: 0, stay: false });
    });
  }

  private async stopConsensus(): Promise<void> {
    if (this.bridge === undefined) return;
    await new Promise<void>((resolve) => {
      this.consensusStopped = resolve;
      this.bridge.send({ kind: 'stop' });
    });
    this.bridge.close();
  }

  /**
   * Waits for something, but no longer than until the deadline, and once the node is to stop now no longer than for a
   * while.
   */
  private async orNow(work: Promise<unknown>, deadline: number, whileMs = 0): Promise<void> {
    await Promise.race([work, this.pause(deadline - performance.now()).then(() => delayed(whileMs))]);
  }

  /** Waits for some time, unless the node is to stop now. */
  private pause(ms: number): Promise<void> {
    if (this.stopping === 'now' || ms <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.stopWaiting = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Waits for a condition that events bring about. */
  private async until(condition: () => boolean): Promise<void> {
    let fullSince: number | null = null;
    while (!condition()) {
      if (this.failure !== null) throw this.failure;
      if (this.ended) throw new Error('the node ended while it started');
      if (this.parts.signal.aborted) throw new StartStoppedError();
      fullSince = this.disk.level === 'full' ? (fullSince ?? performance.now()) : null;
      if (fullSince !== null && performance.now() - fullSince > START_FULL_MS) {
        throw new DiskFullError('the log has no room to go on, not even with the reserve');
      }
      await delayed(POLL_MS);
    }
  }
}

/** Events that may come at any time. */
const ALWAYS_TAKEN: ReadonlySet<Event['kind']> = new Set(['failed', 'disk', 'stopped', 'formed', 'log']);

const DISK_TEXT = {
  ok: 'the disk has room again: changes are taken',
  low: 'the disk is almost full: changes are refused, but for those of the root scope',
  full: 'the disk is full: changes are refused',
} as const;

const STOPPING = new QueryError(
  ErrorCode.NODE,
  'the node is shutting down: use another one, or try again later',
);

const REJECTIONS: ReadonlyMap<QueryError, Rejection> = new Map([
  [QUEUE_FULL, 'queue'],
  [BODIES_FULL, 'memory'],
  [TOO_MANY_LOGINS, 'login_backoff'],
  [NO_LEADER, 'no_leader'],
  [DISK_FULL, 'disk_full'],
  [DISK_LOW, 'disk_full'],
  [STOPPING, 'draining'],
]);

function tlsFilesOf({ tlsCertFile, tlsKeyFile }: Config): TlsFiles | null {
  if (tlsCertFile === undefined || tlsKeyFile === undefined) return null;
  return { certFile: tlsCertFile, keyFile: tlsKeyFile };
}
