import { readFileSync } from 'node:fs';
import {
  decodeMessagePack,
  encodeMessagePack,
  parseJson,
  showValue,
  type WireValue,
  wireMap,
} from '@althing/client';
import { RealNode } from '@althing/node/testing';
import { testThatNeeds } from '@althing/node/testing/needs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { browserLack, NARROW, OpenedConsole, startBrowser, WIDE, type Window } from './opened-console.js';

const testInBrowser = testThatNeeds('browsers', browserLack);
const ADMIN = { user: 'admin', password: 'pass' };

/** Values by which a collection may try to deceive whoever looks at it. */
const HOSTILE = [
  '<img src=x onerror=alert(1)>',
  '"><script>alert(1)</script>',
  '\u202Etxt.exe',
  'javascript:alert(1)',
  '{{7*7}}',
  '__proto__',
];

const KINDS = `.kinds = {most: INT_MAX, none: nan, tiny: 5.0e-324, huge: 1.7976931348623157e+308, bent:, wide:, raw: bytes('\u00e9'),
  date: datetime(2026, 2, 28, 12, 30, 1), items: [1, 2.0, '3', nil]};
.before = .kinds.copy(); .kinds.id();`;

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
    `new_procedure('hostile', |x| { "<img src=x onerror=alert(1)>"; x; });
set_enum('Hostile', {A: '<img src=x onerror=alert(1)>'}); nil;`,
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

describe('the console in a browser', () => {
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

  testInBrowser('the login tells node and version, and warns of the password of new clusters', async () => {
    const { page } = opened;
    await opened.visit();
    await page.getByText(/^Node \S+ at 127\.0\.0\.1:\d+Version \d+\.\d+\.\d+/).waitFor();
    await page.getByLabel('Password').fill('pass');
    await page.getByText('Every new cluster begins with this password').waitFor();
    await opened.logIn(ADMIN);
    await page.getByText('User admin has the password that every new cluster begins with.').waitFor();
  });

  testInBrowser('completion asks a silent node once, whatever is typed meanwhile', async () => {
    const { page } = opened;
    await opened.visit();
    await opened.logIn(ADMIN);
    await opened.go('#/q');
    await opened.write('1;');
    await page.getByText('reads only').waitFor();
    await opened.settled();
    const asked: string[] = [];
    await page.route('**/*', (route) => {
      asked.push(...(/[.\w]*\.keys\(\)/.exec(route.request().postData() ?? '') ?? []));
    });
    await opened.write('');
    await page.keyboard.type('.exact.i', { delay: 150 });
    await page.getByText('This node does not answer.').waitFor();
    expect(asked).toEqual(['.keys()', '.exact.keys()']);
    await page.keyboard.type(' + .other.x', { delay: 50 });
    expect(asked.length).toBe(2);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });

  testInBrowser('a query says what it would do, runs, and gives exact values', async () => {
    const { page } = opened;
    await opened.visit();
    await opened.logIn(ADMIN);
    await opened.go('#/q');
    // Brackets in texts are none of the code's.
    await opened.write('.exact.filter(|name| name != ")(\n)");');
    await page.keyboard.press('ArrowLeft');
    await page.locator('.code-bracket').nth(1).waitFor();
    expect(await page.locator('.code-bracket').allInnerTexts()).toEqual(['(', ')']);
    expect(await page.locator('.code-string').allInnerTexts()).toEqual(['")(', ')"']);
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
    await page
      .getByText(/ \(queue .+, run .+, commit .+\), \d+ B, from 127\.0\.0\.1:\d+, index \d+$/)
      .waitFor();
    await opened.write('.exact.int = 1;');
    await page.getByText('may change').waitFor();
    await page.getByLabel('Read-only').check();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText('it was not sent').waitFor();
    expect(await node.value('//stuff', 'str(.exact.int);')).toBe('9007199254740993');
    await page.getByLabel('Read-only').uncheck();
    await page.getByRole('button', { name: 'Dry run' }).click();
    await page.getByText('Nothing was changed.').waitFor();
    expect(await node.value('//stuff', 'str(.exact.int);')).toBe('9007199254740993');
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.getByText('what each statement takes').waitFor();
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
    const id = await node.value('//stuff', '.hostile.id();');
    for (const place of [`data/${String(id)}`, 'procedures', 'procedures/hostile', 'types', 'export']) {
      await opened.go(`#/c/stuff/${place}`);
      await page.getByText('onerror=alert(1)').first().waitFor();
      expect([place, await page.locator('main').locator('img, script, b, iframe').count()]).toEqual([
        place,
        0,
      ]);
    }
  });

  testInBrowser('a page that is not to be seen asks nothing', async () => {
    const { page } = opened;
    await page.clock.install();
    await opened.visit();
    await opened.logIn(ADMIN);
    let asked = 0;
    page.on('request', () => {
      asked += 1;
    });
    const askedAt = async (place: string): Promise<number> => {
      await opened.go(place);
      await page.getByRole('main').getByRole('heading').first().waitFor({ state: 'attached' });
      await page.clock.runFor(1000);
      await opened.settled();
      asked = 0;
      await page.clock.runFor(60_000);
      await opened.settled();
      return asked;
    };
    expect(await askedAt('#/')).toBeGreaterThan(5);
    await page.evaluate("Object.defineProperty(document, 'hidden', { value: true })");
    for (const place of PLACES) expect([place, await askedAt(place)]).toEqual([place, 0]);
  });

  testInBrowser('text outlives a reload and a logout', async () => {
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

    // Where others use the browser, too, it outlives a reload of its window, and no other window has it.
    await page.getByText('History and saved queries').click();
    await page.getByLabel('Others use this browser, too').check();
    await opened.write('.secret;');
    await page.getByRole('tab', { name: '.secret;' }).waitFor();
    await page.reload();
    await page.getByRole('tab', { name: '.secret;' }).waitFor();
    expect(await page.evaluate('JSON.stringify(localStorage)')).not.toMatch(/precious|secret/);
  });

  testInBrowser('a query that is written before its collection is known waits for it', async () => {
    const { page } = opened;
    let goOn = (): void => {};
    const hold = new Promise<void>((done) => {
      goOn = done;
    });
    await page.route('**/*', async (route) => {
      if (route.request().postData()?.includes('collections_info') === true) await hold;
      await route.continue().catch(() => {});
    });
    await opened.visit();
    await opened.logIn(ADMIN);
    // A question that ends with its login tells nothing of the next one.
    await page.getByRole('button', { name: /Log out/ }).click();
    await opened.logIn(ADMIN);
    await opened.go('#/q');
    await opened.run('.exact.whole;');
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('stopped before it was sent').waitFor();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    goOn();
    await page.getByLabel('Result as a tree').getByText('1.0').waitFor();
    await page.getByRole('navigation').getByRole('link', { name: 'stuff' }).waitFor();
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

describe('stored settings', () => {
  testInBrowser('a newcomer makes a type and a procedure, runs it, and sees its data', async () => {
    if (browser === null) return;
    const opened = await OpenedConsole.open(browser, node.url);
    const { page } = opened;
    await opened.visit();
    await opened.logIn(ADMIN);
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'stuff' }).click();
    await page.getByRole('link', { name: 'Types' }).click();
    await page.getByRole('button', { name: 'New type' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Song');
    await page.getByLabel(/^Properties/).fill('title: str<1:80>\nbars: uint');
    await page.getByRole('dialog').getByRole('button', { name: 'New type' }).click();
    await page.getByRole('heading', { name: 'Song' }).waitFor();
    await page.getByRole('link', { name: 'Procedures', exact: true }).click();
    await page.getByRole('button', { name: 'New procedure' }).click();
    await opened.write(`|title, bars| {
  "Keeps a song.
   @param title str<1:80>
   @param bars uint";
  .song = Song{title:, bars:};
}`);
    await page.getByLabel('Name', { exact: true }).fill('keep_song');
    await page.getByRole('dialog').getByRole('button', { name: 'New procedure' }).click();
    await page.getByText('Keeps a song.', { exact: true }).waitFor();
    await page.getByRole('group', { name: 'title' }).getByLabel('Value').fill('Edda');
    await page.getByRole('group', { name: 'bars' }).getByLabel('Value').fill('12');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByLabel('Result as a tree').getByText('"Edda"').waitFor();
    await page.getByRole('link', { name: 'Data' }).click();
    await page.getByRole('link', { name: /^Song #/ }).click();
    await page.getByRole('cell', { name: '"Edda"' }).waitFor();
    expect(opened.problems).toEqual([]);
    await opened.close();
  });

  testInBrowser('an edit does not overwrite what somebody else changed', async () => {
    if (browser === null) return;
    const opened = await OpenedConsole.open(browser, node.url);
    const { page } = opened;
    const id = await node.value('//stuff', '.edited = {whole: 9007199254740993, part: 0.1}; .edited.id();');
    await opened.visit(`/@console/#/c/stuff/data/${String(id)}`);
    await opened.logIn(ADMIN);
    await page.getByRole('button', { name: 'edit whole' }).click();
    const value = page.getByLabel('Value', { exact: true });
    await value.fill('9223372036854775807');
    await page.getByRole('button', { name: 'Set the value' }).click();
    await page.getByRole('cell', { name: '9223372036854775807' }).waitFor();
    await page.getByRole('button', { name: 'edit part' }).click();
    await value.fill('2.0');
    await node.value('//stuff', '.edited.part = 0.5;');
    await page.getByRole('button', { name: 'Set the value' }).click();
    await page.getByRole('alert').getByText('changed meanwhile').waitFor();
    expect(await node.value('//stuff', '[str(.edited.whole), .edited.part];')).toEqual([
      '9223372036854775807',
      0.5,
    ]);
    await opened.close();
  });

  testInBrowser('each kind of value is edited, and exported, as what it is', async () => {
    if (browser === null) return;
    const id = await node.value('//stuff', KINDS, { bent: 'a\r\nb\r', wide: 'x\u{1F600}\u202Ey' });
    const place = `#/c/stuff/data/${String(id)}`;
    const opened = await OpenedConsole.openAs(browser, node.url, node.authorization, place);
    const { page } = opened;
    const dialog = page.getByRole('dialog');
    for (const name of ['most', 'none', 'tiny', 'huge', 'bent', 'wide', 'raw']) {
      await page.getByRole('button', { name: `edit ${name}`, exact: true }).click();
      await dialog.getByLabel('Value', { exact: true }).press('End');
      await page.keyboard.type('7');
      await page.keyboard.press('Backspace');
      await dialog.getByRole('button', { name: 'Set the value' }).click();
      await dialog.waitFor({ state: 'detached' });
    }
    const isSame =
      '.before.keys().filter(|k| type(.before[k]) != type(.kinds[k]) || .before[k] != .kinds[k]);';
    expect(await node.value('//stuff', isSame)).toEqual(['none']);
    expect(await node.value('//stuff', 'is_nan(.kinds.none);')).toBe(true);

    const saved = async (format: string): Promise<Uint8Array> => {
      const coming = page.waitForEvent('download');
      await page.getByLabel('Save the result as a file').selectOption(format);
      return readFileSync(await (await coming).path());
    };
    const asked = async (code: string): Promise<WireValue> => {
      const body = encodeMessagePack(wireMap({ type: 'query', code }));
      return decodeMessagePack(
        (await node.post('//stuff', body, { contentType: 'application/msgpack' })).body,
      );
    };
    await opened.go('#/q');
    await opened.run('.kinds;');
    await page.getByLabel('Result as a tree').getByText('most').waitFor();
    expect(showValue(decodeMessagePack(await saved('msgpack')))).toBe(showValue(await asked('.kinds;')));
    await page.getByLabel('Save the result as a file').selectOption('json');
    await page.getByText(/^Nothing was saved: .*JSON can't carry NaN/).waitFor();
    const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
    await opened.run("[.kinds.filter(|k, v| k != 'none')];");
    await page.getByLabel('Result as a tree').getByText('1 item').waitFor();
    expect(text(await saved('csv'))).toBe(
      'most,tiny,huge,bent,wide,raw,date,items\r\n9223372036854775807,5e-324,1.7976931348623157e+308,"a\r\nb\r",x\u{1F600}\u202Ey,w6k=,2026-02-28T12:30:01Z,"[1,2.0,""3"",null]"\r\n',
    );
    const carried = ".kinds.filter(|k, v| !['none', 'raw'].has(k));";
    await opened.run(carried);
    await page.getByLabel('Result as a tree').getByText('raw').waitFor({ state: 'detached' });
    await page.getByLabel('Result as a tree').getByText('most').waitFor();
    expect(showValue(parseJson(text(await saved('json'))))).toBe(showValue(await asked(carried)));
    expect(opened.problems).toEqual([]);
    await opened.close();
  });

  testInBrowser(
    'a node that is not there leaves the text alone, and the page goes on when it is back',
    async () => {
      if (browser === null) return;
      const opened = await OpenedConsole.open(browser, node.url);
      const { page } = opened;
      await opened.visit();
      await opened.logIn(ADMIN);
      await opened.go('#/q');
      await opened.write('.precious.get(1);');
      await page.context().setOffline(true);
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await page.getByText('Running').waitFor();
      await page.getByRole('button', { name: 'Stop' }).click();
      await page.getByRole('alert').waitFor();
      await page.getByRole('tab', { name: '.precious.get(1);' }).waitFor();
      await page.context().setOffline(false);
      await opened.run('1 + 41;');
      await page.getByLabel('Result as a tree').getByText('42').waitFor();
      await opened.close();
    },
  );

  testInBrowser('whoever lacks a privilege sees pages without what it forbids, and no error', async () => {
    if (browser === null) return;
    const privileges = ['QUERY', 'CHANGE', 'GRANT', 'JOIN', 'RUN'].map((each) => ['//stuff', each] as const);
    // Most of the time is waiting.
    const others = [
      ['/t', 'QUERY'],
      ['/t', 'CHANGE'],
      ['/t', 'GRANT'],
      ['/t', 'RUN'],
      ['/n', 'QUERY'],
      ['/n', 'CHANGE'],
    ] as const;
    const found = await Promise.all(
      [...privileges, ...others].map(([scope, privilege]) => failuresWith(scope, privilege)),
    );
    expect(found.flat()).toEqual([]);
  });
});

/** The failures that every page shows to a user who has one privilege. */
async function failuresWith(scope: string, privilege: string): Promise<string[]> {
  if (browser === null) return [];
  const name = `only_${privilege}_${scope.replaceAll('/', '')}`.toLowerCase();
  const code = `new_user(name); grant(scope, name, ${privilege}); new_token(name);`;
  const token = String(await node.value('/t', code, { name, scope }));
  const opened = await OpenedConsole.openAs(browser, node.url, `Bearer ${token}`, '#/');
  const found: string[] = [];
  for (const place of PLACES) {
    await opened.go(place);
    await opened.page.getByRole('main').getByRole('heading').first().waitFor({ state: 'attached' });
    await opened.settled();
    for (const text of await opened.page.getByRole('alert').allInnerTexts())
      found.push(`${name} ${place}: ${text}`);
  }
  found.push(...opened.problems);
  await opened.close();
  return found;
}

/** Every page. */
const PLACES = [
  '#/',
  '#/q',
  '#/c/stuff/data',
  '#/c/stuff/procedures',
  '#/c/stuff/types',
  '#/c/stuff/rooms',
  '#/c/stuff/history',
  '#/c/stuff/export',
  '#/activity',
  '#/tasks',
  '#/users',
  '#/modules',
  '#/root',
  '#/backups',
];

describe('the console by keyboard alone', () => {
  testInBrowser(
    'Tab reaches all that can be used, leaves the editor, and g with a letter goes to each page',
    async () => {
      if (browser === null) return;
      const opened = await OpenedConsole.openAs(browser, node.url, node.authorization, '#/');
      const { page } = opened;
      const missed: string[] = [];
      for (const [key, place] of [
        ['q', '#/q'],
        ['a', '#/activity'],
        ['t', '#/tasks'],
        ['u', '#/users'],
        ['m', '#/modules'],
        ['p', '#/root'],
        ['b', '#/backups'],
        ['o', '#/'],
      ] as const) {
        await page.keyboard.press('g');
        await page.keyboard.press(key);
        await page.waitForFunction(`location.hash === '${place}'`);
        await page.getByRole('main').getByRole('heading').first().waitFor({ state: 'attached' });
        await opened.settled();
        missed.push(...(await withoutFocus(opened)).map((each) => `${place} ${each}`));
      }
      for (const place of PLACES.filter((each) => each.startsWith('#/c/'))) {
        await opened.go(place);
        await opened.settled();
        missed.push(...(await withoutFocus(opened)).map((each) => `${place} ${each}`));
      }
      expect(missed).toEqual([]);
      expect(opened.problems).toEqual([]);
      await opened.close();
    },
  );
});

/** Elements that can be used with the mouse on a page, and are not reached by Tab. */
async function withoutFocus({ page }: OpenedConsole): Promise<string[]> {
  await page.evaluate(`(() => {
    const usable = 'a[href], button:not([disabled]), input:not([disabled]), select:not([disabled]), textarea, summary, [role=option]';
    const seen = (element) => element.checkVisibility({ visibilityProperty: true });
    window.unreached = new Set([...document.querySelectorAll('main ' + usable.replaceAll(', ', ', main '))].filter(seen));
    window.tabs = window.unreached.size + document.querySelectorAll('main [tabindex], main .editor').length + 1;
    document.getElementById('main').focus();
  })()`);
  for (let left = Number(await page.evaluate('window.tabs')); left > 0; left--) {
    await page.keyboard.press('Tab');
    await page.evaluate('window.unreached.delete(document.activeElement)');
  }
  const html: unknown = await page.evaluate(
    '[...window.unreached].map(({ outerHTML }) => outerHTML.slice(0, 120))',
  );
  // `g` is a letter for who writes.
  await page.evaluate("document.getElementById('main').focus()");
  return Array.isArray(html) ? html.map(String) : [String(html)];
}

describe('the console without barriers', () => {
  testInBrowser('no page has one at 360 and 1,280 px, in light and dark', async () => {
    const found: Record<string, string[]> = {};
    await Promise.all([lookAt('360', NARROW, found), lookAt('1,280', WIDE, found)]);
    expect(found).toEqual({});
  });
});

/** Words that stand upright. */
const BROKEN_BUTTONS = `[...document.querySelectorAll('main button.link')].filter((each) => each.offsetHeight > 2 * each.offsetWidth).length`;

/** Looks for barriers on all pages of a window. */
async function lookAt(size: string, window: Window, found: Record<string, string[]>): Promise<void> {
  if (browser === null) return;
  const opened = await OpenedConsole.open(browser, node.url, window);
  const look = async (name: string): Promise<void> => {
    const barriers = await opened.barriers();
    const beyond = Number(await opened.page.evaluate('document.documentElement.scrollWidth - innerWidth'));
    const broken = Number(await opened.page.evaluate(BROKEN_BUTTONS));
    if (broken > 0) barriers.push(`${broken} buttons are broken into letters`);
    if (beyond > 0) barriers.push(`the page is ${beyond} px wider than the window`);
    if (barriers.length > 0) found[`${size} ${name}`] = barriers;
  };
  await opened.visit();
  await opened.page.getByLabel('Password').waitFor();
  await look('login');
  await opened.logIn(ADMIN);
  await opened.settled();
  await look('overview');
  await opened.go('#/q');
  await opened.run('.exact;');
  // In a narrow window the result has taken the place of the code.
  await opened.page.getByLabel('Result as a tree').getByText('9007199254740993').waitFor();
  await look('query');
  for (const place of PLACES.slice(2)) {
    await opened.go(place);
    await opened.settled();
    await look(place);
  }
  await opened.close();
}
