import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Applied, PreparedAnswer } from '../between/protocol.js';
import { PreparedAnswers } from './prepared-answers.js';

let sent: [to: number, id: number, payload: number[]][];
let prepared: PreparedAnswers;

const APPLIED: Applied = { index: 126, term: 1, hash: 1, membership: new Uint8Array() };

beforeEach(() => {
  sent = [];
  prepared = new PreparedAnswers(({ to, id, payload }) => sent.push([to, id, [...payload]]));
  prepared.commanded({ kind: 'open', group: 1, applied: APPLIED, isNew: false, campaign: false });
  prepared.told({ kind: 'leading', group: 1, epoch: 5 });
});

function answer(id: number): PreparedAnswer {
  return { to: 9, id, payload: Uint8Array.of(0, 1, 2, 7, 8) };
}

/** Proposes as many changes, each with an answer to a call of that number; 0 for none. */
function propose(calls: readonly number[], { epoch = 5, group = 1 } = {}): void {
  for (const call of calls) {
    const payloads = [Uint8Array.of(1)];
    const answers = call === 0 ? {} : { answers: [answer(call)] };
    prepared.commanded({ kind: 'propose', group, epoch, payloads, ...answers });
  }
}

function commit(count: number, index: number): void {
  prepared.told({ kind: 'committed', group: 1, count, last: { index, term: 1, hash: 1 } });
}

describe('answers that go along with proposals', () => {
  test('leave with what is committed, with the index of their own entry', () => {
    propose([21, 0, 22, 23]);
    expect(sent).toEqual([]);
    commit(3, 129);
    expect(sent).toEqual([
      [9, 21, [0, 1, 2, 127, 7, 8]],
      [9, 22, [0, 1, 2, 0x81, 1, 7, 8]],
    ]);
    sent = [];
    propose([24]);
    // Raft added an entry of its own behind them.
    commit(2, 132);
    expect(sent.map(([, id, [, , , low]]) => [id, low])).toEqual([
      [23, 0x82],
      [24, 0x83],
    ]);
    sent = [];
    propose([25]);
    commit(1, 133);
    expect(sent).toEqual([[9, 25, [0, 1, 2, 0x85, 1, 7, 8]]]);
  });

  test('are counted in proposals of several payloads, too', () => {
    const payloads = [1, 2, 3].map((byte) => Uint8Array.of(byte));
    const answers = [null, answer(31), null];
    prepared.commanded({ kind: 'propose', group: 1, epoch: 5, payloads, answers });
    propose([32]);
    commit(1, 127);
    expect(sent).toEqual([]);
    commit(1, 128);
    expect(sent.map(([, id]) => id)).toEqual([31]);
    commit(2, 130);
    expect(sent.map(([, id]) => id)).toEqual([31, 32]);
  });

  test.each([
    { kind: 'suspended', group: 1 },
    { kind: 'following', group: 1, term: 2, leader: 3 },
    { kind: 'leading', group: 1, epoch: 6 },
  ] as const)('are never sent for what is lost: $kind', (event) => {
    propose([41, 42]);
    commit(1, 127);
    prepared.told(event);
    sent = [];
    // It was on its way when the epoch ended.
    propose([43]);
    if (event.kind !== 'leading') prepared.told({ kind: 'leading', group: 1, epoch: 6 });
    propose([0, 44], { epoch: 6 });
    commit(1, 131);
    expect(sent).toEqual([]);
    commit(1, 132);
    expect(sent.map(([, id]) => id)).toEqual([44]);
  });

  test('know where the state of a follower that comes to lead stands', () => {
    prepared.told({ kind: 'following', group: 1, term: 2, leader: 3 });
    const last = { index: 140, term: 2, hash: 1 };
    prepared.told({ kind: 'entries', group: 1, entries: [], last });
    prepared.told({ kind: 'leading', group: 1, epoch: 6 });
    propose([51], { epoch: 6 });
    commit(1, 141);
    expect(sent).toEqual([[9, 51, [0, 1, 2, 0x8d, 1, 7, 8]]]);
    sent = [];
    prepared.told({ kind: 'following', group: 1, term: 3, leader: 3 });
    prepared.commanded({ kind: 'installed', group: 1, applied: { ...APPLIED, index: 9 } });
    prepared.told({ kind: 'leading', group: 1, epoch: 7 });
    propose([52], { epoch: 7 });
    commit(1, 10);
    expect(sent).toEqual([[9, 52, [0, 1, 2, 10, 7, 8]]]);
  });

  test('of a group that is gone, or was never there, are not kept', () => {
    propose([61], { group: 2 });
    prepared.told({ kind: 'committed', group: 2, count: 1, last: { index: 1, term: 1, hash: 1 } });
    propose([62]);
    prepared.commanded({ kind: 'drop', group: 1 });
    commit(1, 127);
    expect(sent).toEqual([]);
  });
});
