/**
 * The places where the language differs from the one that it is compatible with, on purpose: one test for each such
 * decision about the language, its values and its containers.
 */
import { expect, test } from '@jest/globals';
import { Harness } from './testing/harness.js';
import { stateLines } from './testing/state-lines.js';
import { Float } from './value/scalars.js';

const db = new Harness();
const run = db.run.bind(db);
const error = db.error.bind(db);

/** A query that ends in an error leaves nothing behind. */
function expectUnchanged(code: string): void {
  const before = stateLines(db.collection);
  error(code);
  expect(stateLines(db.collection)).toEqual(before);
}

test('1 atomic queries: one that ends in an error changes nothing; a try is no transaction; one operation is whole', () => {
  run('.one = [1]; .two = {a: 1}; .set = set()');
  expectUnchanged('.one.push(2); .two.b = 2; .three = {}; raise()');
  expectUnchanged('.one = [1, 2].map(|x| { .two.c = x; x / 0 })');
  expect(run('try(.one.splice(0, 0, 5, 6)[0].nothing); .one')).toEqual([5, 6, 1]);
  expect(
    run("try(.set.add({}, {}, 'no thing')); try(.one.push(1, 2, nosuch)); [.set.len(), .one.len()]"),
  ).toEqual([0, 3]);
});

test('2 text is Unicode: everything counts code points, and bytes count bytes', () => {
  expect(run("['añ🙂'.len(), bytes('añ🙂').len()]")).toEqual([3, 7]);
  expect(run("['a🙂b'[1], 'a🙂b'[-2:], 'ß'.upper(), '\u00a0x\u2003'.trim()]")).toEqual([
    '🙂',
    '🙂b',
    'SS',
    'x',
  ]);
  expect(run("['é'.len(), is_utf8('🙂'), /./.match('🙂')]")).toEqual([1, true, ['🙂']]);
  expect(error("str(base64_decode('/w=='))")).toBe('value_err');
});

test('3 local time: summer time counts; in a gap time moves forward, in an overlap the first one is meant', () => {
  const at = (text: string): unknown => run(`int(datetime(2024, ${text}, 'Europe/Amsterdam'))`);
  expect(at('7, 1, 12, 0, 0')).toBe(Date.UTC(2024, 6, 1, 10) / 1000);
  expect(at('3, 31, 2, 30, 0')).toBe(Date.UTC(2024, 2, 31, 1, 30) / 1000);
  expect(at('10, 27, 2, 30, 0')).toBe(Date.UTC(2024, 9, 27, 0, 30) / 1000);
});

test('4 calendar: months and years are clamped to the last day; what can not be is a value_err', () => {
  expect(run("str(datetime(2024, 1, 31).move('months', 1))")).toMatch(/^2024-02-29/);
  expect(run("str(datetime(2024, 2, 29).move('years', 1))")).toMatch(/^2025-02-28/);
  for (const code of [
    'datetime(2024, 2, 30)',
    "datetime('2024-02-30')",
    "datetime(2024, 1, 1, 25, 0, 0, 'UTC')",
    "datetime(2024, 1, 1, 0, 0, 60, 'UTC')",
    "datetime('2024-01-01T25:00:00Z')",
    'str(datetime(67768036191676800))',
    'datetime(2024, 1, 31).replace({month: 2})',
  ]) {
    expect([code, error(code)]).toEqual([code, 'value_err']);
  }
});

test('5 JSON: exactly RFC 8259 is read; floats are written shortest and stay floats', () => {
  expect(run("[json_load('5'), json_load(' [1e2, null] '), json_load('\"a\"')]")).toEqual([
    5,
    [new Float(100), null],
    'a',
  ]);
  for (const text of ['[1,]', '01', '{a: 1}', "['a']", 'NaN', '[1] 2', '', '[1] // x', '+1']) {
    expect([text, error('json_load(t)', { vars: { t: text } })]).toEqual([text, 'value_err']);
  }
  expect(run('json_dump([0.1, 1.0, 1.0e+300, 2])')).toBe('[0.1,1.0,1e+300,2]');
});

test('6 literals: one that can not be fails before anything runs', () => {
  expectUnchanged('.six = 1; 9223372036854775808');
  expect(error('.six = 1; 9223372036854775808')).toBe('overflow_err');
  expect(error('.six = 1; /(/')).toBe('value_err');
  expect(error('.six')).toBe('lookup_err');
});

test('7 order: things keep the order in which properties were added, sets that of insertion', () => {
  expect(run("t = {b: 1, a: 2, z: 3}; t.del('b'); t.c = 5; t.b = 6; t.keys()")).toEqual(['a', 'z', 'c', 'b']);
  expect(run("t = {}; t['10'] = 1; t['9'] = 2; t['é'] = 3; t['10'] = 4; t.keys()")).toEqual(['10', '9', 'é']);
  expect(run('json_load(\'{"b": 1, "1": 2, "a": 3, "0": 4}\').keys()')).toEqual(['b', '1', 'a', '0']);
  expect(run('a = {n: 1}; b = {n: 2}; c = {n: 3}; set(b, a, c).map(|t| t.n)')).toEqual([2, 1, 3]);
});

test('8 regular expressions: a pattern that stalls fails; what is not supported fails when it is compiled', () => {
  expect(error('/(a*)*\\1b/.test(t)', { vars: { t: 'a'.repeat(1000) } })).toBe('operation_err');
  for (const pattern of ['(?R)', '(a)(?(1)b)', '(?|a|b)', '\\C', '(?C1)']) {
    expect([pattern, error('regex(p)', { vars: { p: pattern } })]).toEqual([pattern, 'value_err']);
  }
});

test('9 checks are never bypassed: every way to write honours a restriction', () => {
  run(".nine = {a: 1}; .nine.restrict('int')");
  for (const code of [
    ".nine.a = 'x'",
    ".nine['a'] = 'x'",
    ".nine.set('b', 1.5)",
    '.nine.a += 0.5',
    ".nine['a'] /= 2.0",
    ".nine.assign({a: 2, b: 'x'})",
  ]) {
    expectUnchanged(code);
    expect([code, error(code)]).toEqual([code, 'type_err']);
  }
});

test('10 copies: what functions give is a fresh list of its own, and is stored properly', () => {
  expect(run('.ten = [[1], {a: 1}]; v = root().ten[:]; v.push(3); [.ten.len(), v.len()]')).toEqual([2, 3]);
  expect(run('t = {a: [1]}; v = t.values(); t.a.push(2); [v, t.a]')).toEqual([[[1]], [1, 2]]);
  expect(run('.r = .ten.splice(0, 1); .r.push({b: 1}); .ten.push(.r); [.r.len(), .ten]', {})).toMatchObject([
    2,
    [{ a: 1 }, [[1], { b: 1 }]],
  ]);
  expect(run('.ten.splice(0, 9).push({c: 1}); .ten')).toEqual([]);
});

test('11 integers: all of int64 works, exactly or as overflow_err', () => {
  expect(run('[-9223372036854775808, 9223372036854775807]')).toEqual([-(2n ** 63n), 2n ** 63n - 1n]);
  expect(run('[3037000499 * 3037000499, 9007199254740993 - 2, -9223372036854775807 / 10]')).toEqual([
    9223372030926249001n,
    9007199254740991,
    -922337203685477580n,
  ]);
  expect(run('[INT_MIN % -1, INT_MIN % 10, 9007199254740993 % 10, round(4503599627370497)]')).toEqual([
    0, -8, 3, 4503599627370497,
  ]);
  for (const code of ['INT_MIN / -1', '-INT_MIN', 'INT_MAX + 1', 'INT_MAX * 2', 'abs(INT_MIN)']) {
    expect([code, error(code)]).toEqual([code, 'overflow_err']);
  }
});

test('12 jumps and templates: jumps are words of their own that no try catches; only braces are code in a template', () => {
  for (const word of ['break', 'continue', 'if', 'else', 'for', 'in', 'return']) {
    expect([word, error(`${word} = 1`)]).toEqual([word, 'syntax_err']);
  }
  expect(
    run('f = |x| { try(return_ = 1); for (i in [1, 2]) { if (i == 1) continue; return i }; 5 }; f(0)'),
  ).toBe(2);
  expect(run('f = || { try((return 7)); 8 }; f()')).toBe(7);
  expect(run('x = 1; `a // b {x} /* c */ "q"`')).toBe('a // b 1 /* c */ "q"');
});

test('13 closures: a call has its own parameters, whoever calls it, however deep', () => {
  expect(run('f = |n| n < 1 ? 0 : f(n - 1) + n; f(10)')).toBe(55);
  expect(run('f = |n| [n, n > 0 && [1].map(|x| f(n - 1)), n]; f(2)')).toEqual([
    2,
    [[1, [[0, false, 0]], 1]],
    2,
  ]);
  expect(run('n = 5; f = |n| n * 2; [f(1), n, [3].map(f), n]')).toEqual([2, 5, [6], 5]);
});

test('14 errors: an error that is data is an answer; what the format can not carry is an error that changes nothing', () => {
  expect(run('e = err(-60, "no"); [type(e), e.code(), e.msg()]')).toEqual(['error', -60, 'no']);
  const { engine } = db;
  const before = stateLines(db.collection);
  const call = {
    scope: engine.scope(db.collection.id),
    user: [...engine.root.users.values()][0],
    body: { kind: 'query', prepared: engine.prepare('.fourteen = 1; bytes()'), vars: null },
    format: 'json',
  } as const;
  const { scope, user } = call;
  if (scope === undefined || user === undefined) throw new Error('there is a collection and a user');
  expect(engine.run({ ...call, scope, user }).kind).toBe('error');
  expect(stateLines(db.collection)).toEqual(before);
});

test('15 limits: what would hang or crash gives an error', () => {
  const small = new Harness({ limits: { durationMs: 50, valueBytes: 100_000 }, realTime: true });
  expect(small.error('for (i in range(100000)) for (j in range(100000)) 1')).toBe('timeout');
  expect(small.error("s = 'a'; for (i in range(30)) s += s; s")).toBe('max_quota_err');
  expect(small.error('f = |x| f(x + 1); f(0)')).toBe('operation_err');
  expect(small.error('range(1000000)')).toBe('operation_err');
  expect(small.error('('.repeat(5000))).toBe('syntax_err');
});

test('18 changes: the change id rises with every change and never goes down; ids are never used again', () => {
  const id = (): number => Number(run('wse(); change_id()'));
  const first = id();
  run('.eighteen = {}');
  error('.eighteen = {}; raise()');
  run('.eighteen');
  const second = id();
  expect(second).toBeGreaterThan(first);
  const ids = [
    run('.eighteen.id()'),
    run('.eighteen = {}; .eighteen.id()'),
    run('.eighteen = nil; .x = {}; .x.id()'),
  ];
  expect(new Set(ids).size).toBe(3);
});
