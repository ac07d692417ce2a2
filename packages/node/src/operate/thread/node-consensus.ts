import type { DataFolder } from '@althing/storage';
import { type Identity, logIdentity } from '../../base/identity.js';
import type { Bridge } from '../../between/bridge.js';
import type { Event, NodeEvent } from '../../between/protocol.js';
import { type Config, ExitCode } from '../../config/index.js';
import { sitesOptionsOf } from '../../listen/http/sites.js';
import type { NodeCertificates } from '../../listen/tls/node-certificates.js';
import type { VersionRange } from '../../peers/greeting-format.js';
import type { Logger } from '../../telemetry/logger.js';
import { ownHost } from '../start/own-host.js';
import type { WorkerOptions } from './consensus-thread.js';
import { ConsensusStartError, startConsensus } from './start.js';

/** The node that is started, as its first parts need to know it. */
export interface NodeBasics {
  readonly config: Config;
  readonly version: string;
  /** Versions of the protocol between nodes. */
  readonly protocolVersions: VersionRange;
  /** The highest level of a cluster that the software knows. */
  readonly level: number;
  /** The one-time secret with which an empty node waits for the secret of its cluster; null: it does not. */
  readonly oneTimeSecret: string | null;
  readonly identity: Identity;
  readonly folder: DataFolder;
  readonly log: Logger;
}

export interface NodeConsensusOptions extends NodeBasics {
  readonly certificates: NodeCertificates;
  /** The memory of the figures of both threads. */
  readonly metrics: SharedArrayBuffer;
  /** The memory of `SharedStatus`. */
  readonly status: SharedArrayBuffer;
  readonly onRemoved: () => void;
  /** The node can't go on. Without an exit code the error tells it. */
  readonly onFailure: (message: string, error: unknown, exitCode?: number) => void;
}

export type Formed = Extract<Event, { readonly kind: 'formed' }>;

const MiB = 1024 * 1024;

/** Time by which the engine thread may be silent for longer than a query takes, in milliseconds. */
const ENGINE_SLACK_MS = 1000;

/**
 * The consensus thread of a node, from its start to its end. Other nodes may be heard as soon as there is a
 * cluster, before this one is ready for them: what they say is kept until somebody listens.
 */
export class NodeConsensus {
  /** Null until it is known which cluster the node belongs to. */
  private cluster: Formed | null = null;
  private listener: ((event: NodeEvent) => void) | null = null;
  private readonly early: NodeEvent[] = [];
  /** Called when the thread has stopped as it was asked to. */
  private stopped: (() => void) | null = null;

  /** @throws ConsensusStartError */
  static async start(options: NodeConsensusOptions): Promise<NodeConsensus> {
    const bridge = await startThread(options, (code, error) => consensus.exited(code, error));
    const consensus = new NodeConsensus(bridge, options);
    return consensus;
  }

  private constructor(
    readonly bridge: Bridge,
    private readonly options: NodeConsensusOptions,
  ) {
    bridge.onEvent = (event) => this.handle(event);
  }

  /** The cluster that the node belongs to, and which start of the node this is; null until that is known. */
  get formed(): Formed | null {
    return this.cluster;
  }

  /** Tells what comes from now on, and what came before. */
  listen(listener: (event: NodeEvent) => void): void {
    this.listener = listener;
    for (const event of this.early.splice(0)) this.handle(event);
  }

  /** Resolves when the thread has ended. */
  async stop(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.stopped = resolve;
      this.bridge.send({ kind: 'stop' });
    });
    this.bridge.close();
  }

  private handle(event: Event): void {
    try {
      this.take(event);
    } catch (error) {
      this.options.onFailure('an event of the log could not be taken', error);
    }
  }

  private take(event: Event): void {
    const { log, onRemoved, onFailure } = this.options;
    switch (event.kind) {
      case 'failed':
        onFailure(event.failure.message, null, event.failure.exitCode);
        return;
      case 'removed':
        onRemoved();
        return;
      case 'stopped':
        this.stopped?.();
        return;
      case 'formed':
        this.cluster = event;
        return;
      case 'log':
        log[event.level]({ event: event.event }, event.message);
        return;
      default:
        if (this.listener === null) this.early.push(event);
        else this.listener(event);
    }
  }

  private exited(code: number, error: Error | null): void {
    if (this.stopped !== null && error === null) this.stopped();
    else {
      const message = `the consensus thread ended with code ${code}`;
      this.options.onFailure(message, error, ExitCode.InvariantBroken);
    }
  }
}

/** On a full disk the log may need the reserve's room to be opened. */
async function startThread(
  options: NodeConsensusOptions,
  onExit: (code: number, error: Error | null) => void,
): Promise<Bridge> {
  const { folder, status, metrics } = options;
  const start = async (): Promise<Bridge> => {
    const shared = { status, metrics, startedAt: Date.now() - process.uptime() * 1000 };
    const { bridge } = await startConsensus(workerOptions(options), shared, onExit);
    return bridge;
  };
  try {
    return await start();
  } catch (error) {
    if (!(error instanceof ConsensusStartError) || !error.diskFull || !folder.hasReserve) throw error;
    await folder.releaseReserve();
    return start();
  }
}

function workerOptions({
  config,
  version,
  protocolVersions,
  level,
  oneTimeSecret,
  identity,
  folder,
  certificates,
}: NodeConsensusOptions): WorkerOptions {
  return {
    logPath: folder.logPath,
    segmentBytes: config.logSegmentMb * MiB,
    nodeId: identity.nodeId,
    nodeName: config.nodeName,
    version,
    tickMs: config.heartbeatMs,
    electionTicks: Math.max(3, Math.round(config.electionTimeoutMs / config.heartbeatMs)),
    engineSilenceMs: config.queryDurationLimitMs + ENGINE_SLACK_MS,
    rootAgeMaxMs: rootAgeMaxOf(config),
    statusAddress: config.bindClientAddr,
    statusPort: config.httpStatusPort,
    metricsProcedures: config.metricsProcedures,
    statusTls: certificates.present,
    statusSites: sitesOptionsOf(config),
    cluster: {
      identity,
      name: config.nodeName,
      host: ownHost(config, config.clusterSecret !== undefined || oneTimeSecret !== null),
      version,
      protocolVersions,
      level,
      folder: folder.path,
      expected: config.cluster,
      waitForInvitation: config.waitForInvitation,
      secret: config.clusterSecret ?? null,
      ...(oneTimeSecret === null ? {} : { oneTimeSecret }),
      tls: certificates.forPeers,
      encryption: config.peerTls,
      bind: { address: config.bindNodeAddr, port: config.listenNodePort },
      heartbeatMs: config.heartbeatMs,
      electionTimeoutMs: config.electionTimeoutMs,
    },
    logId: logIdentity(identity),
    lowDiskBytes: config.diskReserveMb * MiB,
  };
}

/** Age that what a node knows of users and their rights may have, in milliseconds. */
export function rootAgeMaxOf({ authMaxStaleMs, electionTimeoutMs }: Config): number {
  return Math.max(authMaxStaleMs, 2 * electionTimeoutMs);
}
