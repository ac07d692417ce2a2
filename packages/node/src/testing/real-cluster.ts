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

/** The name of the node that leads a scope's group, empty for none. */
const LEADER = `
  leader = groups_info().map(|g| g.load()).find(|g| g.scope == scope).leader;
  nodes_info().map(|n| n.load()).find(|n| n.node_id == leader, {node_name: ''}).node_name;
`;

/** The start of the process of a node, in the folder of an earlier one if there is one. */
type Launch = (settings: TestSettings, folder?: string) => Promise<RealNode>;

export class RealCluster {
  /**
   * Starts nodes and waits until all of them serve. Their names are `127.0.0.1`, `127.0.0.2` and so on, and each keeps its ports.
   */
  static async start(
    count: number,
    settings: TestSettings = {},
    launch: Launch = RealNode.launch,
  ): Promise<RealCluster> {
    for (let attempt = 1; ; attempt++) {
      const cluster = await RealCluster.launchAll(count, settings, launch);
      try {
        await Promise.all(cluster.members.map((node) => node.whenReady()));
        await cluster.login();
        return cluster;
      } catch (error) {
        const portTaken = cluster.members.some(({ log }) => /in use|EADDRINUSE/.test(log));
        await cluster.discard();
        if (!portTaken || attempt === ATTEMPTS) throw error;
      }
    }
  }

  private static async launchAll(
    count: number,
    settings: TestSettings,
    launch: Launch,
  ): Promise<RealCluster> {
    const ports = await freePorts(count);
    const clientPorts = await freePorts(2 * count);
    const nameOf = (i: number): string => `127.0.0.${i + 1}`;
    const cluster = ports.map((port, i) => `${nameOf(i)}:${port}`).join(',');
    const secret = randomBytes(16).toString('hex');
    const all = ports.map((port, i) => ({
      node_name: nameOf(i),
      bind_node_addr: nameOf(i),
      listen_node_port: port,
      http_api_port: clientPorts[2 * i] ?? 0,
      http_status_port: clientPorts[2 * i + 1] ?? 0,
      cluster,
      cluster_secret: secret,
      // No balancer sends them requests.
      drain_delay_ms: 0,
      ...settings,
    }));
    return new RealCluster(await Promise.all(all.map((own) => launch(own))), all, launch);
  }

  private constructor(
    private readonly members: RealNode[],
    private readonly settings: readonly TestSettings[],
    private readonly launch: Launch,
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

  /** The place of the node that leads a scope's group, as a node that runs knows it; undefined while that knows none. */
  async leaderOf(scope: string): Promise<number | undefined> {
    const asked = this.members.find(({ running }) => running);
    if (asked === undefined) throw new Error('no node runs');
    const name = await asked.value('/n', LEADER, { scope });
    const place = this.settings.findIndex(({ node_name }) => node_name === name) + 1;
    return place > 0 && this.node(place).running ? place : undefined;
  }

  /** Waits until a node leads a scope's group, and gives its place. */
  async whenLed(scope: string): Promise<number> {
    let leader: number | undefined;
    await until(async () => {
      leader = await this.leaderOf(scope).catch(() => undefined);
      return leader !== undefined;
    }, `${scope} has a leader`);
    return leader ?? 0;
  }

  /** Ends a node at once; its data stay. */
  async killNode(place: number): Promise<void> {
    await this.node(place).kill();
  }

  /** Starts a node again that was ended, and waits until it is ready. */
  async restartNode(place: number, settings: TestSettings = {}): Promise<RealNode> {
    const relaunch = (): Promise<RealNode> => this.launchNode(place, settings);
    return RealNode.whenLaunched(relaunch, false).catch(async (error: Error) => {
      // The node that did not start has told its own part.
      const [other] = this.node(place)
        .others()
        .filter(({ running }) => running);
      throw (await other?.diagnosed(error.message)) ?? error;
    });
  }

  /** Starts the process of a node again that was ended, and waits for nothing. */
  async launchNode(place: number, settings: TestSettings = {}): Promise<RealNode> {
    const { folder, authorization } = this.node(place);
    const node = await this.launch({ ...this.settings[place - 1], ...settings }, folder);
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
  async discard(): Promise<void> {
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
