import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ByteReader, ByteWriter, CodecError } from './bytes.js';

describe('bytes', () => {
  test('numbers and byte strings come back as they were written', () => {
    const pieces = fc.oneof(
      fc.record({ kind: fc.constant('u8' as const), value: fc.integer({ min: 0, max: 255 }) }),
      fc.record({ kind: fc.constant('u32' as const), value: fc.integer({ min: 0, max: 2 ** 32 - 1 }) }),
      fc.record({ kind: fc.constant('varint' as const), value: fc.maxSafeNat() }),
      fc.record({ kind: fc.constant('bytes' as const), value: fc.uint8Array({ maxLength: 300 }) }),
    );
    fc.assert(
      fc.property(fc.array(pieces), (list) => {
        const writer = new ByteWriter(1);
        for (const piece of list) {
          if (piece.kind === 'bytes') writer.bytes(piece.value);
          else writer[piece.kind](piece.value);
        }
        expect(writer.finish().byteLength).toBe(writer.length);
        const reader = new ByteReader(writer.finish());
        for (const piece of list) expect(reader[piece.kind]()).toEqual(piece.value);
        expect(reader.remaining).toBe(0);
      }),
    );
  });

  test('a number takes the bytes that it needs', () => {
    for (const [value, size] of [
      [0, 1],
      [127, 1],
      [128, 2],
      [2 ** 32, 5],
      [Number.MAX_SAFE_INTEGER, 8],
    ] as const) {
      const writer = new ByteWriter();
      writer.varint(value);
      expect(writer.length).toBe(size);
    }
  });

  test('bytes that end too early, or are too large, are an error with a place', () => {
    const codeOf = (bytes: number[], read: (reader: ByteReader) => unknown): string => {
      try {
        read(new ByteReader(Uint8Array.from(bytes)));
        return 'fine';
      } catch (error) {
        expect(error).toBeInstanceOf(CodecError);
        return error instanceof CodecError ? `${error.code}@${error.offset}` : '';
      }
    };
    expect(codeOf([], (reader) => reader.u8())).toBe('truncated@0');
    expect(codeOf([1, 2, 3], (reader) => reader.u32())).toBe('truncated@0');
    expect(codeOf([0x80], (reader) => reader.varint())).toBe('truncated@1');
    expect(codeOf(Array(9).fill(0xff), (reader) => reader.varint())).toBe('overflow@8');
    expect(codeOf([...Array(7).fill(0xff), 0x7f], (reader) => reader.varint())).toBe('overflow@8');
    expect(codeOf([5, 1], (reader) => reader.bytes())).toBe('truncated@1');
    expect(codeOf([5, 1], (reader) => reader.section())).toBe('truncated@1');
    expect(codeOf([9, 1], (reader) => reader.count(1))).toBe('truncated@1');
    expect(codeOf([1], (reader) => reader.fail('invalid', 'Wrong'))).toBe('invalid@0');
  });

  test('a section ends where its length says, and the rest goes on behind it', () => {
    const reader = new ByteReader(Uint8Array.from([2, 7, 8, 9]));
    const section = reader.section();
    expect(section.u8()).toBe(7);
    expect([...section.rest()]).toEqual([8]);
    expect(section.remaining).toBe(0);
    expect(reader.offset).toBe(3);
    expect(reader.u8()).toBe(9);
  });
});
