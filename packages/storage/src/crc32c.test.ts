import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { crc32c, crc32cHere } from './crc32c.js';
import { nativeCrc32c } from './native-crc32c.js';

describe('crc32c', () => {
  test('gives the check values of RFC 3720', () => {
    expect(crc32c(Buffer.from('123456789'))).toBe(0xe3069283);
    expect(crc32c(new Uint8Array(32))).toBe(0x8a9136aa);
    expect(crc32c(new Uint8Array(32).fill(0xff))).toBe(0x62a8ab43);
    expect(crc32c(Uint8Array.from({ length: 32 }, (_, i) => i))).toBe(0x46dd794e);
    expect(crc32c(new Uint8Array(0))).toBe(0);
  });

  test('can be continued at any byte', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), fc.nat(100), (bytes, cut) => {
        const middle = Math.min(cut, bytes.length);
        const first = crc32c(bytes, 0, middle);
        expect(crc32c(bytes, middle, bytes.length, first)).toBe(crc32c(bytes));
      }),
    );
  });

  test('is the same bit by bit, from any byte on and of any length', () => {
    const bytes = Buffer.alloc(2000);
    for (let i = 0; i < bytes.length; i++) bytes[i] = i * i + (i >> 3);
    for (let start = 0; start < 9; start++) {
      for (const length of [0, 1, 7, 8, 9, 31, 511, 512, 513, 519, 1024, 1541, 1991]) {
        const part = bytes.subarray(start, start + length);
        const expected = bitByBit(part, 0xf1234567);
        expect(crc32c(bytes, start, start + length, 0xf1234567)).toBe(expected);
        expect(crc32cHere(bytes, start, start + length, 0xf1234567)).toBe(expected);
        if (length > 0) expect(nativeCrc32c?.(part, 0xf1234567) ?? expected).toBe(expected);
        expect(crc32c(new Uint8Array(part), 0, length, 0xf1234567)).toBe(expected);
      }
    }
  });

  test('notices every single flipped bit', () => {
    const bytes = Buffer.from('a record of some forty bytes, more or less');
    const good = crc32c(bytes);
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const flipped = Buffer.from(bytes);
      flipped[bit >> 3]! ^= 1 << (bit & 7);
      expect(crc32c(flipped)).not.toBe(good);
    }
  });
});

function bitByBit(bytes: Uint8Array, seed: number): number {
  let crc = ~seed;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  }
  return ~crc >>> 0;
}
