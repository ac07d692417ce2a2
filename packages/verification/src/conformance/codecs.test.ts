/**
 * Two codecs of MessagePack know each other: the engine's own, which charges memory while it reads, and msgpackr, which tools
 * and clients speak. What one writes the other reads as the same value, and both write the same bytes.
 */

import { decodeMessagePack, encodeMessagePack, WireError, type WireValue } from '@althing/client';
import { MsgpackReader, MsgpackWriter, pack, QueryError, ShapeTree } from '@althing/engine';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { unpack } from 'msgpackr';

const NESTING_MAX = 100;
const OPTIONS = { deep: NESTING_MAX, ids: false, store: null, sizeMax: 1e7, nestingMax: NESTING_MAX };

/** The bytes that the engine writes when it reads these. */
function throughEngine(bytes: Uint8Array): Buffer {
  const sink = new MsgpackWriter();
  pack(new MsgpackReader(bytes, new ShapeTree(), NESTING_MAX).value(), sink, OPTIONS);
  return Buffer.from(sink.out.take());
}

/** A key that a thing may have; the engine keeps the few others for itself. */
const key = fc.string({ unit: 'grapheme', maxLength: 300 }).filter((text) => !/^[ -/]$/.test(text));

const { value } = fc.letrec<{ value: WireValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.constant(null),
    fc.boolean(),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.integer({ min: -70_000, max: 70_000 }).map(BigInt),
    // The language has no negative zero.
    fc.double().map((float) => float + 0),
    fc.integer(),
    fc.string({ unit: 'grapheme', maxLength: 300 }),
    fc.uint8Array({ maxLength: 300 }),
    fc.array(tie('value'), { maxLength: 40 }),
    fc.array(fc.tuple(key, tie('value')), { maxLength: 40 }).map((entries) => new Map(entries)),
  ),
}));

describe('MessagePack of the engine and of msgpackr', () => {
  test('one reads what the other wrote, and writes the same bytes', () => {
    fc.assert(
      fc.property(value, (any) => {
        const written = encodeMessagePack(any);
        const answered = throughEngine(written);
        expect(answered.toString('hex')).toBe(written.toString('hex'));
        expect(decodeMessagePack(answered)).toEqual(any);
      }),
      { numRuns: 300 },
    );
  });

  test('a whole float stays one, and an int an int, whatever their size', () => {
    const whole = fc.oneof(
      fc.integer(),
      fc.maxSafeInteger(),
      fc.constantFrom(0, 2 ** 31, 2 ** 32, 2 ** 53, 1e300),
    );
    fc.assert(
      fc.property(whole, (number) => {
        expect(decodeMessagePack(throughEngine(encodeMessagePack(number)))).toBe(number);
        if (Math.abs(number) > Number.MAX_SAFE_INTEGER) return;
        expect(decodeMessagePack(throughEngine(encodeMessagePack(BigInt(number))))).toBe(BigInt(number));
      }),
    );
  });

  test('msgpackr as it comes reads what the engine writes', () => {
    const plain = fc.oneof(fc.string(), fc.integer(), fc.boolean());
    fc.assert(
      fc.property(fc.array(plain), (list) => {
        const wire = list.map((each) => (typeof each === 'number' ? BigInt(each) : each));
        expect(unpack(throughEngine(encodeMessagePack(wire)))).toEqual(list);
      }),
    );
  });

  test('bytes that are cut off are refused by both', () => {
    fc.assert(
      fc.property(value, fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (any, share) => {
        const written = encodeMessagePack(any);
        const cut = written.subarray(0, Math.floor(written.length * share));
        expect(() => decodeMessagePack(cut)).toThrow(WireError);
        expect(() => throughEngine(cut)).toThrow(QueryError);
      }),
    );
  });
});
