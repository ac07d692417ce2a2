/** The examples of docs/types.md, run in order in one collection. */
import { describe, expect, test } from '@jest/globals';
import { Harness } from '../testing/harness.js';
import { exampleLines } from '../testing/page.js';
import { Float } from '../value/scalars.js';

const examples = exampleLines('types.md');

describe('the page on types', () => {
  const db = new Harness();

  test('has examples', () => {
    expect(examples.length).toBeGreaterThan(5);
  });

  test.each(examples)('%s', (line) => {
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
