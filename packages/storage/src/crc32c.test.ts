import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { crc32c } from './crc32c.js';

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
