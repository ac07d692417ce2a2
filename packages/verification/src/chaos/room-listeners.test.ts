import { expect, test } from '@jest/globals';
import { Hearing, RoomListeners } from './room-listeners.js';

test('numbers are heard one behind the other, from any of them on', () => {
  const hearing = new Hearing('c0', 'node 1');
  expect([7, 8, 9].map((number) => hearing.hear(number))).toEqual([null, null, null]);
  expect(hearing.hear(11)).toContain('heard 11 behind 9');
  expect(hearing.hear(11)).toContain('heard 11 behind 11');
  expect(hearing.hear(10)).toContain('heard 10 behind 11');
  expect(hearing.hear(Number.NaN)).toContain('heard NaN');
});

test('the last one is where the counter stands in the end, unless nothing was heard', () => {
  const hearing = new Hearing('c0', 'node 1');
  expect(hearing.problemWith(3)).toBeNull();
  hearing.hear(2);
  expect(hearing.problemWith(2)).toBeNull();
  expect(hearing.problemWith(3)).toContain('heard 2 last, and the counter stands at 3');
  expect(hearing.problemWith(1)).not.toBeNull();
});

test('a node that is not there is no failure', async () => {
  const findings: string[] = [];
  let asked = 0;
  const listeners = new RoomListeners({
    endpoint: () => {
      asked += 1;
      return { name: 'node 1', host: '127.0.0.1', port: 1 };
    },
    token: () => 'none',
    collection: () => 'c0',
    finding: (text) => findings.push(text),
  });
  listeners.start(2);
  while (asked < 4) await new Promise((resolve) => setTimeout(resolve, 10));
  await listeners.check([]);
  await listeners.stop();
  expect(findings).toEqual([]);
});
