/**
 * A node: of which parts it is made, how they come up one after the other, and what it does while it runs.
 * The parts of the two sides are put together in `EngineSide` and `ConsensusSide`; those around them are in
 * their folders of `operate` and `listen`.
 */

import { NodeBackups } from './backup/node-backups.js';
import { backgroundClock, systemClock } from './base/clock.js';
import { systemEnvironment } from './base/environment.js';
import { describe } from './base/error-text.js';
import { isDamage } from './base/failures.js';
import { type JoinedClock, joinedClock } from './base/joined-clock.js';
import { hardlyBusy } from './base/thread-share.js';
import { type GroupId, ROOT_GROUP } from './between/protocol.js';
import { RunWatch } from './between/run-watch.js';
import { LOCAL_READ_MS, Phase, type SharedStatus } from './between/shared-status.js';
import { type Config, ExitCode, LiveSettings } from './config/index.js';
import { type Connected, connect, type NodeParts } from './connect.js';
import { EngineSide } from './engine-side/engine-side.js';
import { engineClock } from './engine-side/system-clock.js';
import { Doors } from './listen/doors/doors.js';
import type { Certificates } from './listen/tls/certificates.js';
import type { NodeCertificates } from './listen/tls/node-certificates.js';
import { ModuleManager } from './modules/manager.js';
import { HistoryRecorder } from './operate/metrics/history-recorder.js';
import { Publisher } from './operate/metrics/publisher.js';
import { REJECTION_OF } from './operate/metrics/rejections.js';
import { engineReports } from './operate/reports/engine-reports.js';
import { slowReports } from './operate/reports/slow-requests.js';
import { engineSettings, poolSettings, stateDisk } from './operate/start/engine-settings.js';
import { withStoredSecret } from './operate/start/first-start.js';
import { Opening } from './operate/start/opening.js';
import { type RunningNode, STALE, type StopReason } from './operate/start/running-node.js';
import { LocalNode } from './operate/status/local-node.js';
import { LocalRead } from './operate/status/local-read.js';
import { OperatorReports } from './operate/status/operator-reports.js';
import { reloadSettings, setSetting } from './operate/status/settings.js';
import type { Ending } from './operate/stop/ending.js';
import { Leaving } from './operate/stop/leaving.js';
import { Shutdown } from './operate/stop/shutdown.js';
import { type NodeConsensus, rootAgeMaxOf } from './operate/thread/node-consensus.js';
import { Pool } from './readers/pool.js';
import { startReader } from './readers/reader.js';
import { Counters } from './requests/counters.js';
import { PasswordHasher } from './requests/password.js';
import { RequestFigures } from './requests/request-figures.js';
import { CollectionSizes } from './state/collection-sizes.js';
import { startWarmUp } from './state/warm-up.js';
import { AuditLog } from './telemetry/audit-log.js';
import { EngineMetrics } from './telemetry/engine-metrics.js';
import { History } from './telemetry/history.js';
import { watchThread } from './telemetry/thread-watch.js';

/** Time between two looks at what is due, in milliseconds. */
const HOUSEKEEPING_MS = 100;

/** Time between two such looks while the engine thread does hardly anything else: less than this share of its time. */
const CALM_HOUSEKEEPING_MS = 300;
const CALM_SHARE = 0.02;

/** Time that a start waits for modules that are being configured, in milliseconds. */
const MODULES_WAIT_MS = 120_000;

/** Time that a listener that has nothing else to do waits in place for an answer, in milliseconds. */
const WAIT_IN_PLACE_MS = 20;

export class Node implements RunningNode {
  private readonly status: SharedStatus;
  private readonly ending: Ending;
  private readonly certificates: NodeCertificates;
  private readonly consensus: NodeConsensus;
  /** Clock for all periodic work. */
  private readonly clock: JoinedClock = joinedClock(systemClock, {
    isCalm: hardlyBusy(CALM_SHARE),
    ms: CALM_HOUSEKEEPING_MS,
  });
  private readonly hasher = new PasswordHasher();
  private readonly counters: Counters;
  private readonly runs: RequestFigures;
  private readonly history: History;
  private readonly sizes: CollectionSizes;
  private readonly figures: EngineMetrics;
  private readonly audit: AuditLog;
  private readonly local: LocalNode;
  private readonly side: EngineSide;
  private readonly modules: ModuleManager;
  private readonly readers: Pool;
  private readonly backups: NodeBackups;
  private readonly publisher: Publisher;
  private readonly operators: OperatorReports;
  private readonly localRead: LocalRead;
  private readonly leaving: Leaving;
  private readonly opening: Opening;
  private readonly shutdown: Shutdown;
  /** Age that what is known of users may have, in milliseconds. */
  private readonly rootAgeMax: number;
  /** Null until everything is ready for what it lets in. */
  private doors: Doors | null = null;
  private stopTimers = (): void => {};

  /** Starts everything; the node serves when this is fulfilled. */
  static async start(parts: NodeParts): Promise<Node> {
    let node: Node | null = null;
    const connected = await connect(parts, () => node?.leaving.noteRemoved() ?? false);
    try {
      // It may have come from the cluster just now.
      const live = new LiveSettings(withStoredSecret(parts.config));
      node = new Node({ ...parts, config: live.config }, connected, live);
      await node.open();
      return node;
    } catch (error) {
      connected.ending.giveUp();
      await connected.consensus.stop();
      throw error;
    }
  }

  private constructor(
    private readonly parts: NodeParts,
    connected: Connected,
    private readonly live: LiveSettings,
  ) {
    const { config, version, level, identity, folder, state, log } = parts;
    const { status, ending, certificates, consensus } = connected;
    const { record: cluster, incarnation } = connected.formed;
    this.status = status;
    this.ending = ending;
    this.certificates = certificates;
    this.consensus = consensus;
    this.rootAgeMax = rootAgeMaxOf(config);
    this.figures = new EngineMetrics(parts.metrics, REJECTION_OF);
    this.audit = new AuditLog(config, log);
    this.runs = new RequestFigures({
      now: systemClock.now,
      wallClock: Date.now,
      scopeOf: (target) => this.side.engine.scope(target)?.name ?? null,
      told: config.metricsProcedures,
      ranTold: (place, isOk, ranMs) => this.figures.ranProcedure(place, isOk, ranMs),
    });
    this.history = new History(parts.metrics, Math.floor(Date.now() / 1000));
    const onDefect = (error: unknown): void => this.side.noteDefect(error);
    this.sizes = new CollectionSizes(state, () => this.side.engine, consensus.bridge, onDefect);
    this.local = this.makeLocalNode();
    const watch = new RunWatch(status);
    this.operators = new OperatorReports(
      () => this.side.engine.root,
      (command) => consensus.bridge.send(command),
    );
    const { figures, audit } = this;
    this.modules = this.makeModules();
    this.readers = this.makeReaders();
    this.side = new EngineSide(
      engineSettings(live, level, { nodeId: identity.nodeId, incarnation, cluster }),
      {
        clock: engineClock,
        environment: systemEnvironment(log, this.local, (begun) => watch.isCancelled(begun)),
        disk: stateDisk(config, folder, state),
        line: consensus.bridge,
        hasher: this.hasher,
        reports: engineReports({
          log,
          figures,
          audit,
          counters: () => this.counters,
          defect: (error) => this.defect(error),
          diverged: (group, index) => ending.diverged(this.scopeText(group), { group, index }),
          failed: (message, error) => ending.fail(message, error),
        }),
        runs: this.runs,
        slow: slowReports(log, config),
        departs: () => this.shutdown.depart(),
        status: () => this.local.state(),
        figures,
        changed: (request, events, isKnown) => audit.changed(request, events, isKnown),
        askModule: (ask, answer) => this.modules.ask(ask, answer),
        restore: (request) => this.backups.transfers.replace(request),
        readers: this.readers,
      },
    );
    const { engine, router, scopes, members, calls } = this.side;
    const { sessions, checkpointer } = scopes;
    this.counters = new Counters(Date.now, () => ({
      changes: sessions.changes,
      garbage: engine.upkeep.garbageCount,
      cacheHits: engine.programHits,
    }));
    this.backups = new NodeBackups({
      config,
      version,
      nodeId: identity.nodeId,
      clusterId: cluster.clusterId,
      path: folder.path,
      root: engine.root,
      state,
      sessions,
      checkpointer,
      calls,
      freshenRoot: () => router.freshenRoot(),
      changes: () => this.local.state().committed,
      figures,
      audit,
      log,
      onFailure: onDefect,
    });
    this.publisher = new Publisher({
      config,
      figures,
      side: this.side,
      folder,
      modules: this.modules,
      readers: this.readers,
      doors: () => this.doors,
    });
    this.localRead = new LocalRead({
      engine,
      state,
      session: () => sessions.ofGroup(ROOT_GROUP) ?? null,
      onFailure: onDefect,
    });
    this.leaving = new Leaving({
      config,
      ask: (timeoutMs) => members.askToLeave(timeoutMs),
      report: (level, event, message) => log[level]({ event }, message),
    });
    this.opening = new Opening({
      ...parts,
      ...connected,
      path: folder.path,
      nodeId: identity.nodeId,
      founders: cluster.founders,
      side: this.side,
      hasher: this.hasher,
      isTls: certificates.present !== null,
    });
    this.shutdown = new Shutdown({
      ...parts,
      ...connected,
      side: this.side,
      backups: this.backups,
      modules: this.modules,
      readers: this.readers,
      leaving: this.leaving,
      doors: () => this.doors,
      stopTimers: () => this.stopTimers(),
    });
  }

  get closed(): Promise<number> {
    return this.ending.closed;
  }

  stop(reason: StopReason): void {
    this.clock.wake();
    this.shutdown.begin(reason);
  }

  reload(load: () => Config): void {
    const { log } = this.parts;
    reloadSettings(this.live, log, load);
    try {
      this.audit.reopen();
      this.certificates.renew((renewed) => this.useCertificates(renewed));
      this.doors?.renewWebSocketTls();
      log.info({ event: 'reloaded' }, 'the certificates were read again, and the audit log was opened anew');
    } catch (error) {
      log.error({ event: 'reload_failed', error: describe(error) }, 'not everything could be renewed');
    }
  }

  private async open(): Promise<void> {
    const { side, ending, consensus, opening } = this;
    this.certificates.watch((renewed) => this.useCertificates(renewed));
    const { clock } = this;
    consensus.listen((event) => {
      clock.wake();
      side.handle(event);
    });
    const stops = [
      clock.every(HOUSEKEEPING_MS, () => this.consider()),
      clock.every(LOCAL_READ_MS, () => this.readLocally()),
    ];
    this.stopTimers = () => {
      for (const stop of stops) stop();
    };
    ending.stops(() => this.stopTimers());
    ending.stops(watchThread(this.parts.metrics, 'engine', clock));
    ending.stops(this.makeRecorder().start(clock));
    ending.stops(this.sizes.start(clock));
    // The thread that reads ahead starts beside what follows: the first query that walks over much finds it ready.
    const prepared = this.parts.state.use((store) => store.prepareScans());
    const isFirstStart = await opening.groups();
    await this.modules.open(this.parts.config.waitForModules ? MODULES_WAIT_MS : 0);
    this.doors = await this.openDoors();
    ending.stops(() => this.doors?.close());
    this.readLocally();
    this.status.phase = Phase.READY;
    void prepared.then(() => startWarmUp(side.engine, engineClock));
    side.members.statusChanged();
    opening.catchUp();
    await opening.greet(isFirstStart);
  }

  private makeLocalNode(): LocalNode {
    const { config, identity, log, state, version } = this.parts;
    return new LocalNode({
      nodeId: identity.nodeId,
      version,
      config,
      engine: () => this.side.engine,
      members: () => this.side.members,
      groups: () => this.side.scopes.sessions.all,
      positions: () => this.side.positions.present,
      storedIndex: (group) => state.storedIndex(group),
      phase: () => this.status.phase,
      connections: () => this.doors?.connections ?? 0,
      clients: () => this.doors?.connectionEntries() ?? [],
      present: () => this.side.router.present,
      counters: () => this.counters,
      runs: this.runs,
      setConfig: (name, value) => setSetting(this.live, log, name, value),
      history: this.history,
      sizes: this.sizes,
      backups: () => this.backups.scheduled,
      restores: () => this.backups.replacements,
      modules: () => this.modules,
      log,
      stop: () => this.stop('drain'),
      clock: engineClock,
    });
  }

  private makeRecorder(): HistoryRecorder {
    const { engine, scopes } = this.side;
    const { identity, folder } = this.parts;
    return new HistoryRecorder({
      history: this.history,
      leaders: function* () {
        for (const { id, leading, leader } of scopes.sessions.all)
          yield { id, leader: leading ? identity.nodeId : leader };
      },
      scopeOf: (group) => engine.scope(group === ROOT_GROUP ? 'thingsdb' : group)?.name ?? '?',
      nameOf: (node) => engine.root.members.get(node)?.name ?? '?',
      connections: () => this.doors?.connections ?? 0,
      inFlight: () => this.doors?.inFlight ?? 0,
      freeBytes: () => folder.stateDisk.freeBytes(),
      wallClock: Date.now,
    });
  }

  private makeModules(): ModuleManager {
    const { config, log } = this.parts;
    return new ModuleManager({
      config,
      root: () => this.side.engine.root,
      whenCommitted: (callback) => {
        const session = this.side.scopes.sessions.ofGroup(ROOT_GROUP);
        if (session?.readable !== true) callback(false);
        else
          session.answer({ kind: 'value', result: '', change: null, secret: null }, ({ ok }) => callback(ok));
      },
      log,
      clock: engineClock,
      counted: (outcome) => this.figures.moduleAnswered(outcome),
    });
  }

  private makeReaders(): Pool {
    const { folder, log, state } = this.parts;
    const readers = new Pool({
      settings: this.live.follow(poolSettings),
      location: folder.levelPath,
      start: startReader,
      clock: backgroundClock,
      log: (fields, message) => log.warn(fields, message),
      onDefect: (error) => this.side.noteDefect(error),
    });
    state.otherReaders = readers;
    return readers;
  }

  private openDoors(): Promise<Doors> {
    const { config, log, identity, site } = this.parts;
    const { engine, router, rooms, feeds } = this.side;
    return Doors.open({
      config,
      engine,
      router,
      rooms,
      feeds,
      hasher: this.hasher,
      transfers: this.backups.transfers,
      wait: (done) => this.waitInPlace(done),
      refusal: () => this.shutdown.refusal,
      stale: () => (this.status.rootAge > this.rootAgeMax ? STALE : null),
      figures: this.figures,
      counters: this.counters,
      audit: this.audit,
      log,
      onDefect: (error) => this.side.noteDefect(error),
      certificates: this.certificates.present,
      nodeNumber: () => engine.root.members.get(identity.nodeId)?.number ?? 0,
      site,
    });
  }

  /** @throws Error when they are unfit for the API */
  private useCertificates(certificates: Certificates): void {
    const { cert, key, ca, apiClientCa } = certificates;
    this.doors?.renewTls(certificates);
    this.consensus.bridge.send({ kind: 'renew_tls', cert, key, ca, apiClientCa });
  }

  /** Waits for an answer in place; not while a snapshot is on its way, which wants the thread all the time. */
  private waitInPlace(done: () => boolean): void {
    if (!this.side.scopes.snapshots.isActive) this.consensus.bridge.waitFor(done, WAIT_IN_PLACE_MS);
  }

  private readLocally(): void {
    if (this.localRead.attempt()) this.status.noteLocalRead();
  }

  private consider(): void {
    const { status, side } = this;
    status.beat();
    status.connections = this.doors?.connections ?? 0;
    status.level = side.engine.root.level;
    side.consider();
    this.backups.consider();
    this.modules.consider();
    this.publisher.consider();
    this.operators.consider();
  }

  /** A defect fails its query; damaged data stop the node. */
  private defect(error: unknown): void {
    if (isDamage(error)) {
      this.figures.checked('mismatch');
      this.ending.fail('the data on disk are damaged', error, ExitCode.DataDamaged);
    } else this.parts.log.error({ event: 'internal_error', error: describe(error) }, 'internal error');
  }

  private scopeText(group: GroupId): string {
    if (group === ROOT_GROUP) return 'what it holds of users and collections';
    return `its collection ${this.side.engine.root.collections.get(group)?.name}`;
  }
}
