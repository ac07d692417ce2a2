/** How long a key takes to its frame in a long text, with completion, while the node does not answer. */
import type { RealNode } from '@althing/node/testing';
import type { Browser } from 'playwright-core';
import { OpenedConsole } from '../../console/opened-console.js';

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
  /** Processor time of the page for each key: scripts, styles, layout. */
  readonly cpuMs: number;
}

/** A statement is typed at the end of a text of so many lines. */
export async function typing(browser: Browser, node: RealNode, lines: number): Promise<TypingFigures> {
  const opened = await OpenedConsole.openAs(browser, node.url, node.authorization, '#/q');
  const { page } = opened;
  const line = (i: number): string =>
    `x${i} = .get("guests", []).filter(|g| g.age >= ${i % 90}); // line ${i}`;
  await opened.write(`${Array.from({ length: lines }, (_, i) => line(i)).join('\n')}\n`);
  await page.getByText('reads only').waitFor();
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const cpuMs = async (): Promise<number> => {
    const { metrics } = await session.send('Performance.getMetrics');
    return 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN);
  };
  node.signal('SIGSTOP');
  try {
    await page.evaluate(WATCH);
    const before = await cpuMs();
    await page.keyboard.type(TYPED, { delay: 60 });
    const spent = (await cpuMs()) - before;
    const times: number[] = await page.evaluate('window.keyTimes');
    const p95Ms = [...times].sort((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? Number.NaN;
    return { p95Ms, cpuMs: spent / TYPED.length };
  } finally {
    node.signal('SIGCONT');
    await opened.close();
  }
}
