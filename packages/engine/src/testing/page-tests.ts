/** Runs the examples of a page as tests. */
import { describe, expect, test } from '@jest/globals';
import { Float } from '../value/scalars.js';
import { Harness } from './harness.js';
import { examplesOf } from './page.js';

/**
 * Runs all examples of a page in `docs/`, in order, in one collection (see `examplesOf`). A line `// N minutes later` lets time pass, and
 * runs the tasks that are due then.
 *
 * @param isPasted whether each block is one query
 */
export function testPage(page: string, isPasted = false): void {
  const examples = examplesOf(page, isPasted);
  describe(`the examples of docs/${page}${isPasted ? ', each block pasted whole' : ''}`, () => {
    const db = new Harness();

    test('are there', () => {
      expect(examples.length).toBeGreaterThan(5);
    });

    test.each(examples)('$code', ({ code, answer, scope }) => {
      const minutes = /^\/\/ (\d+) minutes later$/.exec(code)?.[1];
      if (minutes !== undefined) {
        pass(db, Number(minutes));
        return;
      }
      if (answer?.startsWith('error ')) {
        const [name, message] = answer.slice('error '.length).split(/: (.*)/s);
        expect(db.error(code, { scope })).toBe(name);
        if (message !== undefined) expect(db.failure(code, { scope }).message).toBe(message);
        return;
      }
      const result = db.run(code, { scope });
      if (answer !== undefined) expect(plain(result)).toEqual(JSON.parse(answer));
    });
  });
}

function pass(db: Harness, minutes: number): void {
  db.nowMs += 60_000 * minutes;
  const { id, tasks } = db.collection;
  const isDue = (startAt: number): boolean => startAt !== 0 && startAt * 1000 <= db.nowMs;
  for (const task of tasks.list()) if (isDue(task.startAt)) db.engine.taskRuns.run(id, task.id, {});
}

/** An answer as JSON has it. */
function plain(answer: unknown): unknown {
  return JSON.parse(JSON.stringify(answer, (_, value) => (value instanceof Float ? value.value : value)));
}
