import { beforeEach, expect, test } from '@jest/globals';
import type { PreparedAnswer } from '../between/protocol.js';
import { PreparedAnswers } from './prepared-answers.js';

let sent: [to: number, id: number, payload: number[]][];
let prepared: PreparedAnswers;

beforeEach(() => {
  sent = [];
  prepared = new PreparedAnswers(({ to, id, payload }) => sent.push([to, id, [...payload]]));
});

function answer(id: number): PreparedAnswer {
  return { to: 9, id, payload: Uint8Array.of(0, 1, 2, 7, 8) };
}

test('prepared answers leave with what is committed, with the index of their own entry', () => {
  prepared.add(127, [answer(21), null, answer(22)]);
  prepared.add(131, [answer(23)]);
  prepared.commit(126);
  expect(sent).toEqual([]);
  prepared.commit(130);
  expect(sent).toEqual([
    [9, 21, [0, 1, 2, 127, 7, 8]],
    [9, 22, [0, 1, 2, 0x81, 1, 7, 8]],
  ]);
  prepared.commit(140);
  expect(sent.slice(2)).toEqual([[9, 23, [0, 1, 2, 0x83, 1, 7, 8]]]);
});

test('prepared answers are never sent for what is lost', () => {
  prepared.add(127, [answer(41)]);
  prepared.clear();
  prepared.add(127, [null, answer(42)]);
  prepared.commit(127);
  expect(sent).toEqual([]);
  prepared.commit(128);
  expect(sent.map(([, id]) => id)).toEqual([42]);
});

test('a proposal that lies before one that waits breaks an invariant', () => {
  prepared.add(127, [answer(41)]);
  expect(() => prepared.add(127, [answer(42)])).toThrow('broken invariant');
});
