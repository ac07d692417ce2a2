import { FormatError } from '@althing/engine';
import { describe, expect, test } from '@jest/globals';
import { decodeHello, encodeHello, type Hello } from './hello.js';

const HELLO: Hello = {
  name: 'node-1',
  host: 'node-1.example',
  port: 9220,
  status: 'READY',
  committed: 2 ** 40,
  stored: 7,
  level: 2,
  zone: 7,
};

describe('a hello', () => {
  test('says the same at the other end', () => {
    for (const status of ['SYNCHRONIZING', 'READY', 'SHUTTING_DOWN'] as const) {
      expect(decodeHello(encodeHello({ ...HELLO, status }))).toEqual({ ...HELLO, status });
    }
  });

  test('a hello of a newer version may say more', () => {
    const longer = Buffer.concat([encodeHello(HELLO), Buffer.from('more')]);
    expect(decodeHello(longer)).toEqual(HELLO);
  });

  test('a hello that is cut off, or of another format, is refused', () => {
    const bytes = encodeHello(HELLO);
    for (let length = 0; length < bytes.length; length++) {
      expect(() => decodeHello(bytes.subarray(0, length))).toThrow(FormatError);
    }
    expect(() => decodeHello(Uint8Array.of(2, ...bytes.subarray(1)))).toThrow(FormatError);
  });

  test.each<Partial<Hello>>([
    { name: '' },
    { name: 'a b' },
    { host: 'x'.repeat(256) },
    { host: 'ä' },
    { port: 0 },
  ])('a hello with %j is refused', (odd) => {
    expect(() => decodeHello(encodeHello({ ...HELLO, ...odd }))).toThrow(FormatError);
  });

  test('a hello with a status that nobody knows is refused', () => {
    const bytes = encodeHello(HELLO);
    bytes[1] = 99;
    expect(() => decodeHello(bytes)).toThrow(FormatError);
  });
});
