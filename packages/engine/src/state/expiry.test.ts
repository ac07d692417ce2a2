import { beforeEach, describe, expect, test } from '@jest/globals';
import { Harness } from '../testing/harness.js';
import { brokenRules, newGroup, stateLines } from '../testing/state-lines.js';
import type { List } from '../value/containers.js';
import { takeBack } from './transaction.js';

let db: Harness;

beforeEach(() => {
  db = new Harness();
  db.run(`
    set_type('Cart', {nr: 'int', until: 'datetime?'}); mod_type('Cart', 'ttl', 'until');
    new_procedure('cart', |nr, seconds| Cart{nr:, until: datetime().move('seconds', seconds)});
  `);
});

/** Lets so many seconds pass, and does what is due then; gives the number of slices. */
function pass(seconds: number, things = 10_000): number {
  db.nowMs += 1000 * seconds;
  let slices = 0;
  while (db.engine.upkeep.expiry.isDue(db.collection.id)) {
    let left = things;
    db.engine.upkeep.expiry.slice(db.collection.id, () => --left <= 0);
    slices += 1;
    if (slices > 10_000) throw new Error('it does not end');
  }
  expect(brokenRules(db.collection)).toEqual([]);
  return slices;
}

describe('an instance whose moment is over', () => {
  test('goes from the sets, lists and properties of the root, at its second and not before', () => {
    db.run(`
      .set = set(); .list = []; .late = cart(1, 60);
      range(3).each(|i| { c = cart(i, 10 * i + 10); .set.add(c); .list.push(c, 'text'); .set('c' + str(i), c); });
    `);
    const left = (): unknown =>
      db.run("[.set.len(), .list.len(), .has('c0'), .has('c1'), type_count('Cart')];");
    pass(9);
    expect(left()).toEqual([3, 6, true, true, 4]);
    pass(1);
    expect(left()).toEqual([2, 5, false, true, 3]);
    pass(20);
    expect(left()).toEqual([0, 3, false, false, 1]);
  });

  test('goes from a set without a look at the lists beside it', () => {
    db.run(
      '.log = range(10); .set = set(); .in = {carts: set()}; .set.add(cart(1, 5)); .in.carts.add(cart(2, 5), cart(3, 9));',
    );
    const log = db.collection.store.root.get('log') as List;
    let looks = 0;
    Object.defineProperty(log, 'items', {
      get: () => {
        looks += 1;
        return log.held;
      },
    });
    const expire = (seconds: number): void => {
      db.nowMs += 1000 * seconds;
      while (db.engine.upkeep.expiry.isDue(db.collection.id))
        db.engine.upkeep.expiry.slice(db.collection.id, () => false);
    };
    expire(5);
    expect(db.run("type_count('Cart');")).toBe(1);
    // The first look is for the one whose owner was not known yet, the next one knows it.
    expect(looks).toBeLessThan(3);
    looks = 0;
    expire(4);
    expect([db.run("type_count('Cart');"), looks]).toEqual([0, 0]);
  });

  test('goes from wherever something refers to it', () => {
    db.run(`
      set_type('Shop', {name: 'str', best: 'Cart?', carts: '[Cart]', other: 'any'}); set_type('_C', {nr: 'int'}, WPO);
      c = cart(1, 5);
      .deep = {in: {a: {set: set(c), list: [c, [1, [c, 2]], c.wrap('_C')], map: {x: c, y: 1}}}};
      .shop = Shop{best: c, carts: [c, cart(2, 50)], other: c}; .only = {}.restrict('Cart'); .only.k = c;
    `);
    pass(5, 3);
    expect(db.run("type_count('Cart');")).toBe(1);
    expect(db.run('[.deep.in.a.set.len(), .deep.in.a.list, .deep.in.a.map.keys(), .only.len()];')).toEqual([
      0,
      [[1, [2]]],
      ['y'],
      0,
    ]);
    expect(db.run('[.shop.best, .shop.carts.map(|c| c.nr), .shop.other];')).toEqual([null, [2], null]);
  });

  test('leaves its relations without a search', () => {
    db.run(`
      new_type('User'); mod_type('Cart', 'add', 'user', 'User?'); set_type('User', {carts: '{Cart}'});
      mod_type('User', 'rel', 'carts', 'user'); .users = range(20).map(|i| User{});
      .users.each(|u, i| u.carts.add(cart(i, 5)));
    `);
    expect(pass(5, 20)).toBe(1);
    expect(db.run("[type_count('Cart'), .users.filter(|u| u.carts.len() > 0).len()];")).toEqual([0, 0]);
  });

  test('is looked for first where others were found', () => {
    db.run('.far = range(500).map(|i| {i:}); .far[400].carts = [cart(1, 5), cart(2, 50)];');
    expect(pass(5, 10)).toBeGreaterThan(20);
    expect(pass(45, 10)).toBe(1);
    expect(db.run('.far[400].carts;')).toEqual([]);
  });

  test('stays where it can not be let go of, and is not looked for all the time', () => {
    db.run("set_type('Must', {cart: 'Cart'}); .must = Must{cart: cart(1, 5)};");
    expect(pass(5)).toBeLessThan(5);
    expect(pass(1)).toBe(0);
    expect(db.run('.must.cart.nr;')).toBe(1);
    // Until that changes.
    db.run('.must.cart = cart(2, 500);');
    expect(db.run("type_count('Cart');")).toBe(1);
  });

  test('stays when it is given more time before it was found', () => {
    db.run('.far = range(500).map(|i| {i:}); .far[400].cart = cart(1, 5);');
    db.nowMs += 5000;
    db.engine.upkeep.expiry.slice(db.collection.id, () => true);
    db.run(".far[400].cart.until = datetime().move('seconds', 100);");
    pass(1);
    expect(db.run('.far[400].cart.nr;')).toBe(1);
    pass(100);
    expect(db.run('.far[400].keys();')).toEqual(['i']);
  });

  test('goes some at a time where it holds many things or has many partners', () => {
    db.run(`
      new_type('User'); mod_type('Cart', 'add', 'any', 'any'); mod_type('Cart', 'add', 'users', '{User}');
      set_type('User', {cart: 'Cart?'}); mod_type('User', 'rel', 'cart', 'users'); .users = set(); .far = {x: [cart(1, 5)]};
      c = .far.x[0]; c.any = range(3000).map(|i| {i:}); range(1000).each(|| { u = User{}; .users.add(u); u.cart = c; });
      .carts = range(5).map(|i| { c = cart(i, 5); c.any = range(500).map(|i| {i:}); c; });
    `);
    db.nowMs += 5000;
    const counts = [db.collection.store.thingCount];
    while (db.engine.upkeep.expiry.isDue(db.collection.id)) {
      db.engine.upkeep.expiry.slice(db.collection.id, () => false);
      counts.push(db.collection.store.thingCount);
      expect(counts.length).toBeLessThan(40);
    }
    expect(brokenRules(db.collection)).toEqual([]);
    const went = counts.slice(1).map((count, i) => (counts[i] ?? 0) - count);
    expect(Math.max(...went)).toBeLessThanOrEqual(2048);
    expect(
      db.run("[type_count('Cart'), .far.x.len(), .carts.len(), .users.filter(|u| !is_nil(u.cart)).len()];"),
    ).toEqual([0, 0, 0, 0]);
  });

  test('goes in small slices where the time of one is over soon', () => {
    db.run('.set = set(); .list = []; range(60).each(|i| { c = cart(i, 5); .set.add(c); .list.push(c); });');
    expect(pass(5, 10)).toBe(6);
    expect(db.run("[type_count('Cart'), .set.len(), .list.len()];")).toEqual([0, 0, 0]);
  });

  test('goes on followers by the effects, and comes back when a leader is deposed', () => {
    db.run(
      '.set = set(); range(600).each(|i| .set.add(cart(i, 5))); .deep = [{c: .set.one()}]; .never = Cart{};',
    );
    const replica = newGroup();
    const before = stateLines(db.collection);
    db.nowMs += 5000;
    const changes = [];
    while (db.engine.upkeep.expiry.isDue(db.collection.id)) {
      const change = db.engine.upkeep.expiry.slice(db.collection.id, () => false);
      if (change !== null) changes.push(change);
    }
    expect(changes.length).toBeGreaterThan(2);
    const after = stateLines(db.collection);
    for (const { undo } of changes.reverse()) takeBack(undo);
    expect(stateLines(db.collection)).toEqual(before);
    expect(replica.store.schema.typeIds.nextId).toBe(0);
    pass(0);
    expect(stateLines(db.collection)).toEqual(after);
    expect(db.run('[.set.len(), .deep[0].keys(), .never.until];')).toEqual([0, [], null]);
  });
});

describe('the property by which instances expire', () => {
  test('may have Unix seconds', () => {
    db.run(
      "set_type('N', {until: 'int?'}); mod_type('N', 'ttl', 'until'); .n = [N{}, N{until: int(now()) + 5}];",
    );
    pass(4);
    expect(db.run('.n.len();')).toBe(2);
    pass(2);
    expect(db.run('.n.len();')).toBe(1);
  });

  test('is one at a time, shown by its index, exported, and given up by nil', () => {
    expect(db.run("i = index_info('Cart', 'ttl').load(); [i.fields, i.expires, i.unique];")).toEqual([
      ['until'],
      true,
      false,
    ]);
    expect(db.run("export().contains(\"new_index('Cart', 'ttl', ['until'], EXPIRES);\");")).toBe(true);
    db.run(".c = cart(1, 5); mod_type('Cart', 'add', 'end', 'int', 0); mod_type('Cart', 'ttl', nil);");
    pass(50);
    expect(db.run('.c.nr;')).toBe(1);
    db.run("mod_type('Cart', 'ttl', 'end');");
    pass(0);
    expect(db.run(".has('c');")).toBe(false);
  });

  test('is refused where it is no moment', () => {
    db.run(
      "mod_type('Cart', 'add', 'name', 'str'); set_type('W', {until: 'int'}, WPO); set_type('P', {until: 'int'});",
    );
    expect(db.failure("mod_type('Cart', 'ttl', 'name');").message).toContain(
      'instances expire by a datetime',
    );
    expect(db.error("mod_type('Cart', 'ttl', 'nope');")).toBe('lookup_err');
    expect(db.error("mod_type('Cart', 'ttl', 5);")).toBe('type_err');
    expect(db.error("mod_type('P', 'ttl', nil);")).toBe('lookup_err');
    expect(db.error("mod_type('W', 'ttl', 'until');")).toBe('operation_err');
    expect(db.error("new_index('Cart', 'x', ['until', 'nr'], EXPIRES);")).toBe('value_err');
    expect(db.failure("new_index('Cart', 'nr', EXPIRES);").message).toContain(
      'expire by the index `ttl` already',
    );
    // And it stays one.
    expect(db.error("mod_type('Cart', 'mod', 'until', 'str', |c| '');")).toBe('type_err');
    expect(db.error("mod_type('Cart', 'del', 'until');")).toBe('type_err');
    db.run("mod_type('Cart', 'mod', 'until', 'int?', |c| 0); .c = Cart{};");
    pass(1);
    expect(db.run(".has('c');")).toBe(true);
  });
});
