/** Writes and linearizable reads a second: of three nodes, and in turns with them of one node, of another build, of etcd. */
import type { RealCluster } from '@althing/node/testing';
import { type Contender, type ContestOptions, contest, type Row } from '../contest.js';
import { Generator, type Target } from '../measure.js';
import { queryRequest } from '../scenarios.js';
import { type EtcdCluster, putRequest, rangeRequest } from './etcd.js';

/** A way to a collection: through the leader, a node that leads nothing of it, or all of them evenly. */
export interface Way {
  readonly kind: 'write' | 'read';
  readonly through: 'leader' | 'follower' | 'all';
}

export const SCOPE = '//bench';

export interface RatesOptions extends ContestOptions {
  readonly workers: number;
  /** Only what has this in its title is measured. */
  readonly only: string;
}

/** Measures everything; calls `onRow` with each result. */
export async function measureRates(
  contenders: readonly Contender<Way>[],
  options: RatesOptions,
  onRow: (row: Row) => void,
): Promise<Row[]> {
  const generator = new Generator(options.workers);
  try {
    const rows: Row[] = [];
    for (const connections of options.connections) {
      for (const kind of ['write', 'read'] as const) {
        for (const through of ['leader', 'follower', 'all'] as const) {
          const title = `${kind}s through ${through}`;
          if (connections === 1 && through === 'all') continue;
          if (!`${title}, ${connections} connections`.includes(options.only)) continue;
          const wanted = { ...options, connections: [connections] };
          rows.push(...(await contest(generator, contenders, { kind, through }, title, wanted, onRow)));
        }
      }
    }
    return rows;
  } finally {
    generator.close();
  }
}

/** Prepares a cluster of this build or of another one: of three nodes, or of one, which is asked only as a leader. */
export async function clusterContender(name: string, cluster: RealCluster): Promise<Contender<Way>> {
  await cluster.node(1).value('/t', "new_collection('bench');");
  await cluster.node(1).value(SCOPE, '.counter = 0;');
  const { nodes } = cluster;
  const as = { token: cluster.node(1).token };
  const requests = {
    write: queryRequest(SCOPE, '.counter += 1;', as),
    read: queryRequest(SCOPE, '.counter;', as),
  };
  const leader = async (): Promise<number> => (await cluster.whenLed('@collection:bench')) - 1;
  const load = loader(nodes, requests, leader);
  return { name, load: async (way) => (nodes.length === 1 && way.through !== 'leader' ? null : load(way)) };
}

export function etcdContender(name: string, etcd: EtcdCluster): Contender<Way> {
  const requests = { write: putRequest, read: rangeRequest };
  return { name, load: loader(etcd.targets, requests, () => etcd.leader()) };
}

/** The requests go to one node, or to all; in each case all of them work. */
function loader(
  nodes: readonly Target[],
  requests: Readonly<Record<Way['kind'], Buffer>>,
  leader: () => Promise<number>,
) {
  const otherPids = nodes.map(({ pid }) => pid);
  const all = nodes.map(({ port, pid }): Target => ({ port, pid, otherPids }));
  return async ({ kind, through }: Way) => {
    const at = through === 'all' ? 0 : (await leader()) + (through === 'leader' ? 0 : 1);
    const target = all[at % all.length];
    const targets = through === 'all' || target === undefined ? all : [target];
    return { targets, requests: [requests[kind]] };
  };
}
