/** The console's changes to the cluster itself: a node is added, relieved of what it leads, removed, and the last one stopped. */
import { freePorts, RealNode, until } from '@althing/node/testing';
import { testThatNeeds } from '@althing/node/testing/needs';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { browserLack, OpenedConsole, startBrowser } from './opened-console.js';

const testInBrowser = testThatNeeds('browsers', browserLack);

let nodes: readonly RealNode[] = [];
let secondPort = 0;

beforeAll(async () => {
  if (browserLack !== null) return;
  const [firstPort = 0, second = 0] = await freePorts(2);
  secondPort = second;
  const settings = { replace_after_ms: 1000, drain_delay_ms: 0 };
  nodes = await Promise.all([
    RealNode.launch({ ...settings, listen_node_port: firstPort }, undefined, [], ['--init']),
    RealNode.launch({ ...settings, listen_node_port: second }, undefined, [], ['--secret', 'one-time']),
  ]);
});

afterAll(async () => {
  for (const node of nodes) {
    await node.kill();
    node.clear();
  }
});

testInBrowser(
  'a node is added, gives away what it leads, is removed, and the one that is left is stopped',
  async () => {
    const [first, second] = nodes;
    if (first === undefined || second === undefined) throw new Error('the nodes were not started');
    await first.whenReady();
    await first.login();
    const browser = await startBrowser();
    try {
      const opened = await OpenedConsole.openAs(browser, first.url, first.authorization, '#/');
      const { page } = opened;
      const dialog = page.getByRole('dialog');
      const done = (title: string): Promise<void> =>
        dialog
          .getByRole('button', { name: title, exact: true })
          .click()
          .then(() => dialog.waitFor({ state: 'detached' }));

      await page.getByRole('button', { name: 'Add a node' }).click();
      await dialog.getByLabel('Secret').fill('one-time');
      await dialog.getByLabel('Address').fill('127.0.0.1');
      await dialog.getByLabel('Node port').fill(String(secondPort));
      await done('Add a node');
      const ready = page.getByLabel('Nodes', { exact: true }).getByText('ready', { exact: true });
      await ready.nth(1).waitFor();
      await untilVoters(first, '0,1');

      await page.getByRole('button', { name: 'give away node 0' }).click();
      await done('Give away what it leads');
      await until(async () => (await leaders(first)) === '1', 'node 1 leads all groups');
      await opened.go('#/activity');
      await page.getByRole('combobox', { name: /^Node/ }).selectOption({ label: 'all together' });
      await page.getByText('of delays the worst node counts').waitFor();
      await page.getByRole('img', { name: /^Requests a second/ }).waitFor();

      await opened.go('#/');
      await page.getByRole('button', { name: 'remove node 1' }).click();
      await dialog.getByLabel(/^This can/).fill('test');
      await done('Remove the node');
      await ready.nth(1).waitFor({ state: 'detached' });
      await until(() => !second.running, 'the removed node ends');

      await page.getByRole('button', { name: 'stop node 0' }).click();
      await dialog.getByLabel(/^This can/).fill('test');
      await dialog.getByRole('button', { name: 'Stop the node' }).click();
      await until(() => !first.running, 'the node ends');
      await page.getByText('This node does not answer.').waitFor();
      expect(opened.problems).toEqual([]);
    } finally {
      await browser.close();
    }
  },
);

/** The leaders of all groups, each once. */
async function leaders(node: RealNode): Promise<string> {
  const found = await node.value('/n', 'groups_info().map(|g| g.load().leader);');
  return Array.isArray(found) ? [...new Set(found)].join() : '';
}

async function untilVoters(node: RealNode, voters: string): Promise<void> {
  await until(async () => {
    const found = await node.value('/n', 'groups_info().map(|g| g.load().voters);');
    return Array.isArray(found) && found.every((each) => String(each) === voters);
  }, `the groups have the voters ${voters}`);
}
