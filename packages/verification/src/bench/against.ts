/**
 * What requests cost, in processor time of all threads of the server, and how long they take: on this build, and beside it on other
 * servers: another build, the echo that parses, checks and answers, ThingsDB. Their rounds are short and in turns, and neighbouring
 * rounds are compared, so that a machine which others use, too, or whose clock changes, shows in all of them. The figures are medians;
 * how far the median of the ratios is certain is told with it.
 */
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { authorization, type Credentials, NodeClient } from '../harness/node-client.js';
import { NodeProcess, type NodeProcessOptions } from '../harness/node-process.js';
import { Generator, type Measurement, type Target } from './measure.js';
import { admin, prepare, queries, startEcho } from './run.js';
import { requestOf, requestsOf, type Scenario, titleOf } from './scenarios.js';
import { type Interval, median, medianInterval, table, timeText } from './table.js';
import { startThingsDb } from './yardsticks/thingsdb.js';

export interface AgainstOptions {
  /** Folder of another built checkout; undefined for none. */
  readonly against: string | undefined;
  /** Whether the echo that parses, checks and answers is measured. */
  readonly echo?: boolean;
  /** The program of ThingsDB; undefined for none. */
  readonly thingsDb?: string | undefined;
  /** Numbers of connections; each scenario is measured with each. */
  readonly connections: readonly number[];
  /** Length of one round of one server. */
  readonly durationMs: number;
  readonly rounds: number;
  readonly workers: number;
  /** Where nodes keep their files. */
  readonly storage: string;
}

/** Figures of one server in one scenario. */
export interface ServerFigures {
  /** Processor time for each request, in µs. */
  readonly cpuUs: number;
  readonly ratePerS: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** The median of the ratios of neighbouring rounds, and where it lies with a certainty of 95 %. */
export type Ratio = Interval & { readonly median: number };

/** Another server beside this build. */
export interface Compared {
  readonly name: string;
  readonly figures: ServerFigures;
  /** Figures of this build to those of the other one. */
  readonly cpu: Ratio;
  readonly p50: Ratio;
  readonly p99: Ratio;
}

/** One scenario with one number of connections. */
export interface RequestsRow {
  readonly name: string;
  readonly connections: number;
  readonly own: ServerFigures;
  readonly others: readonly Compared[];
  readonly rounds: number;
  readonly errors: number;
  readonly lastError: string | undefined;
}

/** Rounds that warm up a scenario and do not count: code gets its last form in them. */
const WARM_ROUNDS = 2;

/** Measures scenarios on this build, and on other servers in turns with it. */
export async function benchRequests(
  scenarios: readonly Scenario[],
  options: AgainstOptions,
  onRow: (row: RequestsRow) => void = () => undefined,
): Promise<RequestsRow[]> {
  const { against, storage, echo = false, thingsDb } = options;
  const generator = new Generator(options.workers);
  const servers: Server[] = [];
  try {
    servers.push(await buildOf(undefined, storage));
    if (against !== undefined) servers.push(await buildOf(against, storage));
    if (echo) servers.push(await checkingEcho());
    if (thingsDb !== undefined)
      servers.push(await databaseOf('ThingsDB', await startThingsDb(thingsDb, storage)));
    const rows: RequestsRow[] = [];
    for (const scenario of scenarios) {
      for (const connections of options.connections) {
        const row = await measureScenario(generator, servers, scenario, connections, options);
        rows.push(row);
        onRow(row);
      }
    }
    return rows;
  } finally {
    generator.close();
    for (const server of servers) await server.stop();
  }
}

/** The figures as text: a line for this build, and one for each other server, with the ratios of this build to it. */
export function requestsText(rows: readonly RequestsRow[]): string {
  const [first] = rows;
  if (first === undefined) return 'no scenario has such a title';
  const isAlone = rows.every(({ others }) => others.length === 0);
  const ratios = isAlone ? [] : ['ratio', '95 %', 'p50', '95 %', 'p99', '95 %'];
  const lines = rows.flatMap(({ name, connections, own, others, rounds }) => [
    [`${name}, ${connections}`, ...figureCells(own), ...ratios.map(() => ''), String(rounds)],
    ...others.map(({ name: other, figures, cpu, p50, p99 }) => [
      `  of ${other}`,
      ...figureCells(figures),
      ...[cpu, p50, p99].flatMap(ratioCells),
      '',
    ]),
  ]);
  const problems = rows.flatMap(({ name, errors, lastError }) =>
    errors === 0 ? [] : [`${name}: ${errors} errors, such as: ${lastError}`],
  );
  return [table([['', 'CPU', 'per s', 'p50', 'p99', ...ratios, 'rounds'], ...lines]), ...problems].join('\n');
}

function figureCells({ cpuUs, ratePerS, p50Ms, p99Ms }: ServerFigures): string[] {
  return [`${cpuUs.toFixed(1)} µs`, ratePerS.toFixed(0), timeText(p50Ms), timeText(p99Ms)];
}

function ratioCells({ median: middle, low, high }: Ratio): string[] {
  return [middle.toFixed(3), `${low.toFixed(3)} to ${high.toFixed(3)}`];
}

/** A server with what scenarios need. */
interface Server extends Target {
  readonly name: string;
  readonly token: string;
  /** Gets ready for a scenario. */
  prepare(scenario: Scenario): Promise<void>;
  stop(): Promise<void>;
}

/** @param folder of a built checkout; undefined for this one */
async function buildOf(folder: string | undefined, storage: string): Promise<Server> {
  const command = commandOf(folder);
  const node = await NodeProcess.start(command === undefined ? { storage } : { storage, command });
  return databaseOf(folder ?? 'this build', node);
}

async function databaseOf(name: string, node: NodeProcess): Promise<Server> {
  const client = new NodeClient(node.url, 'msgpack', 60_000);
  const { token } = await prepare(client);
  return {
    name,
    port: node.port,
    pid: node.pid,
    token,
    prepare: ({ scope, setup }) => queries(client, scope, setup),
    stop: async () => {
      client.close();
      await node.stop();
    },
  };
}

async function checkingEcho(): Promise<Server> {
  const token = 'a token of twenty-two';
  const file = fileURLToPath(new URL('yardsticks/checking-echo.js', import.meta.url));
  const { port, pid, close } = await startEcho(file, [authorization({ token }), authorization(admin)]);
  return {
    name: 'echo',
    port,
    pid,
    token,
    prepare: () => Promise.resolve(),
    stop: () => Promise.resolve(close()),
  };
}

/** What to run as a node of a built checkout; undefined for this one. */
export function commandOf(folder: string | undefined): NodeProcessOptions['command'] {
  if (folder === undefined) return undefined;
  return [process.execPath, join(resolve(folder), 'packages/cli/bin/althing.js'), 'serve'];
}

async function measureScenario(
  generator: Generator,
  servers: readonly Server[],
  scenario: Scenario,
  connections: number,
  { rounds, durationMs }: AgainstOptions,
): Promise<RequestsRow> {
  const measured: Measurement[][] = servers.map(() => []);
  const supplies = servers.map(() => new Supply(scenario));
  for (const server of servers) await server.prepare(scenario);
  for (let round = -WARM_ROUNDS; round < rounds; round++) {
    // Each is first every other time: what comes second finds another machine.
    const turns = servers.map((server, index) => ({ server, index }));
    if (round % 2 !== 0) turns.reverse();
    for (const { server, index } of turns) {
      const supply = supplies[index];
      if (supply === undefined) throw new Error('each server has its supply');
      const requests = supply.take(
        scenario.auth === 'token' ? { token: server.token } : admin,
        WARMUP_MS + durationMs,
        connections,
      );
      const wanted = { requests, connections, durationMs, warmupMs: WARMUP_MS };
      const measurement = await generator.measure(server, wanted);
      supply.note(measurement.ratePerS);
      if (round >= 0 || measurement.errors > 0) measured[index]?.push(measurement);
    }
  }
  const [own = [], ...others] = measured;
  const all = measured.flat();
  return {
    name: titleOf(scenario),
    connections,
    own: figuresOf(own),
    others: others.map((other, index) => compared(servers[index + 1]?.name ?? '', own, other)),
    rounds,
    errors: all.reduce((total, { errors }) => total + errors, 0),
    lastError: all.find(({ lastError }) => lastError !== undefined)?.lastError,
  };
}

/** The requests of one scenario for one server. */
class Supply {
  private readonly scenario: Scenario;
  private taken = 0;
  private ratePerS = RATE_AT_FIRST;

  constructor(scenario: Scenario) {
    this.scenario = scenario;
  }

  /** The requests of a round: where none may come twice, more than can be sent in the time. */
  take(as: Credentials, ms: number, connections: number): Buffer[] {
    const { scenario } = this;
    if (scenario.isNew !== true) return requestsOf(scenario, as);
    const count = Math.ceil((1.5 * this.ratePerS * ms) / 1000) + 2 * connections;
    return Array.from({ length: count }, () => requestOf(scenario, as, ++this.taken));
  }

  /** Notes how many came a second. */
  note(ratePerS: number): void {
    this.ratePerS = ratePerS;
  }
}

/** Requests a second that are taken for many until it is known: if they come again, that is in the rounds that do not count. */
const RATE_AT_FIRST = 3000;

/** How long connections are under load before a round counts, in milliseconds. */
const WARMUP_MS = 50;

function figuresOf(measured: readonly Measurement[]): ServerFigures {
  return {
    cpuUs: median(measured.map(cpuUs)),
    ratePerS: median(measured.map(({ ratePerS }) => ratePerS)),
    p50Ms: median(measured.map(({ p50Ms }) => p50Ms)),
    p99Ms: median(measured.map(({ p99Ms }) => p99Ms)),
  };
}

/** Rounds of this build and those of another server that ran beside them. */
function compared(name: string, own: readonly Measurement[], other: readonly Measurement[]): Compared {
  const ratioOf = (of: (measurement: Measurement) => number): Ratio => {
    const ratios = other.flatMap((theirs, index) => {
      const ours = own[index];
      return ours === undefined ? [] : [of(ours) / of(theirs)];
    });
    return { median: median(ratios), ...medianInterval(ratios) };
  };
  return {
    name,
    figures: figuresOf(other),
    cpu: ratioOf(cpuUs),
    p50: ratioOf(({ p50Ms }) => p50Ms),
    p99: ratioOf(({ p99Ms }) => p99Ms),
  };
}

/** Not a number where the system does not tell. */
function cpuUs(measurement: Measurement): number {
  return measurement.serverUs ?? Number.NaN;
}
