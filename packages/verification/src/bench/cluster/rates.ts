/**
 * Writes and linearizable reads per second: one node, three nodes, three nodes of etcd, and three of the bare path, all in turns,
 * so that a slower minute of the machine hits all of them.
 */

import { wireMap } from '@althing/client';
import type { ClusterProcess } from '../../harness/cluster-process.js';
import { NodeClient } from '../../harness/node-client.js';
import type { NodeProcess } from '../../harness/node-process.js';
import type { BareCluster } from '../bare/bare-cluster.js';
import type { Shape } from '../bare/order.js';
import { Generator, type Measurement, type Target } from '../measure.js';
import type { BenchOptions } from '../run.js';
import { requestOf } from '../scenarios.js';
import { median } from '../table.js';
import { type EtcdCluster, putRequest, rangeRequest } from './etcd.js';

export type System = 'one node' | 'three nodes' | 'other build' | 'etcd' | `bare, ${Shape}`;
/** Through whom: the leader, a node that leads nothing of it, or all of them evenly. */
export type Through = 'leader' | 'follower' | 'all';
export type Kind = 'write' | 'read';

export interface Rate {
  readonly system: System;
  readonly kind: Kind;
  readonly through: Through;
  readonly connections: number;
  readonly ratePerS: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Processor time of all servers together per answer. */
  readonly serverUs: number | undefined;
  /** Processor time of the generator per answer. */
  readonly generatorUs: number;
  readonly errors: number;
  readonly lastError: string | undefined;
}

export interface Systems {
  readonly single: NodeProcess | undefined;
  readonly cluster: ClusterProcess;
  /** Three nodes of another build. */
  readonly other: ClusterProcess | undefined;
  readonly etcd: EtcdCluster | undefined;
  /** Three nodes of the bare path in each of some shapes. */
  readonly bare: readonly BareCluster[];
}

export const scope = '//bench';
export const setup = { collection: "new_collection('bench');", counter: '.counter = 0;' };

export interface RatesOptions extends BenchOptions {
  /**
   * How long each load runs before it is measured, in milliseconds. Programs that are compiled as they run need thousands of requests
   * of the same kind until they are as fast as they get, and with one connection these take a while.
   */
  readonly heatMs: number;
  /** Only what has this in its title is measured. */
  readonly only: string;
}

/** Measures everything; calls `onRate` with each result. */
export async function measureRates(
  systems: Systems,
  options: RatesOptions,
  onRate: (rate: Rate) => void,
): Promise<Rate[]> {
  const { single, cluster, other, etcd, bare } = systems;
  for (const each of other === undefined ? [cluster] : [cluster, other]) {
    await each.query(0, '@thingsdb', setup.collection);
    await each.query(0, scope, setup.counter);
  }
  const { warmupMs, durationMs, heatMs, only } = options;
  const generator = new Generator(options.workers);
  try {
    const sources = [clusterSource('three nodes', cluster)];
    if (single !== undefined) sources.unshift(await singleSource(single));
    if (other !== undefined) sources.push(clusterSource('other build', other));
    if (etcd !== undefined) sources.push(etcdSource(etcd));
    for (const each of bare) sources.push(bareSource(each));
    const rates: Rate[] = [];
    for (const connections of options.connections) {
      for (const kind of kinds) {
        for (const through of connections === 1 ? onePlace : everyPlace) {
          if (!titleOf({ kind, through, connections }).includes(only)) continue;
          const present = sources.filter(({ system }) => system !== 'one node' || through === 'leader');
          const measured = new Map<Source, Measurement[]>(present.map((source) => [source, []]));
          const measureOne = async (source: Source, warmth: number, length: number): Promise<Measurement> => {
            const targets = through === 'all' ? source.targets() : [await source.target(through)];
            const wanted = {
              warmupMs: warmth,
              durationMs: length,
              requests: [source.requests[kind]],
              connections,
            };
            return await generator.measure(targets, wanted);
          };
          for (const source of measured.keys()) await measureOne(source, 0, heatMs);
          for (let round = 0; round < options.rounds; round++) {
            const turns = [...measured];
            // Each is first every other time: what comes second finds another machine.
            if (round % 2 === 1) turns.reverse();
            for (const [source, results] of turns) {
              results.push(await measureOne(source, warmupMs, durationMs));
            }
          }
          for (const [{ system }, results] of measured) {
            const rate = rateOf({ system, kind, through, connections }, results);
            rates.push(rate);
            onRate(rate);
          }
        }
      }
    }
    return rates;
  } finally {
    generator.close();
  }
}

/** What is measured, in words. */
export function titleOf({
  kind,
  through,
  connections,
}: Pick<Rate, 'kind' | 'through' | 'connections'>): string {
  return `${kind}s through ${through}, ${connections} connections`;
}

const kinds: readonly Kind[] = ['write', 'read'];
const onePlace: readonly Through[] = ['leader', 'follower'];
const everyPlace: readonly Through[] = ['leader', 'follower', 'all'];

/** A system under load. */
interface Source {
  readonly system: System;
  readonly requests: Readonly<Record<Kind, Buffer>>;
  /** All of its nodes. */
  targets(): readonly Target[];
  target(role: 'leader' | 'follower'): Promise<Target>;
}

async function singleSource(node: NodeProcess): Promise<Source> {
  const client = new NodeClient(node.url, 'msgpack', 20_000);
  const basic = { basic: ['admin', 'pass'] } as const;
  const query = async (where: string, code: string): Promise<unknown> => {
    const outcome = await client.send(where, basic, wireMap({ type: 'query', code }));
    if (outcome.kind === 'value') return outcome.value;
    throw new Error(`the preparation ${code} failed: ${JSON.stringify(outcome)}`);
  };
  try {
    await query('@thingsdb', setup.collection);
    await query(scope, setup.counter);
    const token = String(await query('@thingsdb', "new_token('admin');"));
    return {
      system: 'one node',
      requests: requestsOf(token),
      targets: () => [node],
      target: () => Promise.resolve(node),
    };
  } finally {
    client.close();
  }
}

function clusterSource(system: System, cluster: ClusterProcess): Source {
  const { credentials } = cluster;
  return {
    system,
    requests: requestsOf('token' in credentials ? credentials.token : ''),
    targets: () => cluster.nodes.map((node) => alone(node, cluster.nodes)),
    target: async (role) => {
      const leader = await cluster.whenLed('@collection:bench');
      const at = role === 'leader' ? leader : (leader + 1) % cluster.nodes.length;
      return alone(cluster.node(at), cluster.nodes);
    },
  };
}

function etcdSource(etcd: EtcdCluster): Source {
  return {
    system: 'etcd',
    requests: { write: putRequest, read: rangeRequest },
    targets: () => etcd.targets,
    target: async (role) => {
      const leader = await etcd.leader();
      const at = role === 'leader' ? leader : (leader + 1) % etcd.targets.length;
      const target = etcd.targets[at];
      if (target === undefined) throw new Error('etcd has no such node');
      return alone(target, etcd.targets);
    },
  };
}

function bareSource({ shape, targets }: BareCluster): Source {
  return {
    system: `bare, ${shape}`,
    // It looks at no token, but reads the head that has it, as a node does.
    requests: requestsOf('x'.repeat(22)),
    targets: () => targets,
    target: async (role) => alone(targets[role === 'leader' ? 0 : 1]!, targets),
  };
}

/** One of several: it gets all the requests, but the others work too. */
function alone({ port, pid }: Target, all: readonly Target[]): Target {
  return { port, pid, others: all.map((other) => other.pid) };
}

function requestsOf(token: string): Record<Kind, Buffer> {
  const common = { name: '', scope, setup: [], format: 'json', auth: 'token' } as const;
  const body = (code: string) => () => wireMap({ type: 'query', code });
  return {
    write: requestOf({ ...common, body: body('.counter += 1;'), changes: true }, { token }),
    read: requestOf({ ...common, body: body('.counter;'), changes: false }, { token }),
  };
}

function rateOf(
  what: Pick<Rate, 'system' | 'kind' | 'through' | 'connections'>,
  results: readonly Measurement[],
): Rate {
  const middle = (of: (measurement: Measurement) => number): number => median(results.map(of));
  const server = results.flatMap(({ serverUs }) => (serverUs === undefined ? [] : [serverUs]));
  return {
    ...what,
    ratePerS: middle(({ ratePerS }) => ratePerS),
    p50Ms: middle(({ p50Ms }) => p50Ms),
    p99Ms: middle(({ p99Ms }) => p99Ms),
    serverUs: server.length === 0 ? undefined : median(server),
    generatorUs: middle(({ generatorUs }) => generatorUs),
    errors: results.reduce((total, { errors }) => total + errors, 0),
    lastError: results.find(({ lastError }) => lastError !== undefined)?.lastError,
  };
}
