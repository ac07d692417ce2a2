import { expect, test } from '@jest/globals';
import { type Answer, OpenRequests, TAKEN_BACK_MAX } from './open-requests.js';

const LOST: Answer = () => {};
const OTHER: Answer = () => {};

/** Lets ids go by, of requests that are answered at once. */
function goRound(requests: OpenRequests, count: number): void {
  for (let i = 0; i < count; i++) requests.take(requests.add(OTHER));
}

test('ids come round, and none that is open comes twice', () => {
  const requests = new OpenRequests(0xffff);
  expect([requests.add(LOST), requests.add(OTHER), requests.add(OTHER)]).toEqual([0xffff, 0, 1]);
  goRound(requests, 0xffff - 2);
  expect([requests.add(OTHER), requests.next, requests.size]).toEqual([2, 3, 4]);
  expect([requests.take(0), requests.take(0)]).toEqual([OTHER, null]);
});

test('a late answer is that of no other request, though ids have come round', () => {
  const requests = new OpenRequests(7);
  const id = requests.add(LOST);
  requests.takeBack(id, LOST);
  goRound(requests, 0xffff);
  expect([requests.add(OTHER), requests.size]).toEqual([8, 1]);
  expect([requests.take(id), requests.take(id)]).toEqual(['late', null]);
  requests.takeBack(8, LOST);
  expect(requests.take(8)).toBe(OTHER);
});

test('ids come again of a module that leaves many requests without an answer', () => {
  const requests = new OpenRequests(0);
  for (let i = 0; i < 3 * TAKEN_BACK_MAX; i++) requests.takeBack(requests.add(LOST), LOST);
  expect([requests.isFull, requests.size, requests.take(0)]).toEqual([false, 0, 'late']);
  while (!requests.isFull) requests.add(OTHER);
  const count = 0x10000 - (TAKEN_BACK_MAX - 1);
  expect([requests.size, requests.clear().length, requests.size]).toEqual([count, count, 0]);
});
