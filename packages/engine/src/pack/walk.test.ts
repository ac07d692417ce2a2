import { describe, expect, test } from '@jest/globals';
import { ErrorCode, QueryError } from '../error.js';
import { List } from '../value/containers.js';
import { Bytes } from '../value/scalars.js';
import { ShapeTree } from '../value/shape.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { PrettyJsonWriter } from './json-pretty-writer.js';
import { JsonWriter } from './json-writer.js';
import { MsgpackWriter } from './msgpack-writer.js';
import { pack, type Sink } from './walk.js';

const SIZE_MAX = 10_000;

/** The code of the error that packing ends with, and how much was written until then. */
function outcome(value: Value, sink: Sink, sizeMax = SIZE_MAX): { code: number | null; size: number } {
  try {
    pack(value, sink, { deep: 5, ids: false, store: null, sizeMax, nestingMax: 100 });
    return { code: null, size: sink.size };
  } catch (error) {
    if (error instanceof QueryError) return { code: error.code, size: sink.size };
    throw error;
  }
}

const many = (item: Value, count: number) => new List(new Array<Value>(count).fill(item));

function wide(count: number): Thing {
  const thing = new Thing(0, new ShapeTree().empty(), []);
  for (let i = 0; i < count; i++) thing.put(`k${i}`, null);
  return thing;
}

describe.each([
  ['JSON', () => new JsonWriter()],
  ['MessagePack', () => new MsgpackWriter()],
] as const)('the size of a result as %s', (_format, makeSink) => {
  test.each<[string, Value]>([
    ['many ints', many(1, 1_000_000)],
    ['many nils', many(null, 1_000_000)],
    ['many bools', many(true, 1_000_000)],
    ['many large ints', many(2n ** 60n, 1_000_000)],
    ['many texts', many('x', 1_000_000)],
    ['many empty lists', many(new List([]), 1_000_000)],
    ['a wide thing', wide(100_000)],
    ['lists of ints', many(many(1, 1000), 1000)],
  ])('%s: ends little beyond the limit', (_what, value) => {
    const { code, size } = outcome(value, makeSink());
    expect(code).toBe(ErrorCode.RESULT_TOO_LARGE);
    expect(size).toBeLessThan(SIZE_MAX + 25_000);
  });

  test('a text that is too long is not even begun', () => {
    expect(outcome('x'.repeat(SIZE_MAX + 1), makeSink())).toEqual({
      code: ErrorCode.RESULT_TOO_LARGE,
      size: 0,
    });
  });

  test('the limit itself is allowed, and a byte more is not', () => {
    const value = many(1, 100);
    const { size } = outcome(value, makeSink());
    expect(outcome(value, makeSink(), size).code).toBeNull();
    expect(outcome(value, makeSink(), size - 1).code).toBe(ErrorCode.RESULT_TOO_LARGE);
  });
});

describe('long texts', () => {
  const json = (value: Value): string => {
    const sink = new JsonWriter();
    pack(value, sink, { deep: 5, ids: false, store: null, sizeMax: 1e9, nestingMax: 100 });
    return sink.take();
  };

  test.each(['\n', 'ü', '😀', 'x😀', '"x', '\u0001', 'plain '])(
    'texts of %j are written in pieces, whole',
    (unit) => {
      const text = unit.repeat(200_000 / unit.length);
      expect(JSON.parse(json(text))).toBe(text);
      expect(JSON.parse(json(many(text, 3)))).toEqual([text, text, text]);
    },
  );

  test('many small values come out as few do', () => {
    const values = Array.from({ length: 30_000 }, (_, i) => (i % 3 === 0 ? `ü${i}` : i));
    expect(JSON.parse(json(new List(values)))).toEqual(values);
  });

  test('texts that are keys are written in pieces, too, whole', () => {
    const key = '\u0001ü"'.repeat(50_000);
    const thing = new Thing(0, new ShapeTree().empty(), []);
    for (const name of ['a', key, `${key}b`, 'z']) thing.put(name, new List([]));
    const plain = { a: [], [key]: [], [`${key}b`]: [], z: [] };
    expect(JSON.parse(json(thing))).toEqual(plain);
    const pretty = new PrettyJsonWriter();
    let units = 0;
    const charge = (more: number): void => {
      units += more;
    };
    pack(thing, pretty, { deep: 5, ids: false, store: null, sizeMax: 1e9, nestingMax: 100, charge });
    expect(JSON.parse(pretty.take())).toEqual(plain);
    expect(units).toBeGreaterThan(300_000);
  });

  test('end with the error of the size in their midst, before they are made', () => {
    const sink = new JsonWriter();
    const options = { deep: 5, ids: false, store: null, sizeMax: 1_000_000, nestingMax: 100 };
    expect(() => pack('\u0001'.repeat(900_000), sink, options)).toThrow('result_size_limit');
    expect(sink.size).toBeLessThan(1_500_000);
  });
});

test('work is charged for, whatever it is on', () => {
  for (const [what, value] of [
    ['ints', many(1, 100_000)],
    ['things', many(new Thing(0, new ShapeTree().empty(), []), 10_000)],
    ['lists', many(new List([]), 10_000)],
    ['texts', many('x', 10_000)],
    ['a text', 'x'.repeat(1_000_000)],
    ['bytes', new Bytes(new Uint8Array(1_000_000))],
  ] as const) {
    let units = 0;
    const charge = (more: number): void => {
      units += more;
    };
    const options = { deep: 5, ids: false, store: null, sizeMax: 1e9, nestingMax: 100, charge };
    pack(value, new MsgpackWriter(), options);
    expect([what, units]).toEqual([what, expect.any(Number)]);
    expect(units).toBeGreaterThan(300_000);
  }
});
