/**
 * Where cases run: lanes. A lane runs one case at a time; several lanes run side by side.
 */
import { type RealNode, until } from '@althing/node/testing';
import { type Format, NodeClient } from '../harness/node-client.js';
import { NodeHost, type ThrowawayNode } from '../harness/node-host.js';
import { type NodeOptions, startNode } from '../harness/start-node.js';
import type { Case } from './cases.js';
import { type CaseResult, prepareFresh, prepareShared, runCase } from './run-case.js';

export interface Lane {
  run(wanted: Case): Promise<CaseResult>;
  /** Ends what the lane started; gives a complaint when a node did not end as it should. */
  close(): Promise<string | undefined>;
}

/** A step takes at most this long. */
const stepTimeoutMs = 30_000;

/** Runs cases on one node, each in a new collection `stuff`. A node that breaks is replaced. */
export class SharedLane implements Lane {
  #node: RealNode | undefined;
  #client: NodeClient | undefined;

  constructor(
    private readonly options: NodeOptions,
    private readonly format: Format,
  ) {}

  async run(wanted: Case): Promise<CaseResult> {
    if (this.#node === undefined || this.#client === undefined) {
      this.#node = await startNode(this.options);
      this.#client = new NodeClient(this.#node.url, this.format, stepTimeoutMs);
    }
    const problem = await prepareShared(this.#client);
    const result =
      problem === undefined
        ? await runCase(wanted, this.#client, this.format, this.#node.url)
        : notReady(problem);
    if (result.kind !== 'failed' || !result.isBroken) return result;
    return this.#replace(result);
  }

  async close(): Promise<string | undefined> {
    this.#client?.close();
    if (this.#node === undefined) return undefined;
    return this.#node.stop().then(() => undefined, String);
  }

  async #replace(result: CaseResult & { kind: 'failed' }): Promise<CaseResult> {
    const node = this.#node;
    this.#client?.close();
    this.#node = undefined;
    if (node === undefined) return result;
    const actual = result.actual + (await lastWords(node));
    await node.discard();
    return { ...result, actual };
  }
}

/** Runs each case on a node of its own, which is thrown away; the next nodes are started meanwhile. */
export class FreshLane implements Lane {
  readonly #spares: Promise<ThrowawayNode>[] = [];
  #host: NodeHost | undefined;
  #remaining: number;

  /** @param count how many cases this lane will run at most, so that no node is started in vain */
  constructor(
    private readonly options: NodeOptions,
    private readonly format: Format,
    count: number,
  ) {
    this.#remaining = count;
  }

  async run(wanted: Case): Promise<CaseResult> {
    // One more is started meanwhile.
    this.#refill(2);
    const next = this.#spares.shift();
    if (next === undefined) throw new Error('more cases than were announced');
    const node = await next;
    const client = new NodeClient(node.url, this.format, stepTimeoutMs);
    try {
      const problem = await prepareFresh(client);
      const result =
        problem === undefined ? await runCase(wanted, client, this.format, node.url) : notReady(problem);
      if (result.kind !== 'failed' || !result.isBroken) return result;
      return { ...result, actual: result.actual + (await lastWords(node)) };
    } finally {
      client.close();
      await node.discard();
    }
  }

  async close(): Promise<undefined> {
    this.#remaining = 0;
    const spares = await Promise.allSettled(this.#spares.splice(0));
    await Promise.all(
      spares.map((spare) => (spare.status === 'fulfilled' ? spare.value.discard() : undefined)),
    );
    await this.#host?.close();
  }

  #refill(count: number): void {
    while (this.#spares.length < count && this.#remaining > 0) {
      this.#remaining--;
      const spare = this.#start();
      // Its failure shows when its turn comes.
      spare.catch(() => undefined);
      this.#spares.push(spare);
    }
  }

  #start(): Promise<ThrowawayNode> {
    if (this.options.command !== undefined) return startNode(this.options);
    if (this.#host?.isRunning !== true) this.#host = new NodeHost();
    return this.#host.start(this.options);
  }
}

/** Runs cases on a node that somebody else started. */
export class GivenNodeLane implements Lane {
  readonly #client: NodeClient;

  constructor(
    private readonly url: string,
    private readonly format: Format,
  ) {
    this.#client = new NodeClient(url, format, stepTimeoutMs);
  }

  async run(wanted: Case): Promise<CaseResult> {
    const problem = await prepareShared(this.#client);
    return problem === undefined ? runCase(wanted, this.#client, this.format, this.url) : notReady(problem);
  }

  async close(): Promise<undefined> {
    this.#client.close();
  }
}

/** The last words of a node that broke a connection; its end may be noticed a little later than that. */
async function lastWords(node: ThrowawayNode): Promise<string> {
  await until(() => !node.running, 'the end of the node', 500).catch(() => {});
  return node.running ? '' : `; the node ended: ${node.log.trim()}`;
}

function notReady(problem: string): CaseResult & { kind: 'failed' } {
  const expected = "an empty collection 'stuff'";
  return { kind: 'failed', step: 'the preparation', expected, actual: problem, isBroken: true };
}
