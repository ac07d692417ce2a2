/** The examples of docs/types.md, run in order in one collection. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { Harness } from '../testing/harness.js';
import { Float } from '../value/scalars.js';

const page = readFileSync(new URL('../../../../docs/types.md', import.meta.url), 'utf8');

const examples = [...page.matchAll(/```js\n([\s\S]*?)```/g)].map(([, code = '']) => code.trim().split('\n'));

describe('the page on types', () => {
  const db = new Harness();

  test('has examples', () => {
    expect(examples.length).toBeGreaterThan(5);
  });

  test.each(examples.flat())('%s', (line) => {
    const [code = '', expected] = line.split(/ \/\/ /);
    if (expected?.startsWith('error ')) {
      const [name, message] = expected.slice('error '.length).split(/: (.*)/s);
      expect(db.error(code)).toBe(name);
      if (message !== undefined) expect(db.failure(code).message).toBe(message);
      return;
    }
    const answer = db.run(code);
    if (expected !== undefined) expect(plain(answer)).toEqual(JSON.parse(expected));
  });
});

/** An answer as JSON has it. */
function plain(answer: unknown): unknown {
  return JSON.parse(JSON.stringify(answer, (_, value) => (value instanceof Float ? value.value : value)));
}
