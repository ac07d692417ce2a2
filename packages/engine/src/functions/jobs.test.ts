import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { ListPages } from '../state/pages/list-pages.js';
import { Harness } from '../testing/harness.js';
import { Life } from '../testing/life.js';
import { brokenRules, newGroup, schemaLines, stateLines } from '../testing/state-lines.js';

let db: Harness;

beforeEach(() => {
  db = new Harness();
  db.run(`
    set_type('Order', {nr: 'int', done: 'bool', note: 'str?'});
    new_procedure('fill', |n| { .orders = set(); range(n).each(|i| .orders.add(Order{nr: i, done: i % 2 == 0})); });
  `);
});

/** Does what there is to do; gives the number of slices. */
function work(instances = 1000): number {
  let slices = 0;
  while (db.engine.upkeep.jobs.isDue(db.collection.id)) {
    let left = instances;
    db.engine.upkeep.jobs.slice(db.collection.id, () => --left <= 0);
    slices += 1;
    if (slices > 10_000) throw new Error('it does not end');
  }
  expect(brokenRules(db.collection)).toEqual([]);
  return slices;
}

function info(): unknown {
  return db.run('jobs_info().map(|j| [j.type, j.state, j.percent, j.why, j.count, j.pending, j.kept]);');
}

describe('del_instances', () => {
  test('removes those for which the closure is true, some at a time', () => {
    db.run("fill(1000); .list = .orders.filter(|o| o.nr < 10); del_instances('Order', |o| o.done);");
    expect(info()).toEqual([['Order', 'running', 0, null, 0, 0, 0]]);
    expect(work(100)).toBe(10);
    expect(db.run("[type_count('Order'), .orders.len(), .orders.some(|o| o.done), .list.len()];")).toEqual([
      500,
      500,
      false,
      5,
    ]);
    expect(info()).toEqual([['Order', 'done', 100, null, 500, 0, 0]]);
  });

  test('hands values of a list to the closure', () => {
    db.run("fill(10); del_instances('Order', |o, from, to| o.nr >= from && o.nr < to, [3, 6]);");
    work();
    expect(db.run('.orders.map(|o| o.nr).sort();')).toEqual([0, 1, 2, 6, 7, 8, 9]);
  });

  test('finds what refers to an instance wherever it is', () => {
    db.run(`
      fill(4); .far = range(500).map(|i| {i:}); os = .orders.map(|o| o).sort(|a, b| a.nr - b.nr);
      .far[400].list = [os[0], [1, [os[2]]]]; .far[30].o = os[2]; .far[31].set = set(os[0], os[1]);
      del_instances('Order', |o| o.done);
    `);
    expect(work(10)).toBeGreaterThan(20);
    expect(db.run("[type_count('Order'), .far[400].list, .far[30].keys(), .far[31].set.len()];")).toEqual([
      2,
      [[1, []]],
      ['i'],
      1,
    ]);
    expect(info()).toEqual([['Order', 'done', 100, null, 2, 0, 0]]);
  });

  test('looks at each item of a long list once for all slices, where it has them in the order in which they go', () => {
    db.run("fill(5000); .list = .orders.map(|o| o).sort(|a, b| a.nr - b.nr); .del('orders');");
    const looks = jest.spyOn(ListPages.prototype, 'at');
    db.run("del_instances('Order', |o| o.done);");
    expect(work(100)).toBe(50);
    expect(db.run('[.list.len(), .list.some(|o| o.done)];')).toEqual([2500, false]);
    // The last half of them may lie in no pages any more.
    expect(looks.mock.calls.length).toBeGreaterThan(2500);
    // Items that go are looked at once more, for what they refer to.
    expect(looks.mock.calls.length).toBeLessThan(8000);
    looks.mockRestore();
  });

  test('a thing that refers to many of them lets go of some at a time', () => {
    db.run(`
      fill(5000); .far = {list: .orders.map(|o| o), map: {}}; .del('orders');
      .far.list.each(|o| .far.map.set('k' + str(o.id()), o)); del_instances('Order', |o| o.done || o.nr < 4500);
    `);
    const left = () => Number(db.run('.far.list.len();'));
    const lengths: number[] = [];
    while (db.engine.upkeep.jobs.isDue(db.collection.id)) {
      db.engine.upkeep.jobs.slice(db.collection.id, () => false);
      lengths.push(left());
    }
    const removed = lengths.map((length, i) => (lengths[i - 1] ?? 5000) - length);
    expect(Math.max(...removed)).toBe(2048);
    expect(db.run("[type_count('Order'), .far.list.len(), .far.map.len()];")).toEqual([250, 250, 250]);
    expect(info()).toEqual([['Order', 'done', 100, null, 4750, 0, 0]]);
    expect(brokenRules(db.collection)).toEqual([]);
  });

  /** Does the job a slice after the other; gives how many things went in each, and how many partners `.n` lost. */
  function goings(partners = '0'): { readonly things: number; readonly partners: number }[] {
    const now = () => ({ things: db.collection.store.thingCount, partners: Number(db.run(partners)) });
    const all = [now()];
    while (db.engine.upkeep.jobs.isDue(db.collection.id)) {
      db.engine.upkeep.jobs.slice(db.collection.id, () => false);
      all.push(now());
      if (all.length > 1000) throw new Error('it does not end');
    }
    expect(brokenRules(db.collection)).toEqual([]);
    const of = (at: number) => all[at] ?? all[0]!;
    return all.slice(1).map((after, at) => ({
      things: of(at).things - after.things,
      partners: of(at).partners - after.partners,
    }));
  }

  test.each([
    ['a list', 'h.any = range(3000).map(|i| {i:})', '.set = set(h)'],
    ['a set', 'h.any = set(); range(3000).each(|i| h.any.add({i:}))', '.set = set(h)'],
    ['properties', "h.any = {}; range(3000).each(|i| h.any.set('k' + str(i), {}))", '.list = [h]'],
    ['lists in a list', 'h.any = range(6).map(|| range(500).map(|i| {i:}))', '.prop = h'],
    [
      'things that hold many',
      'h.any = {a: [{b: [{c: range(1500).map(|| {})}, 1, {c: range(1500).map(|| {})}]}]}',
      '.prop = h',
    ],
    ['a list, and one far away refers to it', 'h.any = range(3000).map(|i| {i:})', '.far = {x: {y: [[h]]}}'],
  ])(
    'an instance that holds many things, in %s, is emptied before it goes, some at a time',
    (_, holds, where) => {
      db.run(`set_type('H', {any: 'any'}); h = H{}; .other = H{}; ${where}; ${holds}; nil`);
      db.run("del_instances('H', |h| !is_nil(h.any));");
      const went = goings().map(({ things }) => things);
      expect(went.reduce((sum, count) => sum + count)).toBeGreaterThan(3000);
      expect(Math.max(...went)).toBeLessThanOrEqual(2048);
      expect(went.length).toBeLessThan(30);
      expect(db.run("type_count('H')")).toBe(1);
      expect(info()).toEqual([['H', 'done', 100, null, 1, 0, 0]]);
    },
  );

  test('many that hold some go some at a time, each chosen once', () => {
    db.run("set_type('H', {any: 'any'}); .hs = range(5).map(|| H{any: range(500).map(|i| {i:})});");
    db.run("del_instances('H', |h| true);");
    const went = goings().map(({ things }) => things);
    expect(Math.max(...went)).toBe(501 * 2);
    expect(info()).toEqual([['H', 'done', 100, null, 5, 0, 0]]);
  });

  test.each([
    ['T?', 'p.t = .ts.one()', '.ps = set()', 'p'],
    ['{T}', 'p.t.add(.ts.one())', '.ps = set()', 'p'],
    ['T?', '.ts.one().ps.add(p)', 'nil', 'nothing'],
  ])('one with many partners (%s, %s, %s) leaves them some at a time', (definition, join, begin, holder) => {
    db.run(`
      new_type('T'); set_type('P', {t: '${definition}'}); set_type('T', {ps: '{P}', any: 'any'}); mod_type('P', 'rel', 't', 'ps');
      .ts = set(T{any: range(1200).map(|| {})}); ${begin};
    `);
    const keep = holder === 'p' ? '.ps.add(p);' : '';
    db.run(`range(1200).each(|| { p = P{}; ${keep} ${join}; });`);
    db.run("del_instances('T', |t| true);");
    const went = goings('t = .ts.len() > 0 ? .ts.one() : nil; is_nil(t) ? 0 : t.ps.len()');
    expect(Math.max(...went.map(({ things }) => things))).toBeLessThanOrEqual(2048);
    expect(Math.max(...went.map(({ partners }) => partners))).toBeLessThanOrEqual(512);
    expect(db.run("[type_count('T'), type_count('P')]")).toEqual([0, holder === 'p' ? 1200 : 0]);
    expect(info()).toEqual([['T', 'done', 100, null, 1, 0, 0]]);
  });

  test('one that holds many and can not be let go of stays whole', () => {
    db.run(`
      set_type('H', {any: 'any'}); set_type('Must', {h: 'H'}); .must = Must{h: H{any: range(3000).map(|i| {i:})}}; .h = .must.h;
      del_instances('H', |h| true);
    `);
    work();
    expect(info()).toEqual([['H', 'done', 100, null, 0, 0, 1]]);
    expect(db.run("[.has('h'), .must.h.any.len()]")).toEqual([false, 3000]);
  });

  test('leaves what can not be let go of, and says how many that are', () => {
    db.run(`
      set_type('Bill', {order: 'Order'}); fill(4); .bills = [Bill{order: .orders.one()}];
      del_instances('Order', |o| true);
    `);
    work();
    expect(info()).toEqual([['Order', 'done', 100, null, 3, 0, 1]]);
    expect(db.run("[type_count('Order'), .orders.len(), type(.bills[0].order)];")).toEqual([1, 0, 'Order']);
  });

  test('decides when an instance has its turn, and leaves those alone that came later', () => {
    db.run("fill(100); del_instances('Order', |o| o.done);");
    let left = 50;
    db.engine.upkeep.jobs.slice(db.collection.id, () => --left <= 0);
    db.run('.orders.each(|o| if (o.nr == 80) o.done = false); .orders.add(Order{nr: 1000, done: true});');
    work();
    expect(db.run('.orders.filter(|o| o.nr >= 80 && (o.done || o.nr == 80)).map(|o| o.nr).sort();')).toEqual([
      80, 1000,
    ]);
  });

  test('the root stays, also as an instance', () => {
    db.run(
      "fill(3); set_type('Shop', {orders: '{Order}'}); .to_type('Shop'); del_instances('Shop', |s| true);",
    );
    work();
    expect(db.run('.orders.len();')).toBe(3);
    expect(info()).toEqual([['Shop', 'done', 100, null, 0, 0, 0]]);
  });

  test('fails with the instance and the error, and what went is gone', () => {
    db.run("fill(10); del_instances('Order', |o| 10 / (o.nr - 6) < 0);");
    work(3);
    expect(info()).toEqual([
      [
        'Order',
        'failed',
        expect.any(Number),
        expect.stringMatching(/^#\d+: division or modulo by zero/),
        6,
        0,
        0,
      ],
    ]);
    expect(db.run('.orders.len();')).toBe(4);
    expect(db.engine.upkeep.jobs.isDue(db.collection.id)).toBe(false);
  });

  test.each([
    ["del_instances('No', |o| true)", 'lookup_err'],
    ["del_instances('Order', 1)", 'type_err'],
    ["del_instances('Order', |o| o.nr = 1)", 'operation_err'],
    ["del_instances('Order', |o| .x = 1)", 'operation_err'],
    ["del_instances('Order', |o, a| true, [{}])", 'type_err'],
    ["del_instances('Order', |o| true, [1])", 'num_arguments_err'],
    ["set_type('W', {}, WPO); del_instances('W', |o| true)", 'operation_err'],
    ['cancel_job(1)', 'lookup_err'],
    ["range(101).each(|| del_instances('Order', |o| true))", 'max_quota_err'],
  ])('%s is refused', (code, error) => expect(db.error(code)).toBe(error));

  test('a closure that would change something after all ends the job', () => {
    db.run(
      "new_procedure('p', || 1); fill(1); del_instances('Order', |o| p()); set_procedure('p', || .x = 1);",
    );
    work();
    expect(info()).toEqual([['Order', 'failed', expect.any(Number), expect.any(String), 0, 0, 0]]);
    expect(db.run(".has('x')")).toBe(false);
  });

  test('fails when the type is gone', () => {
    db.run("fill(3); del_instances('Order', |o| true); del_type('Order');");
    work();
    expect(info()).toEqual([['Order', 'failed', 0, 'the type is gone', 0, 0, 0]]);
  });
});

describe('mod_type with {background: true}', () => {
  test("'all' calls the closure with each instance once, some at a time, in changes that may change anything", () => {
    db.run(`fill(1000); .sum = 0; job = mod_type('Order', 'all', |o| { o.note = str(o.nr); .sum += 1; }, {background: true});
      if (!is_int(job)) raise('no job'); .orders.add(Order{nr: 5000});`);
    expect(db.run('.orders.filter(|o| !is_nil(o.note)).len();')).toBe(0);
    expect(work(100)).toBe(10);
    expect(db.run('[.sum, .orders.filter(|o| o.note != str(o.nr)).map(|o| o.nr)];')).toEqual([1000, [5000]]);
    expect(db.run('j = jobs_info()[0]; [j.action, j.state, j.count];')).toEqual([
      'mod_type all',
      'done',
      1000,
    ]);
  });

  test("'all' passes what a closure let go of, and goes on when it changes the type", () => {
    db.run(`fill(100); mod_type('Order', 'all', |o| {
        if (o.nr % 10 == 0) .orders.remove(|x| x.nr == o.nr + 1 || x == o);
        if (o.nr == 50) mod_type('Order', 'add', 'more', 'int');
      }, {background: true});`);
    work(30);
    expect(db.run('[.orders.len(), .orders.one().more, jobs_info()[0].state];')).toEqual([80, 0, 'done']);
  });

  test("'add' leaves what an instance was given before its turn", () => {
    db.run(
      "fill(100); mod_type('Order', 'add', 'text', 'str', |o| o.nr == 7 ? nil : 'nr ' + str(o.nr), {background: true});",
    );
    let left = 50;
    db.engine.upkeep.jobs.slice(db.collection.id, () => --left <= 0);
    db.run(".orders.each(|o| if (o.nr == 80) o.text = 'own'); .orders.add(Order{nr: 200});");
    work();
    expect(
      db.run(
        ".orders.filter(|o| o.text != 'nr ' + str(o.nr)).map(|o| [o.nr, o.text]).sort(|a, b| a[0] - b[0]);",
      ),
    ).toEqual([
      [7, ''],
      [80, 'own'],
      [200, ''],
    ]);
  });

  test('a slice in which a closure fails is taken back, and the job ends', () => {
    db.run(
      "fill(30); mod_type('Order', 'all', |o| { o.note = 'seen'; 1 / (o.nr - 25); }, {background: true});",
    );
    work(10);
    expect(db.run(".orders.filter(|o| o.note == 'seen').len();")).toBe(20);
    expect(db.run('j = jobs_info()[0]; [j.state, j.count, j.why.starts_with("#")];')).toEqual([
      'failed',
      20,
      true,
    ]);
  });

  test("a value that does not fit ends the job of 'add', and a property that is deleted, too", () => {
    db.run("fill(3); mod_type('Order', 'add', 'size', 'int', |o| 'x', {background: true});");
    work();
    expect(db.run('[jobs_info()[0].state, .orders.one().size];')).toEqual(['failed', 0]);
    db.run(
      "mod_type('Order', 'add', 'more', 'int', |o| 1, {background: true}); mod_type('Order', 'del', 'more');",
    );
    work();
    expect(db.run('jobs_info()[1].why;')).toBe('the property is gone');
  });

  test('mod_type without background, or with false, does everything at once', () => {
    expect(
      db.run(
        "fill(3); [mod_type('Order', 'all', |o| o.nr += 1, {background: false}), .orders.map(|o| o.nr).sort()];",
      ),
    ).toEqual([null, [1, 2, 3]]);
    db.run("mod_type('Order', 'add', 'size', 'int', |o| 5, {background: false});");
    expect(db.run('.orders.one().size;')).toBe(5);
  });

  test.each([
    ["mod_type('Order', 'all', |o| 1, {x: true})", 'value_err'],
    ["mod_type('Order', 'all', |o| 1, {background: 1})", 'type_err'],
    ["mod_type('Order', 'all', |o| 1, 1)", 'num_arguments_err'],
    ["mod_type('Order', 'all', 'a', |o| 1)", 'num_arguments_err'],
    ["mod_type('Order', 'add', 'x', 'thing', |o| {}, {background: true})", 'operation_err'],
    ["mod_type('Order', 'add', 'x', 'int', 5, {background: true})", 'type_err'],
    ["mod_type('Order', 'add', 'nr', 'int', |o| 5, {background: true})", 'lookup_err'],
  ])('%s is refused', (code, error) => expect(db.error(code)).toBe(error));
});

describe('mod_type with another definition in the background', () => {
  const MOD = "mod_type('Order', 'mod', 'nr', 'str', |o| 'nr ' + str(o.nr), {background: true});";

  /** Does slices of so many instances, but not the last ones. */
  function begin(slices: number, instances: number): void {
    for (let i = 0; i < slices; i++) {
      let left = instances;
      db.engine.upkeep.jobs.slice(db.collection.id, () => --left <= 0);
    }
    expect(brokenRules(db.collection)).toEqual([]);
  }

  test('shows the old definition until all instances have the new one, and then that', () => {
    db.run(`fill(1000); ${MOD}`);
    begin(3, 100);
    expect(
      db.run(
        "o = .orders.one(); [.orders.every(|o| is_int(o.nr)), o.keys(), type_info('Order').load().fields];",
      ),
    ).toEqual([
      true,
      ['nr', 'done', 'note'],
      [
        ['nr', 'int'],
        ['done', 'bool'],
        ['note', 'str?'],
      ],
    ]);
    expect(db.run('j = jobs_info()[0]; [j.action, j.state, j.count];')).toEqual([
      'mod_type mod',
      'running',
      300,
    ]);
    expect(work(100)).toBe(7);
    expect(db.run(".orders.every(|o| is_str(o.nr) && o.nr.starts_with('nr ')); ")).toBe(true);
    expect(
      db.run("[type_info('Order').load().fields[0], .orders.one().keys(), jobs_info()[0].state];"),
    ).toEqual([['nr', 'str'], ['nr', 'done', 'note'], 'done']);
    expect(db.error('.orders.one().nr = 5;')).toBe('type_err');
    expect(db.run('Order{}.nr;')).toBe('');
  });

  test('an instance that changes behind its turn, or comes meanwhile, gets its value anew', () => {
    db.run(`fill(100); ${MOD}`);
    begin(2, 40);
    db.run('.orders.each(|o| if (o.nr % 10 == 5) o.nr += 1000); .orders.add(Order{nr: 77});');
    db.run('.orders.remove(|o| o.nr == 1015);');
    expect(db.run('jobs_info()[0].pending;')).toBe(8);
    db.error('.orders.each(|o| o.nr = 1); 1 / 0;');
    work(10);
    expect(db.run('.orders.map(|o| o.nr).filter(|nr| nr.len() > 5).sort();')).toEqual([
      ...[1005, 1025, 1035, 1045, 1055, 1065, 1075, 1085, 1095].map((nr) => `nr ${nr}`),
    ]);
    expect(db.run("[.orders.filter(|o| o.nr == 'nr 77').len(), .orders.len()];")).toEqual([2, 100]);
  });

  test('begins anew where more change behind their turn than are to be remembered', () => {
    db.run(`fill(4000); fill(4000); .more = .orders; ${MOD}`);
    db.run('range(7000).each(|i| .more.add(Order{nr: i}));');
    begin(18, 600);
    db.run('.more.each(|o| o.nr += 1);');
    expect(db.run('j = jobs_info()[0]; [j.pending, j.count, j.percent];')).toEqual([0, 0, 0]);
    work();
    expect(db.run(".more.every(|o| o.nr != 'nr 0') && .more.len() == 11000;")).toBe(true);
  });

  test('a property that was added as nillable is nil until all instances have a value, and then never again', () => {
    db.run(`fill(100); mod_type('Order', 'add', 'label', 'str?');
      mod_type('Order', 'mod', 'label', 'str', |o| is_nil(o.label) ? 'nr ' + str(o.nr) : o.label, {background: true});`);
    begin(2, 40);
    db.run(".orders.each(|o| if (o.nr % 50 == 7) o.label = 'own' + str(o.nr)); .orders.add(Order{nr: 500});");
    db.run('.orders.remove(|o| o.nr == 99 || o.nr == 1);');
    expect(db.run('.orders.filter(|o| !is_nil(o.label)).map(|o| o.nr).sort();')).toEqual([7, 57]);
    work(10);
    expect(
      db.run("[.orders.filter(|o| o.label != 'nr ' + str(o.nr)).map(|o| o.label).sort(), .orders.len()];"),
    ).toEqual([['own57', 'own7'], 99]);
    expect(db.error('.orders.one().label = nil;')).toBe('type_err');
  });

  test('nil of the closure leaves the value, which has to fit', () => {
    db.run(
      "fill(10); mod_type('Order', 'mod', 'nr', 'int<0:20>', |o| o.nr < 5 ? o.nr + 10 : nil, {background: true});",
    );
    work();
    expect(db.run('.orders.map(|o| o.nr).sort();')).toEqual([5, 6, 7, 8, 9, 10, 11, 12, 13, 14]);
    db.run("mod_type('Order', 'mod', 'note', 'str', |o| o.nr == 7 ? nil : 'x', {background: true});");
    work();
    expect(
      db.run('j = jobs_info()[-1]; [j.state, j.why.split(":")[0].starts_with("#"), .orders.one().note];'),
    ).toEqual(['failed', true, null]);
  });

  test('cancelled or failed, the type and what was written meanwhile stay', () => {
    db.run(`fill(30); ${MOD}`);
    begin(2, 10);
    db.run('.orders.each(|o| o.nr += 100); cancel_job(jobs_info()[0].id);');
    work();
    expect(db.run('[.orders.map(|o| o.nr).sort()[0], jobs_info()[0].state];')).toEqual([100, 'cancelled']);
    db.run("mod_type('Order', 'mod', 'nr', 'str', |o| o.nr == 115 ? 5 : str(o.nr), {background: true});");
    work(10);
    expect(
      db.run(
        "j = jobs_info()[-1]; [.orders.every(|o| is_int(o.nr)), j.state, j.why.ends_with('not an int')];",
      ),
    ).toEqual([true, 'failed', false]);
    db.run(MOD);
    work();
    expect(db.run(".orders.every(|o| o.nr.starts_with('nr 1'));")).toBe(true);
  });

  test('goes with other changes of the type, and with instances that become plain', () => {
    db.run(`fill(60); ${MOD}`);
    begin(1, 30);
    db.run("mod_type('Order', 'add', 'more', 'int', 3); mod_type('Order', 'ren', 'done', 'over');");
    db.run("mod_type('Order', 'del', 'note'); .orders.each(|o| o.more += 1);");
    db.run(".plain = .orders.one().copy(); .dup = .orders.one().dup(); rename_type('Order', 'Sale');");
    work(7);
    expect(db.run("o = .orders.one(); [o.keys(), o.more, o.nr.starts_with('nr'), .plain.keys()];")).toEqual([
      ['nr', 'over', 'more'],
      4,
      true,
      ['nr', 'over', 'more'],
    ]);
    expect(db.run('[is_int(.plain.nr), is_str(.dup.nr)];')).toEqual([true, true]);
  });

  test('a property that is deleted ends the job', () => {
    db.run(`fill(3); ${MOD} mod_type('Order', 'del', 'nr');`);
    work();
    expect(db.run("[jobs_info()[0].why, type_info('Order').load().fields.len()];")).toEqual([
      'the property is gone',
      2,
    ]);
  });

  test.each([
    ["mod_type('Order', 'mod', 'nr', 'any', |o| 5, {background: true})", 'operation_err'],
    ["mod_type('Order', 'mod', 'nr', 'str', |o| o.nr = 5, {background: true})", 'operation_err'],
    ["mod_type('Order', 'mod', 'nr', 'str', |o| .x = 5, {background: true})", 'operation_err'],
    ["mod_type('Order', 'mod', 'nr', 'str', 5, {background: true})", 'type_err'],
    ["mod_type('Order', 'mod', 'no', 'str', |o| 5, {background: true})", 'lookup_err'],
    [
      "new_index('Order', 'nr'); mod_type('Order', 'mod', 'nr', 'str', |o| '', {background: true})",
      'type_err',
    ],
    [`${MOD} ${MOD}`, 'operation_err'],
    [`${MOD} mod_type('Order', 'mod', 'note', 'str', |o| '', {background: true});`, 'operation_err'],
    [`${MOD} mod_type('Order', 'mod', 'nr', 'any');`, 'operation_err'],
    [`${MOD} mod_type('Order', 'ren', 'nr', 'number');`, 'operation_err'],
    [`${MOD} new_index('Order', 'nr');`, 'operation_err'],
    [`${MOD} del_type('Order');`, 'operation_err'],
  ])('%s is refused', (code, error) => expect(db.error(code)).toBe(error));

  test('followers, another leader, a restart and eviction know how far it is', () => {
    const life = new Life();
    life.query("set_type('T', {n: 'str'}); .ts = set(); range(60).each(|i| .ts.add(T{n: str(i)}));", true);
    life.query("mod_type('T', 'mod', 'n', 'int', |t| int(t.n), {background: true});", true);
    life.commit();
    life.work(20);
    life.query(".ts.each(|t| if (t.n == '5') t.n = '500');", true);
    life.depose(1);
    life.look();
    life.work(20);
    life.query(".ts.each(|t| if (t.n == '7') t.n = '700'); .ts.add(T{n: '60'});", true);
    life.look();
    for (let i = 0; i < 3; i++) {
      life.commit();
      life.begin();
      life.finish(true);
      life.evict();
      life.look();
      life.restart();
      life.look();
      life.work(11);
    }
    // The last slice gives the property its definition, and is taken back.
    life.commit();
    while (life.harness.engine.upkeep.jobs.isDue(life.group.id)) life.work(1000);
    life.harness.run('.ts.one().n;');
    life.depose(1);
    life.look();
    while (life.harness.engine.upkeep.jobs.isDue(life.group.id)) life.work(1000);
    life.look();
    life.commit();
    life.begin();
    life.finish(true);
    life.restart();
    life.look();
    expect(
      life.harness.run('[.ts.every(|t| is_int(t.n)), .ts.map(|t| t.n).sort()[-3:], .ts.len()];'),
    ).toEqual([true, [59, 60, 700], 61]);
  });
});

describe('jobs', () => {
  test('are done one after the other, can be cancelled, and the last ones are remembered', () => {
    db.run("fill(100); del_instances('Order', |o| o.nr < 50); del_instances('Order', |o| true);");
    let left = 10;
    db.engine.upkeep.jobs.slice(db.collection.id, () => --left <= 0);
    expect(db.run('jobs_info().map(|j| j.state);')).toEqual(['running', 'waiting']);
    db.run('cancel_job(jobs_info()[0].id);');
    expect(db.run('jobs_info().map(|j| j.state);')).toEqual(['cancelled', 'running']);
    expect(db.error('cancel_job(jobs_info()[0].id);')).toBe('operation_err');
    db.run('cancel_job(jobs_info()[1].id);');
    expect(db.run('.orders.len();')).toBe(90);
    for (let i = 0; i < 30; i++) {
      db.run("del_instances('Order', |o| false);");
      work();
    }
    expect(db.run('jobs_info().len();')).toBe(20);
  });

  test('a follower that hears of each slice has the same state', () => {
    const copy = newGroup();
    const life = new Life();
    life.query(
      "set_type('T', {n: 'int'}); .far = range(50).map(|i| {i:}); .ts = set(); range(60).each(|i| .ts.add(T{n: i}));",
      true,
    );
    life.query('.far[20].t = .ts.one(); .far[30].l = [.ts.one()];', true);
    life.query("del_instances('T', |t| t.n % 3 == 0);", true);
    while (life.harness.engine.upkeep.jobs.isDue(life.group.id)) life.work(7);
    for (const effects of life.log) copy.apply(effects);
    expect([...stateLines(copy), ...schemaLines(copy)]).toEqual([
      ...stateLines(life.group),
      ...schemaLines(life.group),
    ]);
    expect(life.harness.run('[.ts.len(), .far[20].len(), .far[30].l];')).toEqual([40, 1, []]);
  });

  test('another leader goes on where the last one was, after a slice was taken back and a restart', () => {
    const life = new Life();
    life.query(
      "set_type('T', {n: 'int'}); .far = range(50).map(|i| {i:}); .ts = set(); range(60).each(|i| .ts.add(T{n: i}));",
      true,
    );
    life.query(".far[40].l = .ts.filter(|t| t.n < 6); del_instances('T', |t| t.n % 3 == 0);", true);
    life.commit();
    life.work(10);
    life.depose(1);
    life.look();
    for (let i = 0; i < 12; i++) {
      life.work(10);
      life.commit();
      life.begin();
      life.finish(true);
      life.restart();
      life.look();
    }
    expect(life.harness.engine.upkeep.jobs.isDue(life.group.id)).toBe(false);
    expect(life.harness.run('[jobs_info()[0].state, .ts.len(), .far[40].l.len()];')).toEqual(['done', 40, 4]);
  });
});
