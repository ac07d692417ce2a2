import { describe, expect, test } from '@jest/globals';
import type { Message } from './messages.js';
import type { HardState } from './types.js';
import { WritesInFlight } from './writes.js';

const hard = (term: number, vote = 0, commit = 0): HardState => ({ term, vote, commit });

const wake = (to: number): Message => ({ kind: 'wake', from: 1, to, term: 1 });

describe('writes in flight', () => {
  test('an acknowledgement completes every write up to it, and releases what waited for them', () => {
    const writes = new WritesInFlight();
    const first = writes.add(1, 5, hard(1, 2, 3), [wake(2)], 0);
    const second = writes.add(1, 7, hard(1, 2, 4), [wake(3)], 1);
    writes.add(2, 8, hard(2), [], 2);
    expect(writes.oldestTick(9)).toBe(0);
    expect(writes.complete({ sequence: second, term: 1 })).toEqual({
      lastIndex: 7,
      hardTerm: 1,
      hardVote: 2,
      hardCommit: 4,
      messages: [wake(2), wake(3)],
    });
    expect([writes.count, writes.oldestTick(9)]).toEqual([1, 2]);
    expect(() => writes.complete({ sequence: first, term: 1 })).toThrow('not in flight');
  });

  test('a write does not attest entries that were overwritten since', () => {
    const writes = new WritesInFlight();
    const first = writes.add(1, 6, hard(1), [], 0);
    writes.cutFrom(4);
    const second = writes.add(2, 5, hard(2), [], 0);
    expect(writes.complete({ sequence: first, term: 1 }).lastIndex).toBe(3);
    expect(writes.complete({ sequence: second, term: 2 }).lastIndex).toBe(5);
  });

  test('an acknowledgement with the wrong term is a mistake of the host', () => {
    const writes = new WritesInFlight();
    const sequence = writes.add(3, 6, hard(3), [], 0);
    expect(() => writes.complete({ sequence, term: 2 })).toThrow('another term (2, 3)');
    expect(() => writes.add(1, 1, hard(2), [], 0)).toThrow('from the future');
  });

  test('late messages wait for the youngest write, if there is one', () => {
    const writes = new WritesInFlight();
    expect(writes.attach([wake(2)])).toBe(false);
    const sequence = writes.add(1, 1, hard(1), [], 0);
    expect(writes.attach([wake(2)])).toBe(true);
    expect(writes.complete({ sequence, term: 1 }).messages).toEqual([wake(2)]);
    expect(writes.oldestTick(9)).toBe(9);
  });
});
