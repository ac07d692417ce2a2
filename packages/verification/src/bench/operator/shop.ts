/**
 * The shop of the tutorial under a steady load, in which one procedure becomes slow: how long it takes until `althing top` names it.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Database } from '@althing/client';
import { clientOf } from '../../harness/client-of.js';
import { ADMIN } from '../../harness/node-client.js';
import { paced } from '../../harness/paced.js';
import { startNode } from '../../harness/start-node.js';
import { type Figure, figure } from '../figures.js';

const PROGRAM = fileURLToPath(new URL('../../../../cli/bin/althing.js', import.meta.url));
const TUTORIAL = new URL('../../../../../docs/tutorial.md', import.meta.url);
const SCOPE = '//stuff';
const CUSTOMERS = 200;
/** Load before the slow procedure comes, and time for `althing top` to name it. */
const CALM_MS = 5000;
const GOAL_S = 10;
const PATIENCE_MS = 20_000;
/** Longest wait for an answer, in milliseconds: on a busy machine what is due adds up. */
const TIMEOUT_MS = 120_000;
const SLOW = 'revenue';

/** Goes through all customers again and again, as a report does whose author thought of ten of them. */
const SLOW_CODE = `new_procedure('${SLOW}', || {
  sum = 0;
  for (i in range(1000)) for (email, customer in .customers) sum += customer.orders.len();
  sum;
});`;

/** @param perS requests a second */
export async function benchShop(perS: number): Promise<Figure[]> {
  const node = await startNode();
  const shop = clientOf(node.url, ADMIN, TIMEOUT_MS, 64);
  const top = spawn(process.execPath, [
    PROGRAM,
    ...['top', '--format', 'json', '--url', node.url, '--user', 'admin:pass'],
  ]);
  try {
    for (const block of blocksOf(readFileSync(TUTORIAL, 'utf8'))) await shop.$scope(SCOPE).query(block);
    await shop.$scope(SCOPE).query(".products['tea'].stock = 1000000000; nil;");
    for (let i = 0; i < CUSTOMERS; i++)
      await shop.$scope(SCOPE).call('add_customer', { email: emailOf(i), name: 'Ann' });
    const load = new Load(shop, perS);
    await pause(CALM_MS);
    await shop.$scope(SCOPE).query(SLOW_CODE);
    const begun = Date.now();
    load.isSlow = true;
    const { at, row, share } = await named(top, begun + PATIENCE_MS);
    await load.stop();
    const namedAfterS = at === null ? Number.POSITIVE_INFINITY : (at - begun) / 1000;
    return [
      figure('answered', '', load.answered),
      figure('failed', '', load.failed, 0),
      figure('named by althing top after', 's', namedAfterS, GOAL_S),
      figure('in row', '', row),
      figure('with a part of the time', '%', 100 * share),
    ];
  } finally {
    top.kill();
    await shop.$close();
    await node.stop();
  }
}

/** The queries of the tutorial that make the shop, without those that show an error. */
function blocksOf(page: string): string[] {
  const blocks = [...page.matchAll(/^```js\n(?<code>[\s\S]*?)^```$/gm)];
  return blocks.map(({ groups }) => (groups?.code ?? '').replaceAll(/^.*\/\/ error.*$/gm, ''));
}

function emailOf(n: number): string {
  return `c${n % CUSTOMERS}@example.org`;
}

/** Customers, so many a second: they buy, and look at what they bought. Twice a second somebody calls the slow procedure once it is there. */
class Load {
  isSlow = false;
  answered = 0;
  failed = 0;
  private isStopped = false;
  private sent = 0;
  private readonly work: Promise<unknown>;

  constructor(
    private readonly shop: Database,
    perS: number,
  ) {
    const isOver = (): boolean => this.isStopped;
    const slowly = async (): Promise<void> => {
      if (this.isSlow) await this.note(this.shop.$scope(SCOPE).call(SLOW));
    };
    this.work = Promise.all([paced(perS, isOver, () => this.send(this.sent++)), paced(2, isOver, slowly)]);
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await this.work;
  }

  private send(n: number): Promise<void> {
    const email = emailOf(n * 7);
    const stuff = this.shop.$scope(SCOPE);
    if (n % 3 === 0) return this.note(stuff.call('buy', { email, sku: 'tea', count: 1n }));
    return this.note(
      n % 3 === 1 ? stuff.call('orders_of', { email }) : stuff.query(".products['tea'].price;"),
    );
  }

  private async note(answer: Promise<unknown>): Promise<void> {
    try {
      await answer;
      this.answered += 1;
    } catch {
      this.failed += 1;
    }
  }
}

/** When the slow procedure was among the rows, in which one, and with what part of the time. */
async function named(
  { stdout }: ChildProcessWithoutNullStreams,
  until: number,
): Promise<{ readonly at: number | null; readonly row: number; readonly share: number }> {
  let text = '';
  stdout.on('data', (piece: Buffer) => {
    text = (text + String(piece)).slice(-1_000_000);
  });
  while (Date.now() < until) {
    await pause(50);
    const line = text.split('\n').at(-2);
    if (line === undefined || line === '') continue;
    const rows = rowsOf(JSON.parse(line));
    const at = rows.findIndex(({ what }) => what === SLOW);
    const found = rows[at];
    if (found !== undefined) return { at: Date.now(), row: at + 1, share: found.share };
  }
  return { at: null, row: 0, share: 0 };
}

interface TopRow {
  readonly what: string;
  readonly share: number;
}

function rowsOf(look: unknown): TopRow[] {
  if (typeof look !== 'object' || look === null || !('busiest' in look) || !Array.isArray(look.busiest))
    return [];
  return look.busiest.map((row: { what?: unknown; share?: unknown }) => ({
    what: String(row.what),
    share: Number(row.share),
  }));
}
