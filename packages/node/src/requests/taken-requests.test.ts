import { ByteWriter } from '@althing/engine';
import { describe, expect, test } from '@jest/globals';
import { Slab } from '../base/slab.js';
import type { Command } from '../between/protocol.js';
import { OpenCall } from '../calls/calls.js';
import { decodeAnswer, type ForwardedRequest } from './forward-format.js';
import { TakenRequest, TakenRequests } from './taken-requests.js';

const MESSAGE: ForwardedRequest = {
  group: 4,
  incarnation: 1,
  sequence: 7,
  low: 1,
  rootIndex: 0,
  deadlineMs: 1000,
  user: 1,
  format: 'json',
  scope: { kind: 'collection', name: 'stuff' },
  key: null,
  name: null,
  id: null,
  undecided: false,
  wantsLogs: false,
  saltKey: null,
  readOnly: false,
  dryRun: false,
  body: new Uint8Array(0),
};

/** A request that node 2 sent, and the answers that left, by the number of the call. */
function takenBy(message: Partial<ForwardedRequest> = {}, group: number | null = 4) {
  const answers = new Map<number, unknown>();
  const send = (command: Command): void => {
    if (command.kind === 'return') answers.set(command.id, decodeAnswer(command.payload.subarray(1)));
  };
  const slab = new Slab();
  const call = (id: number): OpenCall => new OpenCall({ send }, slab, 2, id);
  const taken = new TakenRequest(2, { ...MESSAGE, ...message }, group, 100, call(1), new ByteWriter());
  return { taken, answers, call };
}

const REPLY = { ok: true, result: '5', index: 3, outcome: 'made' } as const;

describe('a request of another node', () => {
  test('and each copy of it that came meanwhile get the same answer', () => {
    const { taken, answers, call } = takenBy();
    taken.join(call(2));
    taken.join(call(3));
    taken.end({ kind: 'reply', reply: REPLY }, new ByteWriter());
    expect([...answers]).toEqual([1, 2, 3].map((id) => [id, { kind: 'reply', reply: REPLY }]));
  });

  test('a request that was answered along with its change is not answered again, but its copies are', () => {
    const { taken, answers, call } = takenBy();
    taken.join(call(2));
    expect(taken.prepare('5')).toMatchObject({ to: 2, id: 1 });
    taken.noteAnswered();
    taken.end({ kind: 'reply', reply: REPLY }, new ByteWriter());
    expect([...answers.keys()]).toEqual([2]);
  });

  test('has no answer along with its change where that is long', () => {
    expect(takenBy().taken.prepare('x'.repeat(4097))).toBeNull();
    expect(takenBy().taken.prepare('x'.repeat(4096))).not.toBeNull();
  });

  test.each([
    ['none', 'whose sender made no attempt before', {}, 4],
    ['others', 'whose sender made an attempt before', { undecided: true }, 4],
    ['none', 'to this node itself', { undecided: true }, null],
  ])('begins with the doubt "%s": %s', (doubt, _title, message, group) => {
    expect(takenBy(message, group).taken.doubt).toBe(doubt);
  });
});

test('requests are told apart by node, start and group, and empty tables make room', () => {
  const requests = new TakenRequests();
  const { taken } = takenBy();
  requests.of(2, 1, 4).set(7, taken);
  expect(requests.of(2, 1, 4).get(7)).toBe(taken);
  for (const [from, incarnation, group] of [
    [3, 1, 4],
    [2, 2, 4],
    [2, 1, 5],
  ] as const) {
    expect(requests.of(from, incarnation, group).get(7)).toBeUndefined();
  }
  for (let group = 0; group < 5000; group++) requests.of(9, 9, group);
  expect(requests.of(2, 1, 4).get(7)).toBe(taken);
});
