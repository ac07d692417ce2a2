import { expect, test } from '@jest/globals';
import type { Command } from '../between/protocol.js';
import { CollectionSizes } from './collection-sizes.js';

test('sizes are asked for at the start and each half a minute, and known until the next look', async () => {
  const failures: unknown[] = [];
  let bytes = 1000;
  const store = {
    groups: () => [0, 4],
    approximateBytes: async (group: number) => {
      if (bytes > 5000) throw new Error('the disk is gone');
      return bytes + group;
    },
  };
  const told: Command[] = [];
  const sizes = new CollectionSizes(
    { use: (work) => work(store) },
    () => ({ scope: () => undefined }),
    { send: (command) => told.push(command) },
    (error) => failures.push(error),
  );
  let look = (): void => {};
  expect(sizes.of(4)).toBeNull();

  sizes.start({
    every: (_ms, work) => {
      look = work;
      return () => {};
    },
  });
  await new Promise(setImmediate);
  expect([sizes.of(0), sizes.of(4), sizes.of(7)]).toEqual([1000, 1004, null]);
  expect(told).toEqual([
    {
      kind: 'sizes',
      sizes: [
        { group: 0, diskBytes: 1000, memoryBytes: 0 },
        { group: 4, diskBytes: 1004, memoryBytes: 0 },
      ],
    },
  ]);

  bytes = 2000;
  look();
  await new Promise(setImmediate);
  expect(sizes.of(4)).toBe(2004);

  bytes = 9000;
  look();
  await new Promise(setImmediate);
  expect([sizes.of(4), failures.length]).toEqual([2004, 1]);
});
