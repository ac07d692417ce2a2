/**
 * A whole benchmark: yardsticks and scenarios in turns, so that a slower minute of the machine hits both.
 */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { wireMap } from '@althing/client';
import { type Credentials, NodeClient } from '../harness/node-client.js';
import { Generator, type Measurement, type Target } from './measure.js';
import { requestsOf, type Scenario, titleOf } from './scenarios.js';
import { median } from './table.js';

export interface BenchOptions {
  readonly connections: readonly number[];
  readonly durationMs: number;
  readonly warmupMs: number;
  /** How often each scenario is measured; the median counts. */
  readonly rounds: number;
  readonly workers: number;
}

/** Figures of one scenario with one number of connections. */
export interface Row {
  readonly name: string;
  readonly connections: number;
  readonly changes: boolean;
  readonly ratePerS: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Rate of the echo with the same request and connections. */
  readonly echoPerS: number;
  readonly shareOfEcho: number;
  readonly targetShare: number | undefined;
  readonly serverUs: number | undefined;
  readonly generatorUs: number;
  readonly errors: number;
  readonly lastError: string | undefined;
}

/** A node to measure, whose `admin` can log in. */
export interface NodeTarget extends Target {
  readonly url: string;
}

/** Measures scenarios on a node, each beside the echo. */
export async function benchNode(
  node: NodeTarget,
  scenarios: readonly Scenario[],
  options: BenchOptions,
  onRow: (row: Row) => void = () => undefined,
): Promise<Row[]> {
  const echo = await startEcho();
  const generator = new Generator(options.workers);
  const client = new NodeClient(node.url, 'msgpack', 60_000);
  try {
    const tokens = await prepare(client);
    const rows: Row[] = [];
    for (const connections of options.connections) {
      for (const scenario of scenarios) {
        const requests = requestsOf(scenario, scenario.auth === 'token' ? tokens : admin);
        const wanted = { ...options, requests, connections };
        const echoes: Measurement[] = [];
        const measured: Measurement[] = [];
        for (let round = 0; round < options.rounds; round++) {
          echoes.push(await generator.measure(echo, wanted));
          await queries(client, scenario.scope, scenario.setup);
          measured.push(await generator.measure(node, wanted));
        }
        const row = rowOf(scenario, connections, measured, echoes);
        rows.push(row);
        onRow(row);
      }
    }
    return rows;
  } finally {
    client.close();
    generator.close();
    echo.close();
  }
}

/** Measures the echo alone: what the generator can do at most. */
export async function benchEcho(request: Buffer, options: BenchOptions): Promise<Row[]> {
  const echo = await startEcho();
  const generator = new Generator(options.workers);
  try {
    const rows: Row[] = [];
    for (const connections of options.connections) {
      const measured: Measurement[] = [];
      for (let round = 0; round < options.rounds; round++) {
        measured.push(await generator.measure(echo, { ...options, requests: [request], connections }));
      }
      rows.push(rowOf({ name: 'bare echo', changes: false }, connections, measured, measured));
    }
    return rows;
  } finally {
    generator.close();
    echo.close();
  }
}

export const admin: Credentials = { basic: ['admin', 'pass'] };

const echoFile = fileURLToPath(new URL('echo.js', import.meta.url));

/** Starts the echo server, or another one that says its port, in a process of its own. */
export async function startEcho(
  file = echoFile,
  args: readonly string[] = [],
): Promise<Target & { close(): void }> {
  const child = fork(file, args);
  const port = await new Promise<number>((resolve, reject) => {
    child.once('message', (message: { port: number }) => resolve(message.port));
    child.once('exit', (code) => reject(new Error(`the echo server ended with ${code}`)));
  });
  return { port, pid: child.pid ?? 0, close: () => child.disconnect() };
}

/** Makes the collection of the scenarios, and a token. */
export async function prepare(client: NodeClient): Promise<Credentials & { readonly token: string }> {
  await queries(client, '@thingsdb', ["try(del_collection('bench'));", "new_collection('bench');"]);
  const made = await client.send('@thingsdb', admin, wireMap({ type: 'query', code: "new_token('admin');" }));
  if (made.kind === 'value' && typeof made.value === 'string') return { token: made.value };
  throw new Error(`no token: ${JSON.stringify(made, (_, value) => String(value))}`);
}

/** Runs queries one after the other; throws when one fails. */
export async function queries(client: NodeClient, scope: string, codes: readonly string[]): Promise<void> {
  for (const code of codes) {
    const outcome = await client.send(scope, admin, wireMap({ type: 'query', code }));
    if (outcome.kind === 'value') continue;
    const why = outcome.kind === 'error' ? `${outcome.code}: ${outcome.message}` : outcome.why;
    throw new Error(`the preparation ${code} failed: ${why}`);
  }
}

function rowOf(
  scenario: Pick<Scenario, 'name' | 'changes' | 'targetShare'> | Scenario,
  connections: number,
  measured: readonly Measurement[],
  echoes: readonly Measurement[],
): Row {
  const middle = (of: (measurement: Measurement) => number): number => median(measured.map(of));
  const ratePerS = middle((measurement) => measurement.ratePerS);
  const echoPerS = median(echoes.map((measurement) => measurement.ratePerS));
  const server = measured.flatMap(({ serverUs }) => (serverUs === undefined ? [] : [serverUs]));
  return {
    name: 'format' in scenario ? titleOf(scenario) : scenario.name,
    connections,
    changes: scenario.changes,
    ratePerS,
    p50Ms: middle((measurement) => measurement.p50Ms),
    p99Ms: middle((measurement) => measurement.p99Ms),
    echoPerS,
    shareOfEcho: ratePerS / echoPerS,
    targetShare: scenario.targetShare?.[connections],
    serverUs: server.length === 0 ? undefined : median(server),
    generatorUs: middle((measurement) => measurement.generatorUs),
    errors: measured.reduce((total, { errors }) => total + errors, 0),
    lastError: measured.find(({ lastError }) => lastError !== undefined)?.lastError,
  };
}
