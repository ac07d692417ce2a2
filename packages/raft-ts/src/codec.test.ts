import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ByteReader, ByteWriter, CodecError } from './bytes.js';
import {
  decodeMessage,
  encodeMessage,
  readMembership,
  readMessage,
  writeMembership,
  writeMessage,
} from './codec.js';
import { chainEntry, murmur3 } from './hash.js';
import type { Message } from './messages.js';
import { anyMembership, message } from './testing/arbitraries.js';

describe('codec', () => {
  test('every message comes back as it was', () => {
    fc.assert(
      fc.property(message, (each) => {
        expect(decodeMessage(encodeMessage(each))).toEqual(each);
      }),
      { numRuns: 500 },
    );
  });

  test('messages stand one behind the other in a frame', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 5 }), (messages) => {
        const writer = new ByteWriter();
        for (const each of messages) writeMessage(writer, each);
        const reader = new ByteReader(writer.finish());
        for (const each of messages) expect(readMessage(reader)).toEqual(each);
        expect(reader.remaining).toBe(0);
      }),
    );
  });

  test('any bytes give a message or a CodecError, with and without a message to begin with', () => {
    const mutated = fc
      .tuple(message, fc.nat(), fc.nat({ max: 255 }), fc.nat())
      .map(([each, at, byte, cut]) => {
        const bytes = encodeMessage(each).slice();
        bytes[at % bytes.length] = byte;
        return cut % 3 === 0 ? bytes.subarray(0, cut % (bytes.length + 1)) : bytes;
      });
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 200 }), mutated), (bytes) => {
        try {
          const decoded = decodeMessage(bytes);
          // A message that was understood can be written again.
          expect(decodeMessage(encodeMessage(decoded))).toEqual(decoded);
        } catch (error) {
          if (!(error instanceof CodecError)) throw error;
        }
      }),
      { numRuns: 2000 },
    );
  });

  test('fields that a newer version appends are skipped, in the message and in its entries', () => {
    const entry = chainEntry(0, 8, 3, 'normal', Uint8Array.of(1, 2, 3), murmur3);
    const append: Message = {
      kind: 'append',
      from: 1,
      to: 2,
      term: 3,
      prevIndex: 7,
      prevTerm: 2,
      prevHash: 5,
      commit: 6,
      entries: [entry],
      notice: false,
    };
    const bytes = encodeMessage(append);
    // kind, length, from, to, term, prevIndex, prevTerm, 4 bytes of hash, commit, count, and then the entry's
    // length.
    const entryLengthAt = 13;
    expect(bytes[entryLengthAt]).toBe(bytes.length - entryLengthAt - 1);
    const longer = Uint8Array.from([...bytes, 0xaa, 0xbb, 0xcc]);
    longer[entryLengthAt] = longer[entryLengthAt]! + 2;
    longer[1] = longer[1]! + 3;
    expect(decodeMessage(longer)).toEqual(append);
  });

  test('unknown kinds and trailing bytes are errors', () => {
    const wake = encodeMessage({ kind: 'wake', from: 1, to: 2, term: 3 });
    const codeOf = (bytes: Uint8Array): string => {
      try {
        decodeMessage(bytes);
        return 'fine';
      } catch (error) {
        return error instanceof CodecError ? error.code : String(error);
      }
    };
    expect(codeOf(wake)).toBe('fine');
    expect(codeOf(Uint8Array.from([...wake, 0]))).toBe('trailing');
    expect(codeOf(Uint8Array.from([99, 0]))).toBe('unknown_kind');
    const entry = chainEntry(0, 1, 3, 'noop', new Uint8Array(0), murmur3);
    const fields = { from: 1, to: 2, term: 3, prevIndex: 0, prevTerm: 0, prevHash: 0, commit: 0 };
    const append = encodeMessage({ kind: 'append', ...fields, entries: [entry], notice: false });
    append[14] = 77;
    expect(codeOf(append)).toBe('unknown_kind');
  });

  test('a lying count fails at once: nothing is allocated for what is not there', () => {
    // An append that promises 2^48 entries in a few bytes.
    const writer = new ByteWriter();
    for (const value of [1, 2, 3, 0, 0]) writer.varint(value);
    writer.u32(0);
    writer.varint(0);
    writer.varint(2 ** 48);
    const frame = new ByteWriter();
    frame.u8(5);
    frame.bytes(writer.finish());
    expect(() => decodeMessage(frame.finish())).toThrow(CodecError);
  });

  test('heartbeats are tiny', () => {
    const heartbeat: Message = { kind: 'heartbeat', from: 1, to: 2, term: 9, commit: 100_000, round: 0 };
    expect(encodeMessage(heartbeat).byteLength).toBeLessThanOrEqual(9);
    const response: Message = { kind: 'heartbeatResponse', from: 2, to: 1, term: 9, round: 0 };
    expect(encodeMessage(response).byteLength).toBeLessThanOrEqual(6);
  });

  test('memberships come back as they were', () => {
    fc.assert(
      fc.property(anyMembership, (membership) => {
        const writer = new ByteWriter();
        writeMembership(writer, membership);
        expect(readMembership(new ByteReader(writer.finish()))).toEqual(membership);
      }),
    );
  });
});
