import { beforeEach, describe, expect, test } from '@jest/globals';
import { CHANGING_CALLS } from '../testing/changing-calls.js';
import { Harness, type Plain, type RunOptions } from '../testing/harness.js';
import { worldBefore, worldLines } from '../testing/world-lines.js';
import { Float } from '../value/scalars.js';

const EXPLAIN = { dryRun: 'explain' } as const;

type PlainMap = { readonly [key: string]: Plain };

let db: Harness;

beforeEach(() => {
  db = new Harness({ evicts: false });
});

function mapOf(value: Plain | undefined): PlainMap {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('no map');
  return value as PlainMap;
}

function answer(code: string, options: RunOptions = {}): PlainMap {
  return mapOf(db.run(code, { ...options, ...EXPLAIN }));
}

function explained(code: string, options: RunOptions = {}): PlainMap {
  return mapOf(answer(code, options)['explain']);
}

function statements(code: string, options: RunOptions = {}): readonly PlainMap[] {
  const list = explained(code, options)['statements'];
  return Array.isArray(list) ? list.map((each: Plain) => mapOf(each)) : [];
}

/** The statements of a run as `PLACE RUNS CODE`, in the order of their texts. */
function lines(code: string): readonly string[] {
  const name = (each: PlainMap): string => (each['in'] === null ? '' : `${each['in']}:`);
  return statements(code)
    .map((each) => [`${name(each)}${each['line']}:${each['column']}`, each['runs'], each['code']].join(' '))
    .sort();
}

function statement(code: string, part: string, options: RunOptions = {}): PlainMap {
  const found = statements(code, options).find((each) => String(each['code']).startsWith(part));
  if (found === undefined) throw new Error(`no statement ${part}`);
  return found;
}

describe('an explained run', () => {
  const calls = (['collection', 'thingsdb'] as const).flatMap((scope) =>
    Object.entries(CHANGING_CALLS[scope]).map(([name, code]) => [scope, name, code] as const),
  );

  test.each(calls)(
    'an explained run in %s changes nothing by %s, and counts what a dry run counts',
    (scope, _name, code) => {
      const tried = worldBefore();
      const world = worldBefore();
      const before = worldLines(world);

      const counted = tried.db.outcome(code, { scope, dryRun: true });
      const outcome = world.db.outcome(code, { scope, ...EXPLAIN });

      expect(worldLines(world)).toEqual(before);
      expect(world.db.changes).toEqual([]);
      if (counted.kind !== 'value') return;
      if (outcome.kind !== 'value') throw new Error('the explained run failed');
      const told = mapOf(world.db.decode(outcome.result));
      expect(told['changes']).toEqual(mapOf(tried.db.decode(counted.result))['changes']);
      expect(told).toHaveProperty('explain');
    },
  );

  test('answers with its result, the changes and what it took', () => {
    const told = answer('.x = {y: 1}; .x.y;');
    expect(told['result']).toBe(1);
    expect(told['changes']).toEqual({ things_added: 1, properties: 1 });
    expect(told['explain']).toMatchObject({ packing: { from_disk: 0 }, from_disk: 0, records: 0 });
    expect(db.run('.keys();')).toEqual([]);
  });

  test('is JSON where that is asked for', () => {
    const told = mapOf(JSON.parse(db.json('.x = 1;', EXPLAIN)));
    expect(mapOf(told['explain'])['statements']).toMatchObject([
      { in: null, line: 1, column: 1, code: '.x = 1' },
    ]);
  });

  test('leaves the code of closures as it was, for runs behind it', () => {
    db.run("new_procedure('p', |x| { y = x + 1; y * 2; });");
    const { closure } = db.collection.procedures.byName.get('p') ?? {};
    db.run('p(1);');
    const unit = closure?.unit;

    statements('p(1);');

    expect(closure?.unit).toBe(unit);
    expect(unit?.onlyIn).toBeNull();
    expect(db.run('p(2);')).toBe(6);
  });
});

describe('statements', () => {
  test('are counted by their places, also in loops and closures', () => {
    expect(
      lines(
        'x = 0;\nfor (i in range(5)) {\n  x += i;\n  if (i > 2) { x -= 1; };\n};\n[1, 2].map(|n| n * 2);\n{ 1; 2; };',
      ),
    ).toEqual([
      '1:1 1 x = 0',
      '2:1 1 for (i in range(5)) { ..',
      '3:3 5 x += i',
      '4:16 2 x -= 1',
      '4:3 5 if (i > 2) { x -= 1; }',
      '6:1 1 [1, 2].map(|n| n * 2)',
      '6:16 2 n * 2',
      '7:1 1 { 1; 2; }',
      '7:3 1 1',
      '7:6 1 2',
    ]);
  });

  test('statements of procedures and methods are where their definitions show them', () => {
    db.run(
      "new_procedure('outer', |n|{for(i in range(n))inner(i);return(n);}); new_procedure('inner', |i| i + 1); set_type('T', {twice: |t, n| n * 2});",
    );
    expect(lines('outer(3); T{}.twice(4);')).toEqual([
      '1:1 1 outer(3)',
      '1:11 1 T{}.twice(4)',
      'T.twice:1:8 1 n * 2',
      'inner:1:5 3 i + 1',
      'outer:2:2 1 for (i in range(n)) inner(i)',
      'outer:2:22 3 inner(i)',
      'outer:3:2 1 return (n)',
    ]);
    expect(lines("run('inner', 1);")).toEqual(["1:1 1 run('inner', 1)", 'inner:1:5 1 i + 1']);
  });

  test('have steps of their own, and those of what is in them besides', () => {
    const code = 'work = |list| { for (i in list) i; }; a = range(500); b = range(20); work(a); work(b);';
    const loop = statement(code, 'for');
    const call = statement(code, 'work(a)');
    expect(loop['runs']).toBe(2);
    expect(loop['steps']).toBe(520);
    expect(call['total_steps']).toBe(501);
    expect(call['steps']).toBe(1);
    expect(explained(code)['steps']).toBe(
      statements(code).reduce((sum, each) => sum + Number(each['steps']), 0),
    );
  });

  test('count what recursion does once in the whole', () => {
    const code = 'f = |n| { if (n > 0) f(n - 1); }; f(20);';
    const body = statement(code, 'if (n > 0)');
    expect([body['runs'], body['steps'], body['total_steps']]).toEqual([21, 20, 20]);
  });

  test('are the costliest first, by time', () => {
    let ms = 0;
    db = new Harness({ monotonic: () => ms, evicts: false });
    db.logged.push = (): number => {
      ms += 5;
      return 0;
    };
    const [first, second] = statements("'quick'; log('slow'); for (i in range(3)) log('slower');");
    expect(first).toMatchObject({
      code: "log('slower')",
      ms: new Float(15),
      total_ms: new Float(15),
      runs: 3,
    });
    expect(second).toMatchObject({ code: "log('slow')", ms: new Float(5) });
  });

  test('beyond 200 are left off', () => {
    const told = explained('1;'.repeat(250));
    expect([(told['statements'] as Plain[]).length, told['left_off']]).toEqual([200, 50]);
  });

  test('beyond 5000 count for what is around them', () => {
    const told = explained('1;'.repeat(5100));
    expect(told['left_off']).toBe(4900);
  });

  test('are the same when they would run hot', () => {
    expect(lines('x = 0; for (i in range(5000)) { x += i; }; range(4000).map(|n| n + 1);')).toEqual([
      '1:1 1 x = 0',
      '1:33 5000 x += i',
      '1:44 1 range(4000).map(|n| n + 1)',
      '1:64 4000 n + 1',
      '1:8 1 for (i in range(5000)) { x += i; }',
    ]);
  });

  test('have the changes that they make', () => {
    db.run('.list = []; .n = 0; nil;');
    const code = '.n = 1; for (i in range(3)) .list.push({i: i}); .list.push(1); x = 1;';
    expect(statement(code, '.n')['changes']).toEqual({ properties: 1 });
    expect(statement(code, '.list.push({i')['changes']).toEqual({ things_added: 3, items: 3 });
    expect(statement(code, '.list.push(1)')['changes']).toEqual({ items: 1 });
    expect(statement(code, 'x = 1')).not.toHaveProperty('changes');
    expect(
      statement("set_type('T', {n: 'int'}); task(datetime(2050, 1, 1), |t| nil);", 'task')['changes'],
    ).toEqual({ tasks: 1 });
  });

  test('tell what the heap grew by', () => {
    const code = 'x = range(9999); y = 1;';
    expect(Number(statement(code, 'x =')['memory'])).toBeGreaterThan(40_000);
  });

  test('are told to nobody who may not read sources', () => {
    db.run("new_user('u'); grant('//stuff', 'u', RUN | CHANGE);", { scope: 'thingsdb' });
    db.run("new_procedure('p', |x| x + 1);");
    const told = explained('p(1);', { user: 'u' });
    expect(told).not.toHaveProperty('statements');
    expect(told).toHaveProperty('steps');
  });
});

describe('a read', () => {
  test('is told from memory and from disk', () => {
    db = new Harness({ evicts: true });
    db.run('.list = range(50).map(|i| {n: i}); nil;');
    // Code that only reads would have each thing leave between two turns.
    const code = 'things = .list; for (t in things) t.n; for (t in things) t.n; .read = true;';
    const loops = statements(code).filter((each) => each['code'] === 't.n');
    expect(loops.map((each) => [each['column'], each['from_disk'], each['from_memory']]).sort()).toEqual([
      [35, 50, 0],
      [58, 0, 50],
    ]);
    expect(Number(explained(code)['records'])).toBeGreaterThanOrEqual(50);
    expect(mapOf(explained('return .list, 2;')['packing'])['from_disk']).toBe(50);
  });

  test('a read by an index is told with the index', () => {
    db.run(
      "set_type('User', {name: 'str', age: 'int'}); new_index('User', 'name'); .users = range(200).map(|i| User{name: `n{i % 20}`, age: i}); nil;",
    );
    const uses = (code: string, part = ''): Plain | undefined => statement(code, part)['indexes'];
    expect(uses("one_by('User', 'name', 'n3')")).toEqual([
      { type: 'User', index: 'name', look_ups: 1, entries: 1 },
    ]);
    expect(uses("all_by('User', 'name', 'n3')")).toEqual([
      { type: 'User', index: 'name', look_ups: 1, entries: 10 },
    ]);
    expect(uses("one_by('User', 'name', 'nobody')")).toEqual([
      { type: 'User', index: 'name', look_ups: 1, entries: 0 },
    ]);
    expect(uses("count_by('User', 'name', 'n3')")).toEqual([
      { type: 'User', index: 'name', look_ups: 1, entries: 0 },
    ]);
    expect(uses("type_all('User').len()")).toEqual([{ type: 'User', index: '#', look_ups: 1, entries: 200 }]);
    expect(uses("for (i in range(3)) one_by('User', 'name', 'n3');", 'one_by')).toEqual([
      { type: 'User', index: 'name', look_ups: 3, entries: 3 },
    ]);
  });

  test('a read in vain is told with the index that would help', () => {
    db.run(
      "set_type('User', {name: 'str', age: 'int', tags: '[str]'}); new_index('User', 'name'); .users = range(200).map(|i| User{name: `n{i}`, age: i, tags: []}); nil;",
    );
    const hints = (code: string, part: string): Plain | undefined => statement(code, part)['hints'];
    expect(hints('.users.filter(|u| u.age == 7)', 'u.age')).toEqual([
      "looked at 200 `User` for `age`: one_by and all_by would find them by an index, as new_index('User', 'age') makes it",
    ]);
    expect(hints(".users.filter(|u| 1 > 0 && (u.name == 'n7'))", '1 > 0')).toEqual([
      'looked at 200 `User` for `name`: one_by and all_by find them by the index `name`',
    ]);
    expect(hints('.users[0:150].filter(|u| 7 <= u.age)', '7 <=')).toEqual([
      "looked at 150 `User` for `age`: one_by and all_by would find them by an index, as new_index('User', 'age') makes it; an index has all 200 of them",
    ]);
    expect(hints('.users[0:50].filter(|u| u.age == 7)', 'u.age')).toBeUndefined();
    expect(hints('.users.filter(|u| u.tags == [])', 'u.tags')).toBeUndefined();
    expect(hints('.users.filter(|u| u.age == u.age)', 'u.age')).toBeUndefined();
    expect(hints('.users.map(|u| u.age + 1)', 'u.age')).toBeUndefined();
  });
});

describe('an explained run that fails', () => {
  test('tells the error with its place, and what it took up to there', () => {
    db.run("new_procedure('p', |x| { .n = 1; x / 0; });");
    const told = answer('y = 1;\nwse(p(y));');
    expect(told['error']).toEqual({
      code: -58,
      name: 'zero_div_err',
      message: 'division or modulo by zero',
      at: { line: 3, column: 2, offset: 16, length: 5 },
      in: 'p',
    });
    expect(told['changes']).toEqual({ properties: 1 });
    expect(lines('y = 1;\nwse(p(y));')).toEqual([
      '1:1 1 y = 1',
      '2:1 1 wse(p(y))',
      'p:2:2 1 .n = 1',
      'p:3:2 1 x / 0',
    ]);
    expect(db.run('.keys();')).toEqual([]);
  });

  test('a run that fails by a limit of time is explained', () => {
    db = new Harness({ limits: { durationMs: 5 }, evicts: false });
    const told = answer('x = 1; a = range(9999); for (i in a) for (j in a) x += 1;');
    expect(mapOf(told['error'])['name']).toBe('timeout');
    expect(told).toMatchObject({
      explain: { statements: [{ code: 'for (j in a) x += 1' }, { code: 'x += 1' }, {}, {}, {}] },
    });
  });

  test('a run that fails by the size of its result is explained', () => {
    db = new Harness({ limits: { resultBytes: 1000 }, evicts: false });
    expect(mapOf(answer("range(2000).map(|i| 'text');")['error'])['name']).toBe('result_too_large');
  });

  test('a run that fails in its slice of time runs again with more', () => {
    const scope = db.engine.scope(db.collection.id);
    const user = db.engine.root.usersByName.get('admin');
    if (scope === undefined || user === undefined)
      throw new Error('a new engine has a collection and a user');
    const body = {
      kind: 'query',
      prepared: db.engine.prepare('a = range(9999); for (i in a) for (j in a) 1;'),
      vars: null,
    } as const;
    const call = { scope, user, body, format: 'msgpack', sliceMs: 1, ...EXPLAIN } as const;
    expect(db.engine.run(call)).toEqual({ kind: 'slice_over' });
  });

  test('before its code runs is an error as ever', () => {
    expect(db.error('.x = 1;', { ...EXPLAIN, readOnly: true })).toBe('forbidden_err');
    expect(db.error('1 +;', EXPLAIN)).toBe('syntax_err');
  });
});
