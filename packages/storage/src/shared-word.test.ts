import { Worker } from 'node:worker_threads';
import { expect, jest, test } from '@jest/globals';
import { waitForChange, wakeWaiting } from './shared-word.js';

const ROUNDS = 20_000;

test('two threads that wait for each other in turns go on, however early or late a change comes', async () => {
  const words = new Int32Array(new SharedArrayBuffer(16));
  const program = `
    import { workerData } from 'node:worker_threads';
    const { words, module } = workerData;
    const { waitForChange, wakeWaiting } = await import(module);
    for (let round = 0; round < ${ROUNDS}; round++) {
      while (Atomics.load(words, 0) === round) waitForChange(words, 0, round);
      Atomics.add(words, 2, 1);
      wakeWaiting(words, 2);
    }`;
  const module = new URL('./shared-word.js', import.meta.url).href;
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(program)}`), {
    workerData: { words, module },
  });
  const ended = new Promise((resolve) => worker.on('exit', resolve));
  for (let round = 0; round < ROUNDS; round++) {
    Atomics.add(words, 0, 1);
    wakeWaiting(words, 0);
    while (Atomics.load(words, 2) === round) {
      if (!waitForChange(words, 2, round, 20_000)) throw new Error(`nobody woke in round ${round}`);
    }
  }
  expect(await ended).toBe(0);
  expect([...words]).toEqual([ROUNDS, 0, ROUNDS, 0]);
});

test('nobody is woken where nobody waits, also after one who waited in vain', () => {
  const words = new Int32Array(new SharedArrayBuffer(8));
  const notify = jest.spyOn(Atomics, 'notify');
  expect(waitForChange(words, 0, 1)).toBe(true);
  expect(waitForChange(words, 0, 0, 1)).toBe(false);
  wakeWaiting(words, 0);
  expect(notify).not.toHaveBeenCalled();
  notify.mockRestore();
});
