import { describe, expect, test } from '@jest/globals';
import { Harness, type Plain } from '../testing/harness.js';
import { Float } from '../value/scalars.js';

const db = new Harness();
const INT_MAX = 2n ** 63n - 1n;
const INT_MIN = -(2n ** 63n);

describe('bool', () => {
  test.each(['false', '0', '0.0', "''", 'nil', '[]', '{}', 'set()', "bytes('')", 'err()'])(
    '%s is false',
    (value) => {
      expect(db.run(`bool(${value})`)).toBe(false);
    },
  );
  test.each(['true', '-1', '0.5', "float('nan')", "'0'", '[nil]', '{a: nil}', 'set({})', '||nil', '/a/'])(
    '%s is true',
    (value) => {
      expect(db.run(`bool(${value})`)).toBe(true);
    },
  );
});

describe('int', () => {
  test.each<[string, Plain]>([
    ["'12'", 12],
    ["' \t-12abc'", -12],
    ["'+7'", 7],
    ["'0x1F'", 31],
    ["'-0xff'", -255],
    ["'017'", 15],
    ["'08'", 0],
    ["'abc'", 0],
    ["''", 0],
    ["'1e3'", 1],
    ["'9223372036854775807'", INT_MAX],
    ["'-9223372036854775808'", INT_MIN],
    ["'0x7fffffffffffffff'", INT_MAX],
    ["'0777777777777777777777'", INT_MAX],
    ["'000000000000000000000000000000000000009'", 0],
    ['true', 1],
    ['2.9', 2],
    ['-2.9', -2],
    ['datetime(2013, 2, 6)', 1_360_108_800],
    ["err(-77, 'x')", -77],
  ])('int of %s is %p', (value, expected) => {
    expect(db.run(`int(${value})`)).toEqual(expected);
  });

  test.each([
    ["'9223372036854775808'", 'overflow_err'],
    ["'-9223372036854775809'", 'overflow_err'],
    ["'0x8000000000000000'", 'overflow_err'],
    [`'${'9'.repeat(100_000)}'`, 'overflow_err'],
    ['9223372036854775808.0', 'overflow_err'],
    ["float('nan')", 'overflow_err'],
    ["float('-inf')", 'overflow_err'],
    ['nil', 'type_err'],
    ['[]', 'type_err'],
    ['{}', 'type_err'],
    ["bytes('1')", 'type_err'],
    ['||nil', 'type_err'],
  ])('int of %s is refused as %s', (value, name) => {
    expect(db.error(`int(${value})`)).toBe(name);
  });

  test('a text of any digits reads as the number that they write', () => {
    for (const value of [0n, 7n, 8n, 511n, 2n ** 31n, 2n ** 53n + 1n, INT_MAX]) {
      for (const [text, sign] of [
        [`0x${value.toString(16)}`, 1n],
        [`-0X${value.toString(16).toUpperCase()}`, -1n],
        [`0${value.toString(8)}`, 1n],
        [`-${value}`, -1n],
      ] as const) {
        expect([text, String(db.run('int(s)', { vars: { s: text } }))]).toEqual([text, String(sign * value)]);
      }
    }
  });
});

describe('float', () => {
  test.each<[string, number]>([
    ["'1.5'", 1.5],
    ["' -1.5e3x'", -1500],
    ["'.5'", 0.5],
    ["'5.'", 5],
    ["'0x1p-2'", 0.25],
    ["'0x.8'", 0.5],
    ["'-0xA.8p1'", -21],
    ["'0x1p-1074'", 5e-324],
    ["'0x0.0000000000001p1075'", 2 ** 1023],
    ["'inf'", Number.POSITIVE_INFINITY],
    ["'-Infinity'", Number.NEGATIVE_INFINITY],
    ["'1e999'", Number.POSITIVE_INFINITY],
    ["'abc'", 0],
    ["''", 0],
    ['true', 1],
    ['9223372036854775807', 2 ** 63],
    ["err(-77, 'x')", -77],
    ['datetime(1970, 1, 2)', 86_400],
  ])('float of %s is %d', (value, expected) => {
    expect(db.run(`float(${value})`)).toEqual(new Float(expected));
  });

  test('float of nan is nan', () => {
    expect(db.run("is_nan(float('nan'))")).toBe(true);
  });

  test.each(['nil', '[]', '{}', "bytes('1')", '/a/'])('float of %s is refused', (value) => {
    expect(db.error(`float(${value})`)).toBe('type_err');
  });
});

describe('str', () => {
  test.each<[string, string]>([
    ['nil', 'nil'],
    ['true', 'true'],
    ['-9223372036854775808', '-9223372036854775808'],
    ['2.0', '2'],
    ['0.1', '0.1'],
    ['1.0e+21', '1e+21'],
    ["float('nan')", 'nan'],
    ["float('-inf')", '-inf'],
    ["bytes('é')", 'é'],
    ['/a+/i', '/a+/i'],
    ['|x| x+1', '|x| x + 1'],
    ["err(-77, 'why')", 'why'],
    ['{}', 'thing:nil'],
    ['root()', 'thing:1'],
    ['datetime(2013, 2, 6)', '2013-02-06T00:00:00Z'],
  ])('str of %s is %p', (value, expected) => {
    expect(db.run(`str(${value})`)).toBe(expected);
  });

  test.each(['[]', '[[]][0]', 'set()', 'user_info()'])('str of %s is refused', (value) => {
    expect(db.error(`str(${value})`)).toBe('type_err');
  });

  test('str of bytes that are no UTF-8 is refused', () => {
    for (const data of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82]]) {
      expect(db.error('str(b)', { vars: { b: Uint8Array.from(data) } })).toBe('value_err');
    }
    expect(db.run('str(b)', { vars: { b: Uint8Array.from([0xef, 0xbb, 0xbf, 0x61]) } })).toBe('\ufeffa');
  });
});

describe('containers', () => {
  test('list gives a list itself, and the things of a set', () => {
    expect(db.run('x = [1]; list(x).push(2); x')).toEqual([1, 2]);
    expect(db.run('a = {n: 1}; b = {n: 2}; list(set(a, b, a)).map(|t| t.n)')).toEqual([1, 2]);
    for (const value of ["'abc'", '5', '{}', 'nil']) expect(db.error(`list(${value})`)).toBe('type_err');
  });

  test('set takes things alone, one by one or in a list', () => {
    expect(db.run('a = {}; [set(a, {}, a).len(), set([a, {}]).len(), set().len(), set([]).len()]')).toEqual([
      2, 2, 0, 0,
    ]);
    expect(db.run('s = set({}); set(s).add({}); s.len()')).toBe(2);
    for (const value of ['1', '[{}, nil]', '[[]]', '{}, 5'])
      expect(db.error(`set(${value})`)).toBe('type_err');
  });

  test('thing gives a thing itself, or the stored one of an id', () => {
    expect(db.run('.t = {n: 7}; [thing(.t.id()).n, thing(.t).n, thing().len()]')).toEqual([7, 7, 0]);
    for (const id of ['0', '-1', '99', '9223372036854775807']) {
      expect(db.error(`thing(${id})`)).toBe('lookup_err');
    }
    for (const value of ['1.0', "'1'", 'nil', '[]']) expect(db.error(`thing(${value})`)).toBe('type_err');
  });

  test('thing does not give what the same query has dropped', () => {
    db.run('.gone = {n: 1}');
    expect(db.error("id = .gone.id(); .del('gone'); thing(id)")).toBe('lookup_err');
    expect(db.run('.gone.n')).toBe(1);
  });
});

describe('closure and regex', () => {
  test('closure compiles a text', () => {
    expect(db.run("closure('|a, b| a * b').call(6, 7)")).toBe(42);
    expect(db.run('c = |x| x; [closure(c).call(5), closure().call()]')).toEqual([5, null]);
    expect(db.error("closure('a * b')")).toBe('lookup_err');
    expect(db.error("closure('|a| a; 1')")).toBe('bad_data_err');
    expect(db.error("closure('|a')")).toBe('syntax_err');
    expect(db.error('closure(5)')).toBe('type_err');
  });

  test('regex compiles a pattern', () => {
    expect(db.run("[regex('^a.c$', 'i').test('AbC'), str(regex('a/b', 'g'))]")).toEqual([true, '/a/b/g']);
    expect(db.error("regex('(')")).toBe('value_err');
    expect(db.error("regex('a', 'q')")).toBe('value_err');
    expect(db.error('regex(5)')).toBe('type_err');
  });
});

/** A value of each type, and the names of the tests that say yes to it. */
const KINDS: readonly (readonly [value: string, tests: readonly string[]])[] = [
  ['nil', ['is_nil', 'is_nan']],
  ['true', ['is_bool']],
  ['1', ['is_int']],
  ['1.5', ['is_float']],
  ["float('nan')", ['is_float', 'is_nan']],
  ["float('-inf')", ['is_float', 'is_inf']],
  ["'a'", ['is_str', 'is_utf8', 'is_raw', 'is_ascii', 'is_nan']],
  ["'é'", ['is_str', 'is_utf8', 'is_raw', 'is_nan']],
  ["'a@b.cd'", ['is_str', 'is_utf8', 'is_raw', 'is_ascii', 'is_nan', 'is_email']],
  ["'https://a.bc/d'", ['is_str', 'is_utf8', 'is_raw', 'is_ascii', 'is_nan', 'is_url']],
  ["'+31612345678'", ['is_str', 'is_utf8', 'is_raw', 'is_ascii', 'is_nan', 'is_tel']],
  ["'Europe/Oslo'", ['is_str', 'is_utf8', 'is_raw', 'is_ascii', 'is_nan', 'is_time_zone']],
  ["bytes('a')", ['is_bytes', 'is_raw', 'is_nan']],
  ['user_info()', ['is_mpdata', 'is_raw', 'is_nan']],
  ['/a/', ['is_regex', 'is_nan']],
  ['|| 1', ['is_closure', 'is_nan']],
  ['err()', ['is_err', 'is_nan']],
  ['datetime()', ['is_datetime', 'is_nan']],
  ['timeval()', ['is_timeval', 'is_nan']],
  ['[1]', ['is_list', 'is_array', 'is_nan']],
  ['[[1]][0]', ['is_tuple', 'is_array', 'is_nan']],
  ['set()', ['is_set', 'is_nan']],
  ['{}', ['is_thing', 'is_nan']],
];

describe('tests of types', () => {
  const names = [...new Set(KINDS.flatMap(([, tests]) => tests))].filter((name) => name !== 'is_inf');

  test.each(KINDS)('%s is %p, and nothing else', (value, tests) => {
    expect(names.filter((name) => db.run(`${name}(${value})`) === true).sort()).toEqual(
      tests.filter((name) => name !== 'is_inf').sort(),
    );
  });

  test('is_inf takes numbers alone', () => {
    expect(db.run("[is_inf(1), is_inf(true), is_inf(1.0), is_inf(float('inf'))]")).toEqual([
      false,
      false,
      false,
      true,
    ]);
    expect(db.error("is_inf('inf')")).toBe('type_err');
  });

  test('is_ascii does not take the character 0', () => {
    expect(db.run('[is_ascii(a), is_ascii(b)]', { vars: { a: '', b: 'a\0' } })).toEqual([true, false]);
  });

  test('each takes one argument', () => {
    for (const name of names) expect([name, db.error(`${name}()`)]).toEqual([name, 'num_arguments_err']);
  });
});
