/**
 * Several real nodes on this machine that form a cluster.
 *
 *   const cluster = await RealCluster.start(3);
 *   await cluster.node(2).query('//stuff', '.x = 1;');
 *   await cluster.stop();
 */
import { randomBytes } from 'node:crypto';
import { freePorts } from './free-ports.js';
import { RealNode, type TestSettings } from './real-node.js';
import { until } from './until.js';

/** Starts that are tried when someone else takes a port in the meantime. */
const ATTEMPTS = 3;

export class RealCluster {
  /**
   * Starts nodes and waits until all of them serve. Their names are `127.0.0.1`, `127.0.0.2` and so on.
   *
   * @param nodeArgs options of Node.js
   */
  static async start(
    count: number,
    settings: TestSettings = {},
    nodeArgs: readonly string[] = [],
  ): Promise<RealCluster> {
    for (let attempt = 1; ; attempt++) {
      const cluster = await RealCluster.launch(count, settings, nodeArgs);
      try {
        await Promise.all(cluster.members.map((node) => node.whenReady()));
        await cluster.login();
        return cluster;
      } catch (error) {
        const portTaken = cluster.members.some(({ log }) => /in use|EADDRINUSE/.test(log));
        await cluster.kill();
        if (!portTaken || attempt === ATTEMPTS) throw error;
      }
    }
  }

  private static async launch(
    count: number,
    settings: TestSettings,
    nodeArgs: readonly string[],
  ): Promise<RealCluster> {
    const ports = await freePorts(count);
    const nameOf = (i: number): string => `127.0.0.${i + 1}`;
    const cluster = ports.map((port, i) => `${nameOf(i)}:${port}`).join(',');
    const secret = randomBytes(16).toString('hex');
    const all = ports.map((port, i) => ({
      node_name: nameOf(i),
      bind_node_addr: nameOf(i),
      listen_node_port: port,
      cluster,
      cluster_secret: secret,
      // No balancer sends them requests.
      drain_delay_ms: 0,
      ...settings,
    }));
    const nodes = all.map((own) => RealNode.launch(own, undefined, nodeArgs));
    return new RealCluster(await Promise.all(nodes), all);
  }

  private constructor(
    private readonly members: RealNode[],
    private readonly settings: readonly TestSettings[],
  ) {
    for (const node of members) this.introduce(node);
  }

  private introduce(node: RealNode): void {
    node.others = () => this.members.filter((other) => other !== node);
  }

  /** A node by its place, from 1. */
  node(place: number): RealNode {
    const node = this.members[place - 1];
    if (node === undefined) throw new Error(`there is no node ${place}`);
    return node;
  }

  get nodes(): readonly RealNode[] {
    return this.members;
  }

  /** The place of the node that leads the root group; waits until there is one. */
  async rootLeader(): Promise<number> {
    let leader = 0;
    await until(async () => {
      const places = await Promise.all(
        this.members.map(async (node, i) => {
          if (!node.running) return 0;
          const answer = await node.probe('/status').catch(() => null);
          return answer !== null && leadsRoot(answer.json) ? i + 1 : 0;
        }),
      );
      leader = Math.max(...places);
      return leader !== 0;
    }, 'a node leads the root group');
    return leader;
  }

  /** Ends a node at once; its data stay. */
  async killNode(place: number): Promise<void> {
    await this.node(place).kill();
  }

  /** Starts a node again that was ended, with other ports unless settings name them. */
  async restartNode(place: number, settings: TestSettings = {}): Promise<RealNode> {
    const former = this.node(place);
    const { folder, authorization } = former;
    const all = { ...this.settings[place - 1], ...settings };
    const node = await RealNode.start(all, folder, authorization).catch(async (error: Error) => {
      // The node that did not start has told its own part.
      const [other] = former.others().filter(({ running }) => running);
      throw (await other?.diagnosed(error.message)) ?? error;
    });
    this.members[place - 1] = node;
    this.introduce(node);
    return node;
  }

  /** Starts the process of a node again that was ended, and waits for nothing. */
  async launchNode(place: number): Promise<RealNode> {
    const { folder, authorization } = this.node(place);
    const node = await RealNode.launch(this.settings[place - 1], folder);
    node.authorization = authorization;
    this.members[place - 1] = node;
    this.introduce(node);
    return node;
  }

  /** Stops all nodes that run, and removes their data. */
  async stop(): Promise<void> {
    await Promise.all(this.members.map((node) => (node.running ? node.stop() : undefined)));
    this.clear();
  }

  /** Ends all nodes at once, and removes their data. */
  async kill(): Promise<void> {
    await Promise.all(this.members.map((node) => node.kill()));
    this.clear();
  }

  private clear(): void {
    for (const node of this.members) node.clear();
  }

  private async login(): Promise<void> {
    const [first, ...others] = this.members;
    if (first === undefined) return;
    await first.login();
    for (const node of others) node.authorization = first.authorization;
  }
}

function leadsRoot(status: unknown): boolean {
  const { root } = status as { readonly root?: { readonly role: string } | null };
  return root?.role === 'leader';
}
