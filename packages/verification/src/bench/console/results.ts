/** The time until answers are to be seen, and the effect of large ones on the page. */
import { encodeMessagePack, wireMap } from '@althing/client';
import type { RealNode } from '@althing/node/testing';
import type { Browser } from 'playwright-core';
import { OpenedConsole } from '../../console/opened-console.js';
import { median } from '../../harness/table.js';

export interface ConsoleAt {
  readonly browser: Browser;
  readonly url: string;
  readonly authorization: string;
}

/** Median time from the click on Run until the answer of a small query is on the screen. */
export async function answerMs({ browser, url, authorization }: ConsoleAt, rounds: number): Promise<number> {
  const opened = await OpenedConsole.openAs(browser, url, authorization, '#/q');
  const times: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    await opened.write(`${round} + 1000;`);
    times.push(
      await clickMs(opened, 'Run', `document.querySelector('.tree')?.textContent === '${round + 1000}'`),
    );
  }
  await opened.close();
  // The first one loads what shows results.
  return median(times.slice(1));
}

export interface LargeAnswer {
  /** Time until the first rows, from the end of the node's own time on. */
  readonly firstRowsMs: number;
  readonly tableMs: number;
  readonly longestTaskMs: number;
  readonly heapBytes: number;
}

export async function largeAnswer(
  { browser, url, authorization }: ConsoleAt,
  code: string,
  node: RealNode,
): Promise<LargeAnswer> {
  const opened = await OpenedConsole.openAs(browser, url, authorization, '#/q');
  const { page } = opened;
  await opened.run('[1];');
  await page.getByLabel('Result as a tree').waitFor();
  await page.evaluate(`(() => {
    window.longest = 0;
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) window.longest = Math.max(window.longest, duration);
    }).observe({ type: 'longtask' });
  })()`);
  // The time of the node itself, and of the way, is not the page's.
  const begun = performance.now();
  const body = encodeMessagePack(wireMap({ type: 'query', code }));
  const answer = await node.post('//stuff', body, { contentType: 'application/msgpack' });
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text.slice(0, 300)}`);
  const nodeMs = performance.now() - begun;
  await opened.write(code);
  const firstMs = await clickMs(opened, 'Run', `document.querySelectorAll('.tree li').length >= 100`);
  const tableMs = await clickMs(
    opened,
    'Table',
    `document.querySelectorAll('.result tbody tr').length >= 100`,
  );
  for (let page_ = 0; page_ < 3; page_++) await page.getByRole('button', { name: 'Next' }).click();
  await page.getByRole('button', { name: 'Tree' }).click();
  await page.getByRole('button', { name: /more of/ }).click();
  const longestTaskMs = Number(await page.evaluate('window.longest'));
  const session = await page.context().newCDPSession(page);
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await opened.close();
  return { firstRowsMs: Math.max(0, firstMs - nodeMs), tableMs, longestTaskMs, heapBytes: usedSize };
}

/** Time from a click until a condition holds in a frame. */
async function clickMs({ page }: OpenedConsole, button: string, condition: string): Promise<number> {
  // A button for what was just written can be used once the page knows of it.
  await page.getByRole('button', { name: button, exact: true, disabled: false }).waitFor();
  return Number(
    await page.evaluate(`new Promise((done) => {
      const button = [...document.querySelectorAll('button')].find(({ textContent }) => textContent === '${button}');
      const begun = performance.now();
      const look = () => ${condition} ? done(performance.now() - begun) : requestAnimationFrame(look);
      button.click();
      requestAnimationFrame(look);
    })`),
  );
}
