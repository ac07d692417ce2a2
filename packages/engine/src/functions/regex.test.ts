import { describe, expect, test } from '@jest/globals';
import { Harness } from '../testing/harness.js';

const harness = new Harness();
const run = harness.run.bind(harness);
const error = harness.error.bind(harness);

describe('match and test', () => {
  test('give matches with their groups, or all matches under g', () => {
    expect(run('/b+/.match("abbb")')).toEqual(['bbb']);
    expect(run('/(x)?(y)?(z)/.match("z")')).toEqual(['z', '', '', 'z']);
    expect(run('/(z)(y)?/.match("z")')).toEqual(['z', 'z']);
    expect(run('/\\d/.match("abc")')).toBeNull();
    expect(run('/\\d+/g.match("1 22 333")')).toEqual(['1', '22', '333']);
    expect(run('/\\d/g.match("abc")')).toEqual([]);
    expect(run('[/b/.test("abc"), /B/i.test("abc"), /x/.test("abc")]')).toEqual([true, true, false]);
  });

  test('give lists of their own', () => {
    expect(run('.m = /a/.match("a"); m = .m; [type(m), m]')).toEqual(['list', ['a']]);
  });

  test('take texts only', () => {
    expect(error('/a/.test(bytes("a"))')).toBe('type_err');
    expect(error('/a/.match(nil)')).toBe('type_err');
  });
});

describe('a pattern can not stall a node (decision 8)', () => {
  const slow = '/(?:(?=(a+))\\1?a?)+(?=(a*)b)\\2c/';
  const vars = { s: 'a'.repeat(5000), t: 'ab'.repeat(30_000) };

  test('past the step limit an operation is operation_err, which can be caught', () => {
    expect(run(`try(${slow}.test(s)).code()`, { vars })).toBe(-63);
  });

  test('the steps count for the query too', () => {
    const limited = new Harness({ limits: { durationMs: 100 }, realTime: true });
    const code = `for (i in range(1000)) try(${slow}.test(s));`;
    expect(limited.error(code, { vars })).toBe('timeout');
  });

  test('nested quantifiers are harmless', () => {
    expect(run('/^(a|aa)+$/.test(s + "b")', { vars })).toBe(false);
    expect(run('/^(a+)+$/.test(t)', { vars })).toBe(false);
  });
});

describe('replace', () => {
  test('takes texts as they are', () => {
    expect(run("'a1b22'.replace(/(\\d)+/, '<$1\\1>')")).toBe('a<$1\\1>b<$1\\1>');
    expect(run("'a1b22'.replace(/\\d+/, '#', 1)")).toBe('a#b22');
    expect(error("'a1'.replace(/\\d/, '#', -1)")).toBe('value_err');
  });

  test('gives closures the groups that took part, then match, start, end and text', () => {
    const show = '|a, b, c, d, e| `<{a}|{b}|{c}|{d}|{e}>`';
    expect(run(`'🙂x1'.replace(/(x)(1)/, ${show})`)).toBe('🙂<x|1|x1|1|3>');
    expect(run(`'🙂x'.replace(/(x)(1)?/, ${show})`)).toBe('🙂<x|x|1|2|🙂x>');
    expect(error("'a'.replace(/a/, || 5)")).toBe('type_err');
  });

  test('runs with itself inside', () => {
    expect(run("'a-b'.replace(/[ab]/, |m| m.replace(/a/, || 'x'.replace(/x/, 'y')))")).toBe('y-b');
  });
});

describe('split', () => {
  test('adds the groups', () => {
    expect(run("'a1b22c'.split(/(\\d)(\\d)?/)")).toEqual(['a', '1', 'b', '2', '2', 'c']);
    expect(run("'🙂,🙂'.split(/,/)")).toEqual(['🙂', '🙂']);
  });

  test('counts what it makes of many groups', () => {
    const limited = new Harness({ limits: { durationMs: 200 }, realTime: true });
    const vars = { p: `${'()'.repeat(5000)}a`, s: 'a'.repeat(100_000) };
    expect(['timeout', 'max_quota_err']).toContain(limited.error('s.split(regex(p))[0]', { vars }));
  });
});
