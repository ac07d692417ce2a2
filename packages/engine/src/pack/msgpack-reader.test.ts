import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ErrorCode, QueryError } from '../error.js';
import { List, listOf } from '../value/containers.js';
import { Bytes, Float } from '../value/scalars.js';
import { ShapeTree } from '../value/shape.js';
import { isReservedKey, Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { type Extensions, MsgpackReader } from './msgpack-reader.js';
import { readMsgpackInto } from './msgpack-transcoder.js';
import { MsgpackWriter } from './msgpack-writer.js';
import { MSGPACK_NESTING_MAX, pack } from './walk.js';

const NESTING_MAX = 20;

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');

function read(data: Uint8Array): Value {
  return new MsgpackReader(data, new ShapeTree(), NESTING_MAX).value();
}

/** The code of the error that reading ends with. */
function codeOf(data: Uint8Array): number {
  try {
    read(data);
  } catch (error) {
    if (error instanceof QueryError) return error.code;
    throw error;
  }
  throw new Error(`this was read: ${Buffer.from(data).toString('hex').slice(0, 60)}`);
}

/** Plain JavaScript of a value: things as pairs, floats and bytes as they are. */
function plain(value: Value): unknown {
  if (value instanceof List) return value.items.map(plain);
  if (!(value instanceof Thing)) return value;
  return value.entries().map(([key, property]) => [key, plain(property)]);
}

function write(value: Value): Uint8Array {
  const sink = new MsgpackWriter();
  pack(value, sink, { deep: 100, ids: false, store: null, sizeMax: 1e6, nestingMax: MSGPACK_NESTING_MAX });
  return sink.out.take();
}

describe('values that are read', () => {
  test.each<[string, Value]>([
    ['c0', null],
    ['c2', false],
    ['c3', true],
    ['00', 0],
    ['7f', 127],
    ['ff', -1],
    ['e0', -32],
    ['cc ff', 255],
    ['cd ff ff', 65_535],
    ['ce ff ff ff ff', 2 ** 32 - 1],
    ['cf 00 00 00 00 00 00 00 05', 5],
    ['cf 00 1f ff ff ff ff ff ff', Number.MAX_SAFE_INTEGER],
    ['cf 00 20 00 00 00 00 00 00', 2n ** 53n],
    ['cf 7f ff ff ff ff ff ff ff', 2n ** 63n - 1n],
    ['d0 80', -128],
    ['d0 7f', 127],
    ['d1 80 00', -32_768],
    ['d2 80 00 00 00', -(2 ** 31)],
    ['d3 ff ff ff ff ff ff ff ff', -1],
    ['d3 80 00 00 00 00 00 00 00', -(2n ** 63n)],
    ['ca 3f 80 00 00', new Float(1)],
    ['cb 80 00 00 00 00 00 00 00', new Float(-0)],
    ['a0', ''],
    ['a3 61 62 63', 'abc'],
    ['a3 e2 82 ac', '€'],
    ['a4 ef bb bf 61', '\ufeffa'],
    ['d9 01 61', 'a'],
    ['da 00 01 61', 'a'],
    ['db 00 00 00 01 61', 'a'],
    ['c4 02 01 02', new Bytes(Uint8Array.of(1, 2))],
    ['c5 00 01 ff', new Bytes(Uint8Array.of(255))],
    ['c6 00 00 00 00', new Bytes(new Uint8Array(0))],
  ])('%s', (data, value) => {
    expect(read(hex(data))).toEqual(value);
  });

  test('an int is a number while it is a safe integer, whatever form it has', () => {
    expect(typeof read(hex('cf 00 1f ff ff ff ff ff ff'))).toBe('number');
    expect(typeof read(hex('d3 ff df ff ff ff ff ff ff'))).toBe('bigint');
  });

  test('containers of each form, keys in their order and the last value of each', () => {
    for (const head of ['92', 'dc 00 02', 'dd 00 00 00 02'])
      expect(plain(read(hex(`${head} 01 90`)))).toEqual([1, []]);
    for (const head of ['82', 'de 00 02', 'df 00 00 00 02']) {
      expect(plain(read(hex(`${head} a1 62 01 a0 80`)))).toEqual([
        ['b', 1],
        ['', []],
      ]);
    }
    expect(plain(read(hex('83 a1 62 01 a1 61 02 a1 62 03')))).toEqual([
      ['b', 3],
      ['a', 2],
    ]);
  });

  test('bytes are a copy: the buffer of the request is used again', () => {
    const data = hex('c4 02 01 02');
    const value = read(data);
    data.fill(0xff);
    expect(value).toEqual(new Bytes(Uint8Array.of(1, 2)));
  });

  test('texts of all lengths around those that are read by hand', () => {
    for (const text of ['x'.repeat(31), 'x'.repeat(32), 'é'.repeat(15), 'é'.repeat(16), 'x'.repeat(70_000)]) {
      expect(read(write(text))).toBe(text);
    }
  });
});

describe('refused bytes', () => {
  test.each([
    ['nothing', ''],
    ['a cut int', 'cd 01'],
    ['a cut int of 8 bytes', 'cf 00 00 00 00 00 00 00'],
    ['a cut float', 'cb 3f f0'],
    ['a cut text', 'a3 61 62'],
    ['a text without length', 'd9'],
    ['bytes that claim 4 GB', 'c6 ff ff ff ff 00'],
    ['a text that claims 4 GB', 'db ff ff ff ff 00'],
    ['a list that claims 4 billion items', 'dd ff ff ff ff c0'],
    ['a map that claims 2 billion pairs', 'df 7f ff ff ff a1 61 c0'],
    ['a map with pairs for half of what is left', '82 a1 61 c0'],
    ['a cut list', '92 01'],
    ['a cut map', '81 a1 61'],
    ['the byte c1', 'c1'],
    ['an extension of 1 byte', 'd4 00 00'],
    ['an extension of 16 bytes', `d8 00 ${'00'.repeat(16)}`],
    ['an extension with a length', 'c7 01 00 00'],
    ['a time stamp', 'd6 ff 00 00 00 00'],
    ['an extension within a list', '91 d4 00 00'],
    ['a text that is no UTF-8', 'a1 ff'],
    ['a text with half of a pair', 'a3 ed a0 80'],
    ['a long text that is no UTF-8', `d9 28 ${'61'.repeat(39)} ff`],
    ['a key that is no UTF-8', '81 a1 ff 01'],
  ])('%s', (_what, data) => {
    expect(codeOf(hex(data))).toBe(ErrorCode.BAD_DATA);
  });

  test('ints beyond 64 signed bits, keys that are no text, reserved keys', () => {
    expect(codeOf(hex('cf 80 00 00 00 00 00 00 00'))).toBe(ErrorCode.OVERFLOW);
    expect(codeOf(hex('81 01 02'))).toBe(ErrorCode.TYPE);
    expect(codeOf(hex('81 c4 01 61 02'))).toBe(ErrorCode.TYPE);
    expect(codeOf(hex('91 81 a1 23 02'))).toBe(ErrorCode.VALUE);
  });

  test('a value nested too deeply is refused before it is walked', () => {
    expect(() => read(hex(`${'91'.repeat(NESTING_MAX)} c0`))).not.toThrow();
    expect(codeOf(hex(`${'91'.repeat(NESTING_MAX + 1)} c0`))).toBe(ErrorCode.BAD_DATA);
    expect(() => read(hex(`${'81 a1 61 '.repeat(NESTING_MAX)} c0`))).not.toThrow();
    expect(codeOf(hex(`${'81 a1 61 '.repeat(NESTING_MAX + 1)} c0`))).toBe(ErrorCode.BAD_DATA);
    expect(codeOf(hex('91'.repeat(100_000)))).toBe(ErrorCode.BAD_DATA);
  });
});

describe('extension types', () => {
  const extensions = {
    mpdata: (data: Uint8Array) => `mpdata ${Buffer.from(data).toString('hex')}`,
    regex: (text: string) => `regex ${text}`,
    closure: (source: string) => `closure ${source}`,
  };
  const reading = (data: string, allowed: Extensions | null = extensions): MsgpackReader =>
    new MsgpackReader(hex(data), new ShapeTree(), NESTING_MAX, undefined, allowed);

  test.each([
    ['d4 00 05', 'mpdata 05'],
    ['c7 00 00', 'mpdata '],
    ['c7 03 01 2f 78 2f', 'regex /x/'],
    ['c8 00 03 01 2f 78 2f', 'regex /x/'],
    ['c9 00 00 00 03 01 2f 78 2f', 'regex /x/'],
    ['d6 02 7c 7c 20 31', 'closure || 1'],
    ['d5 06 61 62', 'ab'],
    [`d8 06 ${'61'.repeat(16)}`, 'a'.repeat(16)],
  ])('%s', (data, value) => {
    const reader = reading(`92 ${data} 07`);
    expect(plain(reader.value())).toEqual([value, 7]);
    const passing = reading(`92 ${data} 07`, null);
    passing.skip();
    passing.end();
    expect(() => reading(data, null).value()).toThrow('is not accepted');
  });

  test.each([
    ['a room', `d7 03 ${'00'.repeat(8)}`],
    ['a time stamp', 'd6 ff 00 00 00 00'],
    ['one of nobody', 'd4 63 00'],
    ['one that is cut', 'c7 03 01 2f 78'],
    ['one without a kind', 'c7 03'],
    ['one that claims 4 GB', 'c9 ff ff ff ff 01 00'],
    ['a regex that is no UTF-8', 'd4 01 ff'],
  ])('%s is refused', (what, data) => {
    expect(() => reading(data).value()).toThrow(QueryError);
    if (!what.includes('UTF-8')) expect(() => reading(data, null).skip()).toThrow(QueryError);
  });
});

describe('reading piece by piece', () => {
  const reader = (data: string): MsgpackReader => new MsgpackReader(hex(data), new ShapeTree(), NESTING_MAX);

  test('gives the size of a map or list that comes next, and leaves everything else', () => {
    for (const head of ['82', 'de 00 02', 'df 00 00 00 02'])
      expect(reader(`${head} a1 61 01 a1 62 02`).mapSize()).toBe(2);
    for (const head of ['92', 'dc 00 02', 'dd 00 00 00 02'])
      expect(reader(`${head} 01 02`).arraySize()).toBe(2);
    const other = reader('a1 61 05');
    expect([other.mapSize(), other.arraySize(), other.str(), other.str(), other.value()]).toEqual([
      null,
      null,
      'a',
      null,
      5,
    ]);
  });

  test('does not believe a size', () => {
    const codes = (['mapSize', 'arraySize'] as const).map((method) => {
      try {
        reader(method === 'mapSize' ? 'df 7f ff ff ff c0' : 'dd ff ff ff ff c0')[method]();
      } catch (error) {
        if (error instanceof QueryError) return error.code;
      }
      return 0;
    });
    expect(codes).toEqual([ErrorCode.BAD_DATA, ErrorCode.BAD_DATA]);
    for (const method of ['mapSize', 'arraySize', 'str'] as const) {
      expect(() => reader('')[method]()).toThrow();
    }
  });
});

/** Any value that a client can send. */
const { anyValue } = fc.letrec<{ anyValue: Value }>((tie) => ({
  anyValue: fc.oneof(
    { maxDepth: 4 },
    fc.constant(null),
    fc.boolean(),
    fc.integer(),
    fc.bigInt({ min: -(2n ** 63n), max: -(2n ** 53n) }),
    fc.bigInt({ min: 2n ** 53n, max: 2n ** 63n - 1n }),
    fc.double().map((value) => new Float(value)),
    fc.string({ unit: 'grapheme', maxLength: 40 }),
    fc.uint8Array({ maxLength: 300 }).map((data) => new Bytes(data)),
    fc.array(tie('anyValue'), { maxLength: 20 }).map((items) => listOf(items)),
    fc.array(fc.tuple(fc.string({ unit: 'grapheme' }), tie('anyValue')), { maxLength: 20 }).map((entries) => {
      const thing = new Thing(0, new ShapeTree().empty(), []);
      for (const [key, value] of entries) if (!isReservedKey(key)) thing.put(key, value);
      return thing;
    }),
  ),
}));

describe('any value', () => {
  test('a value that is written is read as it was', () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        expect(plain(read(write(value)))).toEqual(plain(value));
      }),
      { numRuns: 500 },
    );
  });

  test('goes through the transcoder unchanged', () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const data = write(value);
        const sink = new MsgpackWriter();
        readMsgpackInto(data, sink);
        expect(Buffer.from(sink.out.take()).toString('hex')).toBe(Buffer.from(data).toString('hex'));
      }),
    );
  });

  test('a value that is cut off anywhere is refused', () => {
    fc.assert(
      fc.property(anyValue, fc.nat(), (value, at) => {
        const data = write(value);
        expect(codeOf(data.subarray(0, at % data.length))).toBe(ErrorCode.BAD_DATA);
      }),
      { numRuns: 500 },
    );
  });
});

test('any bytes give a value or an error of the request', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (data) => {
      try {
        read(data);
      } catch (error) {
        expect(error).toBeInstanceOf(QueryError);
      }
    }),
    { numRuns: 5000 },
  );
});

describe('a long list', () => {
  const COUNT = 2_000_000;

  /** Bytes of the heap that it takes to do something. */
  function bytesOf(act: () => void): number {
    const before = process.memoryUsage().heapUsed;
    act();
    return process.memoryUsage().heapUsed - before;
  }

  function announcing(count: number): Buffer {
    const head = Buffer.alloc(5, 0xdd);
    head.writeUInt32BE(count, 1);
    return head;
  }

  test('gets its room once, and no more than it needs', () => {
    const data = Buffer.concat([announcing(COUNT), Buffer.alloc(COUNT, 0xc0)]);
    let list: Value = null;
    const bytes = bytesOf(() => {
      list = read(data);
    });
    expect(list).toHaveLength(COUNT);
    expect(bytes).toBeLessThan(12 * COUNT);
  });

  test('gets no room for what does not come, however many are one in the other', () => {
    const heads = Array.from({ length: NESTING_MAX }, () => announcing(COUNT));
    const data = Buffer.concat([...heads, Buffer.alloc(COUNT - 1, 0xc0)]);
    const bytes = bytesOf(() => expect(codeOf(data)).toBe(ErrorCode.BAD_DATA));
    expect(bytes).toBeLessThan(100 * COUNT);
  });
});
