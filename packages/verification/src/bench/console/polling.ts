/** The cost of an open overview to the nodes. */
import { setTimeout as pause } from 'node:timers/promises';
import type { RealCluster } from '@althing/node/testing';
import type { Browser } from 'playwright-core';
import { OpenedConsole } from '../../console/opened-console.js';
import { cpuTimeUs } from '../cpu.js';

/** How long the nodes are watched with the page, and without it; and how long they come to rest before. */
const WATCH_MS = 20_000;
const SETTLE_MS = 5000;

/** Percent of a core that each node spends on it, on the average. */
export async function pollingShare(browser: Browser, cluster: RealCluster): Promise<number> {
  const pids = cluster.nodes.map(({ pid }) => pid);
  const spent = async (): Promise<number> => {
    await pause(SETTLE_MS);
    const before = cpuTimeUs(pids);
    await pause(WATCH_MS);
    const after = cpuTimeUs(pids);
    if (before === undefined || after === undefined)
      throw new Error('the system does not tell processor time');
    return after - before;
  };
  const { url, authorization } = cluster.node(1);
  const opened = await OpenedConsole.openAs(browser, url, authorization, '#/');
  const watched = await spent();
  await opened.close();
  // Afterwards: what a cluster still does after its start counts against the page then, not for it.
  const idle = await spent();
  return ((watched - idle) / 1000 / WATCH_MS / pids.length) * 100;
}
