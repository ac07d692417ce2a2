/** All nodes of a chaos run, and questions about them. */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { SettingKey } from '../config/index.js';
import { ChaosNode } from './chaos-node.js';
import type { Clocks } from './clock.js';
import type { Network } from './network.js';
import { Requests, type Response } from './requests.js';

const PASSWORD = 'chaos';
/** How long a healed cluster may take until all is well. */
const SETTLE_MS = 90_000;
const POLL_MS = 100;

export interface FleetOptions {
  readonly network: Network;
  readonly folder: string;
  readonly ownDisks: boolean;
  readonly clocks: Clocks | null;
  /** Called when a node ends though nobody ended it. */
  readonly onEnd: (node: ChaosNode, how: string) => void;
}

/** Timing that lets much happen in little time. */
const SETTINGS: Partial<Record<SettingKey, string | number>> = {
  admin_password: PASSWORD,
  election_timeout_ms: 500,
  heartbeat_ms: 50,
  request_timeout_ms: 3000,
  replace_after_ms: 2000,
  drain_delay_ms: 200,
  checkpoint_interval_ms: 1000,
  log_segment_mb: 1,
  disk_reserve_mb: 8,
  cache_size_mb: 64,
};

export class Fleet {
  readonly nodes: readonly ChaosNode[];
  readonly network: Network;
  readonly requests = new Requests(`Basic ${Buffer.from(`admin:${PASSWORD}`).toString('base64')}`);

  constructor({ network, folder, ownDisks, clocks, onEnd }: FleetOptions) {
    this.network = network;
    const cluster = network.places.map(({ name, nodePort }) => `${name}:${nodePort}`).join(',');
    const secret = randomBytes(16).toString('hex');
    this.nodes = network.places.map((place, at) => {
      clocks?.set(at, 0);
      return new ChaosNode({
        at,
        place,
        folder,
        ownDisk: ownDisks,
        settings: { ...SETTINGS, cluster, cluster_secret: secret },
        environment: clocks?.environment(at) ?? {},
        onEnd,
      });
    });
  }

  /** Starts all nodes and waits until they serve. */
  async start(): Promise<void> {
    for (const node of this.nodes) node.start();
    await Promise.all(this.nodes.map((node) => node.whenReady()));
    const token = await this.value(0, '/t', "new_token('admin', nil, 'chaos');");
    this.requests.authorization = `Bearer ${String(token)}`;
  }

  async close(): Promise<void> {
    this.requests.close();
    await Promise.all(this.nodes.map((node) => node.kill()));
    for (const node of this.nodes) node.clear();
  }

  node(at: number): ChaosNode {
    const node = this.nodes[at];
    if (node === undefined) throw new Error(`there is no node ${at}`);
    return node;
  }

  ask(at: number, scope: string, code: string, headers: Record<string, string> = {}): Promise<Response> {
    return this.requests.ask(this.node(at).endpoint, { scope, code, headers });
  }

  /**
   * The answer to a query that must succeed.
   *
   * @throws {Error}
   */
  async value(at: number, scope: string, code: string, headers?: Record<string, string>): Promise<unknown> {
    const { outcome, value, error } = await this.ask(at, scope, code, headers);
    if (outcome !== 'ok') throw new Error(`${code} at ${this.node(at).name}: ${error}`);
    return value;
  }

  /** Which node leads a collection, as far as nodes that are up know. */
  async leaderOf(collection: string): Promise<ChaosNode | undefined> {
    const at = this.nodes.findIndex(({ isUp }) => isUp);
    if (at === -1) return undefined;
    const { outcome, value } = await this.ask(at, '/n', INFO);
    if (outcome !== 'ok') return undefined;
    const { nodes, groups } = infoOf(value);
    const leader = groups.find(({ scope }) => scope === `@collection:${collection}`)?.leader;
    const name = nodes.find(({ node_id }) => node_id === leader)?.node_name;
    return this.nodes.find((_, place) => this.network.places[place]?.name === name);
  }

  /** The number by which the cluster knows a node; undefined if it does not. */
  async numberOf(node: ChaosNode): Promise<number | undefined> {
    const other = this.nodes.find((each) => each !== node && each.isUp);
    if (other === undefined) return undefined;
    const { nodes } = infoOf(await this.value(other.at, '/n', INFO));
    const name = this.network.places[node.at]?.name;
    return nodes.find(({ node_name }) => node_name === name)?.node_id;
  }

  /**
   * Waits until every node is ready and votes in every group; and, when nobody writes any more, until all have the same.
   *
   * @throws {Error} with what is not well, when it does not come
   */
  async settle(whileWriting: boolean): Promise<void> {
    const deadline = performance.now() + SETTLE_MS;
    for (;;) {
      const problem = await this.problem(whileWriting);
      if (problem === null) return;
      if (performance.now() > deadline)
        throw new Error(`${SETTLE_MS / 1000} s after the last fault: ${problem}`);
      await pause(POLL_MS);
    }
  }

  private async problem(whileWriting: boolean): Promise<string | null> {
    let marks: string | null = null;
    for (const { at, name, isRunning } of this.nodes) {
      if (!isRunning) return `${name} does not run`;
      const { outcome, value, error } = await this.ask(at, '/n', INFO);
      if (outcome !== 'ok') return `${name}: ${error}`;
      const { nodes, groups } = infoOf(value);
      if (nodes.length !== this.nodes.length) return `${name} knows ${nodes.length} nodes`;
      const notReady = nodes.find(({ status }) => status !== 'READY');
      if (notReady !== undefined) return `${name} sees ${notReady.node_name} as ${notReady.status}`;
      for (const { scope, leader, voters, learners } of groups) {
        if (leader === null) return `${name} knows no leader of ${scope}`;
        if (voters.length !== this.nodes.length || learners.length > 0)
          return `${scope} has ${voters.length} voters and ${learners.length} learners`;
      }
      const seen = groups.map(({ scope, applied }) => `${scope} ${applied}`).join();
      marks ??= seen;
      if (marks !== seen && !whileWriting)
        return `${name} and node 1 have not applied the same: ${differenceOf(marks, seen)}`;
    }
    return null;
  }
}

const INFO = '{nodes: nodes_info().map(|n| n.load()), groups: groups_info().map(|g| g.load())};';

interface Info {
  readonly nodes: readonly {
    readonly node_id: number;
    readonly node_name: string;
    readonly status: string;
  }[];
  readonly groups: readonly {
    readonly scope: string;
    readonly leader: number | null;
    readonly applied: number;
    readonly voters: readonly number[];
    readonly learners: readonly number[];
  }[];
}

/** The answer to `INFO`, whose shape the node's own tests hold. */
function infoOf(value: unknown): Info {
  return value as Info;
}

function differenceOf(left: string, right: string): string {
  const known = new Set(left.split(','));
  return right
    .split(',')
    .filter((each) => !known.has(each))
    .slice(0, 3)
    .join(', ');
}
