/**
 * Real nodes on this machine that form a cluster, with storage that is thrown away.
 */
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { isWireList, isWireMap, type WireValue } from '@althing/client';
import { until } from '@althing/node/testing';
import { clientOf } from './client-of.js';
import type { Credentials } from './node-client.js';
import { type NodePlace, NodeProcess, type NodeProcessOptions, newPlace } from './node-process.js';

/** Longest wait for an answer, in milliseconds. */
const QUERY_MS = 20_000;

const admin: Credentials = { basic: ['admin', 'pass'] };

export class ClusterProcess {
  #nodes: readonly NodeProcess[];
  #credentials: Credentials = admin;

  private constructor(
    private readonly places: readonly NodePlace[],
    private readonly settings: readonly Readonly<Record<string, string>>[],
    private readonly command: NodeProcessOptions['command'],
    nodes: readonly NodeProcess[],
  ) {
    this.#nodes = nodes;
  }

  /**
   * Starts a cluster and waits until it serves.
   *
   * @param storage folder in which the nodes' folders are made; default: that of temporary files
   * @param settingsOf further settings of a node, by its place from 0
   * @param command what to run as a node; default: `althing serve` of this project
   */
  static async start(
    count: number,
    storage?: string,
    settingsOf: (at: number) => Readonly<Record<string, string>> = () => ({}),
    command?: NodeProcessOptions['command'],
  ): Promise<ClusterProcess> {
    const places = await Promise.all(Array.from({ length: count }, () => newPlace(storage)));
    const common = {
      node_name: '127.0.0.1',
      cluster: places.map(({ nodePort }) => `127.0.0.1:${nodePort}`).join(','),
      cluster_secret: randomBytes(16).toString('hex'),
      drain_delay_ms: '0',
    };
    const settings = places.map((_, at) => ({ ...common, ...settingsOf(at) }));
    const nodes = await Promise.all(
      places.map((place, at) => NodeProcess.start(startOf(place, settings[at] ?? common, command))),
    );
    const cluster = new ClusterProcess(places, settings, command, nodes);
    const token = await cluster.query(0, '@thingsdb', "new_token('admin');");
    cluster.#credentials = { token: String(token) };
    return cluster;
  }

  get nodes(): readonly NodeProcess[] {
    return this.#nodes;
  }

  /** A token of `admin`. */
  get credentials(): Credentials {
    return this.#credentials;
  }

  node(at: number): NodeProcess {
    const node = this.#nodes[at];
    if (node === undefined) throw new Error(`there is no node ${at}`);
    return node;
  }

  /**
   * Runs a query at a node.
   *
   * @throws {Error} when it fails
   */
  async query(at: number, scope: string, code: string): Promise<WireValue> {
    const db = clientOf(this.node(at).url, this.#credentials, QUERY_MS);
    try {
      return await db.$scope(scope).query<WireValue>(code);
    } finally {
      await db.$close();
    }
  }

  /** The node that leads a scope's group; undefined while none is known at a node that runs. */
  async leaderOf(scope: string): Promise<number | undefined> {
    const asked = this.#nodes.findIndex(({ isRunning }) => isRunning);
    const code = '[nodes_info().map(|n| n.load()), groups_info().map(|g| g.load())];';
    const [nodes, groups] = listOf(await this.query(asked, '@node', code));
    const group = listOf(groups).find((each) => isWireMap(each) && each.get('scope') === scope);
    const number = isWireMap(group) ? group.get('leader') : undefined;
    const node = listOf(nodes).find((each) => isWireMap(each) && each.get('node_id') === number);
    const port = isWireMap(node) ? node.get('port') : undefined;
    const at = this.places.findIndex(({ nodePort }) => BigInt(nodePort) === port);
    return at === -1 || !this.node(at).isRunning ? undefined : at;
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
      const infos = await Promise.all(
        this.#nodes.map((_, at) => this.query(at, '@node', 'nodes_info().map(|n| n.load());')),
      );
      const applied = infos.flatMap((info) =>
        listOf(info).map((each) =>
          isWireMap(each) ? `${each.get('status')} ${each.get('committed_change_id')}` : '',
        ),
      );
      return applied.every((each) => each === applied[0] && each.startsWith('READY'));
    };
    await until(() => areEqual().catch(() => false), 'the nodes are equal');
  }

  /** Ends a node at once; its data stay. */
  kill(at: number): Promise<void> {
    return this.node(at).kill();
  }

  /** Starts a node again with the data that it had, and waits until it is ready. */
  async restart(at: number): Promise<void> {
    const place = this.places[at];
    const settings = this.settings[at];
    if (place === undefined || settings === undefined) throw new Error(`there is no node ${at}`);
    const node = await NodeProcess.start(startOf(place, settings, this.command));
    this.#nodes = this.#nodes.with(at, node);
  }

  /** Ends all nodes and removes their data. */
  async discard(): Promise<void> {
    await Promise.all(this.#nodes.map((node) => node.discard()));
    for (const { folder } of this.places) rmSync(folder, { recursive: true, force: true });
  }
}

function startOf(
  place: NodePlace,
  settings: Readonly<Record<string, string>>,
  command: NodeProcessOptions['command'],
): NodeProcessOptions {
  return command === undefined ? { settings, place } : { settings, place, command };
}

function listOf(value: WireValue | undefined): readonly WireValue[] {
  return isWireList(value) ? value : [];
}
