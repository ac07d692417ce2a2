/** `npm run bench -- console`: the web console in the installed browser, beside its goals. */
import { RealCluster, RealNode } from '@althing/node/testing';
import type { Browser } from 'playwright-core';
import { startBrowser } from '../../console/opened-console.js';
import { type Figure, figure } from '../figures.js';
import { apiCost } from './api.js';
import { bytesOfConsole, firstViewMs, SLOW_LINE } from './first-view.js';
import { fill, listMs } from './lists.js';
import { pollingShare } from './polling.js';
import { answerMs, largeAnswer } from './results.js';
import { bareTyping, typing } from './typing.js';

export interface ConsoleOptions {
  /** A text of the titles that are measured. */
  readonly only: string;
  readonly rounds: number;
  readonly progress: (figure: Figure) => void;
}

type Measured = Figure | readonly Figure[];

export async function benchConsole({ only, rounds, progress }: ConsoleOptions): Promise<Figure[]> {
  const rows: Figure[] = [];
  const browser = await startBrowser();
  // A time to a frame is that of the work, not that until the screen wants the next one.
  const hasty = await startBrowser(['--disable-frame-rate-limit', '--disable-gpu-vsync']);
  const node = await RealNode.start(ROOMY);
  const measure = async (title: string, work: () => Promise<Measured>): Promise<void> => {
    if (!title.includes(only)) return;
    for (const one of [await work()].flat()) {
      rows.push(one);
      progress(one);
    }
  };
  const { url, authorization } = node;
  const at = { browser, url, authorization };
  try {
    await measure('size', () => bytesOfConsole(url));
    await measure('first view', async () => [
      figure('first view: login usable, loopback', 'ms', await firstViewMs(browser, url, rounds, null), 500),
      figure('first view: 1.6 Mbit/s, 150 ms', 'ms', await firstViewMs(browser, url, 1, SLOW_LINE), 3000),
    ]);
    await measure('typing', async () => {
      const [short, long] = [await typing(hasty, node, 500), await typing(hasty, node, 1000)];
      const bare = await bareTyping(hasty);
      return [
        figure('a bare text area: p95 of key to frame', 'ms', bare.p95Ms),
        figure('a bare text area: p95 of the processor time of a key', 'ms', bare.cpuP95Ms),
        figure('typing in 500 lines, node frozen: p95 of key to frame', 'ms', short.p95Ms, 16),
        figure('typing in 1,000 lines, node frozen: p95 of key to frame', 'ms', long.p95Ms, 16),
        figure('typing in 1,000 lines: p95 of the processor time of a key', 'ms', long.cpuP95Ms, 16),
      ];
    });
    await measure('answer', async () =>
      figure('small answer on the screen', 'ms', await answerMs(at, rounds)),
    );
    await measure('results', async () => {
      const rowsOf = await largeAnswer(
        at,
        'range(10000).map(|i| {nr: i, name: "guest", age: i % 90});',
        node,
      );
      const large = await largeAnswer(at, `range(95000).map(|i| "${'x'.repeat(200)}" + str(i));`, node);
      return [
        figure('10,000 things: first rows behind the answer', 'ms', rowsOf.firstRowsMs, 1000),
        figure('10,000 things: table', 'ms', rowsOf.tableMs, 300),
        figure('20 MB: first rows behind the answer', 'ms', large.firstRowsMs, 1000),
        figure('20 MB: table', 'ms', large.tableMs, 300),
        figure(
          '20 MB: longest task of the page',
          'ms',
          Math.max(large.longestTaskMs, rowsOf.longestTaskMs),
          50,
        ),
        figure('20 MB: heap of the page', 'MB', large.heapBytes / 1e6),
      ];
    });
    await measure('lists', async () => {
      await fill(node);
      const times = await listMs(at);
      return times.map(([what, ms]) => figure(what, 'ms', ms, 300));
    });
    await measure('polling', async () => await polling(browser));
    await measure('api', async () =>
      figure(
        'API with a console that nobody uses: more processor time of a request',
        '%',
        await apiCost(),
        1,
      ),
    );
  } finally {
    await Promise.all([browser.close(), hasty.close()]);
    await node.stop();
  }
  return rows;
}

/** Room for what the lists hold. */
const ROOMY = {
  max_collections: 1100,
  result_size_limit: 32 * 1024 ** 2,
  query_duration_limit_ms: 20_000,
  query_memory_limit_mb: 1024,
};

/** Collections of the cluster that the overview watches, besides the one that there is. */
const GROUPS = 98;

async function polling(browser: Browser): Promise<Figure> {
  const cluster = await RealCluster.start(3);
  try {
    const code = 'range(count).each(|i| new_collection(`c{i}`));';
    await cluster.node(1).value('/t', code, { count: GROUPS });
    return figure(
      'overview of 3 nodes and 100 groups: of a core, each node',
      '%',
      await pollingShare(browser, cluster),
      1,
    );
  } finally {
    await cluster.discard();
  }
}
