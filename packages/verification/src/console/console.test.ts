import { RealNode } from '@althing/node/testing';
import { testThatNeeds } from '@althing/node/testing/needs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { browserLack, NARROW, OpenedConsole, startBrowser, WIDE } from './opened-console.js';

const testInBrowser = testThatNeeds('browsers', browserLack);
const ADMIN = { user: 'admin', password: 'pass' };

/** What a collection may hold to deceive whoever looks at it. */
const HOSTILE = [
  '<img src=x onerror=alert(1)>',
  '"><script>alert(1)</script>',
  '\u202Etxt.exe',
  'javascript:alert(1)',
  '{{7*7}}',
  '__proto__',
];

let node: RealNode;
let browser: Browser | null = null;
let opened: OpenedConsole;

beforeAll(async () => {
  node = await RealNode.start();
  await node.value(
    '//stuff',
    '.hostile = {}; names.each(|name| .hostile.set(name, name)); .hostile.long = long; nil;',
    {
      names: HOSTILE,
      long: '<b>'.repeat(300_000),
    },
  );
  await node.value(
    '//stuff',
    `.exact = {int: 9007199254740993, least: INT_MIN, whole: 1.0, tiny: 5.0e-324, no: nil, raw: bytes('\u00e9'), text: 'it''s "so"'}; nil;`,
  );
  if (browserLack === null) browser = await startBrowser();
});

afterAll(async () => {
  await browser?.close();
  await node.stop();
});

describe('the files', () => {
  test('come with a policy that lets the page load nothing but its own', async () => {
    const answer = await fetch(`${node.url}/@console/`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self';/);
    expect(answer.headers.get('cache-control')).toBe('no-cache');
    const [script] = /start-[^"]*\.js/.exec(await answer.text()) ?? [];
    const kept = await fetch(`${node.url}/@console/${script}`);
    expect(kept.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(kept.headers.get('content-encoding')).toBe('gzip');
    const known = { 'If-None-Match': kept.headers.get('etag') ?? '' };
    expect((await fetch(`${node.url}/@console/${script}`, { headers: known })).status).toBe(304);
  });

  test('are refused to a name that is not the node\u2019s', async () => {
    const raw = await node.open();
    raw.send('GET /@console/ HTTP/1.1\r\nHost: rebound.example\r\n\r\n');
    expect((await raw.answer())?.status).toBe(421);
  });

  test('HEAD tells what GET would, without the body', async () => {
    const answer = await fetch(`${node.url}/@console/licences.txt`, { method: 'HEAD' });
    expect(answer.headers.get('content-length')).toMatch(/^[1-9]\d+$/);
    expect(await answer.text()).toBe('');
  });
});

describe('in a browser', () => {
  beforeEach(async () => {
    if (browser !== null) opened = await OpenedConsole.open(browser, node.url);
  });

  afterEach(async () => {
    if (browser === null) return;
    expect(opened.problems).toEqual([]);
    await opened.close();
  });

  testInBrowser('a wrong password is refused in the page, without a window of the browser', async () => {
    await opened.visit();
    await opened.page.getByLabel('Password').fill('wrong');
    await opened.page.getByRole('button', { name: 'Log in' }).click();
    await opened.page.getByText('No such user and password').waitFor();
  });

  testInBrowser('a query says what it would do, runs, and gives exact values', async () => {
    const { page } = opened;
    await opened.visit();
    await opened.logIn(ADMIN);
    await opened.go('#/q');
    await opened.write('.exact;');
    await page.getByText('reads only').waitFor();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const tree = page.getByLabel('Result as a tree');
    await tree.getByText('least').waitFor();
    expect((await tree.locator('.value').allInnerTexts()).slice(1)).toEqual([
      '9007199254740993',
      '-9223372036854775808',
      '1.0',
      '5e-324',
      'nil',
      'c3 a9 bytes',
      `"it's "so""`,
    ]);
    await opened.write('.exact.int = 1;');
    await page.getByText('may change').waitFor();
    await page.getByLabel('Read-only').check();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText('it was not sent').waitFor();
    expect(await node.value('//stuff', 'str(.exact.int);')).toBe('9007199254740993');
    await opened.run('.nobody;');
    await page.getByRole('alert').getByText('lookup_err').waitFor();
  });

  testInBrowser('hostile names and values are text, in every view', async () => {
    const { page } = opened;
    await opened.visit();
    await opened.logIn(ADMIN);
    await opened.go('#/q');
    await opened.run('.hostile;');
    for (const name of HOSTILE) await page.getByText(name).first().waitFor();
    for (const view of ['Table', 'Raw']) {
      await page.getByRole('button', { name: view }).click();
      await page.getByText('onerror=alert(1)').first().waitFor();
    }
  });

  testInBrowser('text outlives a reload, a logout, and a node that is gone', async () => {
    const { page } = opened;
    await opened.visit();
    await opened.logIn(ADMIN);
    await opened.go('#/q');
    await opened.write('.precious;');
    await page.getByRole('tab', { name: '.precious;' }).waitFor();
    await page.getByRole('button', { name: /Log out/ }).click();
    await page.reload();
    await opened.logIn(ADMIN);
    await opened.go('#/q');
    await page.getByRole('tab', { name: '.precious;' }).waitFor();
  });

  testInBrowser('a link fills the editor and runs nothing', async () => {
    const { page } = opened;
    await opened.visit('/@console/#/q?scope=@collection:stuff&code=.linked%20%3D%201%3B');
    await opened.logIn(ADMIN);
    await page.getByRole('tab', { name: '.linked = 1;' }).waitFor();
    await page.getByText('What the last statement gives is shown here.').waitFor();
    expect(await node.value('//stuff', '.has("linked");')).toBe(false);
  });
});

describe('without barriers', () => {
  for (const [size, window] of [
    ['1,280', WIDE],
    ['360', NARROW],
  ] as const) {
    testInBrowser(`no page has one at ${size} px, light or dark`, async () => {
      if (browser === null) return;
      const opened = await OpenedConsole.open(browser, node.url, window);
      const found: Record<string, string[]> = {};
      const look = async (name: string): Promise<void> => {
        for (const colorScheme of ['light', 'dark'] as const) {
          await opened.page.emulateMedia({ colorScheme });
          const barriers = await opened.barriers();
          if (barriers.length > 0) found[`${name} ${colorScheme}`] = barriers;
        }
      };
      await opened.visit();
      await opened.page.getByLabel('Password').waitFor();
      await look('login');
      await opened.logIn(ADMIN);
      await look('overview');
      await opened.go('#/q');
      await opened.run('.exact;');
      await opened.page.getByLabel('Result as a tree').getByText('9007199254740993').waitFor();
      await look('query');
      await opened.close();
      expect(found).toEqual({});
    });
  }
});
