/** The examples of docs/tasks.md, run in order in one collection; time passes where the page says so. */
import { describe, expect, test } from '@jest/globals';
import { Harness } from '../testing/harness.js';
import { exampleLines } from '../testing/page.js';

const examples = exampleLines('tasks.md');

describe('the page on tasks', () => {
  const db = new Harness();

  test('has examples', () => {
    expect(examples.length).toBeGreaterThan(15);
  });

  test.each(examples)('%s', (line) => {
    const minutes = /^\/\/ (\d+) minutes later$/.exec(line)?.[1];
    if (minutes !== undefined) {
      db.nowMs += 60_000 * Number(minutes);
      const { id, tasks } = db.collection;
      const isDue = (startAt: number): boolean => startAt !== 0 && startAt * 1000 <= db.nowMs;
      for (const task of tasks.list()) if (isDue(task.startAt)) db.engine.runTask(id, task.id, {});
      return;
    }
    const [code = '', expected = ''] = line.split(' // ');
    if (expected.startsWith('error ')) expect(`error ${db.error(code)}`).toBe(expected);
    else expect(db.run(code)).toEqual(JSON.parse(expected));
  });
});
