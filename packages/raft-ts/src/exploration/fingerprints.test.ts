import { describe, expect, test } from '@jest/globals';
import { addFingerprint, Ints, PairTable } from './fingerprints.js';

const SAME = Uint8Array.of(0, 1, 2, 3);
const TURNED = Uint8Array.of(0, 2, 3, 1);

function fingerprintOf(texts: readonly string[], names: Uint8Array): number[] {
  const sums = new Int32Array(2);
  for (const text of texts) addFingerprint(text, names, sums, 0);
  return [...sums];
}

describe('fingerprints', () => {
  test('do not depend on the order of facts, but on each of them', () => {
    const both = fingerprintOf(['a 1', 'b 2'], SAME);
    expect(fingerprintOf(['b 2', 'a 1'], SAME)).toEqual(both);
    expect(fingerprintOf(['a 2', 'b 1'], SAME)).not.toEqual(both);
    expect(fingerprintOf(['a 1'], SAME)).not.toEqual(both);
  });

  test('rename nodes, and nothing else', () => {
    expect(fingerprintOf(['@1 votes for @3 in 1'], TURNED)).toEqual(
      fingerprintOf(['@2 votes for @1 in 1'], SAME),
    );
    expect(fingerprintOf(['@1'], SAME)).not.toEqual(fingerprintOf(['1'], SAME));
  });
});

describe('a table of pairs', () => {
  test('numbers them in the order in which they came, however many', () => {
    const table = new PairTable();
    for (let at = 0; at < 20_000; at += 1) expect(table.add(at % 7, at)).toBe(at);
    for (let at = 0; at < 20_000; at += 1) expect(table.add(at % 7, at)).toBe(at);
    expect(table.count).toBe(20_000);
    expect(table.pair(15)).toEqual([1, 15]);
  });
});

describe('a list of integers', () => {
  test('grows', () => {
    const ints = new Ints();
    for (let at = 0; at < 3000; at += 1) ints.push(-at);
    expect(ints.extend(5000)).toBe(3000);
    expect([ints.length, ints.values[2999], ints.values[7999]]).toEqual([8000, -2999, 0]);
    ints.clear();
    expect(ints.length).toBe(0);
  });
});
