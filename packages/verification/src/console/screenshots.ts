/**
 * Takes the pictures of README and docs of a real node in a real browser, on the walk of a newcomer: a type, a procedure, a run of it, its
 * data, a query.
 */
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { RealNode } from '@althing/node/testing';
import { OpenedConsole, startBrowser } from './opened-console.js';

const FOLDER = fileURLToPath(new URL('../../../../docs/images/', import.meta.url));

/** Small pictures of a window that is wide enough for everything. */
const WINDOW = { width: 1080, height: 620 };

const node = await RealNode.start({ node_name: 'thingvellir', http_allowed_hosts: 'test' });
const browser = await startBrowser();
try {
  mkdirSync(FOLDER, { recursive: true });
  await walk(await OpenedConsole.open(browser, node.url, WINDOW));
} finally {
  await browser.close();
  await node.stop();
}

async function walk(opened: OpenedConsole): Promise<void> {
  const { page } = opened;
  const shot = async (name: string): Promise<void> => {
    await opened.settled();
    await page.screenshot({ path: `${FOLDER}${name}.png` });
  };
  const dialog = page.getByRole('dialog');
  await opened.visit();
  await page.getByText('Node thingvellir').waitFor();
  await shot('login');
  await opened.logIn({ user: 'admin', password: 'pass' });
  await page.getByText('all is well').waitFor();
  await shot('overview');

  await opened.go('#/c/stuff/types');
  await page.getByRole('button', { name: 'New type' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Guest');
  await page.getByLabel(/^Properties/).fill('name: str<1:40>\nage: uint\nfriends: {Guest}');
  await dialog.getByRole('button', { name: 'New type' }).click();
  await page.getByRole('heading', { name: 'Guest' }).waitFor();
  await shot('type');

  await opened.go('#/c/stuff/procedures');
  await page.getByRole('button', { name: 'New procedure' }).click();
  await opened.write(`|name, age| {
  "Adds a guest.
   @param name str<1:40>
   @param age uint
   @returns Guest";
  if (!.has('guests')) .guests = [];
  .guests.push(Guest{name:, age:});
  .guests.last();
}`);
  await page.getByLabel('Name', { exact: true }).fill('add_guest');
  await shot('procedure');
  await dialog.getByRole('button', { name: 'New procedure' }).click();
  for (const [name, age] of [
    ['Ann', '31'],
    ['Ben', '17'],
    ['Cleo', '44'],
  ] as const) {
    await page.getByRole('group', { name: 'name' }).getByLabel('Value').fill(name);
    await page.getByRole('group', { name: 'age' }).getByLabel('Value').fill(age);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByLabel('Result as a tree').getByText(`"${name}"`).waitFor();
  }
  await shot('run');

  await opened.go('#/c/stuff/data');
  await page.getByRole('link', { name: /3 items/ }).click();
  await page
    .getByRole('link', { name: /^Guest #/ })
    .first()
    .click();
  await page.getByRole('cell', { name: '"Ann"' }).waitFor();
  await shot('data');

  await opened.go('#/q');
  await opened.run('.guests.filter(|g| g.age >= 18).map(|g| {name: g.name, age: g.age});');
  await page.getByRole('button', { name: 'Table' }).click();
  await page.getByRole('cell', { name: '"Cleo"' }).waitFor();
  await shot('query');
}
