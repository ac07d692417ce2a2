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
  for (const [label, text] of Object.entries(fields)) {
    const field = dialog.getByLabel(new RegExp(`^${label}`));
    if ((await field.and(page.locator('select')).count()) > 0) await field.selectOption(text);
    else await field.fill(text);
  }
  await dialog.getByRole('button', { name: title, exact: true }).click();
  await dialog.waitFor({ state: 'detached' }).catch(async () => {
    throw new Error(`the dialog stays open: ${(await dialog.allInnerTexts()).join()}`);
  });
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
  await act('limit procedures of karl', 'Allow procedures', { 'A name, or': '/^shop_/i' });
  await act('add procedures of karl', 'Allow procedures', { 'A name, or': 'stock' });
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

testInBrowser('a type is made, changed after a dry run, related, indexed, and deleted', async () => {
  await opened.go('#/c/stuff/types');
  await act('New type', 'New type', { Name: 'Shelf', Properties: 'label: str' });
  await act('New type', 'New type', { Name: 'Book', Properties: 'title: str\nyear: int\nshelf: Shelf?' });
  await node.value('//stuff', ".book = Book{title: 'Edda', year: 1220}; nil;");
  await act('add property Shelf', 'Add a property', { Name: 'books', Definition: '{Book}' });
  await act('relate Book.shelf', 'Relate the property', { 'Property of the other type': 'books' });
  await page.getByRole('cell', { name: '⇄ Shelf.books' }).waitFor();
  await act('rename Book.title', 'Rename the property', { Name: 'name' });
  await act('add property Book', 'Add a property', {
    Name: 'copies',
    Definition: 'uint',
    'Value of instances': '3',
  });

  // What values may not fit takes a closure; a dry run says what it would do, and does not.
  await page.getByRole('button', { name: 'change Book.year' }).click();
  await dialog.getByLabel('Definition').fill('str');
  await dialog.getByRole('button', { name: 'Dry run' }).click();
  await dialog.getByText('a closure must convert them').waitFor();
  await dialog.locator('.cm-content').click();
  await page.keyboard.insertText('|book| str(book.year)');
  await dialog.getByRole('button', { name: 'Dry run' }).click();
  await dialog.getByText(/^It would change 1 properties, .* definitions\. Nothing was changed\.$/).waitFor();
  expect(await node.value('//stuff', '.book.year;')).toBe(1220);
  await dialog.getByRole('button', { name: 'Change the property' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(await node.value('//stuff', '[.book.year, .book.copies, .book.name];')).toEqual(['1220', 3, 'Edda']);

  await page.getByRole('button', { name: 'add method Book' }).click();
  await dialog.getByLabel('Name', { exact: true }).fill('age');
  await opened.write('|book, now| now - int(book.year)');
  await dialog.getByRole('button', { name: 'Add a method' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(await node.value('//stuff', '.book.age(1300);')).toBe(80);
  await act('rename Book.age()', 'Rename the property', { Name: 'years' });
  await act('delete Book.years()', 'Delete years', { 'This can': 'years' });
  await act('delete Book.copies', 'Delete copies', { 'This can': 'copies' });

  await act('new index Book', 'New index', {
    Name: 'by_name',
    Properties: 'name, year',
    'Equal values': 'UNIQUE',
  });
  await page.getByLabel('Indexes').getByText('unique').waitFor();
  expect(await node.value('//stuff', "index_info('Book', 'by_name').load().unique;")).toBe(true);
  await act('rename Book by_name', 'Rename the index', { Name: 'by_title' });
  await act('delete Book by_title', 'Delete the index');
  await page.getByLabel('Indexes').waitFor({ state: 'detached' });

  await act('relate Book.shelf', 'Relate the property', { 'Property of the other type': '' });
  await act('delete Shelf.books', 'Delete books', { 'This can': 'books' });
  await act('rename Book', 'Rename the type', { Name: 'Tome' });
  await act('delete Tome', 'Delete the type', { 'This can': 'Tome' });
  await page.getByRole('heading', { name: 'Tome' }).waitFor({ state: 'detached' });
});

testInBrowser('an enum is made, its members changed, and it is deleted', async () => {
  await opened.go('#/c/stuff/types');
  await act('New enum', 'New enum', { Name: 'Size', Members: 'S: small\nL: large' });
  await act('add member Size', 'Add a member', { Name: 'M', Value: 'medium' });
  await act('change Size.M', 'Change the member', { Value: 'middle' });
  await act('make default Size.M', 'Make it the default');
  await act('rename Size.L', 'Rename the member', { Name: 'XL' });
  await act('delete Size.S', 'Delete the member');
  await page.getByRole('button', { name: 'delete Size.S', exact: true }).waitFor({ state: 'detached' });
  expect(await node.value('//stuff', "[enum_map('Size'), Size().name()];")).toEqual([
    { XL: 'large', M: 'middle' },
    'M',
  ]);
  await act('rename Size', 'Rename the enum', { Name: 'Sizes' });
  await act('delete Sizes', 'Delete the enum', { 'This can': 'Sizes' });
  await page.getByRole('heading', { name: 'Sizes' }).waitFor({ state: 'detached' });
});

testInBrowser('a procedure is edited, renamed and deleted; nobody overwrites a change unseen', async () => {
  await node.value('//stuff', "set_procedure('twice', |n| n * 2);");
  await opened.go('#/c/stuff/procedures/twice');
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await opened.write('|n| n + n');
  await node.value('//stuff', "set_procedure('twice', |n| 2 * n);");
  await dialog.getByRole('button', { name: 'Edit the procedure' }).click();
  await dialog.getByRole('alert').getByText('changed meanwhile').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.reload();
  await page.getByText('|n| 2 * n').waitFor();
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await opened.write('|n| n + n + 0');
  await dialog.getByRole('button', { name: 'Edit the procedure' }).click();
  await page.getByText('|n| n + n + 0').first().waitFor();
  expect(await node.value('//stuff', "run('twice', 21);")).toBe(42);
  await act('Rename', 'Rename the procedure', { Name: 'double' });
  await page.getByText('double', { exact: true }).first().waitFor();
  await act('Delete', 'Delete the procedure', { 'This can': 'double' });
  await page.getByRole('heading', { name: /^Procedures \(/ }).waitFor();
  expect(await node.value('//stuff', "has_procedure('double');")).toBe(false);
});
