import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  beforePayload,
  CHAIN_ROOT,
  decodeRecord,
  decodeSegmentHeader,
  encodeRecord,
  encodeSegmentHeader,
  encodeVote,
  FLAG_LAST_OF_BATCH,
  FLAG_RELOCATED,
  linkOf,
  paddedBytes,
  payloadOf,
  previousOf,
  saltOf,
  sealRecord,
  voteOf,
} from './format.js';

const u53 = fc.maxSafeNat();
const u32 = fc.integer({ min: 0, max: 0xffffffff });
const format = fc.integer({ min: 1, max: 2 });
const digest = fc
  .uint8Array({ minLength: 16, maxLength: 16 })
  .map((bytes) => Buffer.from(bytes).toString('latin1'));
const record = fc.record({
  format,
  sequence: u53,
  group: u53,
  kind: fc.integer({ min: 1, max: 5 }),
  type: fc.nat(255),
  index: u53,
  term: u53,
  previousDigest: digest,
  previousHash: u32,
  hash: u32,
  payload: fc.uint8Array({ maxLength: 50 }),
  ordinal: fc.nat(1000),
  isLastOfBatch: fc.boolean(),
  isRelocated: fc.boolean(),
  previousCrc: u32,
  salt: u32,
});

describe('segment headers', () => {
  const header = fc.record({
    format,
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
        expect(decodeSegmentHeader(bytes)).toEqual({ format: one.format, header: one });
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
        const { format, sequence, group, kind, type, index, term, payload, ordinal, previousCrc, salt } = one;
        const { isLastOfBatch, isRelocated, previousHash, hash } = one;
        const previous = { hash: previousHash, digest: format === 1 ? one.previousDigest : undefined };
        const bytes = Buffer.alloc(240, 0xee);
        const written = encodeRecord(
          bytes,
          at,
          format,
          sequence,
          group,
          kind,
          type,
          index,
          term,
          previous,
          hash,
          payload,
        );
        const isEntry = kind === 1;
        const link = isEntry ? linkOf(bytes, at, format) : undefined;
        const flags = (isLastOfBatch ? FLAG_LAST_OF_BATCH : 0) | (isRelocated ? FLAG_RELOCATED : 0);
        const crc = sealRecord(bytes, at, ordinal | flags, previousCrc, salt);
        const length = beforePayload(format, kind) + payload.length;
        expect(written).toBe(paddedBytes(length));
        const decoded = decodeRecord(bytes, at, 240, salt, format)!;
        expect(decoded).toEqual({
          position: at,
          format,
          length,
          crc,
          sequence,
          ordinal,
          isLastOfBatch,
          isRelocated,
          previousCrc,
          group,
          kind,
          // In format 2 only entries have one.
          type: isEntry || format === 1 ? type : 0,
          index,
          term,
        });
        expect(payloadOf(bytes, decoded)).toEqual(Buffer.from(payload));
        // A compaction of format 1 does not hold the hash.
        expect(previousOf(bytes, decoded)).toEqual(
          isEntry || format === 2 ? previous : { ...previous, hash: undefined },
        );
        if (isEntry) {
          expect(linkOf(bytes, at, format)).toEqual(link);
          expect(link?.hash).toBe(hash);
          expect(link?.digest?.length).toBe(format === 1 ? 16 : undefined);
        }
        const bit = flip % (length * 8);
        bytes[at + (bit >> 3)]! ^= 1 << (bit & 7);
        expect(decodeRecord(bytes, at, 240, salt, format)).toBeUndefined();
      }),
    );
  });

  test('records of any bytes are none, and of another segment neither', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1, maxLength: 200 }),
        fc.nat(220),
        u32,
        format,
        (array, at, salt, of) => {
          expect(decodeRecord(Buffer.from(array), at, array.length, salt, of)).toBeUndefined();
        },
      ),
    );
    for (const of of [1, 2]) {
      const bytes = Buffer.alloc(80);
      encodeRecord(bytes, 0, of, 1, 1, 2, 0, 3, 4, CHAIN_ROOT, 0, encodeVote(9));
      sealRecord(bytes, 0, 0, 0, 77);
      expect(voteOf(bytes, decodeRecord(bytes, 0, 80, 77, of)!)).toBe(9);
      expect(decodeRecord(bytes, 0, 80, 78, of)).toBeUndefined();
    }
  });

  test('records of a base whose hash is not known say so', () => {
    const bytes = Buffer.alloc(80);
    encodeRecord(bytes, 0, 2, 1, 1, 3, 0, 3, 4, { hash: undefined, digest: 'x' }, 0, Buffer.alloc(0));
    sealRecord(bytes, 0, 0, 0, 0);
    const record = decodeRecord(bytes, 0, 80, 0, 2)!;
    expect(previousOf(bytes, record)).toEqual({ hash: undefined, digest: undefined });
  });
});
