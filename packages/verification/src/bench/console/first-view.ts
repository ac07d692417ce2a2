/** The time until somebody can log in, and the bytes that must come for that. */
import type { Browser } from 'playwright-core';
import { OpenedConsole } from '../../console/opened-console.js';
import { median } from '../../harness/table.js';
import { type Figure, figure } from '../figures.js';

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

/** The bytes that are sent up to the login, and in all: scripts that pages import when they are wanted, and the worker. */
export async function bytesOfConsole(url: string): Promise<Figure[]> {
  const page = await sizeOf(`${url}/@console/`);
  const style = [...page.text.matchAll(/href="([^"]+\.css)"/g)].map(([, name = '']) => name);
  const scripts = [...page.text.matchAll(/[\w-]+\.js/g)].map(([name]) => name);
  const seen = new Set<string>();
  const later = scripts.filter((name) => name.startsWith('worker'));
  const bytesOf = async (waiting: string[]): Promise<number> => {
    let sum = 0;
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
      if (seen.has(name)) continue;
      seen.add(name);
      const { bytes, text } = await sizeOf(`${url}/@console/${name}`);
      sum += bytes;
      for (const [, next = ''] of text.matchAll(/(?:from|import)\s*"\.\/([^"]+\.js)"/g)) waiting.push(next);
      for (const [, next = ''] of text.matchAll(/import\("\.\/([^"]+\.js)"\)/g)) later.push(next);
    }
    return sum;
  };
  const login =
    page.bytes + (await bytesOf([...style, ...scripts.filter((name) => name.startsWith('start'))]));
  const all = login + (await bytesOf(later));
  return [
    figure('size up to the login, gzip', 'kB', login / 1000, 75),
    figure('size of all, gzip', 'kB', all / 1000, 250),
  ];
}

async function sizeOf(url: string): Promise<{ readonly bytes: number; readonly text: string }> {
  const answer = await fetch(url, { headers: { 'accept-encoding': 'gzip' } });
  return { bytes: Number(answer.headers.get('content-length')), text: await answer.text() };
}
