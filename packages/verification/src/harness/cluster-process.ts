/**
 * Real nodes on this machine that form a cluster, with storage that is thrown away.
 */
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { type RealNode, until } from '@althing/node/testing';
import { INFO, type Info, infoOf } from './cluster-info.js';
import type { Credentials } from './node-client.js';
import { type MemberPlace, type NodeOptions, newPlace, startNode } from './start-node.js';

export interface ClusterOptions {
  /** Folder in which the nodes' folders are made; default: that of temporary files. */
  readonly storage?: string;
  /** Settings of all nodes, by key, on top of those that a cluster needs. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The command to run as a node; default: `althing serve` of this project. */
  readonly command?: NodeOptions['command'];
}

export class ClusterProcess {
  readonly #nodes: RealNode[] = [];
  readonly #secret = randomBytes(16).toString('hex');
  #authorization = '';
  #isDiscarded = false;

  /** @param founders the nodes that form it together; the others join them */
  private constructor(
    private readonly places: readonly MemberPlace[],
    private readonly founders: number,
    private readonly options: ClusterOptions,
  ) {}

  /** Starts a cluster and waits until it serves. */
  static async start(count: number, options: ClusterOptions = {}): Promise<ClusterProcess> {
    const cluster = new ClusterProcess(await placesIn(count, options), count, options);
    await Promise.all(cluster.places.map((_, at) => cluster.startNode(at)));
    await cluster.node(0).login();
    cluster.#authorization = cluster.node(0).authorization;
    for (const node of cluster.nodes) node.authorization = cluster.#authorization;
    return cluster;
  }

  /** Places of nodes, none of which runs yet: the first one is a cluster by itself, and the others join it. */
  static async prepared(count: number, options: ClusterOptions): Promise<ClusterProcess> {
    return new ClusterProcess(await placesIn(count, options), 1, options);
  }

  /** The nodes that were started, each as it was started last. */
  get nodes(): readonly RealNode[] {
    return this.#nodes.filter((node) => node !== undefined);
  }

  /** A token of `admin`. */
  get credentials(): Credentials {
    return { token: this.node(0).token };
  }

  node(at: number): RealNode {
    const node = this.#nodes[at];
    if (node === undefined) throw new Error(`there is no node ${at}`);
    return node;
  }

  /** The node that leads a scope's group; undefined while none is known at a node that runs. */
  async leaderOf(scope: string): Promise<number | undefined> {
    const asked = this.nodes.find(({ running }) => running);
    if (asked === undefined) throw new Error('no node runs');
    const { nodes, groups } = await infoAt(asked);
    const leader = groups.find((group) => group.scope === scope)?.leader;
    const port = nodes.find(({ node_id }) => node_id === leader)?.port;
    const at = this.places.findIndex(({ nodePort }) => nodePort === port);
    return at === -1 || !this.node(at).running ? undefined : at;
  }

  /** Waits until a node leads a scope's group, and gives it. */
  async whenLed(scope: string): Promise<number> {
    let leader: number | undefined;
    const look = async (): Promise<boolean> => {
      leader = await this.leaderOf(scope).catch(() => undefined);
      return leader !== undefined;
    };
    await until(look, `${scope} has a leader`);
    return leader ?? -1;
  }

  /** Waits until every node is ready and has all that this one has. */
  async whenEqual(): Promise<void> {
    const areEqual = async (): Promise<boolean> => {
      const infos = await Promise.all(this.nodes.map(infoAt));
      const applied = infos.flatMap(({ nodes }) =>
        nodes.map(({ status, committed_change_id }) => `${status} ${committed_change_id}`),
      );
      return applied.every((each) => each === applied[0] && each.startsWith('READY'));
    };
    await until(() => areEqual().catch(() => false), 'the nodes are equal');
  }

  /** Ends a node at once; its data stay. */
  kill(at: number): Promise<void> {
    return this.node(at).kill();
  }

  /** Ends a node at once, and removes its data. */
  async wipe(at: number): Promise<void> {
    await this.kill(at);
    // Not at once, which would hold up the clients that are being watched.
    await rm(this.node(at).folder, { recursive: true });
  }

  /** Starts a node with the data that it has, and waits until it is ready. */
  async startNode(at: number): Promise<RealNode> {
    const { settings, command } = this.options;
    const all = {
      node_name: '127.0.0.1',
      cluster: this.#membersFor(at),
      cluster_secret: this.#secret,
      drain_delay_ms: '0',
      ...settings,
    };
    const node = await startNode({ settings: all, place: this.place(at), command });
    node.authorization = this.#authorization;
    this.#nodes[at] = node;
    if (this.#isDiscarded) await this.discard();
    return node;
  }

  /** Stops all nodes as an operator would, and removes their data. */
  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()));
  }

  /** Ends all nodes and removes their data. */
  async discard(): Promise<void> {
    this.#isDiscarded = true;
    await Promise.all(this.nodes.map((node) => node.kill()));
    for (const { folder } of this.places) rmSync(folder, { recursive: true, force: true });
  }

  /** Where a node is, also before it is started. */
  place(at: number): MemberPlace {
    const place = this.places[at];
    if (place === undefined) throw new Error(`there is no node ${at}`);
    return place;
  }

  /** The nodes that one of them forms a cluster with, or joins. */
  #membersFor(at: number): string {
    const founders = this.places.slice(0, this.founders);
    const isAlone = at < this.founders && this.founders === 1;
    return isAlone ? '' : founders.map(({ nodePort }) => `127.0.0.1:${nodePort}`).join(',');
  }
}

function placesIn(count: number, { storage }: ClusterOptions): Promise<MemberPlace[]> {
  return Promise.all(Array.from({ length: count }, () => newPlace(storage)));
}

async function infoAt(node: RealNode): Promise<Info> {
  return infoOf(await node.value('/n', INFO));
}
