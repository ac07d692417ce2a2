import { describe, expect, test } from '@jest/globals';
import {
  decodeAnswer,
  decodeQuestion,
  encodeAnswer,
  encodeQuestion,
  type FormationAnswer,
  type FormationQuestion,
} from './formation-messages.js';

const clusterId = Uint8Array.from({ length: 16 }, (_, at) => at * 7);
const founder = { nodeId: 281474976710655, name: 'one', host: 'one.example', port: 9220 };
const founders = [founder, { ...founder, nodeId: 5, name: 'two' }];
const state = { kind: 'promised', proposal: { round: 3, clusterId, founders } } as const;

const questions: readonly FormationQuestion[] = [
  { kind: 'hello' },
  { kind: 'promise', proposal: { round: 3, clusterId, founders } },
  { kind: 'founded', record: { clusterId, founders } },
  { kind: 'join', joiner: { ...founder, level: 3 } },
  { kind: 'invite', host: 'one.example', port: 9220 },
  { kind: 'invite', host: 'one.example', port: 9220, number: 7 },
];

const answers: readonly FormationAnswer[] = [
  { kind: 'unknown' },
  { kind: 'hello', self: founder, slots: Uint8Array.of(1, 2, 3), state },
  { kind: 'hello', self: founder, slots: Uint8Array.of(), state: { kind: 'empty' } },
  { kind: 'done' },
  { kind: 'declined', reason: 'no' },
  { kind: 'accepted', clusterId },
  { kind: 'redirect', host: '::1', port: 1 },
  { kind: 'wait', reason: 'later' },
  { kind: 'refused', reason: 'never' },
  { kind: 'removed' },
];

describe('messages', () => {
  test.each(questions)('questions come out as they went in: %j', (question) => {
    expect(decodeQuestion(encodeQuestion(question))).toEqual(question);
  });

  test.each(answers)('answers come out as they went in: %j', (answer) => {
    expect(decodeAnswer(encodeAnswer(answer))).toEqual(answer);
  });

  test('bytes that are cut off or unknown are null, whatever they are', () => {
    const all = [...questions.map(encodeQuestion), ...answers.map(encodeAnswer)];
    for (const bytes of all) {
      for (let length = 0; length < bytes.length; length++) {
        expect(() => decodeQuestion(bytes.subarray(0, length))).not.toThrow();
        expect(() => decodeAnswer(bytes.subarray(0, length))).not.toThrow();
      }
    }
    expect(decodeQuestion(Uint8Array.of())).toBeNull();
    expect(decodeQuestion(Uint8Array.of(1, 99))).toBeNull();
    expect(decodeQuestion(Uint8Array.of(2, 1))).toBeNull();
    expect(decodeAnswer(Uint8Array.of(99))).toBeNull();
    expect(decodeQuestion(Uint8Array.of(1, 2, 1, 16, ...clusterId, 255, 255, 255, 255, 127))).toBeNull();
  });
});
