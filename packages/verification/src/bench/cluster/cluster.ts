/** The benchmark of a cluster: rates beside those of etcd, and what clients notice when leaders go. */
import { loadavg } from 'node:os';
import { startCluster } from '../../harness/start-node.js';
import { type Contender, type Row, rowsText } from '../contest.js';
import { commandOf } from '../requests.js';
import { EtcdCluster, etcdVersion } from './etcd.js';
import { type Failovers, failoversText, measureFailovers } from './failovers.js';
import { clusterContender, etcdContender, measureRates, type RatesOptions, type Way } from './rates.js';

export interface ClusterBenchOptions extends RatesOptions {
  /** Folder of another built checkout to compare with, in place of one node and etcd; undefined for none. */
  readonly against: string | undefined;
  /** Leaders that are killed, and that hand over. */
  readonly kills: number;
  readonly storage: string;
  readonly progress: (text: string) => void;
}

export interface ClusterFigures {
  readonly rates: readonly Row[];
  readonly failovers: Failovers;
}

export async function benchCluster(options: ClusterBenchOptions): Promise<ClusterFigures> {
  const { storage, kills, progress, against } = options;
  const running: { discard(): Promise<unknown> }[] = [];
  const started = async <Cluster extends { discard(): Promise<unknown> }>(
    start: Promise<Cluster>,
  ): Promise<Cluster> => {
    const cluster = await start;
    running.push(cluster);
    return cluster;
  };
  try {
    const cluster = await started(startCluster(3, { storage }));
    const contenders: Contender<Way>[] = [await clusterContender('three nodes', cluster)];
    if (against !== undefined) {
      const other = await started(startCluster(3, { storage, command: commandOf(against) }));
      contenders.push(await clusterContender(against, other));
    } else {
      const version = etcdVersion();
      if (version === undefined) progress('etcd is not installed: apt-get install etcd-server');
      else contenders.push(etcdContender(`etcd ${version}`, await started(EtcdCluster.start(storage))));
      contenders.push(await clusterContender('one node', await started(startCluster(1, { storage }))));
    }
    const rates = await measureRates(contenders, options, (row) => progress(rowsText([row])));
    // The last cluster has the machine to itself.
    for (const other of running.splice(1)) await other.discard();
    return { rates, failovers: await measureFailovers(cluster, kills, progress) };
  } finally {
    for (const each of running) await each.discard();
  }
}

export function clusterText({ rates, failovers }: ClusterFigures): string {
  const load = loadavg().map((each) => each.toFixed(1));
  return [rowsText(rates), failoversText(failovers), `load of the machine: ${load.join(' ')}`].join('\n\n');
}
