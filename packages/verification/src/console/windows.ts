/** The windows of the console by keyboard alone: every button of a page is pressed, and each window that opens is gone through. */
import type { OpenedConsole } from './opened-console.js';

/** Observations of the page for the test: buttons to be seen, the title of the open window, and where the focus was outside of it. */
const WATCH = `(() => {
  window.buttons = () => [...document.querySelectorAll('main button:not([disabled], [aria-label^=Forget])')].filter((each) => each.checkVisibility());
  window.title = () => document.querySelector('dialog[open]')?.ariaLabel ?? null;
  window.drawn = (look) => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(look()))));
  addEventListener('focusin', ({ target }) => {
    if (title() !== null && target.closest('dialog') === null) window.outside = true;
  });
})()`;

/** The titles of the windows that buttons of a page open, in order, and what they lack. */
export interface PageWindows {
  readonly titles: readonly string[];
  readonly lacks: readonly string[];
}

/** Presses every button of a page, the last one first: those on top may change what is below. */
export async function windowsOf(opened: OpenedConsole, place: string): Promise<PageWindows> {
  const { page } = opened;
  await opened.go(place);
  await page.getByRole('main').getByRole('heading').first().waitFor({ state: 'attached' });
  await opened.settled();
  await page.evaluate(WATCH);
  await page.evaluate("document.querySelectorAll('main details').forEach((each) => { each.open = true; })");
  await page.evaluate('drawn(() => { window.todo = buttons(); })');
  const titles = new Set<string>();
  const lacks: string[] = [];
  while (await page.evaluate('(window.opener = todo.pop()) !== undefined && (opener.focus(), true)')) {
    if (!(await page.evaluate('document.activeElement === opener'))) continue;
    await page.keyboard.press('Enter');
    const text = await page.evaluate('drawn(title)');
    if (typeof text !== 'string') continue;
    // The window is the same for each property.
    const title = text.replace(/^Delete (?!the )\S+/, 'Delete …');
    if (titles.has(title)) await page.keyboard.press('Escape');
    else lacks.push(...(await lacksOf(opened, title)));
    titles.add(title);
  }
  return { titles: [...titles].sort(), lacks };
}

/** Faults of the window that a key opens wherever the focus is. */
export async function lacksOfWindowBy(opened: OpenedConsole, key: string): Promise<string[]> {
  const { page } = opened;
  await page.evaluate(WATCH);
  await page.evaluate('void (window.opener = document.activeElement)');
  await page.keyboard.press(key);
  return lacksOf(opened, String(await page.evaluate('drawn(title)')), key);
}

/** The lacks of the window that is open, which is closed then, opened again by a key, and closed by a button if it has one for that. */
async function lacksOf({ page }: OpenedConsole, name: string, key = 'Enter'): Promise<string[]> {
  const lacks: string[] = [];
  const insist = async (conditions: Readonly<Record<string, string>>): Promise<void> => {
    const values = await page.evaluate(`drawn(() => [${Object.values(conditions).join(', ')}])`);
    const isSo = (i: number): boolean => Array.isArray(values) && values[i] === true;
    lacks.push(...Object.keys(conditions).flatMap((what, i) => (isSo(i) ? [] : [`${name}: ${what}`])));
  };
  // The code of an editor comes when the first one is shown.
  if ((await page.locator('dialog .editor').count()) > 0) await page.locator('dialog .cm-content').waitFor();
  // As far as its last control: behind that the browser takes the focus, and comes back into the page at a time of its own.
  const left = await page.evaluate(`(() => {
    window.outside = document.activeElement.closest('dialog:modal') === null;
    window.stops = [...document.querySelectorAll('dialog :is(:is(input, select, textarea, button):enabled, summary, .editor)')];
    return stops.length - 1 - stops.indexOf(document.activeElement);
  })()`);
  await Promise.all(Array.from({ length: Number(left) }, () => page.keyboard.press('Tab')));
  await insist({ 'Tab does not reach its last control': 'document.activeElement === stops.pop()' });
  await page.keyboard.press('Escape');
  await insist({
    'the focus is not in it all the time': '!outside',
    'Escape does not close it': 'title() === null',
    'the focus does not come back behind Escape': 'document.activeElement === opener',
  });
  await page.keyboard.press(key);
  const hasButton = await page.evaluate(`drawn(() => {
    const end = [...document.querySelectorAll('dialog button')].find(({ textContent }) => /^(Cancel|Done)$/.test(textContent));
    end?.focus();
    return end !== undefined;
  })`);
  await page.keyboard.press(hasButton === true ? 'Enter' : 'Escape');
  await insist({
    'Cancel does not close it': 'title() === null',
    'the focus does not come back behind Cancel': 'document.activeElement === opener',
  });
  return lacks;
}
