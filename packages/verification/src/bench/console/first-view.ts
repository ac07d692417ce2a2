/** How long it takes until somebody can log in, and how much must come for that. */
import type { Browser } from 'playwright-core';
import { OpenedConsole } from '../../console/opened-console.js';
import { median } from '../table.js';
import type { ConsoleRow } from './console.js';

/** A slow line: 1.6 Mbit/s down, 0.75 up, 150 ms there and back. */
export const SLOW_LINE = { latency: 150, downloadThroughput: 200_000, uploadThroughput: 93_750 };

/** Notes when the field of the password is there to be filled in. */
const WATCH = `(() => {
  const look = () => {
    const field = document.querySelector('input[type=password]');
    if (field !== null && !field.disabled) window.usableAt = performance.now();
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})()`;

/** Median time from the click on a link until the login can be used, with nothing kept from before. */
export async function firstViewMs(
  browser: Browser,
  url: string,
  rounds: number,
  line: typeof SLOW_LINE | null,
): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const opened = await OpenedConsole.open(browser, url);
    const { page } = opened;
    await page.addInitScript(WATCH);
    if (line !== null) {
      const session = await page.context().newCDPSession(page);
      await session.send('Network.enable');
      await session.send('Network.emulateNetworkConditions', { offline: false, ...line });
    }
    await opened.visit('/@console/');
    await page.waitForFunction('window.usableAt !== undefined');
    times.push(Number(await page.evaluate('window.usableAt')));
    await opened.close();
  }
  return median(times);
}

/** The bytes that are sent up to the login. */
export async function bytesBeforeLogin(url: string): Promise<ConsoleRow[]> {
  const page = await (await fetch(`${url}/@console/`)).text();
  const seen = new Set<string>();
  const waiting = [...page.matchAll(/(?:src|href)="([^"]+\.(?:js|css))"/g)].map(([, name = '']) => name);
  let bytes = (await sizeOf(`${url}/@console/`)).bytes;
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (seen.has(name)) continue;
    seen.add(name);
    const file = await sizeOf(`${url}/@console/${name}`);
    bytes += file.bytes;
    // Static imports come with it; import(...) waits until a page wants it.
    for (const [, next = ''] of file.text.matchAll(/(?:from|import)\s*"\.\/([^"]+\.js)"/g))
      waiting.push(next);
  }
  return [{ what: 'size up to the login, gzip', unit: 'kB', value: bytes / 1000, goal: 75 }];
}

async function sizeOf(url: string): Promise<{ readonly bytes: number; readonly text: string }> {
  const answer = await fetch(url, { headers: { 'accept-encoding': 'gzip' } });
  return { bytes: Number(answer.headers.get('content-length')), text: await answer.text() };
}
