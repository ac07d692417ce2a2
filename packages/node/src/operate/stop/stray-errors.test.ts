import { afterEach, describe, expect, test } from '@jest/globals';
import { RealNode, until } from '../../testing/index.js';

let node: RealNode;

afterEach(async () => {
  await node.kill();
  node.clear();
});

const code = (source: string): string[] => ['--import', `data:text/javascript,${encodeURIComponent(source)}`];

/** Does something in the engine thread, which is the main one, at SIGUSR2. */
const atSignal = (what: string): string[] => code(`process.on('SIGUSR2', () => { ${what} });`);

/** Does something in the consensus thread some time after it was started. */
const inWorker = (what: string, ms: number): string[] =>
  code(`
    import { isMainThread } from 'node:worker_threads';
    if (!isMainThread) setTimeout(() => { ${what} }, ${ms});
  `);

/** The lines of the log that say why the node ended. */
const lastWords = (): { error: string; level: string; node: string; msg: string }[] =>
  node.log
    .split('\n')
    .filter((line) => line.includes('"event":"failed"'))
    .map((line) => JSON.parse(line) as ReturnType<typeof lastWords>[number]);

describe('an error that nothing catches', () => {
  test.each([
    ['is thrown', `throw new Error('astray')`],
    ['is the end of a promise', `Promise.reject(new Error('astray'))`],
    ['is none', `Promise.reject('astray')`],
  ])('ends the node with code 5 and a line in the log: it %s in the engine thread', async (_how, what) => {
    node = await RealNode.start({}, undefined, undefined, atSignal(what));
    node.signal('SIGUSR2');
    expect(await node.ended()).toBe(5);
    expect(lastWords()).toEqual([expect.objectContaining({ level: 'fatal', node: 'test' })]);
    expect(lastWords()[0]?.error).toContain('astray');
  });

  test.each([
    ['is thrown', `throw new Error('astray')`],
    ['is the end of a promise', `Promise.reject(new Error('astray'))`],
  ])('does so in the consensus thread, too: it %s', async (_how, what) => {
    node = await RealNode.launch({}, undefined, inWorker(what, 3000));
    await node.whenReady();
    expect(await node.ended()).toBe(5);
    expect(lastWords()).toEqual([expect.objectContaining({ level: 'fatal', node: 'test' })]);
    expect(lastWords()[0]?.error).toContain('astray');
  });

  test('ends the start of a node with the same code', async () => {
    node = await RealNode.launch({}, undefined, inWorker(`throw new Error('astray')`, 0));
    expect(await node.ended()).toBe(5);
    expect(node.log).toContain('astray');
  });

  test('leaves what was acknowledged', async () => {
    node = await RealNode.start({}, undefined, undefined, atSignal(`throw new Error('astray')`));
    expect(await node.value('//stuff', '.x = 41; .x += 1;')).toBe(42);
    node.signal('SIGUSR2');
    expect(await node.ended()).toBe(5);
    const { folder, authorization } = node;
    node = await RealNode.start({}, folder, authorization);
    await until(async () => (await node.value('//stuff', '.x;')) === 42, 'it is there');
  });
});
