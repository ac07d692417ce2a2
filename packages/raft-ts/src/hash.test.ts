import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { chainEntry, chainHash, murmur3, ROOT_HASH } from './hash.js';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('hash', () => {
  test('murmur3 gives the known values', () => {
    expect(murmur3(bytes(''))).toBe(0);
    expect(murmur3(bytes('a'))).toBe(0x3c2569b2);
    expect(murmur3(bytes('abc'))).toBe(0xb3dd93fa);
    expect(murmur3(bytes('test'))).toBe(0xba6bd213);
    expect(murmur3(bytes('Hello, world!'))).toBe(0xc0363e43);
    expect(murmur3(bytes('The quick brown fox jumps over the lazy dog'))).toBe(0x2e4ff723);
  });

  test('the chain depends on everything: predecessor, place, kind, payload', () => {
    const base = chainHash(1, 2, 3, 'normal', bytes('x'), murmur3);
    expect(chainHash(1, 2, 3, 'normal', bytes('x'), murmur3)).toBe(base);
    expect(chainHash(9, 2, 3, 'normal', bytes('x'), murmur3)).not.toBe(base);
    expect(chainHash(1, 9, 3, 'normal', bytes('x'), murmur3)).not.toBe(base);
    expect(chainHash(1, 2, 9, 'normal', bytes('x'), murmur3)).not.toBe(base);
    expect(chainHash(1, 2 + 2 ** 40, 3, 'normal', bytes('x'), murmur3)).not.toBe(base);
    expect(chainHash(1, 2, 3, 'noop', bytes('x'), murmur3)).not.toBe(base);
    expect(chainHash(1, 2, 3, 'normal', bytes('y'), murmur3)).not.toBe(base);
    expect(chainHash(1, 2, 3, 'normal', bytes(''), murmur3)).not.toBe(base);
  });

  test('it is an unsigned 32-bit integer', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.maxSafeNat(), fc.uint8Array(), (index, term, payload) => {
        const { hash } = chainEntry(ROOT_HASH, index, term, 'normal', payload, murmur3);
        expect(Number.isInteger(hash) && hash >= 0 && hash < 2 ** 32).toBe(true);
      }),
    );
  });
});
