/** Three nodes of the bare path. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePorts } from '@althing/node/testing';
import type { Target } from '../measure.js';
import type { NodeOrder, NodeReport, Shape } from './order.js';

const NODES = 3;
const nodeFile = fileURLToPath(new URL('node.js', import.meta.url));

export class BareCluster {
  /** Its nodes; the first leads. */
  readonly targets: Target[] = [];
  readonly #children: ChildProcess[] = [];
  readonly #folder: string;

  private constructor(
    readonly shape: Shape,
    storage: string,
  ) {
    this.#folder = mkdtempSync(join(storage, 'bare-'));
  }

  /** Starts the nodes and waits until they can be asked. */
  static async start(shape: Shape, storage = tmpdir()): Promise<BareCluster> {
    const cluster = new BareCluster(shape, storage);
    try {
      const [peerPort = 0] = await freePorts(1);
      const leader = await cluster.#start(0, peerPort);
      const followers = Array.from({ length: NODES - 1 }, (_, at) => cluster.#start(at + 1, peerPort));
      cluster.targets.push(leader, ...(await Promise.all(followers)));
      return cluster;
    } catch (error) {
      await cluster.discard();
      throw error;
    }
  }

  async discard(): Promise<void> {
    await Promise.all(
      this.#children.map(async (child) => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        const exit = once(child, 'exit');
        child.kill('SIGKILL');
        await exit;
      }),
    );
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #start(at: number, peerPort: number): Promise<Target> {
    const child = fork(nodeFile);
    this.#children.push(child);
    const logFile = join(this.#folder, `log-${at}`);
    child.send({ shape: this.shape, leads: at === 0, peerPort, logFile } satisfies NodeOrder);
    const { port } = await new Promise<NodeReport>((resolve, reject) => {
      child.once('message', (report: NodeReport) => resolve(report));
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`a node of the bare path ended with ${code}`)));
    });
    return { port, pid: child.pid ?? 0 };
  }
}
