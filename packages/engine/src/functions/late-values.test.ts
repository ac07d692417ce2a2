import { beforeEach, describe, expect, test } from '@jest/globals';
import { Harness } from '../testing/harness.js';
import { Life } from '../testing/life.js';
import { brokenRules } from '../testing/state-lines.js';

let db: Harness;

beforeEach(() => {
  db = new Harness();
  db.run(`
    set_type('Order', {nr: 'int', note: 'str?', other: 'Order?'});
    new_procedure('fill', |n| { .orders = range(n).map(|i| Order{nr: i}); });
    fill(60);
  `);
});

const ADD = "mod_type('Order', 'add', 'text', 'str', |o| 'nr ' + str(o.nr), {background: true});";

/** Does a slice of so many instances. */
function slice(instances: number): void {
  let left = instances;
  db.engine.upkeep.jobs.slice(db.collection.id, () => --left <= 0);
  expect(brokenRules(db.collection)).toEqual([]);
}

function work(): void {
  while (db.engine.upkeep.jobs.isDue(db.collection.id)) slice(1000);
}

/** The values as the state has them. */
function stored(name = 'text'): unknown[] {
  const { store } = db.collection;
  return [...(store.schema.typeNamed('Order')?.instances ?? [])].map((id) => {
    const thing = store.thingOfId(id);
    store.load(thing);
    return thing.get(name);
  });
}

describe('a property that a job gives to instances', () => {
  test('is seen with its value by all, before the turn of an instance, and reading stores nothing', () => {
    db.run(ADD);
    slice(10);
    for (const code of [
      ".orders.every(|o| o.text == 'nr ' + str(o.nr));",
      ".orders.filter(|o| o.text == 'nr 55').len() == 1;",
      "o = .orders[50]; o['text'] == 'nr 50' && o.get('text') == 'nr 50';",
      "o = .orders[50]; o.values()[-1] == 'nr 50' && o.map(|k, v| v)[-1] == 'nr 50';",
      "l = []; for (k, v in .orders[50]) l.push(v); l[-1] == 'nr 50';",
      "l = []; .orders[50].each(|k, v| l.push(v)); l[-1] == 'nr 50';",
      ".orders[50].filter(|k, v| v == 'nr 50').len() == 1;",
      ".orders[50].vmap(|v| v).text == 'nr 50';",
      ".orders[50].copy().text == 'nr 50' && .orders[50].dup().text == 'nr 50';",
      '.orders[50].equals(.orders[50].dup());',
      "json_load(json_dump(.orders[50].copy())).text == 'nr 50';",
      "set_type('_Shown', {text: 'str'}, WPO); json_dump(.orders[50].wrap('_Shown')).contains('nr 50') && json_dump(.orders[50]).contains('nr 50');",
      "new('Order', .orders[50]).text == 'nr 50';",
      "range(300).map(|i| .orders[30 + i % 30]).every(|o| o.text == 'nr ' + str(o.nr));",
      '.orders.map(|o| o.text).sort().len() == 60;',
    ])
      expect([code, db.run(code)]).toEqual([code, true]);
    expect((db.run('.orders[50];') as { text: string }).text).toBe('nr 50');
    expect(stored().filter((text) => text === '').length).toBe(50);
    expect(db.run('j = jobs_info()[0]; [j.count, j.pending];')).toEqual([10, 0]);
  });

  test('is stored with the first change of an instance, and the job leaves it', () => {
    db.run(ADD);
    slice(10);
    db.run(".orders[50].note = 'x'; .orders[51].text += '!'; .orders[52].other = .orders[53];");
    expect(db.run(".orders[54].text = ''; .orders[55].text = 'own'; .orders[54].text;")).toBe('');
    expect(stored().slice(50, 57)).toEqual(['nr 50', 'nr 51!', 'nr 52', '', '', 'own', '']);
    expect(db.run('.orders[54].text;')).toBe('');
    db.run('range(50, 60).each(|i| .orders[i].nr += 500);');
    const expected = ['50', '51!', '52', '553', null, null, '556', '557', '558', '559'].map((text) =>
      text === null ? expect.any(String) : `nr ${text}`,
    );
    expect(db.run('.orders.map(|o| o.text)[50:];')).toEqual(expected);
    db.run('.orders[56].nr = 1; .orders[10].note = nil;');
    work();
    expect(db.run('.orders.map(|o| o.text)[50:];')).toEqual(expected);
    expect(db.run('[.orders[54].text, .orders[55].text, .orders[10].text, .orders[11].text];')).toEqual([
      '',
      'own',
      'nr 10',
      'nr 11',
    ]);
    expect(db.collection.jobs.all[0]?.waiting.size).toBe(0);
  });

  test('is the default by right where the closure says nil, and once a program writes it', () => {
    db.run("mod_type('Order', 'add', 'size', 'int?', |o| o.nr == 59 ? nil : o.nr, {background: true});");
    db.run('.orders[59].note = "x"; .orders[58].size = nil; .orders[0].size += 5;');
    db.run("mod_type('Order', 'add', 'more', 'int', |o| 9, {background: true}); .orders[57].more = 0;");
    expect(db.run('[.orders[57].more, .orders[56].more];')).toEqual([0, 9]);
    db.run('.orders[59].nr = 3; .orders[58].nr = 4; .orders[0].nr = 7;');
    expect(db.run('[.orders[59].size, .orders[58].size, .orders[0].size, .orders[1].size];')).toEqual([
      null,
      null,
      5,
      1,
    ]);
    work();
    expect(db.run('[.orders[59].size, .orders[58].size, .orders[0].size, .orders[1].size];')).toEqual([
      null,
      null,
      5,
      1,
    ]);
  });

  test('a closure that fails says so to who reads it, to nobody else, and a change can mend that', () => {
    db.run("mod_type('Order', 'add', 'part', 'int', |o| 100 / (o.nr - 50), {background: true});");
    slice(10);
    expect(db.run('.orders.map(|o| o.nr).len();')).toBe(60);
    expect(db.run('try(.orders[50].part).msg();')).toContain(
      'type `Order`, property `part`: job 62 has still to give #52 its value, and its closure fails: division or modulo by zero; cancel_job(62) leaves the default',
    );
    expect(db.error('.orders[50].part;')).toBe('operation_err');
    expect(db.error('.orders[50];')).toBe('operation_err');
    expect(db.error('nse(); .orders.filter(|o| o.part > 5);')).toBe('operation_err');
    db.run(".orders[50].note = 'broken';");
    expect(db.error('.orders[50].part;')).toBe('operation_err');
    db.run('.orders[50].nr = 150;');
    expect(db.run('.orders[50].part;')).toBe(1);
    db.run('.orders[52].note = "x";');
    db.run('cancel_job(jobs_info()[0].id);');
    expect(db.run('[.orders[53].part, .orders[52].part];')).toEqual([0, 50]);
  });

  test('the values of others are made when they are needed, and a circle is an error', () => {
    db.run('range(59).each(|i| .orders[i].other = .orders[i + 1]);');
    db.run(
      "mod_type('Order', 'add', 'rank', 'int', |o| is_nil(o.other) ? 1 : o.nr % 20 == 0 ? 7 : o.other.rank + 1, {background: true});",
    );
    expect(db.run('[.orders[59].rank, .orders[58].rank, .orders[50].rank, .orders[40].rank];')).toEqual([
      1, 2, 10, 7,
    ]);
    expect(db.run('.orders[21].rank;')).toBe(26);
    db.run('.orders[59].other = .orders[57]; nil;');
    expect(db.run('try(.orders[58].rank).msg();')).toContain('is made from itself');
    expect(db.error('.orders[59].rank;')).toBe('operation_err');
    expect(db.run('.orders[40].rank;')).toBe(7);
  });

  test('runs with the rights of the user who made the job, on the clock of who reads', () => {
    db.run(
      "new_user('ann'); grant('//stuff', 'ann', QUERY|CHANGE); new_user('bob'); grant('//stuff', 'bob', QUERY);",
      {
        scope: 'thingsdb',
      },
    );
    db.run(
      "mod_type('Order', 'add', 'by', 'str', |o| { range(2000).each(|i| i); user_info().load().name; }, {background: true});",
      {
        user: 'ann',
      },
    );
    expect(db.run('.orders[50].by;', { user: 'bob' })).toBe('ann');
    db.run("revoke('//stuff', 'ann', CHANGE);", { scope: 'thingsdb' });
    expect(db.error('.orders[50].by;', { user: 'bob' })).toBe('operation_err');
  });

  test('the default is seen before the turn where values are no simple ones, and where the closure changes something', () => {
    db.run(".sum = 0; mod_type('Order', 'add', 'tags', '[int]', |o| [o.nr], {background: true});");
    db.run("mod_type('Order', 'add', 'seen', 'int', |o| .sum += 1, {background: true});");
    expect(db.run('[.orders[50].tags, .orders[50].seen, .sum];')).toEqual([[], 0, 0]);
    work();
    expect(db.run('[.orders[50].tags, .orders[50].seen, .sum];')).toEqual([[50], 51, 60]);
  });

  test('an instance that becomes plain takes its value along', () => {
    db.run("set_type('Lone', {n: 'int'}); .lone = Lone{n: 4}; .none = Lone{};");
    db.run("mod_type('Lone', 'add', 'half', 'int', |l| 8 / l.n, {background: true});");
    expect(db.run('.lone.to_thing(); .lone.half;')).toBe(2);
    expect(db.error('.none.to_thing();')).toBe('operation_err');
  });

  test.each([
    ["mod_type('Order', 'mod', 'text', 'any')", 'operation_err'],
    ["mod_type('Order', 'mod', 'text', 'int', |o| 5)", 'operation_err'],
    ["new_index('Order', 'text')", 'operation_err'],
    ["mod_type('Order', 'del', 'other'); .orders = []; del_type('Order')", 'operation_err'],
  ])('%s waits for the job', (code, error) => {
    db.run(ADD);
    expect(db.error(code)).toBe(error);
    work();
    db.run(code);
  });

  test('a change that is taken back leaves instances to the job, and one that ends it, too', () => {
    db.run(ADD);
    slice(10);
    expect(db.error(".orders[50].note = 'x'; .orders[51].text = ''; 1 / 0;")).toBe('zero_div_err');
    expect(db.run('[.orders[50].text, .orders[51].text];')).toEqual(['nr 50', 'nr 51']);
    expect(db.error('cancel_job(jobs_info()[0].id); x = .orders.map(|o| o.text); raise(x[50] + x[0]);')).toBe(
      'err',
    );
    expect(db.run('x = .orders[51]; [x.text, .orders.map(|o| o.text)[52]];')).toEqual(['nr 51', 'nr 52']);
    db.run("mod_type('Order', 'ren', 'text', 'label');");
    expect(db.run('.orders[50].label;')).toBe('nr 50');
    work();
    expect(db.run('.orders.every(|o| o.label == "nr " + str(o.nr));')).toBe(true);
  });

  test('followers, another leader, a restart and eviction see the same', () => {
    const life = new Life();
    const all = '.ts.every(|t| t.x == t.n + 1 || t.x == 0 && t.n == 7 || t.x == 900 || t.n > 1000);';
    life.query("set_type('T', {n: 'int'}); .ts = range(60).map(|i| T{n: i});", true);
    life.query("mod_type('T', 'add', 'x', 'int', |t| t.n + 1, {background: true});", true);
    life.commit();
    life.work(5);
    life.query('.ts[7].x = 0; .ts[8].x = 900;', true);
    life.query('.ts[9].n += 1000; .ts[50].n += 1000;', true);
    life.depose(1);
    life.look();
    expect(life.harness.run(all)).toBe(true);
    life.query('.ts[40].n += 1000; .ts[3].n += 1000;', true);
    for (let i = 0; i < 4; i++) {
      life.commit();
      life.work(11);
      life.depose(i % 2);
      life.begin();
      life.finish(true);
      life.evict();
      life.look();
      expect(life.harness.run(all)).toBe(true);
      life.restart();
      expect(life.harness.run(all)).toBe(true);
      life.look();
    }
    expect(life.harness.run('[.ts[40].x, .ts[7].x, .ts[8].x, .ts[50].x];')).toEqual([1041, 0, 900, 51]);
    while (life.harness.engine.upkeep.jobs.isDue(life.group.id)) life.work(1000);
    life.look();
    expect(life.harness.run('[.ts[40].x, .ts[7].x, .ts[8].x, .ts[50].x];')).toEqual([1041, 0, 900, 51]);
  });
});
