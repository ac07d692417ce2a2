/** Up to three nodes that form a cluster one after the other, with storage that is thrown away. */
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import {
  type NodePlace,
  NodeProcess,
  type NodeProcessOptions,
  newPlace,
} from '../../harness/node-process.js';

/** Time that a member must be away before an empty node takes its place, in milliseconds. */
const REPLACE_AFTER_MS = 1000;

export class Trio {
  readonly #secret = randomBytes(16).toString('hex');
  readonly #places = new Map<number, Promise<NodePlace>>();
  readonly #nodes = new Map<number, NodeProcess>();
  #isDiscarded = false;

  /**
   * @param folder an empty one, which is removed in the end
   * @param command what to run as a node
   * @param settings of all nodes, by key, on top of those that a trio needs
   */
  constructor(
    private readonly folder: string,
    private readonly command: NonNullable<NodeProcessOptions['command']>,
    private readonly settings: NonNullable<NodeProcessOptions['settings']> = {},
  ) {}

  /** The nodes that run, in the order of their places. */
  get running(): readonly NodeProcess[] {
    return [...this.#nodes].sort(([a], [b]) => a - b).map(([, node]) => node);
  }

  node(at: number): NodeProcess {
    const node = this.#nodes.get(at);
    if (node === undefined) throw new Error(`node ${at} does not run`);
    return node;
  }

  /** Where a node tells its metrics, also before it is ready. */
  async statusUrl(at: number): Promise<string> {
    return `http://127.0.0.1:${(await this.#place(at)).statusPort}`;
  }

  /** Starts a node, with the data that it has, and waits until it is ready. The others join the first one. */
  async start(at: number): Promise<NodeProcess> {
    const place = await this.#place(at);
    const first = await this.#place(0);
    const settings = {
      node_name: '127.0.0.1',
      cluster: at === 0 ? '' : `127.0.0.1:${first.nodePort}`,
      cluster_secret: this.#secret,
      replace_after_ms: String(REPLACE_AFTER_MS),
      drain_delay_ms: '0',
      ...this.settings,
    };
    const node = await NodeProcess.start({ settings, place, command: this.command });
    this.#nodes.set(at, node);
    if (this.#isDiscarded) await this.discard();
    return node;
  }

  /** Ends a node at once; its data stay. */
  async kill(at: number): Promise<void> {
    await this.node(at).kill();
    this.#nodes.delete(at);
  }

  /** Ends a node at once, and removes its data. */
  async wipe(at: number): Promise<void> {
    const { folder } = this.node(at);
    await this.kill(at);
    // Not at once, which would hold up the clients that are being watched.
    await rm(folder, { recursive: true });
  }

  /** Stops all nodes as an operator would, and removes their data. */
  async stop(): Promise<void> {
    await Promise.all(this.running.map((node) => node.stop()));
    this.#nodes.clear();
  }

  /** Ends all nodes and removes their data. */
  async discard(): Promise<void> {
    this.#isDiscarded = true;
    await Promise.all(this.running.map((node) => node.kill()));
    rmSync(this.folder, { recursive: true, force: true });
  }

  #place(at: number): Promise<NodePlace> {
    let place = this.#places.get(at);
    if (place === undefined) {
      place = newPlace(this.folder);
      this.#places.set(at, place);
    }
    return place;
  }
}
