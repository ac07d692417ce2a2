/** The data that is measured: orders of so many customers, each with a number, an address at random, and a time. */
import type { Database } from '@althing/client';
import type { RealNode } from '@althing/node/testing';
import { clientOf } from '../../harness/client-of.js';
import { ADMIN, authorization } from '../../harness/node-client.js';
import { Child } from '../child.js';
import type { LinesAnswer, LinesOrder } from './lines-client.js';

export const SCOPE = '//shop';

/** Instances of a type that is gone over as a whole. */
export const SMALL_COUNT = 50_000;

/** Look-ups of other instances than orders, by numbers and texts as well. */
export const WARM_UP = `range(20000).each(|i| {
  one_by('Small', 'n', i).n; one_by('Small', 'name', str(i)); all_by('Small', 'n', nil, {limit: 9, reverse: true}); count_by('Small', 'n', nil, {from: i});
}); nil;`;

/** Orders of one customer. */
export const PER_CUSTOMER = 1000;

/** Longest wait for a query, in milliseconds. */
const TIMEOUT_MS = 120_000;
const PER_QUERY = 4000;

/** Has no factor in common with numbers of orders that people choose: steps of it come to all of them, in no order. */
const STRIDE = 7_368_787;

/** An index that is measured. */
export interface OrderIndex {
  readonly name: string;
  readonly code: string;
}

export const INDEXES: readonly OrderIndex[] = [
  { name: 'nr', code: "new_index('Order', 'nr', UNIQUE);" },
  { name: 'by_customer', code: "new_index('Order', 'by_customer', ['customer', 'created']);" },
  { name: 'email', code: "new_index('Order', 'email', UNIQUE);" },
];

/** One of so many numbers from a first one on, or its address: texts of queries, with `i` for the number of the look-up. */
export function numberAt(count: number, first = 0): string {
  const number = `(i * ${STRIDE}) % ${count}`;
  return first === 0 ? number : `${first} + ${number}`;
}

export function addressAt(count: number, first = 0): string {
  return `\`customer{${numberAt(count, first)}}@example.org\``;
}

/** A query to the one node there is. */
export class Shop {
  readonly #db: Database;
  readonly #linesUrl: string;
  readonly #authorization: string;

  constructor(readonly node: RealNode) {
    this.#db = clientOf(node.url, ADMIN, TIMEOUT_MS);
    this.#linesUrl = `${node.url}${SCOPE}?end=1`;
    this.#authorization = authorization(ADMIN);
  }

  query(code: string, scope = SCOPE): Promise<unknown> {
    return this.#db.$scope(scope).query(code);
  }

  /** A snapshot read. */
  report(code: string): Promise<unknown> {
    return this.#db.$scope(SCOPE).with({ consistency: 'snapshot' }).query(code);
  }

  /** A snapshot read whose answer is lines, which another process takes. */
  async lines(code: string): Promise<void> {
    const order: LinesOrder = {
      url: this.#linesUrl,
      headers: {
        Authorization: this.#authorization,
        'Content-Type': 'application/json',
        Consistency: 'snapshot',
        Accept: 'application/x-ndjson',
      },
      body: JSON.stringify({ type: 'query', code }),
    };
    const client = new Child(import.meta.url, 'lines-client.js');
    try {
      const problem = await client.ask(order, (answer: LinesAnswer) => answer.problem ?? '');
      if (problem !== '') throw new Error(problem);
    } finally {
      await client.close();
    }
  }

  async make(): Promise<void> {
    await this.query("new_collection('shop');", '@thingsdb');
    await this.query(`
      set_type('Order', {nr: 'int', email: 'str', customer: 'int', created: 'int', amount: 'int'});
      set_type('Small', {n: 'int', name: 'str'}); new_index('Small', 'n'); new_index('Small', 'name');
      .counter = 0; .orders = []; .smalls = [];`);
    for (let from = 0; from < SMALL_COUNT; from += PER_QUERY) {
      await this.query(
        `range(${from}, ${Math.min(SMALL_COUNT, from + PER_QUERY)}).each(|i| .smalls.push(Small{n: i, name: str(i)})); nil;`,
      );
    }
  }

  /**
   * Adds the orders with numbers from one to another, of so many that there are in the end.
   *
   * @param stored told after each query how many there are
   */
  async add(
    from: number,
    to: number,
    total: number,
    stored: (count: number) => void = () => {},
  ): Promise<void> {
    const email = addressAt(total);
    for (let first = from; first < to; first += PER_QUERY) {
      const order = `Order{nr: i, email: ${email}, customer: i * ${STRIDE} % ${Math.ceil(total / PER_CUSTOMER)}, created: i, amount: i % 97}`;
      await this.query(
        `range(${first}, ${Math.min(to, first + PER_QUERY)}).each(|i| .orders.push(${order})); nil;`,
      );
      stored(Math.min(to, first + PER_QUERY));
    }
  }

  /** The per cent of an index that are built; an error where it can't be. */
  async percentOf(index: string): Promise<number> {
    return Number(
      await this.query(`i = index_info('Order', '${index}'); assert(i.load().why == nil); i.load().percent;`),
    );
  }

  /** Makes instances of which a job removes some: they are in a set. */
  async addVisits(count: number): Promise<void> {
    await this.query("set_type('Visit', {n: 'int'}); .visits = set();");
    for (let from = 0; from < count; from += PER_QUERY) {
      const to = Math.min(count, from + PER_QUERY);
      await this.query(`range(${from}, ${to}).each(|i| .visits.add(Visit{n: i})); nil;`);
    }
  }

  /** True if the job that was made last is done; an error where it failed. */
  async isJobDone(): Promise<boolean> {
    return (await this.query('job = jobs_info()[-1]; assert(job.why == nil); job.state;')) === 'done';
  }

  close(): Promise<void> {
    return this.#db.$close();
  }
}
