import { describe, expect, test } from '@jest/globals';
import { ErrorCode, MESSAGE_BYTES_MAX, QueryError } from './error.js';

describe('messages of errors', () => {
  test('an ordinary message stays as it is', () => {
    const message = `there is no property '${'x'.repeat(5000)}'`;
    expect(new QueryError(ErrorCode.LOOKUP, message).message).toBe(message);
  });

  test('a message of the greatest length stays as it is, whatever its characters', () => {
    for (const message of ['x'.repeat(MESSAGE_BYTES_MAX), '€'.repeat(MESSAGE_BYTES_MAX / 3)]) {
      expect(new QueryError(ErrorCode.LOOKUP, message).message).toBe(message);
    }
  });

  test.each(['x', 'é', '€', '😀'])('a longer message of %s keeps its beginning and its end', (character) => {
    const message = `no property '${character.repeat(1_000_000)}' (line 1)`;
    const short = new QueryError(ErrorCode.LOOKUP, message).message;
    expect(short.startsWith(`no property '${character}`)).toBe(true);
    expect(short.endsWith(`${character}' (line 1)`)).toBe(true);
    expect(Buffer.byteLength(short)).toBeLessThanOrEqual(MESSAGE_BYTES_MAX);
    expect(short).not.toMatch(/\p{Surrogate}/u);
  });
});
