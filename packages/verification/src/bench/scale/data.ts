/**
 * Data at scale: a node with a million orders. What loading, building indexes and jobs beside writes, and look-ups cost, while all is in memory
 * and behind a restart, when nothing is; beside SQLite on the same orders, where Python has it.
 */
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { SERVE } from '@althing/node/testing';
import type { Credentials } from '../../harness/node-client.js';
import { Clients, quantile } from '../clients.js';
import { cpuTimeUs } from '../cpu.js';
import { Trio } from '../snapshot/trio.js';
import { table, timeText } from '../table.js';
import { type SqliteTimes, sqliteTimes } from '../yardsticks/sqlite.js';
import { addressAt, INDEXES, numberAt, PER_CUSTOMER, SCOPE, Shop, SMALL_COUNT, WARM_UP } from './orders.js';

export interface DataBenchOptions {
  readonly orders: number;
  /** Small writes a second beside the builds. */
  readonly perS: number;
  readonly storage: string;
  readonly progress: (text: string) => void;
}

/** One figure, in milliseconds unless its name says otherwise. */
export interface DataFigure {
  readonly name: string;
  readonly ms: number;
  /** Processor time of the node for the same, where it says more; it counts against the target then. */
  readonly cpuMs: number | null;
  readonly targetMs: number | null;
  readonly sqliteMs: number | null;
}

const ADMIN: Credentials = { basic: ['admin', 'pass'] };
/** Look-ups of a query: what is around them is spread over so many. */
const LOOK_UPS = { hot: 20_000, cold: 2000 };
const RANGES = { hot: 2000, cold: 200 };
const ROUNDS = 5;
/** Orders by which it is measured what indexes make of a write. */
const ADDED = 20_000;
const CALM_MS = 5000;
const LOOK_MS = 100;

export async function benchData(options: DataBenchOptions): Promise<readonly DataFigure[]> {
  const [program = '', ...args] = SERVE;
  const trio = new Trio(mkdtempSync(join(options.storage, 'althing-data-')), [program, ...args]);
  try {
    return await new Measures(trio, options).all();
  } finally {
    await trio.discard();
  }
}

export function dataText(figures: readonly DataFigure[]): string {
  return table([
    ['', 'time', 'processor', 'target', '', 'SQLite'],
    ...figures.map(({ name, ms, cpuMs, targetMs, sqliteMs }) => [
      name,
      timeOf(ms),
      cpuMs === null ? '' : timeOf(cpuMs),
      targetMs === null ? '' : timeOf(targetMs),
      targetMs !== null && (cpuMs ?? ms) > targetMs ? 'missed' : '',
      sqliteMs === null ? '' : timeOf(sqliteMs),
    ]),
  ]);
}

/** With tenths of microseconds where they say something. */
function timeOf(ms: number): string {
  return ms < 0.1 ? `${(1000 * ms).toFixed(1)} µs` : timeText(ms);
}

class Measures {
  readonly #figures: DataFigure[] = [];
  readonly #total: number;
  #shop: Shop | null = null;
  #sqlite: SqliteTimes | null = null;

  constructor(
    private readonly trio: Trio,
    private readonly options: DataBenchOptions,
  ) {
    this.#total = options.orders + (INDEXES.length + 1) * ADDED;
  }

  async all(): Promise<readonly DataFigure[]> {
    const { orders, progress } = this.options;
    this.#sqlite = sqliteTimes(this.options.storage, orders);
    await this.#start();
    const shop = this.shop;
    await shop.make();
    const began = performance.now();
    await shop.add(0, orders, this.#total);
    this.#note('an order stored, 4,000 a query', (performance.now() - began) / orders, null);
    progress(`${orders} orders stored`);
    for (const [at, { name, code }] of INDEXES.entries()) {
      await this.#insert(at);
      await this.#build(name, code);
    }
    await this.#insert(INDEXES.length);
    await this.#lookUps('hot', ROUNDS);
    await this.#scan('again');
    await this.trio.kill(0);
    await this.#start();
    progress('the node started again');
    await this.#scan('cold');
    await this.#report();
    await this.#dump();
    // So the code of look-ups has its last form, and it is the data alone that are cold.
    await this.shop.query(WARM_UP);
    await this.#lookUps('cold', 1);
    await this.#jobs();
    await this.shop.close();
    return this.#figures;
  }

  private get shop(): Shop {
    if (this.#shop === null) throw new Error('no node runs');
    return this.#shop;
  }

  async #start(): Promise<void> {
    await this.#shop?.close();
    const { url } = await this.trio.start(0);
    this.#shop = new Shop(url, ADMIN);
  }

  #note(name: string, ms: number, targetMs: number | null): void {
    this.#add({ name, ms, cpuMs: null, targetMs, sqliteMs: null });
  }

  #add(figure: DataFigure): void {
    const { name, ms, cpuMs } = figure;
    this.#figures.push(figure);
    this.options.progress(`${name}: ${timeOf(ms)}${cpuMs === null ? '' : `, processor ${timeOf(cpuMs)}`}`);
  }

  /** Does something, and says how long that took, and how much processor time of all threads of the node. */
  async #spent(work: () => Promise<unknown>): Promise<{ readonly ms: number; readonly cpuMs: number }> {
    const pids = [this.trio.node(0).pid];
    const before = cpuTimeUs(pids);
    const began = performance.now();
    await work();
    const ms = performance.now() - began;
    return { ms, cpuMs: ((cpuTimeUs(pids) ?? Number.NaN) - (before ?? Number.NaN)) / 1000 };
  }

  /** Stores some more orders, with what that makes of the log and of checkpoints. */
  async #insert(indexes: number): Promise<void> {
    const first = this.options.orders + indexes * ADDED;
    const { ms, cpuMs } = await this.#spent(() => this.shop.add(first, first + ADDED, this.#total));
    const name = `an order more, ${indexes} indexes`;
    this.#add({ name, ms: ms / ADDED, cpuMs: cpuMs / ADDED, targetMs: null, sqliteMs: null });
  }

  /** Goes over all orders in a snapshot, while others write; and again, when what was read is in memory, and nothing was written since. */
  async #report(): Promise<void> {
    const name = `snapshot sum of ${this.options.orders}`;
    const report = (): Promise<unknown> =>
      this.shop.report('sum = 0; .orders.each(|o| sum += o.amount); sum;');
    await this.#beside(`${name}, cold,`, report, () => Promise.resolve(true), REPORT_MS.cold, REPORT_WAITS);
    // By then there is a checkpoint of the last write.
    await pause(CALM_MS * 2);
    await report();
    const { ms } = await this.#spent(report);
    this.#note(`${name}, again`, ms, REPORT_MS.again);
  }

  /** Has all orders as lines, while others write. */
  async #dump(): Promise<void> {
    const { orders } = this.options;
    const dump = (): Promise<void> => this.shop.lines("each_by('Order', '#', |o| out(o)); nil;");
    await this.#beside(`${orders} orders as lines`, dump, () => Promise.resolve(true), DUMP_MS);
  }

  /** Builds an index while others write. */
  async #build(name: string, code: string): Promise<void> {
    const isDone = async (): Promise<boolean> => (await this.shop.percentOf(name)) === 100;
    await this.#beside(`index ${name} built`, () => this.shop.query(code), isDone, BUILD_MS);
  }

  /** Changes and removes instances in the background while others write. */
  async #jobs(): Promise<void> {
    const { orders } = this.options;
    const isDone = (): Promise<boolean> => this.shop.isJobDone();
    const fill = "mod_type('Order', 'add', 'label', 'str', |o| 'order ' + str(o.nr), {background: true});";
    const mod = "mod_type('Order', 'mod', 'amount', 'float', |o| float(o.amount), {background: true});";
    await this.#beside(
      `another definition for a property of ${orders} orders`,
      () => this.shop.query(mod),
      isDone,
      null,
    );
    await this.#beside(`a property of ${orders} orders filled`, () => this.shop.query(fill), isDone, null);
    const visits = orders / 5;
    await this.shop.addVisits(visits);
    await this.#beside(
      `${visits / 2} of ${visits} removed`,
      () => this.shop.query("del_instances('Visit', |v| v.n % 2 == 0);"),
      isDone,
      null,
    );
  }

  /** Does something that goes on in the background while others write, and says what these notice. */
  async #beside(
    what: string,
    begin: () => Promise<unknown>,
    isDone: () => Promise<boolean>,
    targetMs: number | null,
    waits = 2,
  ): Promise<void> {
    const writes = { name: 'writes', url: this.trio.node(0).url, scope: SCOPE, code: '.counter += 1;' };
    const clients = new Clients([writes], ADMIN, this.options.perS);
    try {
      await pause(CALM_MS / 2);
      await clients.take();
      await pause(CALM_MS);
      const calm = await waitsOf(clients);
      const began = performance.now();
      await begin();
      while (!(await isDone())) await pause(LOOK_MS);
      this.#note(`${what} beside writes`, performance.now() - began, targetMs);
      const busy = await waitsOf(clients);
      this.#note('the writes meanwhile, p99', busy.p99, waits * calm.p99);
      this.#note('the writes before, p99', calm.p99, null);
      this.#note('the longest of the writes meanwhile', busy.longest, null);
      this.#note('the longest of the writes before', calm.longest, null);
    } finally {
      await clients.stop();
    }
  }

  async #lookUps(heat: 'hot' | 'cold', rounds: number): Promise<void> {
    const { orders } = this.options;
    const [targets, sqlite] = heat === 'hot' ? [HOT, this.#sqlite] : [COLD, null];
    const counted = Math.min(100_000, orders / 10);
    const customers = Math.ceil(this.#total / PER_CUSTOMER);
    const lookUps: readonly LookUp[] = [
      {
        name: 'one_by a number',
        times: LOOK_UPS[heat],
        code: (salt) => `one_by('Order', 'nr', ${numberAt(orders, salt)}).amount`,
        targetMs: targets.one,
        sqliteMs: sqlite?.one ?? null,
      },
      {
        name: 'one_by an address',
        times: LOOK_UPS[heat],
        code: (salt) => `one_by('Order', 'email', ${addressAt(orders, salt)})`,
        targetMs: targets.one,
        sqliteMs: sqlite?.text ?? null,
      },
      {
        name: 'the last 100 of a customer',
        times: RANGES[heat],
        code: (salt) =>
          `all_by('Order', 'by_customer', ${numberAt(customers, salt)}, {limit: 100, reverse: true})`,
        targetMs: targets.range,
        sqliteMs: sqlite?.range ?? null,
      },
      {
        name: `count_by of ${counted}`,
        times: RANGES[heat],
        code: (salt) =>
          `count_by('Order', 'nr', nil, {from: i * 7 + ${salt}, before: i * 7 + ${salt + counted}})`,
        targetMs: targets.count,
        sqliteMs: sqlite?.count ?? null,
      },
    ];
    for (const { name, ...lookUp } of lookUps) {
      this.#add({ name: `${name}, ${heat}`, ...lookUp, ...(await this.#best(lookUp, rounds)) });
    }
  }

  /** Of one look-up, in the best of some queries of many; each query looks up others. */
  async #best(
    { times, code }: Pick<LookUp, 'times' | 'code'>,
    rounds: number,
  ): Promise<{ readonly ms: number; readonly cpuMs: number }> {
    let best = { ms: Number.POSITIVE_INFINITY, cpuMs: Number.POSITIVE_INFINITY };
    for (let round = 0; round < rounds; round++) {
      const { ms, cpuMs } = await this.#spent(() =>
        this.shop.query(`range(${times}).each(|i| ${code(round * 31)}); nil;`),
      );
      best = { ms: Math.min(best.ms, ms / times), cpuMs: Math.min(best.cpuMs, cpuMs / times) };
    }
    return best;
  }

  async #scan(heat: 'cold' | 'again'): Promise<void> {
    const code = '.smalls.filter(|s| s.n % 7 == 0).len();';
    if (heat === 'again') await this.shop.query(code);
    const spent = await this.#spent(() => this.shop.query(code));
    const targetMs = heat === 'cold' ? SCAN_MS : null;
    this.#add({ name: `filter over ${SMALL_COUNT}, ${heat}`, ...spent, targetMs, sqliteMs: null });
  }
}

/** The look-ups, so many times in a query. */
interface LookUp {
  readonly name: string;
  readonly times: number;
  /** The look-up with the number `i`. */
  readonly code: (salt: number) => string;
  readonly targetMs: number | null;
  readonly sqliteMs: number | null;
}

/** How long writes waited since the last call, in milliseconds. */
async function waitsOf(clients: Clients): Promise<{ readonly p99: number; readonly longest: number }> {
  const asked = await clients.take();
  const wrong = asked.find(({ problem }) => problem !== null);
  if (wrong !== undefined) throw new Error(`a write failed: ${wrong.problem}`);
  const waits = asked.map(({ dueAt, endedAt }) => endedAt - dueAt);
  return { p99: quantile(waits, 0.99), longest: quantile(waits, 1) };
}

/** Targets, in milliseconds: of one look-up in the engine, of a hundred by range, of a count; and of what is done once. */
const HOT = { one: 0.004, range: 0.06, count: 0.02 };
const COLD = { one: 0.03, range: 1, count: null };
const BUILD_MS = 90_000;
const SCAN_MS = 300;
const DUMP_MS = 10_000;
const REPORT_MS = { cold: 6000, again: 300 };
/** How many times as long writes may wait meanwhile. */
const REPORT_WAITS = 1.3;
