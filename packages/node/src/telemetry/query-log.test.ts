/** The lines of the log for `log()` in code, and for settings that change. */
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

test('a setting that changes holds for the next query, on this node by its name', async () => {
  const loop = 'x = 0; for (i in range(100000)) for (j in range(10000)) x += 1;';
  await node.value('/n', "set_config('query_duration_limit_ms', 60);");
  expect((await node.query('//stuff', loop)).text).toContain('longer than 60 ms (query_duration_limit_ms)');
  expect((await node.query('/n', "set_config('http_api_port', 1);")).status).toBe(422);
});

test('a size of results that changes holds for the next result, of a thread that reads snapshots, too', async () => {
  const ask = async (consistency: string): Promise<string> => {
    const options = { headers: { Consistency: consistency } };
    return (await node.query('//stuff', 'range(100);', undefined, options)).text;
  };
  await until(async () => (await ask('snapshot')) === (await ask('stale')), 'there is something to read');
  await node.value('/n', "set_config('result_size_limit', 64);");
  for (const consistency of ['stale', 'snapshot'])
    expect(await ask(consistency)).toContain('the result is larger than result_size_limit (64 bytes)');
  await node.value('/n', "set_config('result_size_limit', 1000);");
  for (const consistency of ['stale', 'snapshot']) expect(await ask(consistency)).toContain('98,99]');
});
