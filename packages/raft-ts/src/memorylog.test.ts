import { describe, expect, test } from '@jest/globals';
import { chainEntry, murmur3 } from './hash.js';
import { NO_MEMBERS } from './membership.js';
import { MemoryLog } from './memorylog.js';
import type { Entry } from './types.js';

function entries(from: number, count: number, term: number): Entry[] {
  return Array.from({ length: count }, (_, at) =>
    chainEntry(0, from + at, term, 'normal', new Uint8Array(10), murmur3),
  );
}

describe('log in memory', () => {
  test('appends, overwrites, compacts, and reads within bounds', () => {
    const log = new MemoryLog();
    log.append([]);
    log.append(entries(1, 5, 1));
    log.append(entries(4, 1, 2));
    expect([log.firstIndex(), log.lastIndex(), log.term(4), log.term(3)]).toEqual([1, 4, 2, 1]);
    expect(log.entries(1, 5, 90).length).toBe(2);
    expect(log.entries(1, 5, 1).length).toBe(1);
    expect(log.entries(2, 2, 1)).toEqual([]);
    log.compact(2);
    log.compact(1);
    expect([log.firstIndex(), log.term(2), log.hash(2)]).toEqual([3, 1, entries(2, 1, 1)[0]!.hash]);
    expect(() => log.entries(2, 3, 1)).toThrow('beyond the log');
    expect(() => log.term(1)).toThrow('beyond the log');
    expect(() => log.append(entries(6, 1, 2))).toThrow('Gap');
    expect(() => log.cutFrom(2)).toThrow('before the first entry');
  });

  test('a snapshot replaces everything; a copy is independent', () => {
    const log = new MemoryLog();
    log.append(entries(1, 3, 1));
    const copy = log.clone();
    const snapshot = { index: 9, term: 4, hash: 5, membership: NO_MEMBERS };
    log.reset(snapshot);
    expect([log.firstIndex(), log.lastIndex(), log.term(9), log.hash(9), log.snapshot()]).toEqual([
      10,
      9,
      4,
      5,
      snapshot,
    ]);
    expect([copy.lastIndex(), copy.snapshot()]).toEqual([3, null]);
  });
});
