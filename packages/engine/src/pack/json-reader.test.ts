import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ErrorCode, operationError, QueryError, valueError } from '../error.js';
import { List } from '../value/containers.js';
import { Float } from '../value/scalars.js';
import { ShapeTree } from '../value/shape.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { type JsonOptions, REQUEST_JSON } from './json-options.js';
import { JsonReader } from './json-reader.js';
import { JSON_NESTING_MAX, JsonWriter } from './json-writer.js';
import { pack } from './walk.js';

/** As `json_load` reads. */
const REPLACING: JsonOptions = { ...REQUEST_JSON, loneSurrogate: 'replaced' };

function read(text: string, options?: JsonOptions): Value {
  const reader = new JsonReader(text, new ShapeTree(), options);
  const value = reader.value();
  reader.end();
  return value;
}

/** The code of the error that reading ends with. */
function codeOf(text: string, options?: JsonOptions): number {
  try {
    read(text, options);
  } catch (error) {
    if (error instanceof QueryError) return error.code;
    throw error;
  }
  throw new Error(`this was read: ${text.slice(0, 60)}`);
}

/** Passes over a text, and tells how much of it there was. */
function skip(text: string): number {
  const reader = new JsonReader(text, new ShapeTree());
  reader.skip();
  reader.end();
  return reader.offset;
}

/** Plain JavaScript of a value: things as objects without a prototype, floats as they are. */
function plain(value: Value): unknown {
  if (value instanceof List) return value.items.map(plain);
  if (!(value instanceof Thing)) return value;
  return value.entries().map(([key, property]) => [key, plain(property)]);
}

const write = (value: Value): string => {
  const sink = new JsonWriter();
  pack(value, sink, { deep: 100, ids: false, store: null, sizeMax: 1e6, nestingMax: JSON_NESTING_MAX });
  return sink.take();
};

describe('values that are read', () => {
  test.each<[string, Value]>([
    ['null', null],
    ['true', true],
    ['false', false],
    ['0', 0],
    ['-0', 0],
    ['7', 7],
    ['999999999999999', 999_999_999_999_999],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
    ['9007199254740992', 2n ** 53n],
    ['9223372036854775807', 2n ** 63n - 1n],
    ['-9223372036854775808', -(2n ** 63n)],
    ['1.0', new Float(1)],
    ['-0.0', new Float(-0)],
    ['1e3', new Float(1000)],
    ['1E+2', new Float(100)],
    ['25e-1', new Float(2.5)],
    ['5e-324', new Float(5e-324)],
    ['1e-400', new Float(0)],
    ['""', ''],
    ['"a"', 'a'],
    ['"\\"\\\\\\/\\b\\f\\n\\r\\t"', '"\\/\b\f\n\r\t'],
    ['"\\u0041\\u00e9\\u20AC"', 'Aé€'],
    ['"x\\ud83e\\udd8ay"', 'x🦊y'],
    ['"🦊"', '🦊'],
    ['"\\ud83e"', '?'],
    ['"\\udd8a\\ud83e"', '??'],
    ['"\\ud83e\\ud83e\\udd8a"', '?🦊'],
    ['"\\ud83e\\u0041"', '?A'],
    ['"\u007f\u2028\u2029"', '\u007f\u2028\u2029'],
  ])('%s', (text, value) => {
    expect(read(` \t\r\n${text} \t\r\n`, REPLACING)).toEqual(value);
  });

  test('an int is a number while it is a safe integer', () => {
    expect([typeof read('9007199254740991'), typeof read('9007199254740992')]).toEqual(['number', 'bigint']);
    expect(Object.is(read('-0'), 0)).toBe(true);
  });

  test('containers of any shape, keys in their order and the last value of each', () => {
    expect(plain(read('[]'))).toEqual([]);
    expect(plain(read('{ }'))).toEqual([]);
    expect(plain(read('[ 1 , [ ] , { "a" : [ null ] } ]'))).toEqual([1, [], [['a', [null]]]]);
    expect(plain(read('{"b":1,"":2,"1":3,"b":4,"__proto__":5,"constructor":6}'))).toEqual([
      ['b', 4],
      ['', 2],
      ['1', 3],
      ['__proto__', 5],
      ['constructor', 6],
    ]);
  });

  test('lists in lists are tuples, lists in things belong to them', () => {
    const outer = read('[[1]]');
    const [inner] = outer instanceof List ? outer.items : [];
    expect(inner instanceof List && inner.tuple).toBe(true);
    const thing = read('{"l":[1]}');
    const list = thing instanceof Thing ? thing.get('l') : null;
    expect(list instanceof List && list.owner === thing && !list.tuple).toBe(true);
  });
});

describe('refused texts', () => {
  test.each([
    '',
    ' ',
    '[',
    '[1',
    '[1,',
    '[1,]',
    '[,1]',
    '[1 2]',
    ']',
    '{',
    '{"a"',
    '{"a":',
    '{"a":1',
    '{"a":1,',
    '{"a":1,}',
    '{a:1}',
    '{1:1}',
    "{'a':1}",
    '{"a" 1}',
    '"a',
    '"\\',
    '"\\"',
    '"\\x"',
    '"\\u12"',
    '"\\u12g4"',
    '"\\ud83e\\u12"',
    '"\n"',
    '"\u0000"',
    '"a\u001f"',
    '"\\n\u0001"',
    '01',
    '-',
    '-01',
    '+1',
    '1.',
    '.5',
    '1e',
    '1e+',
    '0x1',
    '1_000',
    '٣',
    'nul',
    'nulls',
    'True',
    'NaN',
    'Infinity',
    'undefined',
    '1 2',
    '\ufeff1',
    '\u00a01',
    '1\u0000',
    '/* c */ 1',
  ])('%j is no JSON', (text) => {
    expect(() => JSON.parse(text)).toThrow();
    expect(codeOf(text)).toBe(ErrorCode.BAD_DATA);
    expect(() => skip(text)).toThrow('not valid JSON');
    expect(() => skip(`{"a":[1,${text}]}`)).toThrow();
  });

  test.each([
    '"\\ud83e"',
    '"\\uDD8Ax"',
    '"\\ud83e\\u0041"',
    '{"\\ud83e":1}',
    '[{"a":{"x\\ude00":1}}]',
    '"\\n\\ud83e\\n"',
  ])('half of a character, in %s', (text) => {
    expect(codeOf(text)).toBe(ErrorCode.BAD_DATA);
  });

  test('numbers beyond 64 bits, and floats beyond all', () => {
    for (const text of [
      '9223372036854775808',
      '-9223372036854775809',
      '1e999',
      '-1e400',
      '9'.repeat(100_000),
    ]) {
      expect(codeOf(text)).toBe(ErrorCode.BAD_DATA);
    }
  });

  test('reserved keys, wherever they stand', () => {
    expect(codeOf('{"#":1}')).toBe(ErrorCode.VALUE);
    expect(codeOf('[{"a":{"#":1}}]')).toBe(ErrorCode.VALUE);
  });

  test('a value nested deeper than 127 is refused before it is walked', () => {
    const nested = (open: string, close: string, depth: number): string =>
      `${open.repeat(depth)}1${close.repeat(depth)}`;
    expect(() => read(nested('[', ']', 127))).not.toThrow();
    expect(() => read(nested('{"a":', '}', 127))).not.toThrow();
    expect(codeOf(nested('[', ']', 128))).toBe(ErrorCode.BAD_DATA);
    expect(codeOf(nested('{"a":', '}', 128))).toBe(ErrorCode.BAD_DATA);
    expect(codeOf('[{"a":'.repeat(100_000))).toBe(ErrorCode.BAD_DATA);
    expect(skip(nested('[', ']', 127))).toBe(255);
    expect(() => skip(nested('{"a":', '}', 128))).toThrow('nested more than 127 deep');
  });

  test('a text is refused with the errors that the caller names', () => {
    const options: JsonOptions = {
      nestingMax: 2,
      malformed: valueError,
      tooDeep: operationError,
      loneSurrogate: 'malformed',
    };
    expect(codeOf('[', options)).toBe(ErrorCode.VALUE);
    expect(codeOf('1e999', options)).toBe(ErrorCode.VALUE);
    expect(codeOf('[[[1]]]', options)).toBe(ErrorCode.OPERATION);
    expect(plain(read('[[1]]', options))).toEqual([[1]]);
  });

  test('a text is refused at the value at which the caller ends it', () => {
    let left = 320;
    const onValues = (count: number): void => {
      left -= count;
      if (left === 0) throw operationError('enough');
    };
    const options: JsonOptions = { ...REQUEST_JSON, malformed: valueError, tooDeep: valueError, onValues };
    expect(codeOf(`[${'{},'.repeat(1_000_000)}{}]`, options)).toBe(ErrorCode.OPERATION);
    expect(left).toBe(0);
  });

  test.each(['\\n', '\\u00e9', '\\ud83d\\ude00'])('amid a string of very many %s', (part) => {
    let calls = 0;
    const onValues = (): void => {
      calls += 1;
      if (calls === 10) throw operationError('enough');
    };
    expect(codeOf(`"${part.repeat(1000)}"`, { ...REQUEST_JSON, onValues })).toBe(ErrorCode.OPERATION);
  });
});

describe('any text', () => {
  test('is JSON here when it is JSON for JavaScript, and means the same', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), (text) => {
        // Ints beyond 64 bits and reserved keys are refused on purpose.
        fc.pre(!/\d{19}/.test(text));
        fc.pre(!/"(?:[ -/]|\\")":/.test(text));
        expect(skip(text)).toBe(text.length);
        // A thing keeps its keys in the order of the text, an object its numbers first.
        expect(JSON.stringify(sorted(JSON.parse(write(read(text)))))).toBe(
          JSON.stringify(sorted(JSON.parse(text))),
        );
      }),
      { numRuns: 500 },
    );
  });

  test('a text damaged by a character is read or refused as JavaScript would', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 3 }), fc.nat(), fc.string({ maxLength: 2 }), (text, at, other) => {
        const place = at % (text.length + 1);
        const damaged = text.slice(0, place) + other + text.slice(place + 1);
        let valid = true;
        try {
          JSON.parse(damaged);
        } catch {
          valid = false;
        }
        if (valid) return;
        expect(codeOf(damaged)).not.toBe(0);
        expect(() => skip(damaged)).toThrow();
      }),
      { numRuns: 2000 },
    );
  });
});

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, property]) => [key, sorted(property)]);
}

test('a text of millions of escapes is one text, and no chain of its characters', () => {
  const text = '\n"\\\u0001ü'.repeat(200_000);
  expect(read(JSON.stringify(text))).toBe(text);
  const before = process.memoryUsage().heapUsed;
  const value = read(`"${'\\n'.repeat(4_000_000)}"`);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(64 * 1024 * 1024);
  expect(value).toHaveLength(4_000_000);
});
