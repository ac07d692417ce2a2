/** What the console changes: every button of its pages about users, tasks, backups, definitions, nodes, clicked in a real browser. */
import { RealNode } from '@althing/node/testing';
import { testThatNeeds } from '@althing/node/testing/needs';
import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import type { Browser, Locator, Page } from 'playwright-core';
import { browserLack, OpenedConsole, startBrowser } from './opened-console.js';

const testInBrowser = testThatNeeds('browsers', browserLack);

let node: RealNode;
let browser: Browser | null = null;
/** One page for all tests, which go from place to place as people do. */
let opened: OpenedConsole;
let page: Page;
let dialog: Locator;

beforeAll(async () => {
  node = await RealNode.start({ enable_modules: 'local' });
  if (browserLack !== null) return;
  browser = await startBrowser();
  opened = await OpenedConsole.openAs(browser, node.url, node.authorization, '#/');
  page = opened.page;
  dialog = page.getByRole('dialog');
});

afterEach(() => {
  if (browser !== null) expect(opened.problems).toEqual([]);
});

afterAll(async () => {
  await browser?.close();
  await node.stop();
});

/** Opens a dialog by a button, fills its fields in, does what it offers, and sees it close. */
async function act(button: string, title: string, fields: Readonly<Record<string, string>> = {}) {
  await page.getByRole('button', { name: button, exact: true }).click();
  for (const [label, text] of Object.entries(fields)) await dialog.getByLabel(label).fill(text);
  await dialog.getByRole('button', { name: title, exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
}

testInBrowser('privileges are set in the matrix, and a new token is shown once', async () => {
  await node.value('/t', "new_user('reader'); grant('//stuff', 'reader', QUERY);");
  await opened.go('#/users');
  await page.getByRole('button', { name: 'reader on @collection:stuff: query', exact: true }).click();
  await page.getByRole('checkbox', { name: 'QUERY' }).uncheck();
  await page.getByRole('checkbox', { name: 'RUN' }).check();
  await page.getByRole('button', { name: 'Set privileges' }).click();
  await page.getByRole('button', { name: 'reader on @collection:stuff: run', exact: true }).waitFor();
  await page.getByRole('button', { name: 'New token for reader' }).click();
  await dialog.getByLabel(/^Days/).fill('3');
  await dialog.getByRole('button', { name: 'New token' }).click();
  await page.getByText('It is shown this once.').waitFor();
  const token = (await dialog.locator('pre').textContent()) ?? '';
  const answer = await node.query('//stuff', '1;', undefined, { authorization: `Bearer ${token}` });
  expect(answer.status).toBe(403);
  await page.getByRole('button', { name: 'Done' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(await page.content()).not.toContain(token);
  expect(
    await node.value('/t', "user_info('reader').load().tokens[0].expiration_time.starts_with('20');"),
  ).toBe(true);
  await act(`delete ${token.slice(0, 6)}...`, 'Delete the token');
  await page.getByLabel('Tokens of reader').waitFor({ state: 'detached' });
});

testInBrowser('a user is made, named, given a password, limited by whitelists, and deleted', async () => {
  await opened.go('#/users');
  await act('New user', 'New user', { Name: 'carl' });
  await act('Rename carl', 'Rename the user', { 'New name': 'karl' });
  await act('Set password of karl', 'Set the password', { 'New password': 'a long password' });
  await act('limit procedures of karl', 'Allow procedures', { 'A name': '/^shop_/i' });
  await act('add procedures of karl', 'Allow procedures', { 'A name': 'stock' });
  await act('limit rooms of karl', 'Allow rooms');
  await page.getByRole('button', { name: '✕ the rule stock of karl' }).waitFor();
  const lists = (): Promise<unknown> => node.value('/t', "user_info('karl').load().whitelists;");
  expect(await lists()).toEqual({ procedures: ['/^shop_/i', 'stock'], rooms: [] });
  await act('✕ the rule /^shop_/i of karl', 'Delete the rule');
  await act('no limit of rooms of karl', 'Delete the whitelist');
  await page.getByRole('button', { name: '✕ the rule /^shop_/i of karl' }).waitFor({ state: 'detached' });
  expect(await lists()).toEqual({ procedures: ['stock'] });
  await page.getByRole('button', { name: 'Delete karl' }).click();
  expect(await dialog.getByRole('button', { name: 'Delete the user' }).isDisabled()).toBe(true);
  await dialog.getByRole('textbox').fill('karl');
  await dialog.getByRole('button', { name: 'Delete the user' }).click();
  await page.getByRole('heading', { name: 'karl' }).waitFor({ state: 'detached' });
});

testInBrowser('sessions are listed, and one of them is ended, or all', async () => {
  await node.value('/t', "new_user('eve'); set_password('eve', 'secret');");
  const authorization = `Basic ${Buffer.from('eve:secret').toString('base64')}`;
  const begin = async (): Promise<void> =>
    expect((await node.post('/@session', '{}', { authorization })).status).toBe(200);
  for (let i = 0; i < 3; i++) await begin();
  await opened.go('#/');
  await opened.go('#/users');
  const table = page.getByLabel('Sessions of eve');
  await table.waitFor();
  const ends = table.getByRole('button', { name: /^end the session/ });
  expect(await ends.count()).toBe(3);
  await ends.first().click();
  await dialog.getByRole('button', { name: 'End the session' }).click();
  await ends.nth(2).waitFor({ state: 'detached' });
  await act('end all sessions of eve', 'End all sessions');
  await table.waitFor({ state: 'detached' });
  await page.getByLabel('Sessions of admin').waitFor();
});
