/**
 * What requests cost, in processor time of all threads of the server: of this build, or of two builds beside each other. Their
 * rounds are short and in turns, and neighbouring rounds are compared, so that a machine which others use, too, or whose clock
 * changes, shows in both. The figures are medians; how far the median of the ratios is certain is told with it.
 */
import { join, resolve } from 'node:path';
import { type Credentials, NodeClient } from '../harness/node-client.js';
import { NodeProcess, type NodeProcessOptions } from '../harness/node-process.js';
import { Generator, type Measurement } from './measure.js';
import { admin, prepare, queries } from './run.js';
import { requestOf, requestsOf, type Scenario, titleOf } from './scenarios.js';
import { type Interval, median, medianInterval, table } from './table.js';

export interface AgainstOptions {
  /** Folder of another built checkout; undefined to measure this one alone. */
  readonly against: string | undefined;
  readonly connections: number;
  /** Length of one round of one build. */
  readonly durationMs: number;
  readonly rounds: number;
  readonly workers: number;
  /** Where nodes keep their files. */
  readonly storage: string;
}

/** Figures of one build in one scenario. */
export interface BuildFigures {
  /** Processor time for each request, in µs. */
  readonly cpuUs: number;
  readonly ratePerS: number;
  readonly p99Ms: number;
}

/** One scenario. */
export interface RequestsRow {
  readonly name: string;
  readonly own: BuildFigures;
  readonly other: BuildFigures | undefined;
  /** Processor time of this build to that of the other, and where its median lies with a certainty of 95 %. */
  readonly ratio: (Interval & { readonly median: number }) | undefined;
  readonly rounds: number;
  readonly errors: number;
  readonly lastError: string | undefined;
}

/** Rounds that warm up a scenario and do not count: code gets its last form in them. */
const WARM_ROUNDS = 2;

/** Measures scenarios on this build, and on another one in turns with it. */
export async function benchRequests(
  scenarios: readonly Scenario[],
  options: AgainstOptions,
  onRow: (row: RequestsRow) => void = () => undefined,
): Promise<RequestsRow[]> {
  const generator = new Generator(options.workers);
  const builds: Build[] = [];
  try {
    builds.push(await Build.start(undefined, options.storage));
    if (options.against !== undefined) builds.push(await Build.start(options.against, options.storage));
    const rows: RequestsRow[] = [];
    for (const scenario of scenarios) {
      const row = await measureScenario(generator, builds, scenario, options);
      rows.push(row);
      onRow(row);
    }
    return rows;
  } finally {
    generator.close();
    for (const build of builds) await build.stop();
  }
}

/** The figures as text: one line for each scenario. */
export function requestsText(rows: readonly RequestsRow[]): string {
  const [first] = rows;
  if (first === undefined) return 'no scenario has such a title';
  const comparison = first.other === undefined ? [] : ['other CPU', 'ratio', '95 %', 'other per s'];
  const headings = ['', 'CPU', ...comparison, 'per s', 'p99', 'rounds'];
  const lines = rows.map(({ name, own, other, ratio, rounds }) => [
    name,
    `${own.cpuUs.toFixed(1)} µs`,
    ...(other === undefined || ratio === undefined
      ? []
      : [
          `${other.cpuUs.toFixed(1)} µs`,
          ratio.median.toFixed(3),
          `${ratio.low.toFixed(3)} to ${ratio.high.toFixed(3)}`,
          other.ratePerS.toFixed(0),
        ]),
    own.ratePerS.toFixed(0),
    `${own.p99Ms.toFixed(1)} ms`,
    String(rounds),
  ]);
  const problems = rows.flatMap(({ name, errors, lastError }) =>
    errors === 0 ? [] : [`${name}: ${errors} errors, such as: ${lastError}`],
  );
  return [table([headings, ...lines]), ...problems].join('\n');
}

/** A node of one build, with what scenarios need. */
class Build {
  readonly node: NodeProcess;
  readonly client: NodeClient;
  readonly token: string;

  private constructor(node: NodeProcess, client: NodeClient, token: string) {
    this.node = node;
    this.client = client;
    this.token = token;
  }

  /** @param folder of a built checkout; undefined for this one */
  static async start(folder: string | undefined, storage: string): Promise<Build> {
    const command = commandOf(folder);
    const node = await NodeProcess.start(command === undefined ? { storage } : { storage, command });
    const client = new NodeClient(node.url, 'msgpack', 60_000);
    return new Build(node, client, (await prepare(client)).token);
  }

  async stop(): Promise<void> {
    this.client.close();
    await this.node.stop();
  }
}

/** What to run as a node of a built checkout; undefined for this one. */
export function commandOf(folder: string | undefined): NodeProcessOptions['command'] {
  if (folder === undefined) return undefined;
  return [process.execPath, join(resolve(folder), 'packages/cli/bin/althing.js'), 'serve'];
}

async function measureScenario(
  generator: Generator,
  builds: readonly Build[],
  scenario: Scenario,
  { rounds, durationMs, connections }: AgainstOptions,
): Promise<RequestsRow> {
  const measured: Measurement[][] = builds.map(() => []);
  const supplies = builds.map(() => new Supply(scenario));
  for (const { client } of builds) await queries(client, scenario.scope, scenario.setup);
  for (let round = -WARM_ROUNDS; round < rounds; round++) {
    // Each is first every other time: what comes second finds another machine.
    const turns = builds.map((build, index) => ({ build, index }));
    if (round % 2 !== 0) turns.reverse();
    for (const { build, index } of turns) {
      const supply = supplies[index];
      if (supply === undefined) throw new Error('each build has its supply');
      const requests = supply.take(
        scenario.auth === 'token' ? { token: build.token } : admin,
        WARMUP_MS + durationMs,
        connections,
      );
      const wanted = { requests, connections, durationMs, warmupMs: WARMUP_MS };
      const measurement = await generator.measure(build.node, wanted);
      supply.note(measurement.ratePerS);
      if (round >= 0 || measurement.errors > 0) measured[index]?.push(measurement);
    }
  }
  const [own = [], other] = measured;
  const all = measured.flat();
  const ratios = other?.map((measurement, index) => cpuUs(own[index]) / cpuUs(measurement)) ?? [];
  return {
    name: titleOf(scenario),
    own: figuresOf(own),
    other: other === undefined ? undefined : figuresOf(other),
    ratio: other === undefined ? undefined : { median: median(ratios), ...medianInterval(ratios) },
    rounds,
    errors: all.reduce((total, { errors }) => total + errors, 0),
    lastError: all.find(({ lastError }) => lastError !== undefined)?.lastError,
  };
}

/** The requests of one scenario for one build. */
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

function figuresOf(measured: readonly Measurement[]): BuildFigures {
  return {
    cpuUs: median(measured.map(cpuUs)),
    ratePerS: median(measured.map(({ ratePerS }) => ratePerS)),
    p99Ms: median(measured.map(({ p99Ms }) => p99Ms)),
  };
}

/** Not a number where the system does not tell. */
function cpuUs(measurement: Measurement | undefined): number {
  return measurement?.serverUs ?? Number.NaN;
}
