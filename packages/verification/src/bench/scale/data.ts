/**
 * Data at scale: a node with a million orders. What loading, building indexes beside writes, and look-ups cost, while all is in memory
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
import { addressAt, INDEXES, numberAt, PER_CUSTOMER, SCOPE, Shop, SMALL_COUNT } from './orders.js';

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
  readonly targetMs: number | null;
  readonly sqliteMs: number | null;
}

const ADMIN: Credentials = { basic: ['admin', 'pass'] };
/** Look-ups of a query: what is around them is spread over so many. */
const LOOK_UPS = { hot: 20_000, cold: 2000 };
const RANGES = 200;
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
    ['', 'measured', 'target', '', 'SQLite'],
    ...figures.map(({ name, ms, targetMs, sqliteMs }) => [
      name,
      timeOf(ms),
      targetMs === null ? '' : timeOf(targetMs),
      targetMs !== null && ms > targetMs ? 'missed' : '',
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
    await this.#lookUps('cold', 1);
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

  #note(name: string, ms: number, targetMs: number | null, sqliteMs: number | null = null): void {
    this.#figures.push({ name, ms, targetMs, sqliteMs });
    this.options.progress(`${name}: ${timeOf(ms)}`);
  }

  /** Processor time of the whole node for each of some more orders, in the log and in checkpoints. */
  async #insert(indexes: number): Promise<void> {
    const first = this.options.orders + indexes * ADDED;
    const pids = [this.trio.node(0).pid];
    const before = cpuTimeUs(pids);
    await this.shop.add(first, first + ADDED, this.#total);
    const us = (cpuTimeUs(pids) ?? Number.NaN) - (before ?? Number.NaN);
    this.#note(`an order more, ${indexes} indexes, processor time`, us / 1000 / ADDED, null);
  }

  /** Builds an index while others write, and says what these notice. */
  async #build(name: string, code: string): Promise<void> {
    const writes = { name: 'writes', url: this.trio.node(0).url, scope: SCOPE, code: '.counter += 1;' };
    const clients = new Clients([writes], ADMIN, this.options.perS);
    try {
      await pause(CALM_MS / 2);
      await clients.take();
      await pause(CALM_MS);
      const calmMs = await p99Of(clients);
      const began = performance.now();
      await this.shop.query(code);
      while ((await this.shop.percentOf(name)) < 100) await pause(LOOK_MS);
      this.#note(`index ${name} built beside writes`, performance.now() - began, BUILD_MS);
      this.#note(`the writes meanwhile, p99`, await p99Of(clients), 2 * calmMs);
      this.#note(`the writes before, p99`, calmMs, null);
    } finally {
      await clients.stop();
    }
  }

  async #lookUps(heat: 'hot' | 'cold', rounds: number): Promise<void> {
    const { orders } = this.options;
    const [targets, sqlite] = heat === 'hot' ? [HOT, this.#sqlite] : [COLD, null];
    const count = LOOK_UPS[heat];
    const each =
      (times: number, work: (salt: number) => string): ((salt: number) => string) =>
      (salt) =>
        `range(${times}).each(|i| ${work(salt)}); nil;`;
    const oneBy = each(count, (salt) => `one_by('Order', 'nr', ${numberAt(orders, salt)}).amount`);
    const byAddress = each(count, (salt) => `one_by('Order', 'email', ${addressAt(orders, salt)})`);
    const customers = Math.ceil(this.#total / PER_CUSTOMER);
    const ranges = each(
      RANGES,
      (salt) => `all_by('Order', 'by_customer', ${numberAt(customers, salt)}, {limit: 100, reverse: true})`,
    );
    const counted = Math.min(100_000, orders / 10);
    const counts = each(
      RANGES,
      (salt) => `count_by('Order', 'nr', nil, {from: i * 7 + ${salt}, before: i * 7 + ${salt + counted}})`,
    );
    this.#note(
      `one_by a number, ${heat}`,
      await this.#timeOf(oneBy, count, rounds),
      targets.one,
      sqlite?.one,
    );
    this.#note(
      `one_by an address, ${heat}`,
      await this.#timeOf(byAddress, count, rounds),
      targets.one,
      sqlite?.text,
    );
    this.#note(
      `the last 100 of a customer, ${heat}`,
      await this.#timeOf(ranges, RANGES, rounds),
      targets.range,
      sqlite?.range,
    );
    this.#note(
      `count_by of ${counted}, ${heat}`,
      await this.#timeOf(counts, RANGES, rounds),
      targets.count,
      sqlite?.count,
    );
  }

  /** Time of a look-up: the shortest of some queries of many; each query looks up others. */
  async #timeOf(codeOf: (salt: number) => string, count: number, rounds: number): Promise<number> {
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const code = codeOf(round * 31);
      const began = performance.now();
      await this.shop.query(code);
      times.push((performance.now() - began) / count);
    }
    return Math.min(...times);
  }

  async #scan(heat: 'cold' | 'again'): Promise<void> {
    const code = '.smalls.filter(|s| s.n % 7 == 0).len();';
    if (heat === 'again') await this.shop.query(code);
    const began = performance.now();
    await this.shop.query(code);
    const target = heat === 'cold' ? SCAN_MS : null;
    this.#note(`filter over ${SMALL_COUNT}, ${heat}`, performance.now() - began, target);
  }
}

async function p99Of(clients: Clients): Promise<number> {
  const asked = await clients.take();
  const wrong = asked.find(({ problem }) => problem !== null);
  if (wrong !== undefined) throw new Error(`a write failed: ${wrong.problem}`);
  return quantile(
    asked.map(({ dueAt, endedAt }) => endedAt - dueAt),
    0.99,
  );
}

/** Targets, in milliseconds: of one look-up in the engine, of a hundred by range, of a count; and of what is done once. */
const HOT = { one: 0.004, range: 0.06, count: 0.02 };
const COLD = { one: 0.03, range: 1, count: null };
const BUILD_MS = 90_000;
const SCAN_MS = 300;
