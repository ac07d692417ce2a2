/**
 * The benchmark of a cluster: rates beside those of etcd and of the bare path, and what clients notice when leaders go.
 */
import { ClusterProcess } from '../../harness/cluster-process.js';
import { NodeProcess } from '../../harness/node-process.js';
import { commandOf } from '../against.js';
import { BareCluster } from '../bare/bare-cluster.js';
import { SHAPES } from '../bare/order.js';
import { EtcdCluster, etcdVersion } from './etcd.js';
import { type Failovers, measureFailovers } from './failovers.js';
import { measureRates, type Rate, type RatesOptions, type Systems, titleOf } from './rates.js';

export interface ClusterBenchOptions extends RatesOptions {
  /** Folder of another built checkout to compare with, in place of one node and etcd; undefined for none. */
  readonly against: string | undefined;
  /** Whether the bare path is measured, in place of one node. */
  readonly withBare: boolean;
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
  const { storage, kills, progress, against, withBare } = options;
  // Two clusters at a time are as many as a small machine bears.
  const version = against === undefined ? etcdVersion() : undefined;
  const discards: (() => Promise<unknown>)[] = [];
  try {
    const single = against === undefined && !withBare ? await NodeProcess.start({ storage }) : undefined;
    const discardSingle = async (): Promise<void> => single?.discard();
    discards.push(discardSingle);
    const cluster = await ClusterProcess.start(3, storage);
    discards.push(() => cluster.discard());
    const other =
      against === undefined
        ? undefined
        : await ClusterProcess.start(3, storage, undefined, commandOf(against));
    const discardOther = async (): Promise<void> => other?.discard();
    discards.push(discardOther);
    const etcd = version === undefined ? undefined : await EtcdCluster.start(storage);
    const discardEtcd = async (): Promise<void> => etcd?.discard();
    discards.push(discardEtcd);
    const bare: BareCluster[] = [];
    const discardBare = async (): Promise<void> => {
      for (const each of bare) await each.discard();
    };
    discards.push(discardBare);
    for (const shape of withBare ? SHAPES : []) bare.push(await BareCluster.start(shape, storage));
    const systems: Systems = { single, cluster, other, etcd, bare };
    const rates = await measureRates(systems, options, (rate) => progress(lineOf(rate)));
    await Promise.all([discardEtcd(), discardSingle(), discardOther(), discardBare()]);
    const failovers = await measureFailovers(cluster, kills, kills, progress);
    return { etcd: version, rates, failovers };
  } finally {
    for (const discard of discards.reverse()) await discard();
  }
}

function lineOf(rate: Rate): string {
  return `${rate.system}, ${titleOf(rate)}: ${rate.ratePerS.toFixed(0)}/s`;
}
