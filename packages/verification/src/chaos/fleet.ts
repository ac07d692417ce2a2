/** All nodes of a chaos run, and questions about them. */
import { randomBytes } from 'node:crypto';
import type { SettingKey } from '@althing/node';
import { INFO, infoOf } from '../harness/cluster-info.js';
import { ChaosNode } from './chaos-node.js';
import { answerOf, type Member, settle } from './members.js';
import type { Network } from './network.js';
import { Requests } from './requests.js';
import type { Tampering } from './tampering.js';

const PASSWORD = 'chaos of nodes';

export interface FleetOptions {
  readonly network: Network;
  readonly folder: string;
  readonly ownDisks: boolean;
  readonly tampering: Tampering | null;
  /** Called when a node ends though nobody ended it. */
  readonly onEnd: (node: ChaosNode, how: string) => void;
}

export const ELECTION_TIMEOUT_MS = 500;

/** Timing that lets much happen in little time. */
const SETTINGS: Partial<Record<SettingKey, string | number>> = {
  admin_password: PASSWORD,
  election_timeout_ms: ELECTION_TIMEOUT_MS,
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
  readonly members: readonly Member[];
  readonly network: Network;
  readonly requests = new Requests(`Basic ${Buffer.from(`admin:${PASSWORD}`).toString('base64')}`);

  constructor({ network, folder, ownDisks, tampering, onEnd }: FleetOptions) {
    this.network = network;
    const cluster = network.places.map(({ name, nodePort }) => `${name}:${nodePort}`).join(',');
    const secret = randomBytes(16).toString('hex');
    this.nodes = network.places.map(
      (place, at) =>
        new ChaosNode({
          at,
          place,
          folder,
          ownDisk: ownDisks,
          settings: { ...SETTINGS, cluster, cluster_secret: secret },
          environment: tampering?.environment(at) ?? {},
          onEnd,
        }),
    );
    this.members = this.nodes.map((node) => ({
      name: node.name,
      get isRunning() {
        return node.isRunning;
      },
      ask: (scope, code, headers = {}) => this.requests.ask(node.endpoint, { scope, code, headers }),
    }));
  }

  /** Starts all nodes and waits until they serve. */
  async start(): Promise<void> {
    for (const node of this.nodes) node.start();
    await Promise.all(this.nodes.map((node) => node.whenReady()));
    const token = await answerOf(this.member(0), '/t', "new_token('admin', nil, 'chaos');");
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

  member(at: number): Member {
    const member = this.members[at];
    if (member === undefined) throw new Error(`there is no node ${at}`);
    return member;
  }

  /** The node that leads a collection, as far as nodes that are up know, of those but for one. */
  async leaderOf(collection: string, except?: ChaosNode): Promise<ChaosNode | undefined> {
    const at = this.nodes.findIndex((node) => node.isUp && node !== except);
    if (at === -1) return undefined;
    const { outcome, value } = await this.member(at).ask('/n', INFO);
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
    const { nodes } = infoOf(await answerOf(this.member(other.at), '/n', INFO));
    const name = this.network.places[node.at]?.name;
    return nodes.find(({ node_name }) => node_name === name)?.node_id;
  }

  /** Waits until all is well; see `settle` of members. */
  settle(whileWriting: boolean): Promise<void> {
    return settle(this.members, whileWriting);
  }
}
