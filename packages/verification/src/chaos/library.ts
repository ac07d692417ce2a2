/**
 * The client library under faults: changes at a steady rate over each transport, while leaders are killed and connections are cut. No change
 * that was acknowledged may be lost, none may be made twice, and every call must settle. Behind it a rolling restart, of which no call may
 * see an error.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { AlthingError, type ConnectOptions, connect, type Database } from '@althing/client';
import { CutProxy } from '../harness/cut-proxy.js';
import { paced } from '../harness/paced.js';
import { quantile } from '../harness/table.js';
import { Draw } from '../simulation/random.js';
import type { ChaosNode } from './chaos-node.js';
import { Fleet } from './fleet.js';
import { answerOf } from './members.js';
import type { RunOptions } from './run.js';

export const TRANSPORTS = ['http', 'tcp', 'websocket'] as const;
export type TransportName = (typeof TRANSPORTS)[number];

export interface LibraryOptions extends Pick<RunOptions, 'seed' | 'network' | 'folder' | 'tell'> {
  /** Time under load for each transport. */
  readonly durationMs: number;
  readonly transports: readonly TransportName[];
  readonly perSecond: number;
}

const COLLECTION = 'stuff';
const KILL_EVERY_MS = 5000;
const CUT_EVERY_MS = 700;
const RESTART_AFTER_MS = 1000;
/** Time that a call may take while its leader dies: the ninety-ninth of a hundred. */
const P99_MS = 2000;
/** Time that calls may take to settle when the load is over: as long as one may take at all. */
const SETTLE_MS = 35_000;

/** Plays all of it; gives what is wrong, one line each. */
export async function runLibrary(options: LibraryOptions): Promise<string[]> {
  const { network, folder, tell, transports, seed } = options;
  const problems: string[] = [];
  const fleet = new Fleet({
    network,
    folder,
    ownDisks: false,
    tampering: null,
    onEnd: (node, how) => problems.push(`${node.name} ended by itself with ${how}`),
  });
  const proxies = await Promise.all(
    fleet.nodes.map(async ({ endpoint, socketEndpoint }) => ({
      api: await CutProxy.start(endpoint.port, endpoint.host),
      native: await CutProxy.start(socketEndpoint.port, socketEndpoint.host),
    })),
  );
  try {
    await fleet.start();
    await answerOf(
      fleet.member(0),
      '/t',
      `if (!has_collection('${COLLECTION}')) new_collection('${COLLECTION}'); nil;`,
    );
    for (const transport of transports) {
      const load = new Load(transport, proxies, fleet, options.perSecond);
      await load.prepare();
      const draw = new Draw(seed, transport);
      const killed = await load.during(options.durationMs, (isOver) =>
        Promise.all([killing(fleet, isOver), cutting(proxies, draw, isOver)]),
      );
      tell(`${transport}, leaders killed: ${killed.summary}`);
      problems.push(...killed.problems.map((each) => `${transport}: ${each}`));
      const p99 = quantile(killed.latencies, 0.99);
      if (p99 > P99_MS)
        problems.push(`${transport}: one call of a hundred took ${Math.round(p99)} ms or more`);
      const rolled = await load.during(0, () => rolling(fleet));
      tell(`${transport}, rolling restart: ${rolled.summary}`);
      problems.push(...rolled.problems.map((each) => `${transport}, rolling restart: ${each}`));
      if (rolled.failed > 0)
        problems.push(`${transport}: ${rolled.failed} calls saw an error of a rolling restart`);
      problems.push(...(await load.check()).map((each) => `${transport}: ${each}`));
    }
  } finally {
    await fleet.close();
    await Promise.all(proxies.flatMap(({ api, native }) => [api.stop(), native.stop()]));
  }
  return problems;
}

interface NodeProxies {
  readonly api: CutProxy;
  readonly native: CutProxy;
}

/** Outcomes of the calls of one part of a run. */
class Outcomes {
  made = 0;
  failed = 0;
  readonly latencies: number[] = [];
  readonly problems: string[] = [];
  readonly #errors = new Map<string, number>();

  note(error: unknown): void {
    this.failed += 1;
    const text = (error instanceof Error ? `${error.name}: ${error.message}` : String(error)).replace(
      /\d+/g,
      'N',
    );
    this.#errors.set(text, (this.#errors.get(text) ?? 0) + 1);
    if (!(error instanceof AlthingError)) this.problems.push(`a call failed with ${text}`);
  }

  get summary(): string {
    const ms = [0.5, 0.99, 0.999].map((part) => Math.round(quantile(this.latencies, part)));
    const errors = [...this.#errors].map(([text, times]) => `\n           ${times} x ${text}`);
    return `${this.made} made, ${this.failed} failed; p50 ${ms[0]} ms, p99 ${ms[1]} ms, p999 ${ms[2]} ms${errors.join('')}`;
  }
}

/** Changes at a steady rate: each adds a number of its own to a list. */
class Load {
  readonly #db: Database<{ stuff: unknown }>;
  /** Numbers of changes by their fate. */
  readonly #acknowledged = new Set<number>();
  readonly #refused = new Set<number>();
  #last = 0;

  constructor(
    private readonly transport: TransportName,
    proxies: readonly NodeProxies[],
    private readonly fleet: Fleet,
    private readonly perSecond: number,
  ) {
    const native = new Map(proxies.map((each) => [String(each.api.port), each.native.port]));
    const options: ConnectOptions = {
      token: fleet.requests.authorization.replace(/^Bearer /, ''),
      transport,
      nativePort: ({ port }) => native.get(port) ?? 0,
      limits: { waiting: 100_000 },
    };
    this.#db = connect(
      proxies.map(({ api }) => `http://127.0.0.1:${api.port}`),
      options,
    );
  }

  async prepare(): Promise<void> {
    await this.#db.stuff.query`.set(${this.#list}, []);`;
  }

  /** Loads while something is done, and for so long at least; waits until all calls have settled. */
  async during(durationMs: number, work: (isOver: () => boolean) => Promise<unknown>): Promise<Outcomes> {
    const outcomes = new Outcomes();
    const end = performance.now() + durationMs;
    let isDone = false;
    const working = work(() => performance.now() >= end).finally(() => {
      isDone = true;
    });
    let open = 0;
    const add = async (): Promise<void> => {
      open += 1;
      await this.#add(outcomes);
      open -= 1;
    };
    const load = paced(this.perSecond, () => isDone && performance.now() >= end, add);
    await working;
    const lastMs = Math.max(0, end - performance.now()) + SETTLE_MS;
    await Promise.race([load, pause(lastMs, undefined, { ref: false })]);
    if (open > 0) outcomes.problems.push(`${open} calls never settled`);
    return outcomes;
  }

  /** Compares the list with all that was ever told; closes the client. */
  async check(): Promise<string[]> {
    await this.fleet.settle(false);
    const numbers = await this.#db.stuff.query<number[]>`.get(${this.#list});`;
    await this.#db.$close();
    const times = new Map<number, number>();
    for (const number of numbers) times.set(number, (times.get(number) ?? 0) + 1);
    const lost = [...this.#acknowledged].filter((number) => !times.has(number));
    const doubled = [...times].filter(([, count]) => count > 1);
    const undead = [...this.#refused].filter((number) => times.has(number));
    return [
      ...(lost.length === 0 ? [] : [`${lost.length} acknowledged changes are lost`]),
      ...(doubled.length === 0 ? [] : [`${doubled.length} changes were made more than once`]),
      ...(undead.length === 0 ? [] : [`${undead.length} changes were made that were told as not made`]),
    ];
  }

  get #list(): string {
    return `numbers_${this.transport}`;
  }

  async #add(outcomes: Outcomes): Promise<void> {
    const number = ++this.#last;
    const begin = performance.now();
    try {
      await this.#db.stuff.query`.get(${this.#list}).push(${number});`;
      this.#acknowledged.add(number);
      outcomes.made += 1;
      outcomes.latencies.push(performance.now() - begin);
    } catch (error) {
      outcomes.note(error);
      if (error instanceof AlthingError && (error.outcome === 'none' || error.outcome === 'not_sent'))
        this.#refused.add(number);
    }
  }
}

/** Kills the leader of the collection again and again, and starts it again. */
async function killing(fleet: Fleet, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    await pause(KILL_EVERY_MS - RESTART_AFTER_MS);
    const leader = await fleet.leaderOf(COLLECTION);
    if (leader === undefined) continue;
    await leader.kill();
    await pause(RESTART_AFTER_MS);
    await comesBack(leader);
  }
}

async function cutting(proxies: readonly NodeProxies[], draw: Draw, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    await pause(CUT_EVERY_MS);
    const { api, native } = draw.pick(proxies);
    api.cut();
    native.cut();
  }
}

async function rolling(fleet: Fleet): Promise<void> {
  for (const node of fleet.nodes) {
    await node.stop();
    await comesBack(node);
  }
}

async function comesBack(node: ChaosNode): Promise<void> {
  node.start();
  await node.whenReady();
}
