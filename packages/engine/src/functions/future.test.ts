import { describe, expect, test } from '@jest/globals';
import { CollectionGroup } from '../state/collection-group.js';
import { stateLines } from '../state/describe.js';
import { EMPTY_SOURCE } from '../state/records.js';
import { takeBack } from '../state/transaction.js';
import { Harness } from '../testing/harness.js';

describe('the value of a query with futures', () => {
  test.each([
    ['future(nil, 42);', [null, 42]],
    ['future(nil, 1, 2).then(|r, a| [r, a]);', [null, 1]],
    ['future(nil, 1).then(|r, a, b| [r, a, b]);', [null, 1, null]],
    ['x = 3; y = 4; future(|x, y| x * y);', 12],
    ['x = 1; f = future(|x| x); x = 2; f;', 1],
    ["new_type('Y'); future(nil, Y{}); type_count('Y');", 1],
    ["new_type('Y'); future(|a| a, [[{y: Y{}}]]); type_count('Y');", 1],
    ["new_type('Y'); future(nil, Y{}); f = future(|| type_count('Y')); f;", 1],
    ['future(|a, b| a + b, [3, 4]);', 7],
    ['future(|| future(|| future(|| 5)));', 5],
    ['l = [1]; future(|l| l.push(2)); l;', [1, 2]],
    ['[future(|| 1)];', [null]],
    ['{f: future(|| 1)};', { f: null }],
    ['.f = future(|| 1); .f;', null],
    ['f = future(nil, 1); [f == f.then(|r, x| x), f == f.else(|e| e)];', [true, true]],
    ['f = future(|| .a = {b: {c: 1}}); deep(0); f;', { '#': 2 }],
    ['deep(5); future(|| deep());', 5],
    ['future(|| return 9, 3);', 9],
    ['type(future(nil));', 'future'],
  ])('%s', (code, value) => {
    expect(new Harness().run(code)).toEqual(value);
  });

  test.each([
    ['future();', 'num_arguments_err'],
    ['future(5);', 'type_err'],
    ['future(|a| a, [1], 2);', 'num_arguments_err'],
    ['future(|a| a, [1, 2]);', 'num_arguments_err'],
    ['future(|a| a, 5);', 'type_err'],
    ['future(|missing| missing);', 'lookup_err'],
    ['future({});', 'lookup_err'],
    ['future({module: 5});', 'type_err'],
    ["future({module: '1a'});", 'value_err'],
    ["future({module: 'NONE'});", 'lookup_err'],
    ['future(nil).then(|| 1).then(|| 2);', 'operation_err'],
    ['future(|| 1).then(|| 2);', 'operation_err'],
    ['future(nil).else(|| 1).else(|| 2);', 'operation_err'],
    ['str(future(nil));', 'type_err'],
    ['set(future(nil));', 'type_err'],
    ['x = 1; future(|| x);', 'lookup_err'],
    ['future(|| y = 5); y;', 'lookup_err'],
    ['.t = {}; t = .t; future(|t| .x = t);', 'operation_err'],
    ['.t = {}; future(|l| .x = l, [[.t]]);', 'operation_err'],
    ['.t = {}; future(|w| .x = w.t, [{t: .t}]);', 'operation_err'],
    ['.t = {}; future(nil, .t).then(|r, t| .x = t);', 'operation_err'],
  ])('%s is %s', (code, error) => {
    expect(new Harness().error(code)).toBe(error);
  });
});

describe('futures', () => {
  test('start with the last that was made; those of futures come behind all others', () => {
    const db = new Harness();
    db.run(
      ".l = []; future(|| { .l.push('a'); future(|| .l.push('nested')); }); future(|| .l.push('b')); nil;",
    );
    expect(db.run('.l;')).toEqual(['b', 'a', 'nested']);
  });

  test('are changes of their own, which can be taken back one by one', () => {
    const db = new Harness();
    db.run('c = change_id(); .before = 1;');
    expect(db.run('.x = 1; c = change_id(); future(|c| { .x = 2; change_id() - c; });')).toBe(1);
    expect(db.changes).toHaveLength(2);
    const follower = new CollectionGroup(1, db.engine.runtime.shapes, EMPTY_SOURCE);
    follower.create();
    for (const code of ['.a = {b: 1}; future(|| .a.b = 2); future(|| .n = [1]);']) {
      const db = new Harness();
      const before = stateLines(db.collection);
      db.run(code);
      for (const { effects } of db.changes) follower.apply(effects);
      expect(stateLines(follower)).toEqual(stateLines(db.collection));
      expect(db.changes).toHaveLength(3);
      for (const { undo } of db.changes.toReversed()) takeBack(undo);
      expect(stateLines(db.collection)).toEqual(before);
    }
  });

  test('a query is no change for the closures that are written as arguments of futures', () => {
    const db = new Harness();
    expect(db.run('future(|| .x = 1); change_id();')).toBeNull();
    expect(db.run('future(nil).then(|| .x = 1); change_id();')).toBeNull();
    expect(db.run('future(|| change_id());')).toBeNull();
  });

  test('futures that fail end the query; what was changed before stays, their own changes do not', () => {
    const db = new Harness();
    expect(db.error('.a = 1; future(|| .c = 3); future(|| { .b = 2; 1 / 0; });')).toBe('zero_div_err');
    expect(db.run("[.a, .has('b'), .has('c')];")).toEqual([1, false, false]);
    expect(db.error('future(|| 1 / 0); future(|| .c = 3);')).toBe('zero_div_err');
    expect(db.run('.c;')).toBe(3);
  });

  test('do not run when the query fails', () => {
    const db = new Harness();
    expect(db.error('future(|| .x = 1); 1 / 0;')).toBe('zero_div_err');
    expect(db.run("[.has('x'), future(|| 7)];")).toEqual([false, null]);
    expect(db.run('5;')).toBe(5);
  });

  test('need the privilege for changes when they run', () => {
    const db = new Harness();
    db.run("new_user('kim'); grant('//stuff', 'kim', QUERY);", { scope: 'thingsdb' });
    expect(db.run('future(|| 5);', { user: 'kim' })).toBe(5);
    expect(db.error('future(|| .x = 5);', { user: 'kim' })).toBe('forbidden_err');
    expect(db.run(".has('x');")).toBe(false);
  });

  test('futures of a user who is deleted meanwhile are ended', () => {
    const db = new Harness();
    db.run("new_user('kim'); grant('//stuff', 'kim', QUERY | CHANGE);", { scope: 'thingsdb' });
    const kim = db.engine.root.usersByName.get('kim');
    db.between = () => {
      if (kim !== undefined) db.engine.root.users.delete(kim.id);
      return Number.POSITIVE_INFINITY;
    };
    expect(db.error('future(|| .x = 5);', { user: 'kim' })).toBe('forbidden_err');
  });

  test('work in all scopes', () => {
    const db = new Harness();
    expect(db.run("future(|| new_user('made'));", { scope: 'thingsdb' })).toBe('made');
    expect(db.run("has_user('made');", { scope: 'thingsdb' })).toBe(true);
    expect(db.run('future(nil, 1).then(|r, x| x);', { scope: 'node' })).toBe(1);
  });

  test('futures that make futures without end are ended where they are 255 deep', () => {
    const db = new Harness();
    db.run('.n = 0;');
    const again = '|n| { n == 0 ? 5 : future(nil, n).then(|_, n| again(n - 1)); }';
    db.run(`new_procedure('again', ${again});`);
    expect(db.run('again(255);')).toBe(5);
    expect(db.error('again(256);')).toBe('operation_err');
    expect(db.error('fut = || { future(nil, fut).then(|_, fut| { fut(); }); }; fut();')).toBe(
      'operation_err',
    );
    expect(db.error("new_procedure('go', || { .n += 1; future(|| { wse(); go(); }); }); go();")).toBe(
      'operation_err',
    );
    // The earlier part is made, and the next query begins at the top.
    expect(db.run('.n;')).toBe(255);
    expect(db.run('again(255);')).toBe(5);
    expect(db.engine.runtime.waitingFutures).toBe(0);
  });

  test('futures of one closure are at most 255, and 2000 wait on a node', () => {
    const db = new Harness();
    expect(db.run('for (i in range(255)) { future(|i| i, [i]); }; 1;')).toBe(1);
    expect(db.error('for (i in range(256)) { future(|i| i, [i]); }; 1;')).toBe('operation_err');
    expect(db.run('for (i in range(2000)) { future(nil); }; 1;')).toBe(1);
    expect(db.error('for (i in range(2001)) { future(nil); }; 1;')).toBe('max_quota_err');
    expect(db.engine.runtime.waitingFutures).toBe(0);
  });

  test('futures that take too long are ended with the time of a query', () => {
    let now = 0;
    const db = new Harness({ monotonic: () => now });
    db.run('.f = || future(.f);');
    let turns = 0;
    db.between = () => {
      turns += 1;
      return 0;
    };
    // Each turn costs time where it looks for what has to stay in memory.
    const { pin } = db.collection.store;
    db.run('.t = {};');
    db.collection.store.pin = function (thing) {
      now += 50;
      pin.call(this, thing);
    };
    expect(db.failure('.f.call(); .t;').code).toBe(-5);
    expect(turns).toBeGreaterThan(10);
    expect(db.engine.runtime.waitingFutures).toBe(0);
  });

  test('ask for the hash of a password, and go on with it', () => {
    const db = new Harness();
    db.run("new_user('kim');", { scope: 'thingsdb' });
    const code = "future(|| set_password('kim', 'secret'));";
    expect(db.outcome(code, { scope: 'thingsdb' })).toMatchObject({ kind: 'hash', password: 'secret' });
    const hash = { salt: new Uint8Array(16), hash: new Uint8Array(32), logN: 0, r: 1, p: 1 };
    expect(db.run(code, { scope: 'thingsdb', hashes: new Map([['secret', hash]]) })).toBeNull();
  });

  test('futures of a collection that is gone are ended', () => {
    const db = new Harness();
    const [id = 0] = db.engine.root.collections.keys();
    db.between = () => {
      db.engine.collections.close(id);
      return Number.POSITIVE_INFINITY;
    };
    expect(db.error('future(|| 1);')).toBe('cancelled_err');
  });
});
