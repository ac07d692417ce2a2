/** What the log has of `log()` in code. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { RealNode, until } from '../testing/index.js';

let node: RealNode;

beforeAll(async () => {
  node = await RealNode.start({ log_level: 'warning' });
});

afterAll(() => node.stop());

type Line = Readonly<Record<string, unknown>>;

/** The line with a text. */
async function lineOf(text: string): Promise<Line> {
  const found = (): Line | undefined =>
    node.log
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'))
      .map((line) => JSON.parse(line) as Line)
      .find((line) => line.event === 'query_log' && line.text === text);
  await until(() => found() !== undefined, `there is a line with ${text}`);
  return found() ?? {};
}

test('lines of log() name scope, user and request, and the procedure or task that they are of', async () => {
  await node.value('//stuff', "new_procedure('tell', |x| { log(x); future(|x| log(`{x} later`)); nil; });");
  await node.query('//stuff', "log('of a query');", undefined, { headers: { 'X-Request-Id': 'q-1' } });
  const run = JSON.stringify({ type: 'run', name: 'tell', args: ['of a procedure'] });
  await node.post('//stuff', run, { headers: { 'X-Request-Id': 'p-1' } });
  const id = await node.value('//stuff', "task(datetime(), || log('of a task')).id();");

  const query = { scope: '@collection:stuff', user: 'admin', request: 'q-1' };
  expect(await lineOf('of a query')).toMatchObject(query);
  const called = { scope: '@collection:stuff', user: 'admin', procedure: 'tell', request: 'p-1' };
  expect(await lineOf('of a procedure')).toMatchObject(called);
  expect(await lineOf('of a procedure later')).toMatchObject(called);
  const task = await lineOf('of a task');
  expect(task).toMatchObject({ scope: '@collection:stuff', user: 'admin', task: id });
  expect('request' in task || 'procedure' in task).toBe(false);
});
