import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CodecError } from './bytes.js';
import { changeOf, decodeChange, encodeChange, MAX_CHANGE_CONTEXT_BYTES } from './change.js';
import { MAX_CHANGE_STEPS } from './membership.js';
import { membershipChange } from './testing/arbitraries.js';

describe('membership changes as bytes', () => {
  test('every change comes back as it was', () => {
    fc.assert(
      fc.property(membershipChange, (change) => expect(decodeChange(encodeChange(change))).toEqual(change)),
    );
  });

  test('any bytes give a change or a CodecError', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        try {
          decodeChange(bytes);
        } catch (error) {
          if (!(error instanceof CodecError)) throw error;
        }
      }),
      { numRuns: 1000 },
    );
  });

  test('a change that is not understood is refused, never skipped', () => {
    expect(() => decodeChange(Uint8Array.of(2, 0, 0))).toThrow('unknown version');
    expect(() => decodeChange(Uint8Array.of(1, 4, 0))).toThrow('Unknown flags');
    expect(() => decodeChange(Uint8Array.of(1, 0, 1, 9, 1))).toThrow('Unknown action');
    expect(() => decodeChange(Uint8Array.of(1, 0, 5, 1, 1))).toThrow('Fewer items');
    const many = Array.from(
      { length: MAX_CHANGE_STEPS + 1 },
      (_, at) => ({ action: 'addVoter', node: at + 1 }) as const,
    );
    expect(() => decodeChange(encodeChange(changeOf(...many)))).toThrow('Too many steps');
    const long = { ...changeOf(), context: new Uint8Array(MAX_CHANGE_CONTEXT_BYTES + 1) };
    expect(() => decodeChange(encodeChange(long))).toThrow('too long');
  });
});
