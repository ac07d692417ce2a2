import { describe, expect, test } from '@jest/globals';
import { problemOf, type TermHeaders, termsOf } from './terms.js';

const none: TermHeaders = { consistency: null, minIndex: null, key: null };

describe('headers with terms', () => {
  test.each([
    [{ consistency: 'stale' }],
    [{ consistency: 'linearizable' }],
    [{ minIndex: '0' }],
    [{ minIndex: '9007199254740991' }],
    [{ key: 'k' }],
    [{ key: 'ü'.repeat(127) }],
  ])('%j is fine', (headers) => {
    expect(problemOf({ ...none, ...headers })).toBeNull();
  });

  test.each([
    [{ consistency: 'eventual' }, 'Consistency'],
    [{ consistency: '' }, 'Consistency'],
    [{ minIndex: '' }, 'Althing-Min-Index'],
    [{ minIndex: '-1' }, 'Althing-Min-Index'],
    [{ minIndex: '1e3' }, 'Althing-Min-Index'],
    [{ minIndex: '9007199254740993' }, 'Althing-Min-Index'],
    [{ key: '' }, 'Idempotency-Key'],
    [{ key: 'ü'.repeat(128) }, 'Idempotency-Key'],
  ])('%j is refused', (headers, name) => {
    expect(problemOf({ ...none, ...headers })).toContain(name);
  });

  test('become terms', () => {
    expect(termsOf({ ...none, consistency: 'stale', minIndex: '12' }, Buffer.from('x'), 'json')).toEqual({
      stale: true,
      minIndex: 12,
      key: null,
    });
  });

  test('a key goes with its body and its format', () => {
    const of = (body: string, format: 'json' | 'msgpack') =>
      Buffer.from(
        termsOf({ ...none, key: 'k' }, Buffer.from(body), format).key?.body ?? new Uint8Array(0),
      ).toString('hex');
    expect(of('a', 'json')).toMatch(/^[0-9a-f]{32}$/);
    expect(of('a', 'json')).toBe(of('a', 'json'));
    expect(new Set([of('a', 'json'), of('b', 'json'), of('a', 'msgpack')]).size).toBe(3);
  });
});
