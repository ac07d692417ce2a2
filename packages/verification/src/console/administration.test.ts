/** The console's changes: buttons of its pages about users, tasks, backups and definitions, clicked in a real browser. */
import { RealNode, until } from '@althing/node/testing';
import { testThatNeeds } from '@althing/node/testing/needs';
import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import type { Browser, Locator, Page } from 'playwright-core';
import { browserLack, OpenedConsole, startBrowser } from './opened-console.js';
import { lacksOfWindowBy, windowsOf } from './windows.js';

const testInBrowser = testThatNeeds('browsers', browserLack);

let node: RealNode;
let browser: Browser | null = null;
/** One page for all tests, which go from place to place as people do. */
let opened: OpenedConsole;
let page: Page;
let dialog: Locator;

beforeAll(async () => {
  node = await RealNode.start({ enable_modules: 'deploy' });
  if (browserLack !== null) return;
  // Nothing waits for the screen.
  browser = await startBrowser(['--disable-frame-rate-limit', '--disable-gpu-vsync']);
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

  // A definition that present values may not fit takes a closure; a dry run says what it would do, and does not.
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

testInBrowser('of many procedures a hundred are listed, and the filter finds each', async () => {
  await node.value('//stuff', "range(120).each(|i| new_procedure(`many{i}`, |n| { 'Gives {n}'; n; }));");
  await opened.go('#/c/stuff/data');
  await opened.go('#/c/stuff/procedures');
  const rows = page.getByLabel('Procedures').locator('tbody tr');
  await rows.nth(99).waitFor();
  await page.getByRole('button', { name: 'Last' }).click();
  await page.getByRole('link', { name: 'many99' }).waitFor();
  await page.getByLabel('Filter').fill('MANY11');
  await rows.nth(11).waitFor({ state: 'detached' });
  expect(await rows.count()).toBe(11);
  await page.getByLabel('Filter').fill('nothing of that');
  await page.getByText('None of them is like that.').waitFor();
});

testInBrowser('data: a property and an item are added, renamed and deleted', async () => {
  const id = String(await node.value('//stuff', '.box = {list: [1, 2]}; .box.id();'));
  await opened.go(`#/c/stuff/data/${id}`);
  await act('Add a property', 'Add a property', { Name: 'colour', Value: 'red' });
  await act('rename colour', 'Rename the property', { Name: 'color' });
  await act('delete color', 'Delete');
  await page.getByRole('button', { name: 'delete color', exact: true }).waitFor({ state: 'detached' });
  await page.getByRole('link', { name: '2 items' }).click();
  await page.getByRole('button', { name: 'Add an item' }).click();
  await dialog.getByLabel('Type').selectOption('int');
  await dialog.getByLabel('Value').fill('9223372036854775807');
  await dialog.getByRole('button', { name: 'Add an item' }).click();
  await dialog.waitFor({ state: 'detached' });
  await act('delete 0', 'Delete');
  await page.getByRole('cell', { name: '9223372036854775807' }).waitFor();
  expect(await node.value('//stuff', '[.box.keys(), .box.list.map(|i| str(i))];')).toEqual([
    ['list'],
    ['2', '9223372036854775807'],
  ]);
});

testInBrowser('tasks are run, cancelled and deleted', async () => {
  const code = "task(datetime().move('years', 1), |t| .ran = true); tasks().last().id();";
  const id = String(await node.value('//stuff', code));
  await opened.go('#/tasks');
  await act(`run now ${id}`, 'Run a copy now');
  await act(`cancel ${id}`, 'Cancel the task');
  await page.getByText('not scheduled').first().waitFor();
  await act(`delete ${id}`, 'Delete the task');
  await page.getByRole('button', { name: `delete ${id}`, exact: true }).waitFor({ state: 'detached' });
  expect(await node.value('//stuff', `tasks().map(|t| t.id()).has(${id});`)).toBe(false);
});

testInBrowser(
  'a backup is ordered, is listed, is refused where it would replace data, and ends',
  async () => {
    await node.value('//stuff', '.here = 1;');
    await opened.go('#/backups');
    await act('New backup on node 0', 'New backup', { 'File,': 'mine.backup', Every: '0' });
    await page.getByRole('cell', { name: 'mine.backup' }).waitFor();
    const [{ id }] = JSON.parse(JSON.stringify(await node.value('/n', 'backups_info();')));
    await until(
      async () => !JSON.stringify(await node.value('/n', 'backups_info();')).includes('"files":[]'),
      'the backup is taken',
    );
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByRole('button', { name: `restore ${id}`, exact: true }).click();
    await dialog.getByLabel(/^With/).selectOption('users, access and tasks of the backup');
    await dialog.getByLabel(/^This can't/).fill('mine.backup');
    await dialog.getByRole('button', { name: 'Restore', exact: true }).click();
    await dialog.getByRole('alert').getByText('Nothing was changed.').waitFor();
    expect(await dialog.getByRole('alert').textContent()).toContain('operation_err');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await act(`end ${id}`, 'End the backup');
    await page.getByText('It takes none by order.').waitFor();
    expect(await node.value('/n', 'backups_info();')).toEqual([]);
  },
);

testInBrowser('a collection is made, renamed, given a time zone, and deleted by its name', async () => {
  await opened.go('#/');
  await act('New collection', 'New collection', { Name: 'shop' });
  await act('rename shop', 'Rename the collection', { Name: 'store' });
  await act('time zone of store', 'Set the time zone', { Name: 'Europe/Amsterdam' });
  await page.getByRole('cell', { name: 'Europe/Amsterdam' }).waitFor();
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'store' }).waitFor();
  await act('delete store', 'Delete the collection', { 'This can': 'store' });
  await page.getByRole('button', { name: 'delete store', exact: true }).waitFor({ state: 'detached' });
  expect(await node.value('/t', "has_collection('store');")).toBe(false);
});

testInBrowser('a collection with a history has each change of a definition explained', async () => {
  await opened.go('#/c/stuff/history');
  await act('Begin a history', 'Begin a history');
  await page.getByRole('button', { name: 'End the history' }).waitFor();
  await opened.go('#/c/stuff/types');
  await act('New type', 'New type', { Name: 'Shop', Properties: 'name: str', Why: 'We sell' });
  await opened.go('#/c/stuff/history');
  await page.getByText('We sell').waitFor();
  await page.getByLabel('Search in messages and code').fill('nothing of that');
  await page.getByText('There are no commits of that.').waitFor();
  await page.getByLabel('Search in messages and code').fill('set_type');
  await page.getByText('We sell').waitFor();
  await act('End the history', 'End the history', { 'This can': 'stuff' });
  await page.getByRole('button', { name: 'Begin a history' }).waitFor();
});

testInBrowser('a module is made, configured, limited to a scope, and deleted', async () => {
  await opened.go('#/modules');
  await act('New module', 'New module', { Name: 'MAIL', File: 'mail.py' });
  await act('configure MAIL', 'Configure the module', { Configuration: '{"host": "localhost"}' });
  await act('scope MAIL', 'Set the scope', { 'The only': '@collection:stuff' });
  await act('deploy MAIL', 'Deploy code', { 'A script': '#!/bin/sh\nexit 7\n' });
  await act('start anew MAIL', 'Start it anew');
  await act('rename MAIL', 'Rename the module', { Name: 'POST' });
  await page.getByRole('cell', { name: '{"host":"localhost"}' }).waitFor();
  const info = await node.value('/t', "module_info('POST');");
  expect(info).toMatchObject({ scope: '@collection:stuff', conf: { host: 'localhost' } });
  await act('delete POST', 'Delete the module', { 'This can': 'POST' });
  await page.getByText('There are none.').waitFor();
});

testInBrowser('Ctrl-K finds pages, collections, procedures and actions', async () => {
  await node.value('//stuff', "new_procedure('found', |n| n);");
  await opened.go('#/c/stuff/procedures');
  const pick = async (typed: string): Promise<void> => {
    await page.keyboard.press('Control+k');
    await dialog.getByRole('combobox').pressSequentially(typed);
    await dialog.getByRole('option').first().waitFor();
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
  };
  await pick('found');
  expect(await page.evaluate('location.hash')).toBe('#/c/stuff/procedures/found');
  await pick('backups');
  expect(await page.evaluate('location.hash')).toBe('#/backups');
  await pick('colours dark');
  expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark');
  await pick('colours system');
  await pick('stuff');
  await page.getByRole('heading', { name: 'stuff' }).waitFor();
});

testInBrowser('the tour goes through the pages, by keyboard, too', async () => {
  const tour = page.getByRole('button', { name: 'Tour' });
  await tour.press('Enter');
  for (let stop = 2; stop <= 6; stop++) {
    await dialog.getByRole('button', { name: 'Next' }).press('Enter');
    await dialog.getByText(`${stop} of 6`).waitFor();
  }
  expect(await page.evaluate('location.hash')).toBe('#/activity');
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Tour');
});

testInBrowser('a procedure of the @thingsdb scope is made, and run', async () => {
  await opened.go('#/root');
  await page.getByRole('button', { name: 'New procedure' }).click();
  await opened.write('|n| n * 3');
  await dialog.getByLabel('Name', { exact: true }).fill('thrice');
  await dialog.getByRole('button', { name: 'New procedure' }).click();
  await page.getByRole('group', { name: 'n' }).getByLabel('Type').selectOption('int');
  await page.getByRole('group', { name: 'n' }).getByLabel('Value').fill('14');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByLabel('Result as a tree').getByText('42').waitFor();
  await page.getByText('await db.$root.procs.thrice(14);').waitFor({ state: 'attached' });
});

testInBrowser(
  'a saved query is shared in its collection when somebody asks for that, and opened from there',
  async () => {
    await opened.go('#/q?scope=@collection:stuff&code=1234%3B');
    await page.getByRole('tab', { name: '1234;' }).waitFor();
    await page.getByText('History and saved queries').click();
    await page.getByLabel('Save this query as').fill('answer');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    expect(await node.value('//stuff', "root().has('console');")).toBe(false);
    await act('share answer', 'Share the query');
    expect(await node.value('//stuff', '.console.queries.answer.code;')).toBe('1234;');
    await opened.write('5;');
    await page
      .getByLabel('Shared queries')
      .getByRole('button', { name: /^answer/ })
      .click();
    await page.getByRole('tab', { name: '1234;', selected: true }).waitFor();
  },
);

testInBrowser('by keyboard alone each window takes the focus, keeps it, and gives it back', async () => {
  await node.value('//stuff', ONE_OF_EACH);
  const code = `new_user('reader2'); grant('//stuff', 'reader2', QUERY); new_token('reader2');
    whitelist_add('reader2', 'procedures', 'one'); whitelist_add('reader2', 'rooms', 'one'); new_module('ONE', 'one.py'); nil;`;
  await node.value('/t', code);
  await node.value('/n', "new_backup('one.backup'); nil;");
  await opened.go('#/q');
  await page.getByText('History and saved queries').click();
  await page.getByLabel('Save this query as').fill('nothing');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  const found: Record<string, readonly string[]> = {};
  const lacks: string[] = [];
  for (const [opener, key] of [
    ['New query', 'Control+k'],
    ['New query', '?'],
    ['Tour', 'Enter'],
  ] as const) {
    await page.getByRole('button', { name: opener }).focus();
    lacks.push(...(await lacksOfWindowBy(opened, key)));
  }
  const id = String(await node.value('//stuff', '.one.id();'));
  for (const place of Object.keys(WINDOWS)) {
    const windows = await windowsOf(opened, place.replace('ID', id));
    found[place] = windows.titles;
    lacks.push(...windows.lacks.map((each) => `${place} ${each}`));
  }
  expect(lacks).toEqual([]);
  expect(found).toEqual(WINDOWS);
});

const ONE_OF_EACH = `set_type('Rack', {label: 'str'});
set_type('Volume', {title: 'str', rack: 'Rack?', age: |volume| 1});
mod_type('Rack', 'add', 'volumes', '{Volume}');
mod_type('Volume', 'rel', 'rack', 'volumes');
new_index('Volume', 'by_title', ['title']);
set_enum('Grade', {A: 'good', B: 'bad'});
new_procedure('one', |n| n);
task(datetime().move('years', 1), |t| nil);
.one = {colour: 'red', items: [1]};
nil;`;

/** All windows, by the pages whose buttons open them. Requests, which can be cancelled on the page of activity, come and go. */
const WINDOWS: Readonly<Record<string, readonly string[]>> = {
  '#/': [
    'Add a node',
    'Delete the collection',
    'New collection',
    'Rename the collection',
    'Set the time zone',
    'Stop the node',
  ],
  '#/q': ['Share the query'],
  '#/c/stuff/data/ID': ['Add a property', 'Delete', 'Rename the property', 'Set the value'],
  '#/c/stuff/procedures': ['New procedure'],
  '#/c/stuff/procedures/one': ['Delete the procedure', 'Edit the procedure', 'Rename the procedure'],
  '#/c/stuff/types': [
    'Add a member',
    'Add a method',
    'Add a property',
    'Change the member',
    'Change the method',
    'Change the property',
    'Delete the enum',
    'Delete the index',
    'Delete the member',
    'Delete the type',
    'Delete …',
    'Make it the default',
    'New enum',
    'New index',
    'New type',
    'Relate the property',
    'Rename the enum',
    'Rename the index',
    'Rename the member',
    'Rename the property',
    'Rename the type',
  ],
  '#/c/stuff/rooms': [],
  '#/c/stuff/data/ID?key=items': ['Add an item', 'Delete', 'Set the value'],
  '#/c/stuff/history': ['Begin a history'],
  '#/c/stuff/export': [],
  '#/tasks': ['Cancel the task', 'Delete the task', 'Run a copy now'],
  '#/users': [
    'Allow procedures',
    'Allow rooms',
    'Delete the rule',
    'Delete the token',
    'Delete the user',
    'Delete the whitelist',
    'End all sessions',
    'End the session',
    'New token',
    'New user',
    'Rename the user',
    'Set privileges',
    'Set the password',
  ],
  '#/modules': [
    'Configure the module',
    'Delete the module',
    'Deploy code',
    'New module',
    'Rename the module',
    'Set the scope',
    'Start it anew',
  ],
  '#/root': ['New procedure'],
  '#/backups': ['End the backup', 'New backup', 'Restore'],
};

testInBrowser('with the switch on read-only no page has a button that changes something', async () => {
  await page.getByLabel('Read-only').check();
  for (const place of [
    '#/',
    '#/users',
    '#/modules',
    '#/c/stuff/types',
    '#/c/stuff/data',
    '#/c/stuff/history',
  ]) {
    await opened.go(place);
    await opened.settled();
    const names = await page.getByRole('main').getByRole('button').allInnerTexts();
    expect([place, names.filter((name) => /new|add|delete|rename|set|begin|stop/i.test(name))]).toEqual([
      place,
      [],
    ]);
  }
  await page.getByLabel('Read-only').uncheck();
});
