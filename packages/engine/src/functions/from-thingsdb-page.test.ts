/** The rows of docs/from-thingsdb.md that have a query: each in a collection of its own. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { Harness, type Plain } from '../testing/harness.js';
import { Float } from '../value/scalars.js';

const page = readFileSync(new URL('../../../../docs/from-thingsdb.md', import.meta.url), 'utf8');

/** Queries, what ThingsDB answers to the last of them, and what Althing does. */
const rows = page
  .split('\n')
  .filter((line) => /^\| ``?[^`]/.test(line))
  .map((line) => {
    const [queries = '', theirs = '', ours = ''] = line.slice(2, -2).split(' | ');
    return {
      queries: queries.split('<br>').map(codeIn),
      theirs: theirs.replaceAll('`', ''),
      ours: codeIn(ours),
    };
  });

describe('the page for those who come from ThingsDB', () => {
  test('has queries, and each is answered in another way', () => {
    expect(rows.length).toBeGreaterThan(25);
    expect(rows.filter(({ theirs, ours }) => theirs === ours.replace(/^error /, ''))).toEqual([]);
  });

  test.each(rows)('$queries', ({ queries, ours }) => {
    const db = new Harness();
    const last = queries.pop() ?? '';
    for (const query of queries) db.outcome(query);
    expect(ours.startsWith('error ') ? `error ${db.error(last)}` : textOf(db.run(last))).toBe(ours);
  });
});

/** The text of a code span in a table, where a vertical bar is written with a backslash. */
function codeIn(span: string): string {
  return span.replace(/^(``?)(.*)\1$/, '$2').replaceAll('\\|', '|');
}

/** As JSON, with ints of any size, and floats that show that they are. */
function textOf(value: Plain): string {
  if (typeof value === 'bigint') return String(value);
  if (value instanceof Float)
    return Number.isInteger(value.value) ? value.value.toFixed(1) : String(value.value);
  return JSON.stringify(value);
}
