/**
 * The beginning of a node: its consensus thread, and what that needs, until it is known which cluster the
 * node belongs to.
 */
import { SharedStatus } from './between/shared-status.js';
import type { State } from './groups/state.js';
import type { StaticSite } from './listen/http/static-site.js';
import { NodeCertificates } from './listen/tls/node-certificates.js';
import { startWait } from './operate/start/start-wait.js';
import { Ending } from './operate/stop/ending.js';
import { type Formed, type NodeBasics, NodeConsensus } from './operate/thread/node-consensus.js';
import type { Metrics } from './telemetry/metrics.js';

export interface NodeParts extends NodeBasics {
  readonly metrics: Metrics;
  readonly state: State;
  /** Gives the start up while it waits for other nodes. */
  readonly signal: AbortSignal;
  /** Files that the API serves to browsers; null for none. */
  readonly site: StaticSite | null;
}

/** The parts that are there as soon as the node knows its cluster. */
export interface Connected {
  readonly status: SharedStatus;
  readonly ending: Ending;
  readonly certificates: NodeCertificates;
  readonly consensus: NodeConsensus;
  readonly formed: Formed;
}

/**
 * Starts the consensus thread, and waits until it knows the cluster.
 *
 * @param isRemovalWanted asked when the cluster has removed this node: whether it had asked for that, and
 *   needs no end
 * @throws what ends the start; everything is stopped then
 */
export async function connect(parts: NodeParts, isRemovalWanted: () => boolean): Promise<Connected> {
  const { config, identity, folder, log, metrics, signal } = parts;
  const status = new SharedStatus();
  status.beat();
  const ending = new Ending({ config, identity, path: folder.path, status, log });
  const certificates = new NodeCertificates(config, log, metrics);
  ending.stops(() => certificates.stop());
  let consensus: NodeConsensus | null = null;
  try {
    consensus = await NodeConsensus.start({
      ...parts,
      certificates,
      metrics: metrics.buffer,
      status: status.buffer,
      onRemoved: () => {
        if (!isRemovalWanted()) ending.removed();
      },
      onFailure: (message, error, exitCode) => ending.fail(message, error, exitCode),
    });
    const formed = await clusterOf(consensus, ending, signal);
    return { status, ending, certificates, consensus, formed };
  } catch (error) {
    ending.giveUp();
    await consensus?.stop();
    throw error;
  }
}

async function clusterOf(consensus: NodeConsensus, ending: Ending, signal: AbortSignal): Promise<Formed> {
  const failure = (): Error | null => ending.failure;
  // Nothing is written to the log yet: a full disk is the business of those who need room.
  const disk = { level: 'ok' } as const;
  await startWait(() => consensus.formed !== null, { failure, signal, disk });
  const { formed } = consensus;
  if (formed === null) throw new Error('the node belongs to no cluster');
  return formed;
}
