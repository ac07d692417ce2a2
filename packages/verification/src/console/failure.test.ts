/** A console whose node is killed, and one that is off, read-only, or of production. */
import { RealCluster, RealNode, until } from '@althing/node/testing';
import { testThatNeeds } from '@althing/node/testing/needs';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { browserLack, NARROW, OpenedConsole, startBrowser } from './opened-console.js';

const testInBrowser = testThatNeeds('browsers', browserLack);

let browser: Browser | null = null;
let node: RealNode | null = null;

beforeAll(async () => {
  if (browserLack === null) browser = await startBrowser();
});

afterEach(async () => {
  await node?.stop();
  node = null;
});

afterAll(() => browser?.close());

testInBrowser(
  'nodes are killed, the leader among them: text is kept, another node is named, and the page goes on by itself',
  async () => {
    if (browser === null) return;
    const cluster = await RealCluster.start(3);
    try {
      const { url, authorization } = cluster.node(3);
      const opened = await OpenedConsole.openAs(browser, url, authorization, '#/');
      const { page } = opened;
      const counts = page.getByLabel('All nodes together');
      await counts.waitFor();
      await page.getByRole('row', { name: /ready/ }).nth(2).waitFor();
      await opened.go('#/q');
      await opened.write('.precious = 1 + 41;');

      // Facts that one node knows are there while another one does not answer.
      cluster.node(2).signal('SIGSTOP');
      await opened.go('#/');
      await page.getByText('asking …').waitFor();
      await page.getByLabel('Collections').getByRole('link', { name: 'stuff' }).waitFor();
      await page.getByLabel('Nodes').getByRole('cell', { name: '127.0.0.3' }).waitFor();
      cluster.node(2).signal('SIGCONT');
      await page.getByText('asking …').waitFor({ state: 'detached' });
      await opened.go('#/q');
      await page.getByText('may change').waitFor();

      await cluster.killNode(3);
      await page.getByText('This node does not answer.').waitFor();
      await page.getByRole('tab', { name: '.precious = 1 + 41;' }).waitFor();
      const link = await page.getByRole('link', { name: '127.0.0.1', exact: true }).getAttribute('href');
      const elsewhere = await OpenedConsole.open(browser, cluster.node(1).url);
      await elsewhere.page.goto(link ?? '');
      await elsewhere.logIn({ user: 'admin', password: 'pass' });
      await elsewhere.page.getByRole('tab', { name: '.precious = 1 + 41;' }).waitFor();
      await elsewhere.page.getByRole('button', { name: 'Run', exact: true }).click();
      await elsewhere.page.getByLabel('Result as a tree').getByText('42').waitFor();
      await elsewhere.go('#/');
      await elsewhere.page.getByText('Node 2 (127.0.0.3) is not there.').waitFor();
      expect(elsewhere.problems).toEqual([]);

      // It comes back as a newer version, whose page names other files.
      await page.route('**/@console/', async (route) => {
        const response = await route.fetch();
        const body = (await response.text()).replace(/start-\w+\.js/, 'start-NEWER.js');
        await route.fulfill({ response, body });
      });
      await cluster.restartNode(3);
      await page.getByText('This node does not answer.').waitFor({ state: 'detached' });
      await page.getByRole('alert').getByText('another version of the console').waitFor();
      await page.unroute('**/@console/');
      await page.getByRole('button', { name: 'Load the console again' }).click();
      await page.getByRole('alert').waitFor({ state: 'detached' });
      await page.getByRole('tab', { name: '.precious = 1 + 41;' }).waitFor();
      await opened.run('.precious + 1;');
      await opened.gives('43');

      // The leader is lost: a change goes on at the next one, and is made once.
      const leader = await stuffLeader(cluster);
      await cluster.killNode(leader);
      await opened.run('.precious += 2; ');
      await page.getByLabel('Result as a tree').getByText('44').waitFor();

      // Two of three are lost: the overview says so, the query waits, and goes on by itself when a majority is back.
      const other = leader === 1 ? 2 : 1;
      await cluster.killNode(other);
      await opened.run('.precious + 56;');
      await page.getByText('Running').waitFor();
      await opened.go('#/');
      await page
        .getByText(/has no leader: nothing in it can be read or changed/)
        .first()
        .waitFor();
      await opened.go('#/activity');
      await page.getByRole('combobox', { name: /^Node/ }).selectOption('2');
      const row = page.getByLabel('Requests').getByRole('row', { name: '.precious + 56;' });
      await row.getByRole('button', { name: /^cancel/ }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel the request' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await opened.go('#/q');
      await page.getByRole('alert').getByText('Nothing was changed.').waitFor();
      await opened.run('.precious + 56;');
      await page.getByText(/^It waits: .+ \(\d+ attempts?\)\. It goes on by itself/).waitFor();
      await cluster.restartNode(other);
      await page.getByLabel('Result as a tree').getByText('100').waitFor();
      await page.getByText(/\d attempts$/).waitFor();

      // The session is ended: the page locks, keeps the text, and goes on after a login.
      await opened.write('.precious + 900;');
      await cluster.node(3).value('/t', "del_sessions('admin');");
      await page.getByText('The login is not valid any more.').waitFor();
      await opened.logIn({ user: 'admin', password: 'pass' });
      await page.getByRole('tab', { name: '.precious + 900;' }).waitFor();
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await opened.gives('944');
      expect(opened.problems).toEqual([]);
    } finally {
      await cluster.stop();
    }
  },
);

/** The place of the node that leads the collection, which is not the third. */
async function stuffLeader(cluster: RealCluster): Promise<number> {
  const code = "groups_info().map(|g| g.load()).filter(|g| g.scope == '@collection:stuff')[0].leader;";
  let leader = 3;
  await until(async () => {
    const found = await cluster.node(3).value('/n', code);
    if (found === 2) await cluster.node(3).value('/n', 'transfer_leadership();');
    leader = typeof found === 'number' ? found + 1 : 3;
    return leader !== 3;
  }, 'another node leads the collection');
  return leader;
}

testInBrowser(
  'console = read_only: nothing can be changed, and the switch can not be taken off',
  async () => {
    if (browser === null) return;
    node = await RealNode.start({ console: 'read_only' });
    const opened = await OpenedConsole.openAs(browser, node.url, node.authorization, '#/users');
    const { page } = opened;
    await page.getByRole('heading', { name: 'admin' }).waitFor();
    expect(await page.getByLabel('Read-only').isChecked()).toBe(true);
    expect(await page.getByLabel('Read-only').isDisabled()).toBe(true);
    expect(await page.getByRole('button', { name: 'New user' }).count()).toBe(0);
    await opened.go('#/q');
    await opened.run('.x = 1;');
    await page.getByText('it was not sent').waitFor();
    // The node refuses the change, even if the page takes the text for a read.
    const refused = await page.evaluate(`fetch('../thingsdb', { method: 'POST', headers: {
    Authorization: 'Bearer ' + sessionStorage.getItem('althing.console.session'), 'Althing-Read-Only': 'true',
    'Content-Type': 'application/json' }, body: '{"type":"query","code":"new_user(\\'x\\');"}' }).then(({ status }) => status)`);
    expect(refused).toBe(403);
    expect(opened.problems).toEqual([]);
  },
);

testInBrowser('console = production: each window says so, and begins read-only', async () => {
  if (browser === null) return;
  node = await RealNode.start({ console: 'production' });
  const opened = await OpenedConsole.openAs(browser, node.url, node.authorization, '#/q', NARROW);
  const { page } = opened;
  await page.getByRole('banner').getByText('production').waitFor();
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(NARROW.width);
  await opened.run('.x = 1;');
  await page.getByText('it was not sent').waitFor();
  await page.getByLabel('Read-only').uncheck();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByLabel('Result as a tree').getByText('1').waitFor();
  await page.reload();
  await page.getByRole('banner').getByText('production').waitFor();
  expect(await page.getByLabel('Read-only').isChecked()).toBe(true);
  expect(opened.problems).toEqual([]);
});

test('console = off leaves nothing of it', async () => {
  node = await RealNode.start({ console: 'off' });
  const statusOf = async (path: string): Promise<number> => (await fetch(`${node?.url}${path}`)).status;
  expect(await statusOf('/@console/')).toBe(await statusOf('/@nothing/'));
  const headers = { accept: 'text/html' };
  const first = await fetch(`${node.url}/`, { headers, redirect: 'manual' });
  expect([first.status, first.headers.get('location')]).toEqual([200, null]);
  expect(await first.text()).not.toContain('@console');
  expect(node.log).not.toContain('@console');
});
