import { describe, expect, test } from '@jest/globals';
import { basic } from '../../testing/index.js';
import { parseAuthorization } from './credentials.js';

const KEY = 'abcdefghij0123456789+/';

describe('Authorization headers', () => {
  test.each(['Bearer', 'bearer', 'BEARER', 'Token', 'token', 'tOkEn'])('%s KEY is a token', (scheme) => {
    expect(parseAuthorization(`${scheme} ${KEY}`)).toEqual({ kind: 'token', key: KEY });
  });

  test.each(['Basic', 'basic', 'BASIC'])('%s is a name and a password', (scheme) => {
    const header = basic('admin', 'pass').replace('Basic', scheme);
    expect(parseAuthorization(header)).toEqual({ kind: 'password', name: 'admin', password: 'pass' });
  });

  test('the first colon parts name and password', () => {
    expect(parseAuthorization(basic('a', 'b:c:'))).toEqual({ kind: 'password', name: 'a', password: 'b:c:' });
    expect(parseAuthorization(basic('', ''))).toEqual({ kind: 'password', name: '', password: '' });
    const named = `Basic ${Buffer.from('a:b\0c:d').toString('base64')}`;
    expect(parseAuthorization(named)).toEqual({ kind: 'password', name: 'a:b', password: 'c:d' });
  });

  test('base64 without its padding is understood', () => {
    expect(parseAuthorization('Basic YTpi')).toEqual({ kind: 'password', name: 'a', password: 'b' });
    expect(parseAuthorization('Basic YWE6Yg')).toEqual({ kind: 'password', name: 'aa', password: 'b' });
  });

  test.each([
    '',
    ' ',
    'Bearer',
    'Bearer ',
    `Bearer  ${KEY}`,
    `Bearer ${KEY} `,
    `Bearer ${KEY} x`,
    `Bearer\t${KEY}`,
    `Bearer ${'x'.repeat(201)}`,
    `Bearer ${'x'.repeat(1_000_000)}`,
    'Bearer caf\u00e9',
    'Bearer a\u0000b',
    KEY,
    'Basic',
    'Basic ',
    'Basic ====',
    'Basic YTpi!',
    'Basic YTpi YTpi',
    'Basic YWRtaW4', // no colon
    `Basic ${'A'.repeat(1_000_000)}`,
    'Digest username="admin"',
    'Negotiate abc',
    '__proto__ x',
  ])('%.40p is nothing', (header) => {
    expect(parseAuthorization(header)).toBeNull();
  });
});
