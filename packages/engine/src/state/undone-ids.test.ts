/** Ids that a change used which was taken back, when later ones use the same: on the node that took it back, on others, and on disk. */
import { describe, expect, test } from '@jest/globals';
import { ByteWriter } from '../bytes.js';
import { ENUMS_MAX, TYPES_MAX } from '../schema/type.js';
import { Harness } from '../testing/harness.js';
import { Life } from '../testing/life.js';
import { writeEffect } from './effect.js';
import { SchemaEffect } from './parts/schema.js';

const SETUP =
  "set_enum('E', {A: 1}); set_type('Q', {n: 'int'}); .l = [1]; .set = set(); .q = Q{n: 1}; .list = range(3000);";

/** A query that is taken back, one that uses the same ids after it, and the value that it must give. */
const USES: readonly (readonly [string, string, string, string, unknown])[] = [
  ['things', '.x = {a: {b: 1}};', '.x = {c: 2};', '[.x.c, .x.len()]', [2, 1]],
  ['members of a set', '.set.add({a: 1}, {a: 2});', '.set.add({b: 1});', '.set.map(|t| t.b)', [1]],
  [
    'types',
    "set_type('N', {a: 'int'}); .x = N{a: 1}; .w = {a: 2}.wrap('N'); .l.push(N{}); .r = {}; .r.restrict('N');",
    "set_type('M', {b: 'str', c: 'room'}); .x = M{b: 'b'};",
    '[type(.x), .x.b, type(.x.c)]',
    ['M', 'b', 'room'],
  ],
  [
    'enums',
    "set_enum('N', {A: 'a', B: 'b'}); .x = [N{B}]; mod_type('Q', 'add', 'e', 'N');",
    "set_enum('M', {X: {x: 1}, Y: {y: 1}}); .x = [M{Y}]; mod_type('Q', 'add', 'e', 'M{Y}');",
    '[.x[0].name(), .q.e.name(), .x[0].value().y]',
    ['Y', 'Y', 1],
  ],
  [
    'members of an enum',
    "mod_enum('E', 'add', 'B', 2); .x = [E{B}]; mod_type('Q', 'add', 'e', 'E{B}');",
    "mod_enum('E', 'add', 'C', 3); .x = [E{C}]; mod_enum('E', 'add', 'B', 4);",
    '[.x[0].value(), E{B}.value()]',
    [3, 4],
  ],
  [
    'rooms',
    ".x = room(); .x.set_name('a'); .l.push(room());",
    ".y = {r: room()}; .y.r.set_name('b');",
    "[room('b').name(), .y.r == room('b')]",
    ['b', true],
  ],
  [
    'tasks',
    '.x = task(datetime(), |t, a| a.n, [{n: 1}]); .x.set_args([Q{n: 5}]);',
    '.x = task(datetime(), |t, a, b| b, [7, [8]]);',
    '[.x.args(), tasks().len()]',
    [[7, [8]], 1],
  ],
  [
    'pieces of a list',
    '.list.splice(100, 1000); .list.extend(range(2000)); .x = range(5000);',
    ".x = range(2000).map(|i| str(i)); .list[50] = 'new';",
    '[.x.len(), .x[1999], .list.len(), .list[50], .list[2999]]',
    [2000, '1999', 3000, 'new', 2999],
  ],
  [
    'pieces of a thing',
    ".x = {}; range(1500).each(|i| .x.set('k' + str(i), i));",
    ".x = {}; range(1400).each(|i| .x.set('m' + str(i), [i]));",
    '[.x.len(), .x.m1399]',
    [1400, [1399]],
  ],
  ['large values', '.x = {a: L, b: M}; .x.a = M;', '.x = {b: L};', '[.x.len(), .x.b.len()]', [1, 20_000]],
];

/** A collection, on disk. */
function newLife(): Life {
  const life = new Life();
  life.query(SETUP, true);
  save(life);
  return life;
}

function save(life: Life): void {
  life.commit();
  life.begin();
  life.finish(true);
}

/** Uses ids again, and looks at what became of them, in memory and from disk. */
function expectUsed(life: Life, again: string, asks: string, answer: unknown): void {
  life.query('.other = 1;', true);
  save(life);
  life.evict();
  life.query(again, true);
  expect(life.harness.run(asks)).toEqual(answer);
  life.look();
  save(life);
  life.evict();
  expect(life.harness.run(asks)).toEqual(answer);
  life.restart();
  expect(life.harness.run(asks)).toEqual(answer);
  life.look();
}

describe.each(USES)('ids of %s that a change used', (_, undone, again, asks, answer) => {
  test('mean what uses them later, when it failed', () => {
    const life = newLife();
    life.query(`${undone} raise('stop');`);
    expectUsed(life, again, asks, answer);
  });

  test('mean what uses them later, when a leader lost it', () => {
    const life = newLife();
    life.query(undone, true);
    life.query('.q.n += 1; .l.push({});', true);
    life.depose(2);
    expectUsed(life, again, asks, answer);
  });

  test('mean what uses them later, when a leader lost it while a checkpoint was under way', () => {
    const life = newLife();
    life.query(undone, true);
    life.begin();
    life.encode(2);
    life.query('.q.n += 1; .l.push({});', true);
    life.depose(2);
    life.query(again, true);
    life.finish(true);
    life.depose(1);
    expectUsed(life, again, asks, answer);
  });
});

describe.each(USES)('ids of %s that a change used', (_, undone, again, asks, answer) => {
  test('mean what uses them at the node that leads next', () => {
    const life = newLife();
    life.query(undone, true);
    life.begin();
    life.query('.q.n += 1; .l.push({});', true);
    life.queryElsewhere(again);
    life.finish(true);
    expect(life.harness.run(asks)).toEqual(answer);
    expectUsed(life, '.other = 2;', asks, answer);
  });
});

const GIVEN: readonly (readonly [string, string, string])[] = [
  ['a thing', '.a = {};', '.b = {}; .is = .b.id();'],
  ['a room', '.a = room();', '.b = room(); .is = .b.id();'],
  ['a task', 'task(datetime(), || nil);', '.is = task(datetime(), || nil).id();'],
];

describe.each(GIVEN)('the id of %s is not given again', (_, undone, again) => {
  test('after a query that failed', () => {
    const life = newLife();
    const { nextId } = life.harness.collection.store;
    life.query(`${undone} raise('stop');`);
    life.query(`${undone} raise('stop');`);
    // The state is that of a node that heard of none of it.
    expect(life.harness.collection.store.nextId).toBe(nextId);
    life.look();
    life.query(again, true);
    expect(life.harness.run('.is')).toBe(nextId + 2);
    life.look();
  });

  test('after a leadership that was lost', () => {
    const life = newLife();
    const { nextId } = life.harness.collection.store;
    life.query(undone, true);
    life.depose(1);
    expect(life.harness.collection.store.nextId).toBe(nextId);
    life.query(again, true);
    expect(life.harness.run('.is')).toBe(nextId + 1);
    life.look();
  });
});

test('no id is passed over by a query that gives none', () => {
  const life = newLife();
  const { nextId } = life.group.store;
  life.query(".x = {}; raise('stop');");
  life.query(
    '.set.add(.q); .l.push(.q, .q); .set.add(.q); .l.extend([[.q], set(.q)]); .y = [.q]; .r = .q;',
    true,
  );
  expect(life.group.store.nextId).toBe(nextId);
  life.look();
});

const FEW: readonly (readonly [string, string, string, string])[] = [
  [
    'a type',
    "set_type('A', {n: 'int'}); .a = A{};",
    "set_type('B', {}); .is = ID('B');",
    "type_info('N').load().type_id",
  ],
  [
    'an enum',
    "set_enum('A', {X: 1}); .a = A{X};",
    "set_enum('B', {X: 1}); .is = ID('B');",
    "enum_info('N').load().enum_id",
  ],
];

describe.each(FEW)('the id of %s', (kind, undone, again, info) => {
  const next = again.replace(/ID\('(\w)'\)/, (_, name: string) => info.replace('N', name));
  const idsOf = ({ group: { store } }: Life) =>
    kind === 'a type' ? store.schema.typeIds : store.schema.enumIds;

  test('is not given again after a query that failed', () => {
    const life = newLife();
    const { nextId } = idsOf(life);
    life.query(`${undone} raise('stop');`);
    life.query(`${undone} raise('stop');`);
    expect(idsOf(life).nextId).toBe(nextId);
    life.query(next, true);
    expect(life.harness.run('.is')).toBe(nextId + 2);
    life.look();
  });

  test('is not given again after a leadership that was lost', () => {
    const life = newLife();
    const { nextId } = idsOf(life);
    life.query(undone, true);
    life.depose(1);
    expect(idsOf(life).nextId).toBe(nextId);
    life.query(next, true);
    expect(life.harness.run('.is')).toBe(nextId + 1);
    life.look();
  });

  test('is one behind all others, however many were used', () => {
    const life = newLife();
    const max = kind === 'a type' ? TYPES_MAX : ENUMS_MAX;
    idsOf(life).idFloor = max;
    life.query(`${undone} raise('stop');`);
    life.query(next, true);
    expect(life.harness.run('.is')).toBe(max + 1);
    life.look();
    save(life);
    life.evict();
    life.restart();
    expect(life.harness.run(info.replace('N', 'B'))).toBe(max + 1);
    expect(idsOf(life).nextId).toBe(max + 2);
    life.look();
  });

  test('is given while so many are remembered as there may be, and the one deleted first is forgotten, but for the last', () => {
    const life = newLife();
    const max = kind === 'a type' ? TYPES_MAX : ENUMS_MAX;
    const [make, del] =
      kind === 'a type' ? ["new_type('X');", "del_type('X');"] : ["set_enum('X', {A: 1});", "del_enum('X');"];
    const known = ({ group: { store } }: Life): readonly number[] =>
      kind === 'a type' ? store.schema.typeIdsKnown() : store.schema.enumIdsKnown();
    const named = (code: string, name: string): string => code.replaceAll("'X'", `'${name}'`);
    const names = Array.from({ length: max }, (_, i) => `X${i}`);
    for (let from = 0; from < max; from += 1000) {
      const codes = names.slice(from, from + 1000).map((name) => named(`${make} ${del}`, name));
      life.query(codes.join(' '), true);
    }
    life.query('.wrapped = {a: 1};', true);
    save(life);
    const forgotten = (): readonly number[] => {
      const ids = new Set(known(life));
      return Array.from({ length: max }, (_, id) => id + 1).filter((id) => !ids.has(id));
    };
    // One is there: so the first of the others went.
    expect([known(life).length, forgotten()]).toEqual([max, [1]]);

    life.query(`${named(make, 'failed')} raise('stop');`);
    expect(forgotten()).toEqual([1]);
    life.query(named(make, 'lost'), true);
    expect(forgotten().length).toBe(2);
    life.depose(1);
    expect(forgotten()).toEqual([1]);
    life.look();
    life.query(named(make, 'Y'), true);
    expect([known(life).length, forgotten().length, known(life).at(-1)]).toEqual([max, 2, max + 3]);
    life.query(`${named(del, 'Y')} ${named(make, 'Z')}`, true);
    expect([known(life).length, forgotten().length, known(life).slice(-2)]).toEqual([
      max,
      3,
      [max + 3, max + 4],
    ]);
    life.look();
    save(life);
    life.restart();
    life.look();
    expect([known(life).length, forgotten().length, known(life).at(-1)]).toEqual([max, 3, max + 4]);
    expect(idsOf(life).nextId).toBe(max + 5);
  });

  test('is none when all are those of what is there', () => {
    const life = newLife();
    const { schema } = life.group.store;
    const type = schema.typeNamed('Q')?.def;
    const of = schema.enumNamed('E')?.def;
    for (let id = 1; id < TYPES_MAX && type; id++) schema.setType(id, { ...type, id, name: `T${id}` });
    for (let id = 1; id < ENUMS_MAX && of; id++) schema.setEnum(id, { ...of, id, name: `E${id}` });
    expect(life.harness.error(next)).toBe('max_quota_err');
  });

  test('is not given behind the limit while older nodes are there, which could not import it', () => {
    const life = newLife();
    idsOf(life).idFloor = kind === 'a type' ? TYPES_MAX : ENUMS_MAX;
    life.harness.engine.root.level = 2;
    expect(life.harness.error(next)).toBe('max_quota_err');
  });
});

describe('types that could not be made', () => {
  test('leave nothing: no id, no name, and no object in memory', () => {
    const life = newLife();
    const { schema } = life.group.store;
    const { nextId } = schema.typeIds;
    for (let i = 0; i < 5; i++) {
      const tries = Array.from(
        { length: 100 },
        (_, j) => `try(set_type('F${i}_${j}', {a: 'bad', b: 'int'}));`,
      );
      life.query(`${tries.join(' ')} .n = ${i};`, true);
    }
    expect(schema.typeIdsKnown()).toEqual([0]);
    expect(schema.typeIds.nextId).toBe(nextId);
    life.look();
    life.query("set_type('F0_1', {a: 'int'}); .is = type_info('F0_1').load().type_id;", true);
    expect(life.harness.run('.is')).toBe(nextId + 500);
    life.look();
  });

  test('are deleted when their arguments changed something, which stays', () => {
    const life = newLife();
    life.query("try(set_type('F', {a: {.y = {z: 1}; 'bad'}})); .n = 1;", true);
    expect(life.harness.run("[.y.z, has_type('F')]")).toEqual([1, false]);
    expect(life.group.store.schema.goneType('F')).toBe(1);
    life.look();
  });

  test('are again what they were before: a deleted type with what it wraps', () => {
    const life = newLife();
    life.query("set_type('F', {a: 'int'}); .w = {a: 1, b: 2}.wrap('F'); del_type('F');", true);
    life.query("try(set_type('F', {a: 'bad'})); .n = 1;", true);
    life.query("set_type('F', {b: 'int'});", true);
    expect(life.harness.run('.w')).toEqual({ '#': expect.any(Number), b: 2 });
    life.look();
  });

  test('wrap nothing while they are made', () => {
    const life = newLife();
    life.query("x = nil; try(set_type('F', {a: {x = {}.wrap('F'); 'bad'}})); .x = x;", true);
    expect(life.harness.run('.x')).toBeNull();
  });
});

describe('a thing that a forgotten type wraps', () => {
  test('is shown whole, is equal to itself in and out of memory, and is not wrapped by a later type of the name', () => {
    const life = newLife();
    life.query("set_type('F', {a: 'int'}); .w = {a: 1, b: 2}.wrap('F'); .also = [.w]; del_type('F');", true);
    const { store } = life.group;
    const type = store.schema.goneType('F');
    if (type === undefined) throw new Error('the type is not remembered');
    const out = new ByteWriter();
    writeEffect(out, SchemaEffect.FORGET_TYPE, type);
    life.commit();
    life.log.push(out.take());
    for (const effects of life.log.slice(-1)) life.group.apply(effects);
    life.query("set_type('F', {a: 'int'});", true);
    const asks = '[type(.w), .w, .w == .also[0]]';
    const answer = ['<thing>', { '#': expect.any(Number), a: 1, b: 2 }, true];
    expect(life.harness.run(asks)).toEqual(answer);
    life.look();
    save(life);
    life.evict();
    expect(life.harness.run(asks)).toEqual(answer);
    life.restart();
    expect(life.harness.run(asks)).toEqual(answer);
    const dump = life.harness.run('export({dump: true})');
    const db = new Harness();
    db.run('import(d)', { vars: { d: dump } });
    expect(db.run(asks)).toEqual(answer);
  });
});

test('the id of a member of an enum is not given again, and what it stood for is forgotten', () => {
  const life = newLife();
  life.query("mod_enum('E', 'add', 'B', 1000); .x = E{B}; raise('stop');");
  life.query("mod_enum('E', 'add', 'B', 2);", true);
  life.depose(1);
  life.query("mod_enum('E', 'add', 'B', 3); .x = E{B};", true);
  const of = life.group.store.schema.enumNamed('E');
  expect(Array.from(of?.known() ?? [], ({ id, value }) => [id, value])).toEqual([
    [0, 1],
    [3, 3],
  ]);
  life.look();
});

test('an enum that a change made which was taken back keeps no values', () => {
  const life = newLife();
  life.query("set_enum('F', {A: L}); raise('stop');");
  const of = life.group.store.schema.enum(1);
  expect([of.members, of.named('A'), [...of.known()]]).toEqual([[], undefined, []]);
});

describe.each([
  ['a user', "new_user('one');", "new_user('two');"],
  ['a collection', "new_collection('one');", "new_collection('two');"],
  ['a module', "new_module('one', 'one.py');", "new_module('two', 'two.py');"],
])('the id of %s is not given again', (_, undone, again) => {
  test('after a query that failed', () => {
    const db = new Harness();
    const scope = 'thingsdb';
    db.error(`${undone} raise('stop');`, { scope });
    const { nextId, idFloor } = db.engine.root;
    expect(idFloor).toBe(nextId + 1);
    db.run(again, { scope });
    expect(db.engine.root.nextId).toBe(nextId + 2);
  });
});
