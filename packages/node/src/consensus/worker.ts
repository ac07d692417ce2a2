/**
 * The consensus thread: Raft, the log, and the status port. It never runs code of users, so heartbeats, log syncs and
 * health checks wait for none of it.
 */
import { randomBytes } from 'node:crypto';
import { type MessagePort, workerData } from 'node:worker_threads';
import { DiskFullError, LogStore, NodeDisk, StorageError } from '@althing/storage';
import { ExitCode } from '../config/exit-codes.js';
import { descriptorLimit, fittingProbes } from '../descriptors.js';
import { metricsPage } from '../metrics/consensus-page.js';
import { REFUSALS } from '../metrics/families.js';
import { GroupFigures } from '../metrics/group-figures.js';
import { Metrics } from '../metrics/metrics.js';
import { watchThread } from '../metrics/thread-watch.js';
import type { PeerLogCause } from '../peers/refusal-log.js';
import { CHANGE_BYTES_MAX, WAITING_BYTES_MAX } from '../scopes/limits.js';
import { NodeStatus } from '../status/node-status.js';
import { Phase, SharedStatus } from '../status/shared-status.js';
import { StatusServer, type StatusTls } from '../status/status-server.js';
import { StorageBeat } from '../status/storage-beat.js';
import { type ClusterOptions, ClusterSide } from './cluster-side.js';
import { packEvents } from './event-parcel.js';
import { GroupHost } from './group-host.js';
import { LeaderWatch } from './leader-watch.js';
import { type Parcel, unpack } from './parcel.js';
import { type Event, ROOT_GROUP } from './protocol.js';
import { Signals } from './signals.js';

export interface WorkerOptions {
  readonly logPath: string;
  readonly segmentBytes: number;
  readonly nodeId: number;
  readonly nodeName: string;
  readonly version: string;
  /** Length of a tick of Raft's time in milliseconds. */
  readonly tickMs: number;
  /** Ticks without a leader until an election. */
  readonly electionTicks: number;
  /** Silence of the engine thread after which this node should lead nothing, in milliseconds. */
  readonly engineSilenceMs: number;
  readonly statusAddress: string;
  /** 0 for no status port. */
  readonly statusPort: number;
  /** For the status port; null for plain HTTP. */
  readonly statusTls: StatusTls | null;
  /** What there is to know about the cluster that the node belongs to or is to join. */
  readonly cluster: ClusterOptions;
  /** 16 bytes that tell the log of this node from others. */
  readonly logId: Uint8Array;
  /** Free space below which data must not grow; 0 for none. */
  readonly lowDiskBytes: number;
}

export interface WorkerData {
  readonly options: WorkerOptions;
  readonly port: MessagePort;
  /** Of `Signals`. */
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
      /** Whether it might come up if there were more room on the disk. */
      readonly diskFull: boolean;
    };

/** Time between two looks at the room on the disk, in milliseconds. */
const DISK_LOOK_MS = 100;

/** One proposal at most: a change and what wraps it. */
const PROPOSAL_BYTES_MAX = CHANGE_BYTES_MAX + 1024;

/** What a leader may have under way: more than the engine side ever sends, so that nothing has to be refused. */
const PENDING_BYTES_MAX = WAITING_BYTES_MAX + 2 * PROPOSAL_BYTES_MAX;

/** Entries that stay in the log behind a checkpoint, for members that are a little behind. */
const LOG_TAIL = 10_000;

/**
 * How long no leader may be known until the node says that it serves nothing, in election timeouts. Requests wait for the
 * next leader longer than that; and while one is elected no node knows any, so that a balancer would be left without nodes.
 */
const LEADERLESS_ELECTIONS = 3;

/** What a node without others keeps of its log in memory: nobody asks for more, and much of it makes long pauses. */
const LONE_CACHE_BYTES = 1024 * 1024;

/** A disk that makes others wait for less than this is not slow, however short the election timeout, in milliseconds. */
const SLOW_DISK_MS = 300;

/** Time between two looks at how far the groups lag, in milliseconds. */
const LAG_LOOK_MS = 250;

const {
  options,
  port,
  signals: signalsBuffer,
  status,
  metrics: figuresBuffer,
  startedAt,
} = workerData as WorkerData;
const signals = new Signals(signalsBuffer);
const shared = new SharedStatus(status);
const metrics = new Metrics(figuresBuffer);
const now = (): number => performance.now();
const figures = new GroupFigures(metrics, now);
const storage = new StorageBeat(now);

let events: Event[] = [];
let planned = false;
/** Whether the first message is out: events wait for it. */
let announced = false;

/** Events of one turn of the event loop travel in one message. */
function emit(event: Event): void {
  events.push(event);
  planFlush();
}

function planFlush(): void {
  if (planned || !announced) return;
  planned = true;
  queueMicrotask(flush);
}

function flush(): void {
  planned = false;
  const parcel = packEvents(events);
  events = [];
  port.postMessage(parcel, parcel.data.length > 0 ? [parcel.data.buffer] : []);
  signals.ring();
}

function writing(): void {
  storage.writeBegan();
  signals.writing();
}

/** What the engine thread holds back can be written now. It sends that when a message comes, be it an empty one. */
function written(more: boolean): void {
  storage.writeEnded(more);
  if (signals.written(more)) planFlush();
}

async function start(): Promise<void> {
  const disk = await NodeDisk.make(options.logPath);
  const log = await LogStore.open(disk, {
    segmentBytes: options.segmentBytes,
    storeId: options.logId,
    ...(options.cluster.secret === null ? { cacheBytes: LONE_CACHE_BYTES } : {}),
    observe: { now, written: countSync },
  });
  const cluster = await ClusterSide.start(options.cluster, {
    emit,
    refused: countRefusal,
    failed: (message, exitCode) => emit({ kind: 'failed', failure: { message, exitCode } }),
  });
  const host = new GroupHost({
    nodeId: options.nodeId,
    log,
    raft: {
      electionTicks: options.electionTicks,
      maxProposalBytes: PROPOSAL_BYTES_MAX,
      maxPendingBytes: PENDING_BYTES_MAX,
    },
    random: () => randomBytes(4).readUInt32BE(0),
    emit,
    transmit: (group, messages) => cluster.transmit(group, messages),
    isUp: (node) => cluster.isUp(node),
    writing,
    written,
    watch: (group) => figures.watch(group),
    logTail: options.cluster.secret === null ? 0 : LOG_TAIL,
    lowDiskBytes: options.lowDiskBytes,
    slowDiskTicks: Math.ceil(Math.max(options.electionTicks / 2, SLOW_DISK_MS / options.tickMs)),
  });
  cluster.attach(host);
  const look = (): Promise<void> =>
    storage.look(() => disk.freeBytes().then((bytes) => host.noteFree(bytes)));
  await look().catch(() => {});
  const leader = new LeaderWatch(LEADERLESS_ELECTIONS * options.electionTicks);
  const view = viewOf(host, cluster, log, leader);
  const server = new StatusServer(view, options.statusTls, fittingProbes(descriptorLimit()));
  const statusPort = options.statusPort === 0 ? 0 : await listen(server);
  const timers = [
    setInterval(() => {
      // Who can't run queries should not lead.
      host.giveAway(shared.phase === Phase.READY && shared.engineSilence() > options.engineSilenceMs);
      host.tick();
      leader.tick(host.status(ROOT_GROUP)?.leader ?? 0);
    }, options.tickMs),
    // A file system that does not tell what is free is no reason to end: writes tell when there is no room.
    setInterval(() => void look().catch(() => {}), DISK_LOOK_MS),
    setInterval(() => {
      host.watchLag(now());
      view.look();
    }, LAG_LOOK_MS),
  ];
  port.on('message', (parcel: Parcel) => {
    unpack(parcel, (command) => {
      if (command.kind === 'renew_tls') server.renewTls(command);
      if (!cluster.handle(command)) host.handle(command);
      if (command.kind === 'stop') stop(log, server, cluster, timers);
    });
  });
  watchThread(metrics, 'consensus');
  announce({ kind: 'started', statusPort });
}

function stop(
  log: LogStore,
  server: StatusServer,
  cluster: ClusterSide,
  timers: readonly NodeJS.Timeout[],
): void {
  for (const timer of timers) clearInterval(timer);
  Promise.all([log.close(), cluster.close()]).then(
    () => {
      server.close();
      emit({ kind: 'stopped' });
      setImmediate(() => port.close());
    },
    (error: unknown) =>
      emit({ kind: 'failed', failure: { message: textOf(error), exitCode: ExitCode.Fatal } }),
  );
}

async function listen(server: StatusServer): Promise<number> {
  try {
    return await server.listen(options.statusAddress, options.statusPort);
  } catch (error) {
    throw new StatusPortError(textOf(error));
  }
}

class StatusPortError extends Error {}

function countSync(durationMs: number, records: number, bytes: number): void {
  metrics.observe('syncSeconds', durationMs / 1000);
  metrics.observe('syncEntries', records);
  metrics.add('logAppended', 0, bytes);
}

const REFUSAL_BY_CAUSE: Partial<Record<PeerLogCause, (typeof REFUSALS)[number]>> = {
  wrong_secret: 'secret',
  other_cluster: 'cluster',
  removed: 'removed',
  version: 'version',
  garbage: 'garbage',
  damaged: 'damaged',
};

function countRefusal(cause: PeerLogCause): void {
  const reason = REFUSAL_BY_CAUSE[cause];
  if (reason !== undefined) metrics.add('peersRefused', REFUSALS.indexOf(reason));
}

function viewOf(host: GroupHost, cluster: ClusterSide, log: LogStore, leader: LeaderWatch): NodeStatus {
  const { version, nodeName } = options;
  return new NodeStatus({
    ...options,
    shared,
    storage,
    leader,
    host,
    cluster,
    metrics,
    page: (isReady) =>
      metricsPage({
        metrics,
        figures,
        version,
        nodeName,
        startedAt,
        folder: options.logPath,
        groups: () => host.groupsNow,
        peers: () => cluster.peerFigures,
        logBytes: () => log.stats().bytes,
        isReady: () => isReady,
      }),
    now,
    startedAt,
    wallClock: Date.now,
  });
}

function announce(message: WorkerStart): void {
  port.postMessage(message);
  signals.ring();
  announced = true;
  if (events.length > 0) flush();
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

start().catch((error: unknown) => announce(startFailure(error)));

function startFailure(error: unknown): WorkerStart {
  const diskFull = error instanceof DiskFullError;
  if (error instanceof StatusPortError) {
    const message = `http_status_port = ${options.statusPort}: ${error.message}`;
    return { kind: 'failed', message, exitCode: ExitCode.Configuration, diskFull };
  }
  if (error instanceof StorageError) {
    const exitCode = error.code.startsWith('damaged') ? ExitCode.DataDamaged : ExitCode.Fatal;
    return { kind: 'failed', message: `the log can not be opened: ${error.message}`, exitCode, diskFull };
  }
  // Errors about settings and the cluster tell their exit code themselves.
  const exitCode = (error as { readonly exitCode?: number }).exitCode ?? ExitCode.Fatal;
  return { kind: 'failed', message: textOf(error), exitCode, diskFull };
}
