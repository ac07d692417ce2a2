import { expect, test } from '@jest/globals';
import { Harness } from '../testing/harness.js';
import { Life } from '../testing/life.js';
import { brokenRules } from '../testing/state-lines.js';

/** Things of which each refers to the next, and the last one to the first; `link` says how `x` comes to refer to `y`. */
function circle(count: number, setup: string, make: string, link: string): string {
  return `${setup} .all = range(${count}).map(|i| ${make}); .all.each(|x, i| { y = .all[(i + 1) % ${count}]; ${link} }); .k = .all[0]; .k;`;
}

/** Runs another search for garbage, behind which nothing but the root is left. */
function expectAllGone(life: Life): void {
  life.mark(1);
  life.sweep();
  life.commit();
  expect(life.group.store.thingCount).toBe(1);
  life.look();
}

const KINDS: readonly [name: string, code: string][] = [
  ['properties', circle(6000, '', '{n: i}', 'x.next = y;')],
  ['two properties each', circle(6000, '', '{}', 'x.a = y; x.b = y;')],
  [
    'lists, sets and tuples',
    circle(4000, '', '{l: [], s: set(), t: []}', 'x.l.push(y, 1); x.s.add(y); x.t.push([y]);'),
  ],
  [
    'fields that can not be nil',
    circle(6000, "set_type('X', {o: 'thing', n: 'int'});", 'X{o: {}, n: i}', 'x.o = y;'),
  ],
  [
    'a relation',
    circle(
      5000,
      "set_type('X', {p: '{X}', q: '{X}'}); mod_type('X', 'rel', 'p', 'q');",
      'X{}',
      'x.p.add(y);',
    ),
  ],
  ['one large set', 'x = {}; x.s = set(range(6000).map(|| {x: x})); .k = x; .all = []; .k;'],
  ['one large list', 'x = {}; x.l = range(6000).map(|| {x: x}); .k = x; .all = []; .k;'],
];

test.each(KINDS)('a large circle of %s goes in changes that are all small', (_, code) => {
  const life = new Life();
  life.query(code, true);
  const { upkeep } = life.harness.engine;
  life.query(".del('k'); .del('all'); .n = 1;", true);
  life.commit();
  const { store } = life.group;
  const all = store.thingCount;
  const marking = upkeep.searchGarbage(life.group.id, 100);
  let [changes, left] = [0, all];
  for (;;) {
    while (marking.step(10));
    const change = upkeep.removeGarbage(life.group.id, marking);
    if (change === null) break;
    life.changed(change);
    expect(left - store.thingCount).toBeLessThanOrEqual(2048);
    expect(change.effects.length).toBeLessThan(40_000);
    [changes, left] = [changes + 1, store.thingCount];
    expect(brokenRules(life.group)).toEqual([]);
  }
  expect(changes).toBeGreaterThan(2);
  expect([left, store.suspects.size]).toEqual([1, 0]);
  life.commit();
  life.look();
});

test('the rest of a large circle goes after a restart in its midst, and waits for a search in a copy', () => {
  const life = new Life();
  life.query(circle(6000, '', '{n: i}', 'x.next = y;'), true);
  life.query(".del('k'); .del('all');", true);
  life.commit();
  const { upkeep } = life.harness.engine;
  const marking = upkeep.searchGarbage(life.group.id, 100);
  while (marking.step(10));
  const change = upkeep.removeGarbage(life.group.id, marking);
  if (change === null) throw new Error('nothing is found');
  life.changed(change);
  life.commit();
  marking.abandon();
  life.begin();
  life.finish(true);
  life.restart();
  expect(brokenRules(life.group)).toEqual([]);
  const copy = new Harness();
  copy.run('import(dump);', { vars: { dump: life.harness.run('export({dump: true});') } });
  expect(brokenRules(copy.collection)).toEqual([]);
  expectAllGone(life);
});

test('a thing of a large circle that somebody came to by its id stays, with what it had not let go of', () => {
  const life = new Life();
  life.query(circle(6000, '', '{n: i}', 'x.next = y;'), true);
  life.query("id = .all[5500].id(); .del('k'); .del('all'); .id = id;", true);
  life.commit();
  const { upkeep } = life.harness.engine;
  const marking = upkeep.searchGarbage(life.group.id, 100);
  const step = (): boolean => {
    while (marking.step(10));
    const change = upkeep.removeGarbage(life.group.id, marking);
    if (change !== null) life.changed(change);
    return change !== null;
  };
  step();
  life.query('.found = thing(.id);', true);
  while (step());
  life.commit();
  expect(life.harness.run('.found.n')).toBe(5500);
  expect(brokenRules(life.group)).toEqual([]);
  life.query(".del('found');", true);
  life.commit();
  expectAllGone(life);
});

test('a change that unlinks is taken back, and what it left over goes in the next search', () => {
  const life = new Life();
  life.query(circle(6000, '', '{n: i}', 'x.next = y;'), true);
  life.query(".del('k'); .del('all');", true);
  life.commit();
  const { upkeep } = life.harness.engine;
  const marking = upkeep.searchGarbage(life.group.id, 100);
  for (const isKept of [true, false]) {
    while (marking.step(10));
    const change = upkeep.removeGarbage(life.group.id, marking);
    if (change === null) throw new Error('nothing is found');
    life.changed(change);
    if (isKept) life.commit();
  }
  marking.abandon();
  life.depose(9);
  expect(brokenRules(life.group)).toEqual([]);
  expectAllGone(life);
});
