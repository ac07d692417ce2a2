/**
 * Data at scale: a node with a million orders. What loading, building indexes and jobs beside writes, and look-ups cost, while all is in memory
 * and behind a restart, when nothing is; beside SQLite on the same orders, where Python has it, and beside a bare server that does
 * as much besides its writes.
 */
import { rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { RealNode } from '@althing/node/testing';
import { messageOf } from '@althing/storage';
import { newPlace, startNode } from '../../harness/start-node.js';
import { quantile, table, timeText } from '../../harness/table.js';
import { cpuTimeUs, firstThreadTimeUs } from '../cpu.js';
import { type SqliteTimes, sqliteTimes } from '../yardsticks/sqlite.js';
import { bareGetsMs, bareLookUpMs, bareScanMs, besideBareNode } from './bare.js';
import { type Heat, heatingCode, type LookUp, lookUpsOf, queriesOf, SHARE, TIMES } from './look-ups.js';
import { INDEXES, Shop, SMALL_COUNT, WARM_UP } from './orders.js';
import { Turns } from './turns.js';
import { type Waits, Writers } from './writers.js';

export interface DataBenchOptions {
  readonly orders: number;
  /** Small writes a second beside the builds. */
  readonly perS: number;
  readonly storage: string;
  readonly progress: (text: string) => void;
}

/** One figure, in milliseconds. */
export interface DataFigure {
  readonly name: string;
  readonly ms: number;
  /** Processor time of all threads of the node for the same, where it says more. */
  readonly cpuMs: number | null;
  /** Processor time of the engine's thread alone, for which the others wait; it counts against the target then. */
  readonly engineMs: number | null;
  readonly targetMs: number | null;
  readonly sqliteMs: number | null;
}

export interface DataFigures {
  readonly figures: readonly DataFigure[];
  /** All that went wrong; the figures of what did not are there all the same. */
  readonly problems: readonly string[];
}

/** Time that one of several measurements took, see `DataFigure`. */
type Spent = Pick<DataFigure, 'ms' | 'cpuMs' | 'engineMs'>;

/** Orders by which it is measured what indexes make of a write. */
const ADDED = 20_000;
/** Time until a checkpoint of the last write is there, in milliseconds. */
const CHECKPOINT_MS = 10_000;
const LOOK_MS = 100;

/** Longest time of a query, so that one which takes too long is measured, too. */
const NODE_SETTINGS = { query_duration_limit_ms: '60s' };
/** Time that a build or job may take, and that all may have taken when a job begins, in milliseconds. */
const WORK_MAX_MS = 240_000;
const JOBS_UNTIL_MS = 900_000;
const PROGRESS_MS = 10_000;

export async function benchData(options: DataBenchOptions): Promise<DataFigures> {
  const { storage } = options;
  const turns = new Turns(storage);
  const { command } = turns;
  const place = await newPlace(storage);
  const measures = new Measures(() => startNode({ place, settings: NODE_SETTINGS, command }), turns, options);
  try {
    return await measures.all();
  } finally {
    await measures.shop?.node.kill();
    rmSync(place.folder, { recursive: true, force: true });
    turns.discard();
  }
}

export function dataText({ figures, problems }: DataFigures): string {
  const rows = table([
    ['', 'time', 'processor', 'engine', 'target', '', 'SQLite'],
    ...figures.map(({ name, ms, cpuMs, engineMs, targetMs, sqliteMs }) => [
      name,
      timeOf(ms),
      timeOf(cpuMs),
      timeOf(engineMs),
      timeOf(targetMs),
      targetMs !== null && (engineMs ?? ms) > targetMs ? 'missed' : '',
      timeOf(sqliteMs),
    ]),
  ]);
  return [rows, ...problems].join('\n');
}

/** A time with tenths of microseconds where they say something. */
function timeOf(ms: number | null): string {
  if (ms === null) return '';
  return ms < 0.1 ? `${(1000 * ms).toFixed(1)} µs` : timeText(ms);
}

class Measures {
  readonly #figures: DataFigure[] = [];
  readonly #problems: string[] = [];
  readonly #beganAt = performance.now();
  readonly #total: number;
  shop: Shop | null = null;
  #sqlite: SqliteTimes | null = null;

  constructor(
    private readonly start: () => Promise<RealNode>,
    private readonly turns: Turns,
    private readonly options: DataBenchOptions,
  ) {
    this.#total = options.orders + (INDEXES.length + 1) * ADDED;
  }

  async all(): Promise<DataFigures> {
    const { orders, storage } = this.options;
    this.#progress(`SQLite with ${orders} orders`);
    this.#sqlite = sqliteTimes(storage, orders);
    await this.#start();
    await this.#try('loading', () => this.#load());
    for (const [at, { name, code }] of INDEXES.entries()) {
      await this.#try(`storing orders with ${at} indexes`, () => this.#insert(at));
      await this.#try(`building ${name}`, () => this.#build(name, code));
    }
    await this.#try('storing orders with all indexes', () => this.#insert(INDEXES.length));
    await this.#try('looking up', () => this.#lookUps('hot'));
    this.#note('a look-up in bare sorted pages, hot', await bareLookUpMs(this.#total, TIMES.hot), null);
    await this.#try('filtering', () => this.#scan('again'));
    await this.#shop.node.kill();
    await this.#try('bare gets', () => this.#bareGets());
    await this.#start();
    this.#progress('the node started again');
    await this.#try('filtering', () => this.#scan('cold'));
    const bareMs = await bareScanMs(storage, SMALL_COUNT);
    this.#note(`${SMALL_COUNT} records by a bare iterator of LevelDB, cold`, bareMs, null);
    await this.#try('the sum', () => this.#report());
    await this.#try('the lines', () => this.#dump());
    // Code that knows one type only is made anew at the next one.
    await this.#try('warming up', () => this.#shop.query(WARM_UP));
    await this.#try('looking up', () => this.#lookUps('cold'));
    for (const job of JOBS) await this.#try(job.name, () => this.#job(job));
    await this.#shop.close();
    return { figures: this.#figures, problems: this.#problems };
  }

  /** Does a part of it. The others come all the same where it fails. */
  async #try(what: string, part: () => Promise<unknown>): Promise<void> {
    try {
      await part();
    } catch (error) {
      this.#fault(`${what}: ${messageOf(error)}`);
    }
  }

  #fault(problem: string): void {
    this.#problems.push(problem);
    this.#progress(problem);
  }

  #progress(text: string): void {
    const s = (performance.now() - this.#beganAt) / 1000;
    this.options.progress(`${s.toFixed(0).padStart(5)} s  ${text}`);
  }

  async #load(): Promise<void> {
    const { orders } = this.options;
    await this.#shop.make();
    const began = performance.now();
    let told = began;
    await this.#shop.add(0, orders, this.#total, (stored) => {
      if (performance.now() < told + PROGRESS_MS) return;
      told = performance.now();
      this.#progress(`${stored} orders stored`);
    });
    this.#note('an order stored, 4,000 a query', (performance.now() - began) / orders, null);
  }

  get #shop(): Shop {
    if (this.shop === null) throw new Error('no node runs');
    return this.shop;
  }

  async #start(): Promise<void> {
    await this.shop?.close();
    this.shop = new Shop(await this.start());
  }

  #note(name: string, ms: number, targetMs: number | null): void {
    this.#add({ name, ms, cpuMs: null, engineMs: null, targetMs, sqliteMs: null });
  }

  #add(figure: DataFigure): void {
    const { name, ms, cpuMs, engineMs } = figure;
    this.#figures.push(figure);
    const more = cpuMs === null ? '' : `, processor ${timeOf(cpuMs)}, engine ${timeOf(engineMs)}`;
    this.#progress(`${name}: ${timeOf(ms)}${more}`);
  }

  /** Does something, and says how long that took, and how much processor time of all threads of the node and of the engine's. */
  async #spent(work: () => Promise<unknown>): Promise<Spent> {
    const { pid } = this.#shop.node;
    const all = cpuTimeUs([pid]);
    const engine = firstThreadTimeUs(pid);
    const began = performance.now();
    await work();
    const ms = performance.now() - began;
    return { ms, cpuMs: since(all, cpuTimeUs([pid])), engineMs: since(engine, firstThreadTimeUs(pid)) };
  }

  /** Stores some more orders, with what that makes of the log and of checkpoints. */
  async #insert(indexes: number): Promise<void> {
    const first = this.options.orders + indexes * ADDED;
    const spent = await this.#spent(() => this.#shop.add(first, first + ADDED, this.#total));
    const name = `an order more, ${indexes} indexes`;
    this.#add({ name, ...each(spent, ADDED), targetMs: null, sqliteMs: null });
  }

  /** Goes over all orders in a snapshot, while others write; and again, when what was read is in memory, and nothing was written since. */
  async #report(): Promise<void> {
    const name = `snapshot sum of ${this.options.orders}`;
    const report = (): Promise<unknown> =>
      this.#shop.report('sum = 0; .orders.each(|o| sum += o.amount); sum;');
    await this.#beside(`${name}, cold,`, report, isDoneAtOnce, REPORT_MS.cold, REPORT_WAITS);
    // The last write is in a checkpoint after that.
    await pause(CHECKPOINT_MS);
    await report();
    const { ms } = await this.#spent(report);
    this.#note(`${name}, again`, ms, REPORT_MS.again);
  }

  /** Has all orders as lines, while others write. */
  async #dump(): Promise<void> {
    const { orders } = this.options;
    const dump = (): Promise<void> => this.#shop.lines("each_by('Order', '#', |o| out(o)); nil;");
    await this.#beside(`${orders} orders as lines`, dump, isDoneAtOnce, DUMP_MS);
  }

  /** Builds an index while others write. */
  async #build(name: string, code: string): Promise<void> {
    let told = performance.now();
    const isDone = async (): Promise<boolean> => {
      const percent = await this.#shop.percentOf(name);
      if (percent < 100 && performance.now() > told + PROGRESS_MS) {
        told = performance.now();
        this.#progress(`${percent} % of ${name} built`);
      }
      return percent === 100;
    };
    await this.#beside(`index ${name} built`, () => this.#shop.query(code), isDone, BUILD_MS);
  }

  /** Changes or removes instances in the background while others write. */
  async #job({ name, code, prepare }: Job): Promise<void> {
    if (performance.now() > this.#beganAt + JOBS_UNTIL_MS)
      throw new Error('left out: the rest took too long');
    const { orders } = this.options;
    await prepare?.(this.#shop, orders);
    await this.#beside(
      `${name}, of ${orders} orders`,
      () => this.#shop.query(code),
      () => this.#shop.isJobDone(),
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
    const { url, pid } = this.#shop.node;
    const clients = new Writers(url, this.options.perS, (problem) => this.#fault(`${what}: ${problem}`));
    try {
      const before = await clients.calm(pid);
      const began = performance.now();
      const beganAt = Date.now();
      await begin();
      while (!(await isDone())) {
        if (performance.now() > began + WORK_MAX_MS)
          throw new Error(`not done within ${WORK_MAX_MS / 1000} s`);
        await pause(LOOK_MS);
      }
      this.#note(`${what} beside writes`, performance.now() - began, targetMs);
      const meanwhile = await clients.since(pid);
      this.#noteWaits('the writes', before, meanwhile, waits);
      const turnMs = this.turns.longest(beganAt, Date.now());
      if (turnMs !== null) this.#note(TURN, turnMs, TURN_MS);
      await clients.stop();
      const bare = await besideBareNode(
        this.options.storage,
        before,
        meanwhile,
        this.options.perS,
        (problem) => this.#fault(`${what}: the bare server: ${problem}`),
      );
      if (bare !== null) this.#noteWaits('writes of a bare server', bare.before, bare.meanwhile, null);
    } finally {
      await clients.stop();
    }
  }

  /** @param factor by which they may wait longer meanwhile */
  #noteWaits(what: string, before: Waits, meanwhile: Waits, factor: number | null): void {
    const target = factor === null ? null : factor * before.p99;
    this.#note(`${what} meanwhile, ${meanwhile.perS} a second, p99`, meanwhile.p99, target);
    this.#note(`${what} before, ${before.perS} a second, p99`, before.p99, null);
    this.#note(`the longest of ${what} meanwhile`, meanwhile.longest, null);
    this.#note(`the longest of ${what} before`, before.longest, null);
  }

  async #lookUps(heat: Heat): Promise<void> {
    const { orders } = this.options;
    for (const lookUp of lookUpsOf(heat, { orders, total: this.#total, sqlite: this.#sqlite })) {
      const { name, targetMs, sqliteMs } = lookUp;
      // So the code has its last form, and it is the data alone that are cold.
      if (heat === 'cold') await this.#shop.query(heatingCode(lookUp));
      this.#add({ name, targetMs, sqliteMs, ...(await this.#spentOn(lookUp)) });
    }
  }

  /** Time of one look-up. */
  async #spentOn(lookUp: LookUp): Promise<Spent> {
    const all: Spent[] = [];
    for (const query of queriesOf(lookUp)) all.push(await this.#spent(() => this.#shop.query(query)));
    const share = SHARE[lookUp.heat];
    const of = (times: readonly (number | null)[]): number | null =>
      times.includes(null)
        ? null
        : quantile(
            times.filter((ms) => ms !== null),
            share,
          );
    return each(
      {
        ms: quantile(
          all.map(({ ms }) => ms),
          share,
        ),
        cpuMs: of(all.map(({ cpuMs }) => cpuMs)),
        engineMs: of(all.map(({ engineMs }) => engineMs)),
      },
      lookUp.times,
    );
  }

  /** The bound of a cold look-up, of the records of the node that was stopped. */
  async #bareGets(): Promise<void> {
    const ms = await bareGetsMs(this.#shop.node.folder, TIMES.cold);
    const name = 'a page of an index and an instance by bare gets of LevelDB, cold';
    this.#add({ name, ms, cpuMs: null, engineMs: ms, targetMs: null, sqliteMs: null });
  }

  async #scan(heat: 'cold' | 'again'): Promise<void> {
    const code = '.smalls.filter(|s| s.n % 7 == 0).len();';
    if (heat === 'again') await this.#shop.query(code);
    const spent = await this.#spent(() => this.#shop.query(code));
    const targetMs = heat === 'cold' ? SCAN_MS : null;
    this.#add({ name: `filter over ${SMALL_COUNT}, ${heat}`, ...spent, targetMs, sqliteMs: null });
  }
}

function each({ ms, cpuMs, engineMs }: Spent, count: number): Spent {
  return {
    ms: ms / count,
    cpuMs: cpuMs === null ? null : cpuMs / count,
    engineMs: engineMs === null ? null : engineMs / count,
  };
}

/** Milliseconds between two times in µs; null where the system does not tell them. */
function since(before: number | undefined, after: number | undefined): number | null {
  return before === undefined || after === undefined ? null : (after - before) / 1000;
}

const isDoneAtOnce = async (): Promise<boolean> => true;

/** Work in the background on all orders, or on others that are made before. */
interface Job {
  readonly name: string;
  readonly code: string;
  readonly prepare?: (shop: Shop, orders: number) => Promise<void>;
}

const JOBS: readonly Job[] = [
  {
    name: 'another definition for a property',
    code: "mod_type('Order', 'mod', 'amount', 'float', |o| float(o.amount), {background: true});",
  },
  {
    name: 'a property filled',
    code: "mod_type('Order', 'add', 'label', 'str', |o| 'order ' + str(o.nr), {background: true});",
  },
  {
    name: 'half of a fifth as many removed',
    code: "del_instances('Visit', |v| v.n % 2 == 0);",
    prepare: (shop, orders) => shop.addVisits(orders / 5),
  },
];

/** Targets of what is done once, in milliseconds. */
const BUILD_MS = 90_000;
const SCAN_MS = 300;
const DUMP_MS = 10_000;
const REPORT_MS = { cold: 6000, again: 300 };
/** A turn of the engine's thread, for which all others wait. */
const TURN = "the engine's longest turn meanwhile, less waits for a processor";
const TURN_MS = 50;
/** The factor by which writes may wait longer meanwhile. */
const REPORT_WAITS = 1.3;
