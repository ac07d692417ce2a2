/** The time from a key to its frame in a long text, with completion, while the node does not answer. */
import type { RealNode } from '@althing/node/testing';
import type { Browser, Page } from 'playwright-core';
import { OpenedConsole } from '../../console/opened-console.js';
import { quantile } from '../../harness/table.js';

/** Notes of each key the time until what it changed is drawn. */
const WATCH = `(() => {
  window.keyTimes = [];
  addEventListener('keydown', ({ timeStamp }) => {
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => window.keyTimes.push(performance.now() - timeStamp);
      port2.postMessage(null);
    });
  }, true);
})()`;

const TYPED = '.guests.filter(|guest| guest.age >= 18 && guest.name.starts_with("A")).map(|guest| guest.na';

export interface TypingFigures {
  /** The 95th percentile of the times from a key to its frame: on a busy machine that of others counts, too. */
  readonly p95Ms: number;
  /** The 95th percentile of the page's processor time for a key: scripts, styles, layout, and what is put off until it was drawn. */
  readonly cpuP95Ms: number;
}

/** A statement is typed at the end of a text of so many lines. */
export async function typing(browser: Browser, node: RealNode, lines: number): Promise<TypingFigures> {
  const opened = await OpenedConsole.openAs(browser, node.url, node.authorization, '#/q');
  const { page } = opened;
  const line = (i: number): string =>
    `x${i} = .get("guests", []).filter(|g| g.age >= ${i % 90}); // line ${i}`;
  await opened.write(`${Array.from({ length: lines }, (_, i) => line(i)).join('\n')}\n`);
  await page.getByText('reads only').waitFor();
  node.signal('SIGSTOP');
  try {
    return await timesOf(page);
  } finally {
    node.signal('SIGCONT');
    await opened.close();
  }
}

/** The same in a text area of an empty page: what the browser and the machine need by themselves. */
export async function bareTyping(browser: Browser): Promise<TypingFigures> {
  const page = await browser.newPage();
  try {
    await page.setContent('<textarea rows="40" cols="120"></textarea>');
    await page.locator('textarea').focus();
    return await timesOf(page);
  } finally {
    await page.close();
  }
}

async function timesOf(page: Page): Promise<TypingFigures> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const cpuMs = async (): Promise<number> => {
    const { metrics } = await session.send('Performance.getMetrics');
    return 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN);
  };
  await page.evaluate(WATCH);
  const spent: number[] = [];
  let before = await cpuMs();
  for (const key of TYPED) {
    await page.keyboard.type(key, { delay: 60 });
    const now = await cpuMs();
    spent.push(now - before);
    before = now;
  }
  const times: number[] = await page.evaluate('window.keyTimes');
  return { p95Ms: quantile(times, 0.95), cpuP95Ms: quantile(spent, 0.95) };
}
