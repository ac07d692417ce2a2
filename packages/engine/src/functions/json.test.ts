import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Harness } from '../testing/harness.js';
import { Float } from '../value/scalars.js';

const harness = new Harness();
const run = harness.run.bind(harness);
const error = harness.error.bind(harness);

describe('json_load', () => {
  test.each(['12', '-3', ' 1.5 ', '"a"', 'true', 'null', '[]', '{"":[1]}'])('accepts %s at the top', (s) => {
    expect(() => run('json_load(s)', { vars: { s } })).not.toThrow();
  });

  test.each([
    '',
    ' ',
    '[',
    '{"a":1',
    '"a',
    '01',
    '1.',
    '.5',
    '+1',
    'NaN',
    '[1,]',
    "'a'",
    'nul',
    '1 2',
    '\ufeff1',
  ])('refuses %p, which is not RFC 8259', (s) => {
    expect(error('json_load(s)', { vars: { s } })).toBe('value_err');
  });

  test('tells ints from floats, in the whole range', () => {
    expect(run("json_load('[1, 1.0, 1e2, -0, -0.0, -9223372036854775808, 1e-400]')")).toEqual([
      1,
      new Float(1),
      new Float(100),
      0,
      new Float(0),
      -(2n ** 63n),
      new Float(0),
    ]);
    expect(error("json_load('9223372036854775808')")).toBe('value_err');
    expect(error("json_load('1e999')")).toBe('value_err');
  });

  test('keeps the order of keys, and the first place of one that comes twice', () => {
    expect(run(`json_dump(json_load('{"b":1,"a":2,"1":3,"b":4}'))`)).toBe('{"b":4,"a":2,"1":3}');
  });

  test('every unpaired surrogate escape is a question mark', () => {
    const vars = {
      s: String.raw`["\ud83e!", "\udd8a", "\ud83e\u0041", "\ud83e\udd8a", "\ud83e\ud83e\udd8a"]`,
    };
    expect(run('json_load(s)', { vars })).toEqual(['?!', '?', '?A', '🦊', '?🦊']);
  });

  test('refuses reserved keys and deep nesting', () => {
    expect(error(`json_load('{"#":1}')`)).toBe('value_err');
    const nested = (depth: number) => ({ vars: { s: '['.repeat(depth) + ']'.repeat(depth) } });
    expect(run('type(json_load(s))', nested(127))).toBe('list');
    expect(error('json_load(s)', nested(128))).toBe('operation_err');
  });

  test('stops at the limits of the query', () => {
    const limited = new Harness({ limits: { durationMs: 50 }, realTime: true });
    const vars = { s: `[${'{},'.repeat(2_000_000)}{}]` };
    expect(limited.error('json_load(s)', { vars })).toBe('timeout');
  });
});

describe('json_dump', () => {
  test('writes floats in the shortest form that reads back, never as an int (decision 5)', () => {
    expect(
      run('[json_dump(0.1), json_dump(2.0), json_dump(1.0e+20), json_dump(1.0e+21), json_dump(1.0e-7)]'),
    ).toEqual(['0.1', '2.0', '100000000000000000000.0', '1e+21', '1e-7']);
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (x) => {
        expect(run('json_load(json_dump(x)) == x', { vars: { x: new Float(x) } })).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  test('escapes what has to be', () => {
    const vars = { s: 'q" b\\ / \b\f\n\r\t \u0001\u001f\u007f é 🦊' };
    expect(run('json_dump(s)', { vars })).toBe('"q\\" b\\\\ / \\b\\f\\n\\r\\t \\u0001\\u001F\u007f é 🦊"');
  });

  test('goes as deep as asked for, with or without ids', () => {
    expect(run('.a = {b: {c: 1}}; json_dump(.a, {deep: 2})')).toMatch(/^\{"#":\d+,"b":\{"#":\d+,"c":1\}\}$/);
    expect(run('json_dump(.a, {deep: 2, flags: NO_IDS})')).toBe('{"b":{"c":1}}');
    expect(run('json_dump(.a, {deep: 0})')).toMatch(/^\{"#":\d+\}$/);
    expect(run('deep(2); json_dump({a: {b: {}}})')).toBe('{"a":{"b":{}}}');
    expect(run('json_dump({a: {b: {}}}, {deep: 127, flags: 0})')).toBe('{"a":{"b":{}}}');
  });

  test('refuses what JSON lacks, and bad options', () => {
    for (const value of ['nan', '[inf]', "bytes('a')", '{a: bytes()}']) {
      expect(error(`json_dump(${value})`)).toBe('type_err');
    }
    expect(error('json_dump(1, {deep: 128})')).toBe('value_err');
    expect(error('json_dump(1, {deep: 1.0})')).toBe('type_err');
    expect(error('json_dump(1, {flags: nil})')).toBe('type_err');
    expect(error('json_dump(1, {indent: 1})')).toBe('lookup_err');
    expect(error('json_dump(1, nil)')).toBe('type_err');
  });

  test('beautifies', () => {
    expect(run('json_dump({a: [1, {}], b: [], c: {d: "x"}}, {beautify: 1, deep: 2})')).toBe(
      [
        '{',
        '    "a": [',
        '        1,',
        '        {',
        '',
        '        }',
        '    ],',
        '    "b": [',
        '',
        '    ],',
        '    "c": {',
        '        "d": "x"',
        '    }',
        '}',
        '',
      ].join('\n'),
    );
    expect(run('[json_dump(5, {beautify: true}), json_dump([], {beautify: true})]')).toEqual([
      '5\n',
      '[\n\n]\n',
    ]);
  });

  test('beautified text reads as the compact one', () => {
    const value = fc.jsonValue({ maxDepth: 3, noUnicodeString: false }).map((json) => JSON.stringify(json));
    fc.assert(
      fc.property(value, (s) => {
        // Keys of one sign are reserved, and ints end at 64 bits.
        fc.pre(!/"[ -/]":/.test(s) && !/\d{19}/.test(s));
        const code =
          'x = json_load(s); json_dump(json_load(json_dump(x, {deep: 127, beautify: 1})), {deep: 127}) == json_dump(x, {deep: 127})';
        expect(run(code, { vars: { s } })).toBe(true);
      }),
      { numRuns: 100 },
    );
  });

  test('is bounded in size and time, also where things share things', () => {
    const small = new Harness({ limits: { valueBytes: 1000 } });
    expect(small.error('json_dump(s)', { vars: { s: 'a'.repeat(1000) } })).toBe('max_quota_err');
    const limited = new Harness({ limits: { durationMs: 100 }, realTime: true });
    const code = 'x = {}; for (i in range(100)) x = {a: x, b: x}; json_dump(x, {deep: 127})';
    expect(['timeout', 'max_quota_err']).toContain(limited.error(code));
  });
});
