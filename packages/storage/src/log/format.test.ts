import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  chainHash,
  decodeRecord,
  decodeSegmentHeader,
  encodeRecord,
  encodeSegmentHeader,
  encodeVote,
  FLAG_LAST_OF_BATCH,
  FLAG_RELOCATED,
  payloadOf,
  previousHashOf,
  recordBytes,
  saltOf,
  sealRecord,
  voteOf,
} from './format.js';

const u53 = fc.maxSafeNat();
const u32 = fc.integer({ min: 0, max: 0xffffffff });
const hash = fc
  .uint8Array({ minLength: 16, maxLength: 16 })
  .map((bytes) => Buffer.from(bytes).toString('latin1'));
const record = fc.record({
  sequence: u53,
  group: u53,
  kind: fc.integer({ min: 1, max: 5 }),
  type: fc.nat(255),
  index: u53,
  term: u53,
  previousHash: hash,
  payload: fc.uint8Array({ maxLength: 50 }),
  ordinal: fc.nat(1000),
  isLastOfBatch: fc.boolean(),
  isRelocated: fc.boolean(),
  previousCrc: u32,
  salt: u32,
});

describe('segment headers', () => {
  const header = fc.record({
    number: u53,
    bytes: u53,
    firstSequence: u53,
    previousEnd: u53,
    previousCrc: u32,
    storeId: fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => Buffer.from(bytes)),
  });

  test('come back, and no flipped bit passes', () => {
    fc.assert(
      fc.property(header, fc.nat(512 * 8 - 1), (one, bit) => {
        const bytes = encodeSegmentHeader(one);
        expect(decodeSegmentHeader(bytes)).toEqual({ format: 1, header: one });
        expect(saltOf(bytes)).toBe(bytes.readUInt32LE(8));
        bytes[bit >> 3]! ^= 1 << (bit & 7);
        expect(decodeSegmentHeader(bytes)).toBeUndefined();
      }),
    );
  });
});

describe('records', () => {
  test('come back from any place, and no flipped bit passes', () => {
    fc.assert(
      fc.property(record, fc.nat(20), fc.nat(), (one, at, flip) => {
        const {
          sequence,
          group,
          kind,
          type,
          index,
          term,
          previousHash,
          payload,
          ordinal,
          previousCrc,
          salt,
        } = one;
        const bytes = Buffer.alloc(200, 0xee);
        encodeRecord(bytes, at, sequence, group, kind, type, index, term, previousHash, payload);
        const before = chainHash(bytes, at);
        const flags = (one.isLastOfBatch ? FLAG_LAST_OF_BATCH : 0) | (one.isRelocated ? FLAG_RELOCATED : 0);
        const crc = sealRecord(bytes, at, ordinal | flags, previousCrc, salt);
        const { isLastOfBatch, isRelocated } = one;
        const length = 72 + payload.length;
        const expected = {
          sequence,
          group,
          kind,
          type,
          index,
          term,
          ordinal,
          isLastOfBatch,
          isRelocated,
          previousCrc,
        };
        expect(decodeRecord(bytes, at, 200, salt)).toEqual({ position: at, length, crc, ...expected });
        expect(payloadOf(bytes, at)).toEqual(Buffer.from(payload));
        expect(previousHashOf(bytes, at)).toBe(previousHash);
        expect(chainHash(bytes, at)).toBe(before);
        expect(recordBytes(payload.length) % 8).toBe(0);
        const bit = flip % (length * 8);
        bytes[at + (bit >> 3)]! ^= 1 << (bit & 7);
        expect(decodeRecord(bytes, at, 200, salt)).toBeUndefined();
      }),
    );
  });

  test('of any bytes are none, and of another segment neither', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 200 }), fc.nat(220), u32, (array, at, salt) => {
        expect(decodeRecord(Buffer.from(array), at, array.length, salt)).toBeUndefined();
      }),
    );
    const bytes = Buffer.alloc(80);
    encodeRecord(bytes, 0, 1, 1, 2, 0, 3, 4, '\0'.repeat(16), encodeVote(9));
    sealRecord(bytes, 0, 0, 0, 77);
    expect(decodeRecord(bytes, 0, 80, 77)).toBeDefined();
    expect(voteOf(bytes, 0)).toBe(9);
    expect(decodeRecord(bytes, 0, 80, 78)).toBeUndefined();
  });
});
