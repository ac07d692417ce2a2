/** Titles of tests are read alone, in a line that tells of a failure: each begins with its subject. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** A title, in any kind of quotes, behind the call that it is for, or behind a table. */
const TITLE = /(?:\b(?:test|describe)(?:\.\w+)?\(|\)\()\s*(['"`])((?:\\.|(?!\1).)+)\1,/g;
/** Words that begin the second half of a sentence, or a riddle. */
const HALF = /^(?:what|who|whom|whose|that|which|whether|how|of) /;

function titlesIn(text: string): string[] {
  return Array.from(text.matchAll(TITLE), ([, , title = '']) => title);
}

test('titles of tests begin with their subject', () => {
  const files = ['packages', 'scripts', 'examples'].flatMap((folder) =>
    readdirSync(`${ROOT}${folder}`, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.test.ts') && !/(?:^|\/)node_modules\//.test(path))
      .map((path) => `${folder}/${path}`),
  );
  const titles = files.flatMap((file) =>
    titlesIn(readFileSync(`${ROOT}${file}`, 'utf8')).map((title) => `${file}: ${title}`),
  );
  expect(titles.length).toBeGreaterThan(3000);
  expect(titles.filter((told) => HALF.test(told.slice(told.indexOf(': ') + 2)))).toEqual([]);
});

test('a title that is half a sentence is found, in a call or behind a table', () => {
  const [call, table] = ['test(', '])(\n  '];
  const text = `${call}'of one turn travel together', () => {\n${table}'that is %s is refused',\n]);`;
  expect(titlesIn(text).filter((title) => HALF.test(title))).toEqual([
    'of one turn travel together',
    'that is %s is refused',
  ]);
});
