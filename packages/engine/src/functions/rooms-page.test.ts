/** The examples of docs/rooms.md, run in order in one collection. */
import { describe, expect, test } from '@jest/globals';
import { Harness } from '../testing/harness.js';
import { exampleLines } from '../testing/page.js';

const examples = exampleLines('rooms.md');

describe('the page on rooms', () => {
  const db = new Harness();

  test('has examples', () => {
    expect(examples.length).toBeGreaterThan(15);
  });

  test.each(examples)('%s', (line) => {
    const [code = '', expected = ''] = line.split(' // ');
    if (expected.startsWith('error ')) expect(`error ${db.error(code)}`).toBe(expected);
    else expect(db.run(code)).toEqual(expected === 'nil' ? null : JSON.parse(expected));
  });
});
