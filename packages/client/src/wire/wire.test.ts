import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  decodeMessagePack,
  encodeMessagePack,
  parseJson,
  showValue,
  stringifyJson,
  WireError,
  type WireValue,
  wireMap,
} from '../index.js';

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');

/** Any value; JSON has neither bytes nor special floats. */
function values(format: 'msgpack' | 'json'): fc.Arbitrary<WireValue> {
  const { value } = fc.letrec<{ value: WireValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constant(null),
      fc.boolean(),
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      fc.double(format === 'json' ? { noNaN: true, noDefaultInfinity: true } : {}),
      fc.string({ unit: 'grapheme' }),
      ...(format === 'json' ? [] : [fc.uint8Array({ maxLength: 300 })]),
      fc.array(tie('value'), { maxLength: 20 }),
      fc
        .array(fc.tuple(fc.string({ unit: 'grapheme' }), tie('value')), { maxLength: 20 })
        .map((entries) => new Map(entries)),
    ),
  }));
  return value;
}

describe('MessagePack', () => {
  const vectors: [string, WireValue, string][] = [
    ['nil', null, 'c0'],
    ['true', true, 'c3'],
    ['false', false, 'c2'],
    ['0', 0n, '00'],
    ['127', 127n, '7f'],
    ['128', 128n, 'cc 80'],
    ['255', 255n, 'cc ff'],
    ['256', 256n, 'cd 01 00'],
    ['65535', 65535n, 'cd ff ff'],
    ['65536', 65536n, 'ce 00 01 00 00'],
    ['2^32-1', 2n ** 32n - 1n, 'ce ff ff ff ff'],
    ['2^32', 2n ** 32n, 'cf 00 00 00 01 00 00 00 00'],
    ['2^63-1', 2n ** 63n - 1n, 'cf 7f ff ff ff ff ff ff ff'],
    ['-1', -1n, 'ff'],
    ['-32', -32n, 'e0'],
    ['-33', -33n, 'd0 df'],
    ['-128', -128n, 'd0 80'],
    ['-129', -129n, 'd1 ff 7f'],
    ['-32769', -32769n, 'd2 ff ff 7f ff'],
    ['-2^31-1', -(2n ** 31n) - 1n, 'd3 ff ff ff ff 7f ff ff ff'],
    ['-2^63', -(2n ** 63n), 'd3 80 00 00 00 00 00 00 00'],
    ['1.0', 1, 'cb 3f f0 00 00 00 00 00 00'],
    ['-0.0', -0, 'cb 80 00 00 00 00 00 00 00'],
    ['nan', Number.NaN, 'cb 7f f8 00 00 00 00 00 00'],
    ['inf', Number.POSITIVE_INFINITY, 'cb 7f f0 00 00 00 00 00 00'],
    ['-inf', Number.NEGATIVE_INFINITY, 'cb ff f0 00 00 00 00 00 00'],
    ['str', 'abc', 'a3 61 62 63'],
    ['str with a sign of three bytes', '€', 'a3 e2 82 ac'],
    ['str that begins with a byte order mark', '\uFEFFa', 'a4 ef bb bf 61'],
    ['bytes', new Uint8Array([97, 98, 99]), 'c4 03 61 62 63'],
    ['list', [1n, [2n]], '92 01 91 02'],
    ['map', new Map<string, WireValue>([['a', 1n]]), '81 a1 61 01'],
    [
      'map with an id',
      new Map<string, WireValue>([
        ['#', 4n],
        ['a', 'x'],
      ]),
      '82 a1 23 04 a1 61 a1 78',
    ],
  ];

  test.each(vectors)('%s is written as the protocol says, and read back', (_, value, bytes) => {
    expect(encodeMessagePack(value).toString('hex')).toBe(hex(bytes).toString('hex'));
    expect(decodeMessagePack(hex(bytes))).toEqual(value);
  });

  test.each([
    [31, 'bf'],
    [32, 'd920'],
    [255, 'd9ff'],
    [256, 'da0100'],
    [65536, 'db00010000'],
  ])('a str of %d bytes begins with %s', (length, head) => {
    const bytes = encodeMessagePack('x'.repeat(length));
    expect(bytes.subarray(0, head.length / 2).toString('hex')).toBe(head);
    expect(decodeMessagePack(bytes)).toBe('x'.repeat(length));
  });

  test.each([
    [15, '9f'],
    [16, 'dc0010'],
    [65535, 'dcffff'],
    [65536, 'dd00010000'],
  ])('a list of %d items begins with %s', (length, head) => {
    const bytes = encodeMessagePack(new Array<WireValue>(length).fill(null));
    expect(bytes.subarray(0, head.length / 2).toString('hex')).toBe(head);
    expect(decodeMessagePack(bytes)).toHaveLength(length);
  });

  test.each([
    ['nothing', ''],
    ['a cut int', 'cd 01'],
    ['a cut str', 'a3 61 62'],
    ['a list that claims 4 billion items', 'dd ff ff ff ff'],
    ['a map that claims 2 billion entries', 'df 7f ff ff ff'],
    ['bytes after the value', '01 02'],
    ['an extension', 'd4 00 00'],
    ['the byte c1', 'c1'],
    ['a key that is an int', '81 01 01'],
    ['100000 lists in each other', '91'.repeat(100_000)],
  ])('%s is refused', (_, bytes) => {
    expect(() => decodeMessagePack(hex(bytes))).toThrow(WireError);
  });

  test('a float of 32 bits is read, bytes that are not UTF-8 are marked', () => {
    expect(decodeMessagePack(hex('ca 3f 80 00 00'))).toBe(1);
    expect(decodeMessagePack(hex('a2 61 ff'))).toBe('a\uFFFD');
  });

  test.each([
    ['a date', 'd6 ff 00 00 00 00'],
    ['undefined', 'd4 00 00'],
    ['a set', 'd4 73 00 91 01'],
    ['a record', 'd4 72 40 91 a1 61 01'],
  ])('%s, which msgpackr knows, is refused', (_, bytes) => {
    expect(() => decodeMessagePack(hex(bytes))).toThrow(WireError);
  });

  test('a value that was read stays when the bytes change', () => {
    const bytes = hex('c4 02 01 02');
    const value = decodeMessagePack(bytes);
    bytes.fill(0);
    expect(value).toEqual(new Uint8Array([1, 2]));
  });

  test('ints of more than 64 bits are refused', () => {
    expect(() => encodeMessagePack(2n ** 64n)).toThrow(WireError);
    expect(() => encodeMessagePack(-(2n ** 63n) - 1n)).toThrow(WireError);
  });

  test('any value comes back as it was', () => {
    fc.assert(
      fc.property(values('msgpack'), (value) => {
        expect(decodeMessagePack(encodeMessagePack(value))).toEqual(value);
      }),
    );
  });

  test('any bytes give a value or a WireError', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        try {
          decodeMessagePack(bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(WireError);
        }
      }),
      { numRuns: 2000 },
    );
  });
});

describe('JSON', () => {
  test.each<[string, WireValue]>([
    ['1', 1n],
    ['-0', 0n],
    ['9223372036854775807', 2n ** 63n - 1n],
    ['1.0', 1],
    ['1e3', 1000],
    ['-0.0', -0],
    ['0.1', 0.1],
    ['"a\\"b\\\\"', 'a"b\\'],
    ['"\\ud83d\\ude00"', '😀'],
    [' [ 1 , 2.5 , { } , [ ] ] ', [1n, 2.5, new Map(), []]],
    [
      '{"a":1,"a":2,"__proto__":3}',
      new Map<string, WireValue>([
        ['a', 2n],
        ['__proto__', 3n],
      ]),
    ],
    ['true', true],
    ['null', null],
  ])('%s is read', (text, value) => {
    expect(parseJson(text)).toEqual(value);
  });

  test.each([
    '',
    '01',
    '1.',
    '.5',
    '+1',
    'nan',
    '[1,]',
    '{"a"}',
    '{a:1}',
    '"abc',
    '"\\"',
    '"\n"',
    '"\\x"',
    'tru',
    '1 2',
    '1e999',
    '['.repeat(100_000),
  ])('%#: what is not JSON is refused', (text) => {
    expect(() => parseJson(text)).toThrow(WireError);
  });

  test('whole floats keep their point, ints their digits', () => {
    const value = wireMap({ f: 1, g: 1e300, h: -0, i: 10n, j: 2n ** 62n, k: undefined });
    expect(stringifyJson(value)).toBe('{"f":1.0,"g":1e+300,"h":-0.0,"i":10,"j":4611686018427387904}');
  });

  test('bytes and nan are refused', () => {
    expect(() => stringifyJson([new Uint8Array(1)])).toThrow(WireError);
    expect(() => stringifyJson(Number.NaN)).toThrow(WireError);
  });

  test('any value comes back as it was', () => {
    fc.assert(
      fc.property(values('json'), (value) => {
        expect(parseJson(stringifyJson(value))).toEqual(value);
      }),
    );
  });
});

describe('texts for people', () => {
  test('short values stand on one line, long ones are indented', () => {
    expect(showValue([1n, 1, 'x', null, Number.NaN, new Uint8Array([0, 1])])).toBe(
      '[1, 1.0, "x", null, nan, bytes("AAE=")]',
    );
    const long = 'y'.repeat(60);
    expect(showValue(wireMap({ a: [long, long], b: true }))).toBe(
      `{\n  "a": [\n    "${long}",\n    "${long}"\n  ],\n  "b": true\n}`,
    );
  });
});
