import type { DataFolder } from '@althing/storage';
import type { Config } from '../config/index.js';
import { type Identity, logIdentity } from '../identity.js';
import type { VersionRange } from '../peers/greeting-format.js';
import type { NodeCertificates } from '../tls/node-certificates.js';
import type { Bridge } from './bridge.js';
import { ConsensusStartError, type SharedParts, startConsensus } from './start.js';
import type { WorkerOptions } from './worker.js';

export interface NodeConsensusOptions {
  readonly config: Config;
  readonly version: string;
  /** Of the protocol between nodes. */
  readonly protocolVersions: VersionRange;
  readonly identity: Identity;
  readonly folder: DataFolder;
  readonly certificates: NodeCertificates;
  /** Of the figures of both threads. */
  readonly metrics: SharedArrayBuffer;
  /** Of `SharedStatus`. */
  readonly status: SharedArrayBuffer;
  /** Told when the thread ends, with its exit code, and with the error that ended it if one did. */
  readonly onExit: (code: number, error: Error | null) => void;
}

const MiB = 1024 * 1024;

/** How much longer than a query the engine thread may be silent, in milliseconds. */
const ENGINE_SLACK_MS = 1000;

/**
 * Starts the consensus thread of a node. On a full disk the log may need the reserve's room to be opened.
 *
 * @throws ConsensusStartError
 */
export async function startNodeConsensus(options: NodeConsensusOptions): Promise<Bridge> {
  const { folder } = options;
  try {
    return await start(options);
  } catch (error) {
    if (!(error instanceof ConsensusStartError) || !error.diskFull || !folder.hasReserve) throw error;
    await folder.releaseReserve();
    return start(options);
  }
}

async function start(options: NodeConsensusOptions): Promise<Bridge> {
  const { status, metrics, onExit } = options;
  const shared: SharedParts = { status, metrics, startedAt: Date.now() - process.uptime() * 1000 };
  const { bridge } = await startConsensus(workerOptions(options), shared, onExit);
  return bridge;
}

function workerOptions({
  config,
  version,
  protocolVersions,
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
    statusAddress: config.bindClientAddr,
    statusPort: config.httpStatusPort,
    statusTls: certificates.present,
    cluster: {
      identity,
      name: config.nodeName,
      version,
      protocolVersions,
      folder: folder.path,
      expected: config.cluster,
      waitForInvitation: config.waitForInvitation,
      secret: config.clusterSecret ?? null,
      tls: certificates.forPeers,
      bind: { address: config.bindNodeAddr, port: config.listenNodePort },
      heartbeatMs: config.heartbeatMs,
      electionTimeoutMs: config.electionTimeoutMs,
    },
    logId: logIdentity(identity),
    lowDiskBytes: config.diskReserveMb * MiB,
  };
}
