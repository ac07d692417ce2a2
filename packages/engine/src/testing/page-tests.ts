/** Runs the examples of a page as tests. */
import { describe, expect, test } from '@jest/globals';
import { Float } from '../value/scalars.js';
import { Harness } from './harness.js';
import { exampleLines } from './page.js';

/**
 * Runs the lines of all examples of a page in `docs/`, in order, in one collection. Behind `//` stands what a line answers, in JSON, or
 * `error NAME`, or `error NAME: MESSAGE`.
 */
export function testPage(page: string): void {
  const examples = exampleLines(page);
  describe(`the examples of docs/${page}`, () => {
    const db = new Harness();

    test('are there', () => {
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
}

/** An answer as JSON has it. */
function plain(answer: unknown): unknown {
  return JSON.parse(JSON.stringify(answer, (_, value) => (value instanceof Float ? value.value : value)));
}
