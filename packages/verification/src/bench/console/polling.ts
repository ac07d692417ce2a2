/** The cost of an open overview to the nodes. */
import { setTimeout as pause } from 'node:timers/promises';
import type { RealCluster } from '@althing/node/testing';
import type { Browser } from 'playwright-core';
import { OpenedConsole } from '../../console/opened-console.js';
import { measuredTimeUs } from '../cpu.js';

/** Time that the page is open by its own clock, and the step in which it passes, in milliseconds. */
const OPEN_MS = 320_000;
const STEP_MS = 4000;
/** Time for which the cluster comes to rest after its start, in milliseconds. */
const SETTLE_MS = 10_000;

/**
 * Percent of a core that each node spends on it, on the average. The page's clock is hurried on: what a cluster does by itself differs by
 * more than the page costs in the time that would pass otherwise.
 */
export async function pollingShare(browser: Browser, cluster: RealCluster): Promise<number> {
  const pids = cluster.nodes.map(({ pid }) => pid);
  const spent = async (work: () => Promise<unknown>): Promise<number> => {
    const before = measuredTimeUs(pids);
    await work();
    return measuredTimeUs(pids) - before;
  };
  await pause(SETTLE_MS);
  const opened = await OpenedConsole.open(browser, cluster.node(1).url);
  const { page } = opened;
  await page.clock.install();
  await opened.visit();
  await opened.logIn({ user: 'admin', password: 'pass' });
  await page.getByLabel('All nodes together').waitFor();
  const begun = performance.now();
  const watched = await spent(async () => {
    for (let open = 0; open < OPEN_MS; open += STEP_MS) {
      const answered = page.waitForResponse((response) => response.ok());
      await page.clock.runFor(STEP_MS);
      await answered;
    }
  });
  const took = performance.now() - begun;
  await opened.close();
  const idle = await spent(() => pause(took));
  return ((watched - idle) / 1000 / OPEN_MS / pids.length) * 100;
}
