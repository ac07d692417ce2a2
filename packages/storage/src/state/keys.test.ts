import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  ALL_CLEARINGS,
  ALL_GROUPS,
  ALL_JOURNAL,
  ALL_RECORDS,
  batchOfJournalKey,
  clearingKey,
  generationOfClearingKey,
  groupKey,
  groupOfKey,
  journalKey,
  nameOfRecord,
  nameRecord,
  ownerOfRecord,
  recordKeyBuffer,
  recordRange,
  storeKey,
} from './keys.js';

const u53 = fc.oneof(
  fc.maxSafeNat(),
  fc.nat(3),
  fc.constantFrom(255, 256, 2 ** 32 - 1, 2 ** 32, Number.MAX_SAFE_INTEGER),
);
const u32 = fc.oneof(fc.nat(3), fc.integer({ min: 0, max: 0xffffffff }), fc.constant(0xffffffff));
const byte = fc.nat(255);
const record = fc.record({ group: u53, generation: u32, kind: byte, id: u53, part: u32 });
type Parts = { group: number; generation: number; kind: number; id: number; part: number };

function recordKey({ group, generation, kind, id, part }: Parts): Buffer {
  const key = recordKeyBuffer(group, generation);
  nameRecord(key, kind, id, part);
  return key;
}

function isIn(key: Buffer, { from, to }: { from: Uint8Array; to: Uint8Array }): boolean {
  return Buffer.compare(key, from) >= 0 && Buffer.compare(key, to) < 0;
}

describe('keys of the state', () => {
  test('give back what they were made of', () => {
    fc.assert(
      fc.property(record, (parts) => {
        const key = recordKey(parts);
        expect(nameOfRecord(key)).toEqual({ kind: parts.kind, id: parts.id, part: parts.part });
        expect(ownerOfRecord(key)).toEqual({ group: parts.group, generation: parts.generation });
        expect(groupOfKey(groupKey(parts.group))).toBe(parts.group);
        expect(generationOfClearingKey(clearingKey(parts.generation))).toBe(parts.generation);
        expect(batchOfJournalKey(journalKey(parts.id))).toBe(parts.id);
      }),
    );
  });

  test('order as their parts do, and no two names share one', () => {
    const inOrder = ({ group, generation, kind, id, part }: Parts): number[] => [
      group,
      generation,
      kind,
      id,
      part,
    ];
    fc.assert(
      fc.property(record, record, (a, b) => {
        const byParts = inOrder(a).map((value, at) => Math.sign(value - inOrder(b)[at]!));
        const expected = byParts.find((sign) => sign !== 0) ?? 0;
        expect(Buffer.compare(recordKey(a), recordKey(b))).toBe(expected);
      }),
    );
  });

  test('ranges hold exactly their own records', () => {
    fc.assert(
      fc.property(record, record, (a, b) => {
        const isSameOwner = a.group === b.group && a.generation === b.generation;
        expect(isIn(recordKey(b), recordRange(a.group, a.generation))).toBe(isSameOwner);
        const isSameKind = isSameOwner && a.kind === b.kind;
        expect(isIn(recordKey(b), recordRange(a.group, a.generation, a.kind))).toBe(isSameKind);
        const last = Math.min(a.kind + 2, 0xff);
        const isAmong = isSameOwner && b.kind >= a.kind && b.kind <= last;
        expect(isIn(recordKey(b), recordRange(a.group, a.generation, a.kind, last))).toBe(isAmong);
      }),
    );
  });

  test('every key lies in the range of its own sort alone', () => {
    const ranges = [ALL_GROUPS, ALL_CLEARINGS, ALL_JOURNAL, ALL_RECORDS];
    fc.assert(
      fc.property(record, (parts) => {
        const keys = [
          groupKey(parts.group),
          clearingKey(parts.generation),
          journalKey(parts.id),
          recordKey(parts),
        ];
        for (const [at, key] of keys.entries()) {
          expect(ranges.map((range) => isIn(key, range))).toEqual(ranges.map((_, other) => other === at));
        }
        for (const name of ['format', 'identity'] as const) {
          expect(ranges.some((range) => isIn(storeKey(name), range))).toBe(false);
        }
      }),
    );
  });
});
