import { expect, test } from '@jest/globals';
import { Positions } from './positions.js';

test('positions are asked for once by all who wait, and known for a second', () => {
  let now = 0;
  const sent: string[] = [];
  const done: string[] = [];
  const positions = new Positions({ send: ({ kind }) => sent.push(kind) }, { now: () => now });
  expect(positions.present).toBeNull();

  positions.ask(() => done.push('first'));
  positions.ask(() => done.push('second'));
  expect([sent, done]).toEqual([['describe_groups'], []]);
  const position = { group: 4, term: 2, commit: 7, last: 8, members: null };
  positions.tell([position]);

  expect(done).toEqual(['first', 'second']);
  expect(positions.present).toEqual(new Map([[4, position]]));
  now = 999;
  expect(positions.present?.size).toBe(1);
  now = 1000;
  expect(positions.present).toBeNull();
  positions.ask(() => done.push('third'));
  expect(sent).toEqual(['describe_groups', 'describe_groups']);
});
