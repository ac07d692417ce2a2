/** Types, enums and wraps that are too many, too large, without end, or that change under the hands of whoever changes them. */

import { RealNode } from '@althing/node/testing';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';

const DURATION_MS = 1000;

/** The time limit of a query that uses it up anyway. */
const ENDLESS_MS = 100;

/** The time that a query may take beyond its limit on a machine that is busy with other tests. */
const PATIENCE_MS = 3000;

let node: RealNode;

beforeAll(async () => {
  node = await RealNode.start({
    query_duration_limit_ms: DURATION_MS,
    query_memory_limit_mb: 128,
    result_size_limit: 1024 ** 2,
  });
});

afterEach(async () => {
  // A query that failed has changed nothing.
  expect(await node.value('//stuff', '.get("x");')).toBeNull();
});

afterAll(async () => {
  expect(node.log).not.toMatch(/internal_error|RangeError|stack/);
  await node.stop();
});

/** The verdict on a query that first changes something, which must not last. */
async function verdictOf(code: string, vars?: object): Promise<string> {
  const from = performance.now();
  const answer = await node.query('//stuff', `.x = 1; ${code}`, vars);
  expect(performance.now() - from).toBeLessThan(DURATION_MS + PATIENCE_MS);
  if (answer.status === 200) await node.value('//stuff', '.del("x");');
  else {
    expect(answer.body.length).toBeLessThan(20_000);
    expect(answer.json).toMatchObject({ error: { outcome: 'none' } });
  }
  return `${answer.status} ${errorName(answer.json) ?? ''}`.trim();
}

/** The same of a query that uses up whatever time it has. */
async function endlessVerdictOf(code: string): Promise<string> {
  const limit = (ms: number) => node.value('/n', `set_config('query_duration_limit_ms', ${ms});`);
  await limit(ENDLESS_MS);
  const verdict = await verdictOf(code);
  await limit(DURATION_MS);
  return verdict;
}

function errorName(json: unknown): unknown {
  if (typeof json !== 'object' || json === null || !('error' in json)) return undefined;
  const { error } = json;
  return typeof error === 'object' && error !== null && 'name' in error ? error.name : undefined;
}

/** Code around work that is done as good as without end. */
const forever = (work: string): string => `for (i in range(100000)) {for (j in range(100000)) {${work}}};`;

const typesInfo = (): Promise<unknown> => node.value('//stuff', 'types_info().map(|t| t.load().name);');

describe('definitions', () => {
  const long = 'x'.repeat(65_536);

  test.each([
    ['a name', long],
    ['a pattern', `/${long}/`],
    ['a default', `str<0:100000:${long}>`],
    ['items', `[${long}]`],
    ['flags', '&'.repeat(65_536)],
    ['brackets', '['.repeat(65_536)],
    ['a member', `E{${long}}`],
    ['digits', `int<${'9'.repeat(65_536)}:>`],
    ['brackets, shorter', '['.repeat(16_000)],
    ['a slow pattern', `/^(a+)+$/<${'a'.repeat(8000)}!>`],
    ['an address', `email<${'a'.repeat(8000)}@${'b.'.repeat(4000)}>`],
  ])('definitions that are long are refused: %s', async (_what, definition) => {
    expect(await verdictOf("set_type('Long', {a: definition});", { definition })).toMatch(/^422 value_err/);
    expect(await node.value('//stuff', "has_type('Long');")).toBe(false);
  });

  test('names of 64 KB are refused', async () => {
    for (const code of [
      'new_type(name);',
      'set_enum(name, {A: 1});',
      "x = {}; x.set(name, 'int'); set_type('L', x);",
    ])
      expect(await verdictOf(code, { name: long })).toMatch(/^422 value_err/);
  });

  test('definitions that need each other without end are refused, in circles of any length', async () => {
    expect(await verdictOf("set_type('A', {a: 'A'});")).toMatch(/^422 value_err/);
    const circle = `for (i in range(200)) {new_type('C' + str(i))};
      for (i in range(200)) {mod_type('C' + str(i), 'add', 'next', 'C' + str((i + 1) % 200))};`;
    expect(await verdictOf(circle)).toMatch(/^422 value_err/);
    expect(await typesInfo()).toEqual([]);
  });

  test('definitions that may be nil make circles that work', async () => {
    await node.value(
      '//stuff',
      "new_type('A'); set_type('B', {a: 'A?'}); set_type('A', {b: 'B', all: '[A]', me: 'A?'});",
    );
    await node.value('//stuff', '.a = A{}; .a.me = .a; .a.b.a = .a; .a.all.push(.a);');
    expect(await node.value('//stuff', '.a.me.b.a.all[0] == .a;')).toBe(true);
    await node.value(
      '//stuff',
      ".del('a'); mod_type('B', 'del', 'a'); mod_type('A', 'del', 'b'); del_type('A'); del_type('B');",
    );
  });

  test('definitions whose instances bring others, twice as many on each level, end with the time or the memory of the query', async () => {
    const code = `new_type('B30'); for (i in range(30)) {
      k = 29 - i; n = 'B' + str(k + 1); set_type('B' + str(k), {left: n, right: n}); }; nil;`;
    await node.value('//stuff', code);
    expect(await verdictOf('B0{}; nil;')).toMatch(/^(504 timeout|422 max_quota_err)/);
    expect(await verdictOf("new_type('W'); mod_type('W', 'add', 'b', 'B0'); .w = W{};")).toMatch(
      /^(504|404|422)/,
    );
    await node.value('//stuff', "for (i in range(31)) {del_type('B' + str(i))};");
  });

  test('a chain of hundreds of types has instances, or a limit', async () => {
    await node.value('//stuff', "new_type('D500');");
    for (let from = 499; from >= 0; from -= 50) {
      const code = `for (i in range(50)) {k = ${from} - i; set_type('D' + str(k), {next: 'D' + str(k + 1)})}; nil;`;
      await node.value('//stuff', code);
    }
    expect(await verdictOf('D0{}; nil;')).toMatch(/^(200|422 operation_err)/);
    for (let from = 0; from < 501; from += 50) {
      await node.value(
        '//stuff',
        `for (i in range(${from}, ${Math.min(from + 50, 501)})) {del_type('D' + str(i))};`,
      );
    }
  });
});

describe('many', () => {
  test('types: up to their limit, deleted ones included, and then none; they go as quickly as they came', async () => {
    for (let from = 0; from < 15_000; from += 1000) {
      const code = `for (i in range(${from}, ${from + 1000})) {set_type('T' + str(i), {a: 'int', b: 'T' + str(i) + '?'})};`;
      await node.value('//stuff', code);
    }
    expect(await verdictOf("for (i in range(15000, 17000)) {new_type('T' + str(i))};")).toBe(
      '422 max_quota_err',
    );
    expect(await node.value('//stuff', "[has_type('T14999'), has_type('T15000')];")).toEqual([true, false]);
    expect(await verdictOf('types_info();')).toMatch(/^(500 result_too_large|504 timeout)/);
    expect(await endlessVerdictOf(forever('types_info();'))).toBe('504 timeout');
    expect(await verdictOf("for (i in range(15000)) {del_type('T' + str(i))}; raise('over');")).toMatch(
      /^(504|422)/,
    );
    expect(await node.value('//stuff', "has_type('T0');")).toBe(true);
    for (let from = 0; from < 15_000; from += 1000)
      await node.value('//stuff', `for (i in range(${from}, ${from + 1000})) {del_type('T' + str(i))};`);
    expect(await typesInfo()).toEqual([]);
  });

  test('properties and methods of a type', async () => {
    const fields = (count: number, definition: string): string =>
      `x = {}; range(${count}).each(|i| x.set('f' + str(i), ${definition})); set_type('Wide', x);`;
    expect(await verdictOf(fields(4000, "'int'"))).toBe('422 max_quota_err');
    expect(await verdictOf(fields(4000, '|x| x'))).toBe('422 max_quota_err');
    expect(await verdictOf(fields(1024, "'int'"))).toBe('200');
    expect(await verdictOf("mod_type('Wide', 'add', 'more', 'int');")).toBe('422 max_quota_err');
    expect(await node.value('//stuff', 'Wide{f1023: 5}.len();')).toBe(1024);
    await node.value('//stuff', "del_type('Wide');");
    const one = "new_type('Wide'); for (i in range(4000)) {mod_type('Wide', 'add', 'f' + str(i), 'int')};";
    expect(await verdictOf(one)).toMatch(/^(422 max_quota_err|504 timeout)/);
    expect(await node.value('//stuff', "has_type('Wide');")).toBe(false);
  });

  test('members of an enum', async () => {
    const enumOf = (count: number): string =>
      `x = {}; range(${count}).each(|i| x.set('M' + str(i), i)); set_enum('Large', x);`;
    const members = (count: number): object =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`M${i}`, i]));
    expect(await verdictOf("set_enum('Large', m);", { m: members(65_536) })).toMatch(
      /^(422 max_quota_err|504 timeout)/,
    );
    expect(await verdictOf(enumOf(30_000))).toBe('200');
    expect(await node.value('//stuff', '[Large(29999).name(), Large{M7}.value()];')).toEqual(['M29999', 7]);
    for (const work of [
      "mod_enum('Large', 'mod', 'M5', -2 - i * 100000 - j)",
      "mod_enum('Large', 'del', 'M' + str(j))",
      'Large(29999)',
      "enum_map('Large')",
      "enum_info('Large')",
    ])
      expect(await endlessVerdictOf(forever(`${work};`))).toMatch(/^(504 timeout|422 max_quota_err)/);
    expect(await node.value('//stuff', "[enum_map('Large').len(), Large{M5}.value()];")).toEqual([30_000, 5]);
    expect(await verdictOf("range(9000).each(|i| set_enum('N' + str(i), {A: 1}));")).toMatch(
      /^(422 max_quota_err|504)/,
    );
    await node.value('//stuff', "del_enum('Large');");
  });
});

describe('the closure of mod_type', () => {
  const state =
    '[.p.len(), .p.first(), .p.last().n, type_count("P"), type_info("P").load().fields, .keys()];';
  let before: unknown;

  beforeAll(async () => {
    await node.value(
      '//stuff',
      "set_type('P', {n: 'int', s: 'str'}); .p = range(1500).map(|i| P{n: i}); nil;",
    );
    before = await node.value('//stuff', state);
  });

  afterAll(async () => {
    await node.value('//stuff', ".del('p'); del_type('P');");
  });

  const actions = [
    ['mod', "mod_type('P', 'mod', 'n', 'int<-5:100000>', CLOSURE);"],
    ['add', "mod_type('P', 'add', 'more', 'int', CLOSURE);"],
    ['all', "mod_type('P', 'all', CLOSURE);"],
  ] as const;

  test.each([
    ['throws', "|p| {p.s = 'x'; p.n == 1200 && raise('no'); 5;}", /^422 (operation_err|err)/],
    ['calls itself', '|p| {f = |f| f.call(f); f.call(f);}', /^422 operation_err/],
    ['changes the type', "|p| mod_type('P', 'add', 'q', 'int')", /^422 operation_err/],
    ['deletes the type', "|p| del_type('P')", /^422 operation_err/],
    ['renames the type', "|p| rename_type('P', 'Q')", /^422 operation_err/],
    ['makes instances plain', '|p| p.to_thing()', /^422 operation_err/],
    ['wants the type in another', "|p| set_type('O', {p: 'P'})", /^422 operation_err/],
    ['floods the memory', '|p| .set("k" + str(p.n), range(100000))', /^(504 timeout|422)/],
  ])('%s: an error, and all is as before', async (_what, closure, verdict) => {
    for (const [, code] of actions)
      expect(await verdictOf(code.replace('CLOSURE', closure))).toMatch(verdict);
    expect(await node.value('//stuff', state)).toEqual(before);
  });

  test('loops: an error, and all is as before', async () => {
    for (const [, code] of actions)
      expect(await endlessVerdictOf(code.replace('CLOSURE', `|p| {${forever('1;')} 1;}`))).toBe(
        '504 timeout',
      );
    expect(await node.value('//stuff', state)).toEqual(before);
  });

  test.each(['.p.clear()', '.p.pop()', '.set("k" + str(p.n), P{})', '.p.push(P{n: 1})', '.del("p")'])(
    'does what it likes to other things, or fails whole: %s',
    async (work) => {
      for (const [action, code] of actions) {
        const answer = await node.query(
          '//stuff',
          `.x = 1; ${code.replace('CLOSURE', `|p| {try(${work}); 1;}`)} .del('x');`,
        );
        if (answer.status !== 200) {
          expect(answer.json).toMatchObject({ error: { outcome: 'none' } });
          expect(await node.value('//stuff', state)).toEqual(before);
          continue;
        }
        const fits =
          "type_all('P').every(|p| is_int(p.n) && is_str(p.s) && (!p.has('more') || is_int(p.more)));";
        expect([action, await node.value('//stuff', fits)]).toEqual([action, true]);
        if (action === 'add') await node.value('//stuff', "mod_type('P', 'del', 'more');");
        await node.value('//stuff', '.keys().each(|k| .del(k)); .p = range(1500).map(|i| P{n: i}); nil;');
        before = await node.value('//stuff', state);
      }
    },
  );
});

describe('wraps', () => {
  beforeAll(async () => {
    await node.value(
      '//stuff',
      `.t = {a: 1}; .t.me = .t;
      set_type('Circle', {me: '+Circle', a: 'int'}, WPO); set_type('Any', {me: '+any', w: '+any'}, WPO);
      set_type('Loops', {l: |t| {${forever('1;')} 1;}}, WPO); set_type('Floods', {l: |t| range(100000).map(|i| str(i) + 'x')}, WPO);
      set_type('Again', {l: |t| t.wrap('Again')}, WPO); set_type('Fails', {l: |t| 1 / 0, s: |t| {.y = 1;}, r: |t| t.wrap('Fails').copy()}, WPO); nil;`,
    );
  });

  afterAll(async () => {
    await node.value(
      '//stuff',
      ".del('t'); ['Circle', 'Any', 'Loops', 'Floods', 'Again', 'Fails'].each(|n| del_type(n)); nil;",
    );
  });

  test('wraps of circles end', async () => {
    expect(await node.value('//stuff', "x = .t.wrap('Circle'); return x, 100;")).toMatchObject({
      a: 1,
      me: {},
    });
    expect(await verdictOf(".t.w = .t.wrap('Any'); .t.me = [.t.w, .t.w]; return .t.w, 100; ")).toMatch(
      /^200/,
    );
    await node.value('//stuff', ".t.del('w'); .t.me = .t;");
  });

  test('wraps with computed properties that loop, flood or fail have errors in their places, or end with the query', async () => {
    expect(await endlessVerdictOf("return .t.wrap('Loops'), 2;")).toBe('504 timeout');
    expect(await verdictOf("return [.t.wrap('Floods'), .t.wrap('Floods')], 2;")).toMatch(/^(500|422|504)/);
    expect(await verdictOf("return .t.wrap('Again'), 100;")).toMatch(/^(200|422|500|504)/);
    expect(await verdictOf("return .t.wrap('Fails'), 100;")).toMatch(/^(200|422|500|504)/);
    expect(await verdictOf("x = .t.wrap('Again'); x.copy(100); x.dup(100); str(x); nil;")).toMatch(
      /^(200|422|504)/,
    );
    expect(await node.value('//stuff', '.keys();')).toEqual(['t']);
  });

  test('wraps with structures inside each other have a limit', async () => {
    const nested = `x = {a: 'int'}; for (i in range(count)) {x = {n: x}};`;
    for (const make of ["set_type('Deep', x, WPO);", 'ano(x);', '.t.wrap(ano(x));'])
      expect(await verdictOf(`${nested} ${make} nil;`, { count: 5000 })).toMatch(
        /^422 (value_err|operation_err)/,
      );
    const wide = "x = {}; range(5000).each(|i| x.set('p' + str(i), 'int')); ano(x);";
    expect(await verdictOf(wide)).toMatch(/^422 (value_err|max_quota_err)/);
    const inEachOther =
      'x = .t.wrap(&{a: "int"}); for (i in range(5000)) {x = {a: x}.wrap(&{a: "any"})}; return x, 127;';
    expect(await verdictOf(inEachOther)).toMatch(/^(200|422)/);
  });
});
