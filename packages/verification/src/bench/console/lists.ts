/** Lists of very many things: how long it takes until the first rows are there. */
import type { RealNode } from '@althing/node/testing';
import { OpenedConsole } from '../../console/opened-console.js';
import type { ConsoleAt } from './results.js';

const COLLECTIONS = 1000;
const PROCEDURES = 10_000;
const MEMBERS = 1_000_000;

/** Calls of one query, so that none takes long. */
const COLLECTIONS_AT_ONCE = 50;
const PROCEDURES_AT_ONCE = 500;
const MEMBERS_AT_ONCE = 20_000;

export async function fill(node: RealNode): Promise<void> {
  const each = async (scope: string, count: number, step: number, code: string): Promise<void> => {
    for (let from = 0; from < count; from += step) await node.value(scope, code, { from, to: from + step });
  };
  await each(
    '//stuff',
    PROCEDURES,
    PROCEDURES_AT_ONCE,
    'range(from, to).each(|i| new_procedure(`p{i}`, |a, b| a + b));',
  );
  await node.value('//stuff', '.many = set(); nil;');
  await each('//stuff', MEMBERS, MEMBERS_AT_ONCE, 'range(from, to).each(|i| .many.add({nr: i})); nil;');
  await each('/t', COLLECTIONS, COLLECTIONS_AT_ONCE, 'range(from, to).each(|i| new_collection(`c{i}`));');
}

/** Times from the way to each page until its first rows are drawn. */
export async function listMs(at: ConsoleAt): Promise<readonly (readonly [what: string, ms: number])[]> {
  const opened = await OpenedConsole.openAs(at.browser, at.url, at.authorization, '#/c/stuff/export');
  const { page } = opened;
  const time = async (hash: string, rows: string): Promise<number> => {
    await opened.settled();
    return Number(
      await page.evaluate(`new Promise((done) => {
        const begun = performance.now();
        const look = () => document.querySelectorAll('${rows}').length >= 50 ? done(performance.now() - begun) : requestAnimationFrame(look);
        location.hash = '${hash}';
        requestAnimationFrame(look);
      })`),
    );
  };
  await page.getByRole('link', { name: 'Data' }).click();
  await page.getByRole('link', { name: /1000000 items/ }).click();
  const set = String(await page.evaluate('location.hash'));
  await opened.go('#/c/stuff/export');
  const members = await time(set, '[aria-label="Entries"] tbody tr');
  const procedures = await time('#/c/stuff/procedures', '[aria-label="Procedures"] tbody tr');
  const collections = await time('#/', '[aria-label="Collections"] tbody tr');
  await opened.close();
  return [
    ['first rows of a set of 1,000,000', members],
    ['first rows of 10,000 procedures', procedures],
    ['first rows of 1,000 collections', collections],
  ];
}
