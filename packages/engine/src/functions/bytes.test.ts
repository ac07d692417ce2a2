import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Harness } from '../testing/harness.js';

const harness = new Harness();
const run = harness.run.bind(harness);
const error = harness.error.bind(harness);

const text = (bytes: string) => new Uint8Array(Buffer.from(bytes, 'latin1'));

test('len counts bytes', () => {
  expect(run("[bytes('é').len(), bytes().len()]")).toEqual([2, 0]);
});

describe('base64', () => {
  test('encodes text, bytes and packed data', () => {
    expect(run("[base64_encode('ü'), base64_encode(bytes('Man')), base64_encode('')]")).toEqual([
      'w7w=',
      'TWFu',
      '',
    ]);
    expect(run('base64_decode(base64_encode(time_zones_info())) == bytes(time_zones_info())')).toBe(true);
    expect(error('base64_encode(1)')).toBe('type_err');
    expect(error('base64_decode([])')).toBe('type_err');
  });

  test('decodes what it encodes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (b) => {
        expect(run('base64_decode(base64_encode(b))', { vars: { b } })).toEqual(b);
      }),
      { numRuns: 50 },
    );
  });

  test.each([
    ['TQ', 'M'],
    ['TQ=', 'M'],
    ['TQ==', 'M'],
    ['TWE', 'Ma'],
    ['TWFu=', 'Man'],
    ['TWFu==', 'Man'],
    ['--__', '\xfb\xef\xff'],
    ['..,,', '\xfb\xef\xff'],
    ['TW!u', 'M`.'],
    ['T\u00fcFu', 'L\x01n'],
    ['T🙂Fu', 'L\x01n'],
    ['TQ==TQ==', 'M\0\0M'],
    ['=', ''],
    ['==', ''],
    ['=TWF', '\x01\x35\x85'],
  ])('decodes %s without complaint', (s, expected) => {
    expect(run('base64_decode(s)', { vars: { s } })).toEqual(text(expected));
  });

  test('a single character that is left over gives its six bits and two zero bits', () => {
    expect(run("[base64_decode('T'), base64_decode('TWFu_')]")).toEqual([text('L'), text('Man\xfc')]);
  });

  test('the result is bounded', () => {
    const small = new Harness({ limits: { valueBytes: 100 } });
    expect(small.error('base64_encode(s)', { vars: { s: 'a'.repeat(90) } })).toBe('max_quota_err');
  });
});
