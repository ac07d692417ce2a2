/**
 * The benchmark of a cluster: rates beside those of etcd, and what clients notice when leaders go.
 */
import { ClusterProcess } from '../../harness/cluster-process.js';
import { NodeProcess } from '../../harness/node-process.js';
import type { BenchOptions } from '../run.js';
import { EtcdCluster, etcdVersion } from './etcd.js';
import { type Failovers, measureFailovers } from './failovers.js';
import { measureRates, type Rate, type Systems } from './rates.js';

export interface ClusterBenchOptions extends BenchOptions {
  readonly kills: number;
  readonly storage: string;
  readonly progress: (text: string) => void;
}

export interface ClusterFigures {
  /** Version of etcd; undefined if it is not installed. */
  readonly etcd: string | undefined;
  readonly rates: readonly Rate[];
  readonly failovers: Failovers;
}

export async function benchCluster(options: ClusterBenchOptions): Promise<ClusterFigures> {
  const { storage, kills, progress } = options;
  const version = etcdVersion();
  const discards: (() => Promise<unknown>)[] = [];
  try {
    const single = await NodeProcess.start({ storage });
    discards.push(() => single.discard());
    const cluster = await ClusterProcess.start(3, storage);
    discards.push(() => cluster.discard());
    const etcd = version === undefined ? undefined : await EtcdCluster.start(storage);
    const discardEtcd = async (): Promise<void> => etcd?.discard();
    discards.push(discardEtcd);
    const systems: Systems = { single, cluster, etcd };
    const rates = await measureRates(systems, options, (rate) => progress(lineOf(rate)));
    await discardEtcd();
    await single.discard();
    const failovers = await measureFailovers(cluster, kills, kills, progress);
    return { etcd: version, rates, failovers };
  } finally {
    for (const discard of discards.reverse()) await discard();
  }
}

function lineOf({ system, kind, through, connections, ratePerS }: Rate): string {
  return `${system}, ${kind}s through ${through}, ${connections}: ${ratePerS.toFixed(0)}/s`;
}
