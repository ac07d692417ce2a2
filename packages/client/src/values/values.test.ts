import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { pack } from '../wire/exact.js';
import { WireError } from '../wire/value.js';
import { type IntsAs, readValue } from './from-wire.js';
import { Float } from './numbers.js';
import { idOf, isLoaded, ref } from './things.js';
import { writableOf } from './to-wire.js';

const sent = (value: unknown): Uint8Array => pack(writableOf(value, 1000));
const hex = (value: unknown): string => Buffer.from(sent(value)).toString('hex');
const read = (bytes: Uint8Array, ints: IntsAs = 'auto'): unknown =>
  readValue(bytes, { ints, nestingMax: 1000 });
const fromHex = (text: string): Uint8Array => Buffer.from(text, 'hex');

describe('values from JavaScript', () => {
  test.each<[string, unknown, string]>([
    ['a whole number is an int', 1, '01'],
    ['a whole number beyond 32 bits', 2 ** 40, 'cf0000010000000000'],
    ['a negative one', -(2 ** 40), 'd3ffffff0000000000'],
    ['a bigint', 2n ** 63n - 1n, 'cf7fffffffffffffff'],
    ['the lowest', -(2n ** 63n), 'd38000000000000000'],
    ['another number is a float', 1.5, 'cb3ff8000000000000'],
    ['Float makes a whole one', new Float(1), 'cb3ff0000000000000'],
    ['-0 is a float, since the int 0 has no sign', -0, 'cb8000000000000000'],
    ['a whole number beyond 64 bits is a float', 1e300, 'cb7e37e43c8800759c'],
    ['nan', Number.NaN, 'cb7ff8000000000000'],
    ['null', null, 'c0'],
    ['bytes', new Uint8Array([1]), 'c40101'],
    ['a Map is a map', new Map([['a', 1]]), '81a16101'],
    ['undefined is left out of maps', { a: undefined, b: 1 }, '81a16201'],
    ['an own __proto__ is a key', JSON.parse('{"__proto__": 1}'), '81a95f5f70726f746f5f5f01'],
  ])('%s', (_, value, bytes) => {
    expect(hex(value)).toBe(bytes);
  });

  test.each<[string, unknown]>([
    ['undefined', undefined],
    ['undefined in an array', [undefined]],
    ['a function', () => {}],
    ['a symbol', Symbol('x')],
    ['a Date', new Date()],
    ['a Set', new Set()],
    ['ref()', ref(1)],
    ['a promise', Promise.resolve()],
    ['an instance of a class', new (class Guest {})()],
    ['half of a surrogate pair', '\ud800'],
    ['half of a surrogate pair in a key', { '\udc00': 1 }],
    ['a Map with other keys', new Map([[1, 1]])],
  ])('%s is refused', (_, value) => {
    expect(() => sent(value)).toThrow(TypeError);
  });

  test('ints beyond 64 bits and too many levels are refused', () => {
    let deep: unknown = [];
    for (let i = 0; i < 1001; i++) deep = [deep];
    expect(() => sent(2n ** 63n)).toThrow(RangeError);
    expect(() => sent(deep)).toThrow(RangeError);
  });

  test('circles are refused, and not followed for ever', () => {
    const circle: unknown[] = [];
    circle.push(circle);
    expect(() => sent(circle)).toThrow(RangeError);
  });
});

describe('values to JavaScript', () => {
  test('an int is a number when safe, else a bigint', () => {
    expect(read(fromHex('cf001fffffffffffff'))).toBe(2 ** 53 - 1);
    expect(read(fromHex('cf0020000000000000'))).toBe(2n ** 53n);
    expect(read(fromHex('d3ffe0000000000000'))).toBe(-(2n ** 53n));
  });

  test('ints: bigint always, or number or an error', () => {
    expect(read(fromHex('01'), 'bigint')).toBe(1n);
    expect(read(fromHex('01'), 'number')).toBe(1);
    expect(() => read(fromHex('cf0020000000000000'), 'number')).toThrow(RangeError);
  });

  test('__proto__ is an own property, and changes no prototype', () => {
    const value = read(fromHex('81a95f5f70726f746f5f5f81a16101'));
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.hasOwn(Object(value), '__proto__')).toBe(true);
    expect(Object(value).a).toBeUndefined();
  });

  test.each([
    ['cut off', '92 01'],
    ['more than a value', '01 02'],
    ['a list that claims 4 billion items', 'dd ff ff ff ff'],
    ['lists in lists that claim millions', 'dd 01 00 00 00'.repeat(200)],
    ['an extension', 'd4 00 00'],
    ['a key that is no str', '81 01 01'],
    ['100000 lists in each other', '91'.repeat(100_000)],
  ])('%s is refused', (_, text) => {
    expect(() => read(fromHex(text.replaceAll(' ', '')))).toThrow(WireError);
  });

  test('any value there and back is equal', () => {
    fc.assert(
      fc.property(anyValue(), (value) => {
        expect(read(sent(value))).toEqual(value);
      }),
    );
  });
});

describe('things of results', () => {
  test('have an id, and are loaded when more than that came', () => {
    expect([idOf({ '#': 4 }), idOf({ name: 1 }), idOf(null), idOf(5)]).toEqual([
      4,
      undefined,
      undefined,
      undefined,
    ]);
    expect([isLoaded({ '#': 4 }), isLoaded({ '#': 4, name: 'Ann' }), isLoaded({})]).toEqual([
      false,
      true,
      true,
    ]);
  });
});

/** Values that come back as they were sent: a whole float comes back as a number, which is equal, too. */
function anyValue(): fc.Arbitrary<unknown> {
  return fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constant(null),
      fc.boolean(),
      fc.maxSafeInteger(),
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).filter((n) => !Number.isSafeInteger(Number(n))),
      // Whole numbers beyond the safe ones are sent as ints, and come back as bigints; -0 is sent as the int 0.
      fc
        .double()
        .filter((n) => !Number.isInteger(n) || Number.isSafeInteger(n) || Math.abs(n) > 2 ** 63)
        .map((n) => (n === 0 ? 0 : n)),
      fc.string({ unit: 'grapheme' }),
      fc.uint8Array({ maxLength: 300 }),
      fc.array(tie('value'), { maxLength: 20 }),
      fc.dictionary(fc.string({ unit: 'grapheme' }), tie('value'), { maxKeys: 20 }),
    ),
  })).value;
}
