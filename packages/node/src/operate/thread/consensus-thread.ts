/**
 * The consensus thread: the consensus side of the node on the clock, the disk and the network of the machine,
 * and the status port. It never runs code of users, so heartbeats, log syncs and health checks wait for none
 * of it.
 */
import { randomBytes } from 'node:crypto';
import type { MessagePort } from 'node:worker_threads';
import { DiskFullError, LogStore, NodeDisk, StorageError } from '@althing/storage';
import { systemClock } from '../../base/clock.js';
import { descriptorLimit, fittingProbes } from '../../base/descriptors.js';
import { messageOf } from '../../base/error-text.js';
import { exitCodeOf } from '../../base/exit-code.js';
import { type JoinedClock, joinedClock } from '../../base/joined-clock.js';
import { ClusterFile } from '../../between/cluster-record.js';
import { EventSender } from '../../between/event-sender.js';
import type { Parcel } from '../../between/parcel.js';
import { type Command, type GroupSize, type OperatorToken, ROOT_GROUP } from '../../between/protocol.js';
import { Phase, SharedStatus } from '../../between/shared-status.js';
import { ExitCode } from '../../config/exit-codes.js';
import { portInUse } from '../../config/problem.js';
import { metricsPage, type PeerFigures } from '../../consensus/consensus-page.js';
import { ConsensusSide } from '../../consensus/consensus-side.js';
import { GroupFigures } from '../../consensus/group-figures.js';
import { logChainHash } from '../../consensus/group-log.js';
import type { NetworkEvents } from '../../consensus/network.js';
import { type ClusterOptions, PeerNetwork } from '../../consensus/peer-network.js';
import { LeaderWatch } from '../../consensus/watches/leader-watch.js';
import { StorageBeat } from '../../consensus/watches/storage-beat.js';
import { CHANGE_BYTES_MAX, WAITING_BYTES_MAX } from '../../groups/limits.js';
import { Sites, type SitesOptions, servesStatus } from '../../listen/http/sites.js';
import type { Traffic } from '../../peers/links.js';
import type { PeerLogCause } from '../../peers/refusal-log.js';
import { signsOfLife } from '../../peers/signs-of-life.js';
import type { LabelOf } from '../../telemetry/families.js';
import { Metrics } from '../../telemetry/metrics.js';
import { watchThread } from '../../telemetry/thread-watch.js';
import { NodeStatus, type NodeStatusSettings } from '../status/node-status.js';
import { StatusServer, type StatusTls } from '../status/status-server.js';

export interface WorkerOptions extends NodeStatusSettings {
  readonly logPath: string;
  readonly segmentBytes: number;
  /** Ticks without a leader until an election. */
  readonly electionTicks: number;
  readonly statusAddress: string;
  /** 0 for no status port. */
  readonly statusPort: number;
  /** Procedures that have series of their own among the figures. */
  readonly metricsProcedures: readonly string[];
  /** Certificates of the status port; null for plain HTTP. */
  readonly statusTls: StatusTls | null;
  /** Names by which the status port may be called. */
  readonly statusSites: SitesOptions;
  /** The cluster that the node belongs to or is to join. */
  readonly cluster: ClusterOptions;
  /** 16 bytes that tell the log of this node from others. */
  readonly logId: Uint8Array;
  /** Free space below which data must not grow; 0 for none. */
  readonly lowDiskBytes: number;
}

export interface WorkerData {
  readonly options: WorkerOptions;
  readonly port: MessagePort;
  /** The memory of `Signals`. */
  readonly signals: SharedArrayBuffer;
  readonly status: SharedArrayBuffer;
  readonly metrics: SharedArrayBuffer;
  /** When the process was started: wall clock in milliseconds. */
  readonly startedAt: number;
}

/** First message of the worker: it is up, or why not. */
export type WorkerStart =
  | { readonly kind: 'started'; readonly statusPort: number }
  | {
      readonly kind: 'failed';
      readonly message: string;
      readonly exitCode: number;
      /** True if it might come up if there were more room on the disk. */
      readonly diskFull: boolean;
    };

/** One proposal at most: a change and what wraps it. */
const PROPOSAL_BYTES_MAX = CHANGE_BYTES_MAX + 1024;

/**
 * Bytes that a leader may have under way: more than the engine side ever sends, so that nothing has to be
 * refused.
 */
const PENDING_BYTES_MAX = WAITING_BYTES_MAX + 2 * PROPOSAL_BYTES_MAX;

/** Entries that stay in the log behind a checkpoint, for members that are a little behind. */
const LOG_TAIL = 10_000;

/**
 * Time without a known leader until the node says that it serves nothing, in election timeouts. Requests
 * wait for the next leader longer than that; and while one is elected no node knows any, so that a balancer
 * would be left without nodes.
 */
const LEADERLESS_ELECTIONS = 3;

/** Log that a node without others keeps in memory: nobody asks for more, and much of it makes long pauses. */
const LONE_CACHE_BYTES = 1024 * 1024;

/**
 * A disk that makes others wait for less than this is not slow, however short the election timeout, in
 * milliseconds.
 */
const SLOW_DISK_MS = 300;

/** Time between two looks at how far the groups lag, in milliseconds. */
const LAG_LOOK_MS = 300;

/** Time between two looks at the room on the disk while it is written to, in milliseconds. */
const DISK_LOOK_MS = 100;

const now = systemClock.now;

/**
 * Time between two wakes of a thread whose groups all sleep: two or three heartbeats, as far as its signs of life may come
 * as rarely, and are due then.
 */
function calmMs({ electionTimeoutMs, heartbeatMs }: ClusterOptions): number {
  const { quietBeatsMax } = signsOfLife(electionTimeoutMs, heartbeatMs);
  return heartbeatMs * ([2, 3].find((beats) => quietBeatsMax % beats === 0) ?? 1);
}

/** The parts that run once the thread is up. */
interface Running {
  readonly side: ConsensusSide<PeerNetwork>;
  readonly server: StatusServer;
  /** Figures of the status port. */
  readonly timers: readonly (() => void)[];
}

export class ConsensusThread {
  private readonly options: WorkerOptions;
  private readonly startedAt: number;
  private readonly port: MessagePort;
  private readonly toEngine: EventSender;
  private readonly shared: SharedStatus;
  private readonly metrics: Metrics;
  private readonly figures: GroupFigures;
  private readonly storage = new StorageBeat(now);
  private readonly clock: JoinedClock;
  private operators: readonly OperatorToken[] = [];
  private sizes: readonly GroupSize[] = [];
  /** True if there is nothing to do for which ticks have to come in time. */
  private isCalm = (): boolean => false;

  constructor({ options, port, signals, status, metrics, startedAt }: WorkerData) {
    this.options = options;
    this.startedAt = startedAt;
    this.port = port;
    this.toEngine = new EventSender({
      post: (parcel, given) => port.postMessage(parcel, given),
      signals,
    });
    this.shared = new SharedStatus(status);
    this.metrics = new Metrics(metrics);
    this.figures = new GroupFigures(this.metrics, now);
    this.clock = joinedClock(systemClock, { isCalm: () => this.isCalm(), ms: calmMs(options.cluster) });
  }

  /** Brings everything up, and tells the engine thread that it is, or why not. */
  start(): void {
    this.run().catch((error: unknown) => this.port.postMessage(startFailure(error)));
  }

  private async run(): Promise<void> {
    const { options, metrics, toEngine, clock } = this;
    const disk = await NodeDisk.make(options.logPath);
    const log = await LogStore.open(disk, {
      segmentBytes: options.segmentBytes,
      storeId: options.logId,
      chainHash: logChainHash,
      ...(this.isLone ? { cacheBytes: LONE_CACHE_BYTES } : {}),
      observe: { now, written: (...sync) => this.countSync(...sync) },
    });
    const file = await ClusterFile.open(await NodeDisk.make(options.cluster.folder), Date.now());
    const side = this.makeSide(disk, log, file);
    this.isCalm = () => side.isCalm;
    await side.network.listen();
    await side.lookAtDisk();
    const leader = new LeaderWatch(LEADERLESS_ELECTIONS * options.electionTicks);
    const status = this.makeStatus(side, log, leader);
    const { statusSites } = options;
    const sites = new Sites(statusSites);
    const server = new StatusServer(status, options.statusTls, fittingProbes(descriptorLimit()), (host) =>
      servesStatus(sites, statusSites, host),
    );
    const statusPort = options.statusPort === 0 ? 0 : await listen(server, options);
    const timers = [
      clock.every(options.tickMs, () => leader.tick(side.host.status(ROOT_GROUP)?.leader ?? 0)),
      clock.every(LAG_LOOK_MS, () => status.look()),
      watchThread(metrics, 'consensus', clock),
    ];
    this.port.on('message', (parcel: Parcel<Command>) => this.take(parcel, { side, server, timers }));
    const started: WorkerStart = { kind: 'started', statusPort };
    this.port.postMessage(started);
    toEngine.open(() => {
      // Not at the next tick only: with these events the engine thread may begin to serve.
      if (this.shared.rootAge === Number.POSITIVE_INFINITY) side.noteRoot();
    });
  }

  /** True if the node is meant to have no others. */
  private get isLone(): boolean {
    const { secret, oneTimeSecret } = this.options.cluster;
    return secret === null && oneTimeSecret === undefined;
  }

  private makeSide(disk: NodeDisk, log: LogStore, file: ClusterFile): ConsensusSide<PeerNetwork> {
    const { options, shared, storage, figures, toEngine, clock } = this;
    const { electionTicks, tickMs } = options;
    const connect = (events: NetworkEvents): PeerNetwork =>
      new PeerNetwork(options.cluster, file, events, (cause) => this.countRefusal(cause), clock);
    return new ConsensusSide(
      {
        nodeId: options.nodeId,
        raft: { electionTicks, maxProposalBytes: PROPOSAL_BYTES_MAX, maxPendingBytes: PENDING_BYTES_MAX },
        tickMs,
        engineSilenceMs: options.engineSilenceMs,
        logTail: this.isLone ? 0 : LOG_TAIL,
        lowDiskBytes: options.lowDiskBytes,
        diskLookMs: DISK_LOOK_MS,
        slowDiskTicks: Math.ceil(Math.max(electionTicks / 2, SLOW_DISK_MS / tickMs)),
      },
      {
        clock,
        disk: { log, look: (note) => storage.look(() => disk.freeBytes().then(note)) },
        line: {
          emit: (event) => toEngine.emit(event),
          silence: () => (shared.phase === Phase.READY ? shared.engineSilence() : 0),
          noteRoot: (age) => shared.noteRoot(age),
          writing: () => {
            storage.writeBegan();
            toEngine.writing();
          },
          written: (more) => {
            storage.writeEnded(more);
            toEngine.written(more);
          },
        },
        connect,
        random: () => randomBytes(4).readUInt32BE(0),
        onlooker: { watch: (group) => figures.watch(group) },
        wake: clock.wake,
      },
    );
  }

  private take(parcel: Parcel<Command>, running: Running): void {
    this.toEngine.receive(parcel, (command) => {
      if (command.kind === 'operators') this.operators = command.tokens;
      if (command.kind === 'sizes') this.sizes = command.sizes;
      if (command.kind === 'renew_tls') running.server.renewTls(command);
      running.side.handle(command);
      if (command.kind === 'stop') this.stop(running);
    });
  }

  private stop({ side, server, timers }: Running): void {
    for (const stop of timers) stop();
    side.close().then(
      () => {
        server.close();
        this.toEngine.emit({ kind: 'stopped' });
        setImmediate(() => this.port.close());
      },
      (error: unknown) =>
        this.toEngine.emit({
          kind: 'failed',
          failure: { message: messageOf(error), exitCode: ExitCode.Fatal },
        }),
    );
  }

  private makeStatus(side: ConsensusSide<PeerNetwork>, log: LogStore, leader: LeaderWatch): NodeStatus {
    const { options, shared, storage, metrics, figures, startedAt } = this;
    const { version, nodeName, logPath } = options;
    const { host, network } = side;
    return new NodeStatus({
      ...options,
      shared,
      storage,
      leader,
      host,
      cluster: network,
      operators: () => this.operators,
      cancelled: (user, { run, ms }) =>
        this.toEngine.emit({
          kind: 'log',
          level: 'warn',
          event: 'run_cancelled',
          message: `user '${user}' cancelled call ${run}, for which the engine had done nothing else for ${ms} ms`,
        }),
      metrics,
      page: (isReady) =>
        metricsPage({
          metrics,
          figures,
          version,
          nodeName,
          procedures: options.metricsProcedures,
          startedAt,
          folder: logPath,
          groups: () => host.groupsNow,
          sizes: () => this.sizes,
          peers: () => peerFigures(side),
          logBytes: () => log.stats().bytes,
          isReady: () => isReady,
        }),
      now,
      startedAt,
      wallClock: Date.now,
    });
  }

  private countSync(durationMs: number, records: number, bytes: number): void {
    const { metrics } = this;
    metrics.observe('syncSeconds', durationMs / 1000);
    metrics.observe('syncEntries', records);
    metrics.add('logAppended', 0, bytes);
  }

  private countRefusal(cause: PeerLogCause): void {
    const reason = REFUSAL_BY_CAUSE[cause];
    if (reason !== undefined) this.metrics.count('peersRefused', { reason });
  }
}

function peerFigures({ peers, network, links }: ConsensusSide<PeerNetwork>): PeerFigures[] {
  return peers.map((node) => {
    const { sent, received, roundTripMs } = links.traffic.get(node) ?? NO_TRAFFIC;
    return { name: network.nameOf(node), isUp: network.isUp(node), sent, received, roundTripMs };
  });
}

const NO_TRAFFIC: Traffic = { sent: 0, received: 0, roundTripMs: null };

const REFUSAL_BY_CAUSE: Partial<Record<PeerLogCause, LabelOf<'peersRefused'>>> = {
  wrong_secret: 'secret',
  other_cluster: 'cluster',
  removed: 'removed',
  version: 'version',
  garbage: 'garbage',
  damaged: 'damaged',
};

async function listen(server: StatusServer, { statusAddress, statusPort }: WorkerOptions): Promise<number> {
  try {
    return await server.listen(statusAddress, statusPort);
  } catch (error) {
    const isInUse = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
    if (isInUse) throw portInUse('http_status_port', statusAddress, statusPort);
    throw new Error(`http_status_port = ${statusPort}: ${messageOf(error)}`);
  }
}

function startFailure(error: unknown): WorkerStart {
  const problem = error instanceof StorageError ? 'the log can not be opened: ' : '';
  return {
    kind: 'failed',
    message: `${problem}${messageOf(error)}`,
    exitCode: exitCodeOf(error, ExitCode.Fatal),
    diskFull: error instanceof DiskFullError,
  };
}
