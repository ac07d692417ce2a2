import {
  Float,
  type Format,
  QueryError,
  readArguments,
  readVariables,
  ShapeTree,
  Thing,
  type Value,
  wireOptions,
} from '@althing/engine';
import { describe, expect, test } from '@jest/globals';
import { Float64, type Packable, packed } from '../testing/index.js';
import { decodeBody } from './body.js';

const OPTIONS = { msgpackNestingMax: 500 };
const WIRE = wireOptions(new ShapeTree(), () => {});

/** A body and its values, whose memory is overwritten in between if it is only lent. */
function decode(body: string | Uint8Array, format: Format = 'json', isLent = true) {
  const bytes = Buffer.from(body);
  const decoded = decodeBody(bytes, format, OPTIONS, isLent);
  if (isLent) bytes.fill(0xc1);
  if (decoded.type === 'query') {
    return { ...decoded, vars: decoded.vars === null ? null : readVariables(decoded.vars, WIRE) };
  }
  return { ...decoded, args: decoded.args === null ? [] : readArguments(decoded.args, WIRE) };
}

/** Code of the error that a body is refused with; null when it is taken. */
function refusal(body: string | Uint8Array, format: Format = 'json'): number | null {
  try {
    decode(body, format);
    return null;
  } catch (error) {
    if (error instanceof QueryError) return error.code;
    throw error;
  }
}

/** The value of the variable `v` in a JSON body. */
function jsonVariable(text: string): Value | undefined {
  const body = decode(`{"type":"query","code":"","vars":{"v":${text}}}`);
  return body.type === 'query' ? body.vars?.get('v') : undefined;
}

const jsonRefusal = (text: string) => refusal(`{"type":"query","code":"","vars":{"v":${text}}}`);

const queryOf = (v: Packable) => packed({ type: 'query', code: '', vars: { v } });

/** A body whose variable `v` is given by the bytes themselves. */
function withBytes(...bytes: number[]): Buffer {
  const body = queryOf(null);
  return Buffer.concat([body.subarray(0, -1), Buffer.from(bytes)]);
}

describe.each<[Format, (body: Packable) => string | Buffer]>([
  ['json', (body) => JSON.stringify(body)],
  ['msgpack', packed],
])('the shape of a request as %s', (format, encode) => {
  test('a query with and without variables', () => {
    expect(decode(encode({ type: 'query', code: '1;' }), format)).toEqual({
      type: 'query',
      code: '1;',
      vars: null,
    });
    expect(decode(encode({ vars: { a: 1, b: 'x' }, code: '1;', type: 'query' }), format)).toEqual({
      type: 'query',
      code: '1;',
      vars: new Map<string, Value>([
        ['a', 1],
        ['b', 'x'],
      ]),
    });
  });

  test('a run with arguments by position, by name, and without', () => {
    expect(decode(encode({ type: 'run', name: 'p', args: [1, null] }), format)).toEqual({
      type: 'run',
      name: 'p',
      args: [1, null],
    });
    expect(decode(encode({ type: 'run', name: 'p', args: { x: 1 } }), format)).toEqual({
      type: 'run',
      name: 'p',
      args: new Map([['x', 1]]),
    });
    expect(decode(encode({ type: 'run', name: 'p' }), format)).toEqual({ type: 'run', name: 'p', args: [] });
  });

  test('unknown keys are ignored, and keys of the other type of request', () => {
    const body = { type: 'query', code: 'x', name: 5, args: 'no', __proto__: null, more: [{ a: [] }] };
    expect(decode(encode(body), format)).toEqual({ type: 'query', code: 'x', vars: null });
  });

  test.each<[string, Packable]>([
    ['no map', [1]],
    ['nil', null],
    ['a str', 'query'],
    ['an empty map', {}],
    ['no type', { code: '1;' }],
    ['an unknown type', { type: 'QUERY', code: '1;' }],
    ['a type that is no str', { type: 1, code: '1;' }],
    ['no code', { type: 'query' }],
    ['code that is no str', { type: 'query', code: 1 }],
    ['code that is nil', { type: 'query', code: null }],
    ['vars that are nil', { type: 'query', code: '', vars: null }],
    ['vars that are a list', { type: 'query', code: '', vars: [] }],
    ['vars that are an int', { type: 'query', code: '', vars: 3 }],
    ['no name', { type: 'run' }],
    ['a name that is no str', { type: 'run', name: ['p'] }],
    ['args that are nil', { type: 'run', name: 'p', args: null }],
    ['args that are a str', { type: 'run', name: 'p', args: 'x' }],
  ])('%s is bad data', (_what, body) => {
    expect(refusal(encode(body), format)).toBe(-53);
  });

  test.each(['', '1a', 'a b', 'a.b', 'ü', 'x'.repeat(256)])('%.20p can be no variable', (name) => {
    expect(refusal(encode({ type: 'query', code: '', vars: { [name]: 1 } }), format)).toBe(-60);
  });

  test.each([
    'constructor',
    'prototype',
    'toString',
    'hasOwnProperty',
    'valueOf',
    'then',
    'toJSON',
    '__defineGetter__',
  ])('%s is a name and a key like any other', (key) => {
    const body = decode(encode({ type: 'query', code: '', vars: { [key]: { [key]: 1 } } }), format);
    const value = body.type === 'query' ? body.vars?.get(key) : undefined;
    expect(value).toBeInstanceOf(Thing);
    expect(value instanceof Thing ? value.get(key) : undefined).toBe(1);
  });

  test('the prototype of objects can not be reached', () => {
    const before = Object.getOwnPropertyNames(Object.prototype).sort();
    const key = '__proto__';
    const map = new Map<string, Packable>([[key, new Map([['polluted', 1]])]]);
    const encoded =
      format === 'json'
        ? `{"type":"query","code":"","vars":{"${key}":{"${key}":{"polluted":1}}}}`
        : packed(new Map<string, Packable>([...Object.entries({ type: 'query', code: '' }), ['vars', map]]));
    decode(encoded, format);
    expect(Object.getOwnPropertyNames(Object.prototype).sort()).toEqual(before);
    expect('polluted' in {}).toBe(false);
  });
});

describe('JSON', () => {
  test.each([
    '',
    ' ',
    '{',
    '{"type":"query","code":"1;"',
    '{"type":"query","code":"1;"} x',
    '{"type":"query","code":"1;"}{}',
    '\ufeff{"type":"query","code":"1;"}',
    "{'type':'query','code':'1;'}",
    '{"type":"query","code":"1;",}',
    '{type:"query","code":"1;"}',
    '{"type":"query","code":"a\nb"}',
    '{"type":"query","code":"\\x41"}',
    '{"type":"query","code":"\\u12"}',
    '// comment\n{"type":"query","code":"1;"}',
    '"'.repeat(1000),
    'null',
    'NaN',
  ])('%.40p is malformed', (text) => {
    expect(refusal(text)).toBe(-53);
  });

  test.each(['NaN', 'Infinity', '-', '01', '1.', '.5', '+1', '0x10', '1e', 'nul', 'True', 'undefined'])(
    '%s is no value',
    (text) => {
      expect(jsonRefusal(text)).toBe(-53);
    },
  );

  test.each<[string, Value]>([
    ['9007199254740993', 9007199254740993n],
    ['9223372036854775807', 9223372036854775807n],
    ['-9223372036854775808', -9223372036854775808n],
    ['-0', 0],
    ['1.0', new Float(1)],
    ['-0.0', new Float(-0)],
    ['1e3', new Float(1000)],
    ['1e-400', new Float(0)],
    [`0.${'1'.repeat(400)}`, new Float(1 / 9)],
    ['"\\ud83d\\ude00"', '😀'],
    ['"\\u0000"', '\0'],
  ])('%.30s is read exactly', (text, value) => {
    expect(jsonVariable(text)).toEqual(value);
  });

  test.each(['9223372036854775808', '-9223372036854775809', '1'.repeat(400), '1e400', '-1e309'])(
    'the number %.30s is out of range',
    (text) => {
      expect(jsonRefusal(text)).toBe(-53);
    },
  );

  test.each(['"\\ud800"', '"\\ude00x"', '{"\\ud800":1}', '{"a":[{"\\udfff":1}]}'])(
    '%s has half of a character',
    (text) => {
      expect(jsonRefusal(text)).toBe(-53);
    },
  );

  test('half of a character is refused wherever it stands', () => {
    for (const body of [
      '{"type":"query","code":"\\ud800"}',
      '{"type":"run","name":"\\udc00"}',
      '{"type":"query","code":"1;","\\ud800":1}',
      '{"type":"query","code":"1;","vars":{"\\ud800":1}}',
      '{"type":"query","code":"ü\\ud800"}',
    ]) {
      expect(refusal(body)).toBe(-53);
    }
  });

  test('text is UTF-8, whether a body is all ASCII or not, short or long', () => {
    for (const length of [1, 100, 5000]) {
      const text = 'ü€😀\n"'.repeat(length);
      const body = JSON.stringify({
        type: 'query',
        code: text,
        ü: [text],
        vars: { v: text, w: { [text]: 1 } },
      });
      for (const isLent of [true, false]) {
        const decoded = decode(body, 'json', isLent);
        expect(decoded).toMatchObject({ code: text });
        expect(decoded.type === 'query' ? decoded.vars?.get('v') : null).toBe(text);
      }
    }
  });

  test('a malformed value is refused when it is read, its end before', () => {
    for (const vars of [
      '{"v":[}',
      '{"v":tru}',
      '{"v":01}',
      '{"v":"\\x"}',
      '{"v" 1}',
      '{"v":[}]',
      '{"v":"\n"}',
    ]) {
      expect(() => decode(`{"type":"query","code":"","vars":${vars}}`)).toThrow('not valid JSON');
    }
    for (const vars of ['{"v":1', '{"v":"1}', '{"v":"\\', '{"v":[1,{}}', '[']) {
      const body = Buffer.from(`{"type":"query","code":"","vars":${vars}`);
      expect(() => decodeBody(body, 'json', OPTIONS)).toThrow('not valid JSON');
    }
  });

  test('127 levels in all, and not one more', () => {
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    expect(jsonRefusal(nested(125))).toBeNull();
    expect(jsonRefusal(nested(126))).toBe(-53);
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      expect(jsonRefusal(`${open.repeat(100_000)}1${close.repeat(100_000)}`)).toBe(-53);
      expect(jsonRefusal(open.repeat(1_000_000))).toBe(-53);
      expect(refusal(`{"type":"query","code":"","other":${open.repeat(100_000)}`)).toBe(-53);
    }
  });

  test('the last of repeated keys counts', () => {
    const body = '{"type":"run","type":"query","code":"1","code":"2","vars":{"a":1,"a":2}}';
    expect(decode(body)).toEqual({ type: 'query', code: '2', vars: new Map([['a', 2]]) });
  });

  test.each([
    ['a lone byte', [0xff]],
    ['overlong', [0xc0, 0xaf]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['beyond Unicode', [0xf4, 0x90, 0x80, 0x80]],
    ['cut', [0xe2, 0x82]],
  ])('UTF-8 that is %s', (_what, bytes) => {
    const [before = '', after = ''] = '{"type":"query","code":"|"}'.split('|');
    const body = Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)]);
    expect(refusal(body)).toBe(-53);
    const long = Buffer.concat([
      Buffer.from(before + 'x'.repeat(5000)),
      Buffer.from(bytes),
      Buffer.from(after),
    ]);
    expect(refusal(long)).toBe(-53);
  });

  test('a million keys take linear time, integer-like and similar ones too', () => {
    const keys = (key: (i: number) => string) =>
      `{"type":"query","code":"","vars":{"v":{${Array.from({ length: 200_000 }, (_, i) => `"${key(i)}":1`).join()}}}}`;
    for (const body of [keys((i) => String(i * 1_000_003)), keys((i) => `key${i}`)]) {
      const begun = performance.now();
      expect(refusal(body)).toBeNull();
      expect(performance.now() - begun).toBeLessThan(3000);
    }
  });
});

describe('MessagePack', () => {
  test.each<[string, Packable, Value]>([
    ['the largest int', 9223372036854775807n, 9223372036854775807n],
    ['the smallest int', -9223372036854775808n, -9223372036854775808n],
    ['an int', 1, 1],
    ['a float', new Float64(1), new Float(1)],
    ['nan', new Float64(Number.NaN), new Float(Number.NaN)],
    ['a long str', 'é'.repeat(70_000), 'é'.repeat(70_000)],
  ])('%s is read exactly', (_what, value, expected) => {
    const body = decode(queryOf(value), 'msgpack');
    expect(body.type === 'query' ? body.vars?.get('v') : undefined).toEqual(expected);
  });

  test.each<[string, number[], number]>([
    ['an uint64 beyond int64', [0xcf, 0x80, 0, 0, 0, 0, 0, 0, 0], -59],
    ['a map with a key that is an int', [0x81, 1, 1], -61],
    ['a map with a key that is bytes', [0x81, 0xc4, 1, 65, 1], -61],
    ['a reserved key', [0x81, 0xa1, 0x23, 1], -60],
    ['a str with invalid UTF-8', [0xa2, 0xc3, 0x28], -53],
    ['a surrogate', [0xa3, 0xed, 0xa0, 0x80], -53],
    ['an unused type', [0xc1], -53],
    ['a timestamp', [0xd6, 0xff, 0, 0, 0, 0], -53],
    ['a timestamp out of range', [0xc7, 12, 0xff, ...new Array<number>(12).fill(0xff)], -53],
    ['a record definition', [0xd4, 0x72, 0x40, 0x91, 0xa1, 0x61, 0x01], -53],
    ['a reference', [0xd6, 0x70, 0, 0, 0, 1], -53],
    ['an unknown extension', [0xd4, 0x63, 1], -53],
    ['an extension of 4 billion bytes', [0xc9, 0xff, 0xff, 0xff, 0xff, 1], -53],
    ['an array of 4 billion items', [0xdd, 0xff, 0xff, 0xff, 0xff], -53],
    ['a map of 4 billion pairs', [0xdf, 0xff, 0xff, 0xff, 0xff], -53],
    ['a str of 4 billion bytes', [0xdb, 0xff, 0xff, 0xff, 0xff, 65], -53],
    ['bytes of 4 billion bytes', [0xc6, 0xff, 0xff, 0xff, 0xff, 65], -53],
    ['a cut int', [0xcf, 0], -53],
    ['a cut list', [0x93, 1, 2], -53],
    ['a cut map', [0x82, 0xa1, 65, 1], -53],
    ['nothing', [], -53],
  ])('%s is refused', (_what, bytes, code) => {
    expect(refusal(withBytes(...bytes), 'msgpack')).toBe(code);
  });

  test('lying sizes at every place are refused in no time', () => {
    const lies = [0xdd, 0xdf, 0xdb, 0xc6].map((type) => Buffer.from([type, 0x7f, 0xff, 0xff, 0xff]));
    const begun = performance.now();
    for (const lie of lies) {
      for (const body of [
        lie,
        Buffer.concat([Buffer.from([0x82]), packed('type'), lie]),
        withBytes(0x91, ...lie),
      ]) {
        expect(refusal(body, 'msgpack')).toBe(-53);
      }
    }
    expect(performance.now() - begun).toBeLessThan(1000);
  });

  test('500 levels, and no RangeError however many', () => {
    const nested = (levels: number) => withBytes(...new Array<number>(levels).fill(0x91), 1);
    expect(refusal(nested(498), 'msgpack')).toBeNull();
    expect(refusal(nested(501), 'msgpack')).toBe(-53);
    const deep = Buffer.concat([queryOf(null).subarray(0, -1), Buffer.alloc(1_000_000, 0x91), Buffer.of(1)]);
    expect(refusal(deep, 'msgpack')).toBe(-53);
    const maps = Buffer.from('81a161'.repeat(200_000), 'hex');
    expect(refusal(Buffer.concat([queryOf(null).subarray(0, -1), maps, Buffer.of(1)]), 'msgpack')).toBe(-53);
  });

  test('every cut of a request is refused, and every other byte in it read or refused', () => {
    const body = packed({
      type: 'query',
      code: '1;',
      vars: { a: [1, { b: new Float64(2) }, 'x', Uint8Array.of(1)] },
    });
    for (let end = 0; end < body.length; end++) expect(refusal(body.subarray(0, end), 'msgpack')).toBe(-53);
    for (let at = 0; at < body.length; at++) {
      for (let byte = 0; byte < 256; byte++) {
        const changed = Buffer.from(body);
        changed[at] = byte;
        expect([null, -53, -59, -60, -61]).toContain(refusal(changed, 'msgpack'));
      }
    }
  });

  test('bytes behind the request are refused', () => {
    expect(refusal(Buffer.concat([queryOf(1), Buffer.from('xyz')]), 'msgpack')).toBe(-53);
    expect(refusal(Buffer.concat([packed({ type: 'query', code: '1;' }), Buffer.of(0xc0)]), 'msgpack')).toBe(
      -53,
    );
  });

  test('a surrogate in a key is refused, also where keys are ignored', () => {
    const key = [0xa3, 0xed, 0xa0, 0x80];
    expect(refusal(withBytes(0x81, ...key, 1), 'msgpack')).toBe(-53);
    const body = Buffer.concat([
      Buffer.of(0x83),
      packed('type'),
      packed('query'),
      packed('code'),
      packed('1;'),
    ]);
    expect(refusal(Buffer.concat([body, Buffer.from(key), Buffer.of(1)]), 'msgpack')).toBe(-53);
  });
});

describe('values', () => {
  test('are not made before they are asked for, and not many variables', () => {
    const names = Array.from({ length: 10_001 }, (_, i) => [`v${i}`, 1] as const);
    for (const format of ['json', 'msgpack'] as const) {
      const encode = (body: Packable) => (format === 'json' ? JSON.stringify(body) : packed(body));
      const vars = (count: number) => Object.fromEntries(names.slice(0, count));
      expect(refusal(encode({ type: 'query', code: '1;', vars: vars(10_000) }), format)).toBeNull();
      expect(refusal(encode({ type: 'query', code: '1;', vars: vars(10_001) }), format)).toBe(-57);
      expect(refusal(encode({ type: 'run', name: 'p', args: vars(10_001) }), format)).toBeNull();
    }
  });

  test('are charged for while they are read', () => {
    for (const [format, body] of [
      ['json', Buffer.from(`{"type":"run","name":"p","args":[${'{},'.repeat(999)}{}]}`)],
      ['msgpack', packed({ type: 'run', name: 'p', args: Array.from({ length: 1000 }, () => ({})) })],
    ] as const) {
      const decoded = decodeBody(body, format, OPTIONS);
      let count = 0;
      const wire = wireOptions(new ShapeTree(), (more) => {
        count += more;
      });
      if (decoded.type === 'run' && decoded.args !== null) readArguments(decoded.args, wire);
      expect(count).toBe(992);
    }
  });
});

test.each([
  ['{"\\u0074ype":"\\u0071uery","c\\u006fde":"1;"}', { type: 'query', code: '1;', vars: null }],
  ['{ "type" : "run" , "n\\u0061me" : "f" , "ar\\u0067s" : [1] }', { type: 'run', name: 'f', args: [1] }],
  ['{"types":"run","typ":"run","":1,"type":"query","code":"2;"}', { type: 'query', code: '2;', vars: null }],
])('keys and words are known however they are written: %s', (text, expected) => {
  expect(decode(text)).toEqual(expected);
  expect(decode(`${text.slice(0, -1)},"x":"${'y'.repeat(9000)}"}`)).toEqual(expected);
});

test.each(['{"type"', '{"type"}', '{"type" "query"}', '{"type":"query","code"', '{"type":"que'])(
  '%s is no body',
  (text) => expect(refusal(text)).toBe(-53),
);
