import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { EMPTY_SOURCE } from '../state/records.js';
import { takeBack } from '../state/transaction.js';
import { FIRST_NODE, NOW_MS, type Plain } from '../testing/harness.js';
import { linesOf, RootBench } from '../testing/root-bench.js';

const ROOT = { scope: 'thingsdb' } as const;

let { db, follower, change, look, refused } = new RootBench();
let { root } = db.engine;

beforeEach(() => {
  ({ db, follower, change, look, refused } = new RootBench());
  ({ root } = db.engine);
});

afterEach(() => {
  expect(linesOf(follower)).toEqual(linesOf(root));
});

/** The answer of collection_info about a collection, or a part of it. */
const info = (name: string, part = ''): Plain => look(`collection_info('${name}').load()${part};`);

const idOf = (name: string): number => root.collectionsByName.get(name)?.id ?? 0;

describe('a collection', () => {
  test('is empty when it is made, and belongs to who made it', () => {
    change("new_collection('notes')");
    expect(info('notes')).toMatchObject({
      collection_id: idOf('notes'),
      name: 'notes',
      created_at: Math.floor(NOW_MS / 1000),
      things: 1,
      time_zone: 'UTC',
      default_deep: 1,
      next_free_id: 2,
    });
    expect(look("[has_collection('notes'), collections_info().len()]")).toEqual([true, 2]);
    expect(look('user_info().load().access.map(|a| [a.scope, a.privileges])')).toContainEqual([
      '@collection:notes',
      'FULL',
    ]);
    expect(root.collectionsByName.get('notes')?.members).toEqual([FIRST_NODE.nodeId]);
  });

  test('tells how many things are in it', () => {
    db.run('.a = {b: {}}; .l = [{}];');
    expect([info('stuff', '.things'), info('stuff', '.next_free_id')]).toEqual([4, 5]);
  });

  test('tells how many bytes it takes, by type', () => {
    db.run("new_type('A'); set_type('A', {text: 'str'}); new_type('B');");
    db.run(".all = range(20).map(|i| A{text: 'x'}); .plain = {t: 'y'}; .b = B{};");
    const types = info('stuff', '.types.map(|t| [t.name, t.instances, t.memory_bytes + t.disk_bytes])') as [
      string,
      number,
      number,
    ][];
    expect(types.map(([name, instances]) => [name, instances])).toEqual([
      ['thing', 2],
      ['A', 20],
      ['B', 1],
    ]);
    // They are in memory, or on disk where everything leaves the memory behind each query.
    for (const [, instances, bytes] of types) expect(bytes).toBeGreaterThan(instances);
    expect(types[1]?.[2]).toBeGreaterThan(10 * (types[2]?.[2] ?? 0));
    expect(info('stuff', '.memory_bytes')).toBeGreaterThanOrEqual(0);
    expect(info('stuff', '.disk_bytes')).toBeNull();
    expect(look("collections_info()[0].load().has('types')")).toBe(false);
  });

  test.each([
    ["new_collection('')", 'value_err'],
    ["new_collection('1a')", 'value_err'],
    ["new_collection('a b')", 'value_err'],
    ["new_collection('é')", 'value_err'],
    [`new_collection('${'x'.repeat(256)}')`, 'value_err'],
    ["new_collection('stuff')", 'lookup_err'],
    ['new_collection(5)', 'type_err'],
    ["del_collection('missing')", 'lookup_err'],
    ['del_collection(99)', 'lookup_err'],
    ['del_collection(nil)', 'type_err'],
    ["rename_collection('missing', raise('not looked at'))", 'lookup_err'],
    ["rename_collection('stuff', 'stuff')", 'lookup_err'],
    ["rename_collection('stuff', '1a')", 'value_err'],
    ["rename_collection('stuff', 5)", 'type_err'],
    ["collection_info('missing')", 'lookup_err'],
    ['collection_info(1.0)', 'type_err'],
    ['has_collection([])', 'type_err'],
  ])('%s is refused as %s', (code, name) => {
    expect(refused(code)).toBe(name);
  });

  test('may have a name of 255 characters', () => {
    change(`new_collection('${'x'.repeat(255)}')`);
  });

  test('is found by its id as by its name', () => {
    const id = idOf('stuff');
    expect(look(`collection_info(${id}).load().name`)).toBe('stuff');
    expect(look(`[has_collection(${id}), has_collection(-1), has_collection('no such')]`)).toEqual([
      true,
      false,
      false,
    ]);
    change(`rename_collection(${id}, 'things'); del_collection(${id});`);
    expect(root.collections.size).toBe(0);
  });

  test('keeps its id, its access and its settings under another name', () => {
    change("new_user('anna'); grant('//stuff', 'anna', QUERY); set_default_deep('//stuff', 7);");
    const id = idOf('stuff');
    change("rename_collection('stuff', 'things')");
    expect([idOf('things'), info('things', '.default_deep')]).toEqual([id, 7]);
    expect(look("user_info('anna').load().access")).toEqual([
      { scope: '@collection:things', privileges: 'QUERY' },
    ]);
    // The name is free again.
    change("new_collection('stuff')");
    expect(idOf('stuff')).toBeGreaterThan(id);
  });

  test('a collection that is gone leaves nothing to the next of its name', () => {
    change("new_user('anna'); grant('//stuff', 'anna', FULL);");
    const id = idOf('stuff');
    change("del_collection('stuff')");
    expect(look("user_info('anna').load().access")).toEqual([]);
    change("new_collection('stuff')");
    expect(idOf('stuff')).toBeGreaterThan(id);
    expect(look("user_info('anna').load().access")).toEqual([]);
  });

  test('is as before when the query fails or the change is taken back', () => {
    change("new_user('anna'); grant('//stuff', 'anna', FULL);");
    const before = linesOf(root);
    const work =
      "del_collection('stuff'); new_collection('stuff'); rename_collection('stuff', 'b'); set_time_zone('//b', 'Europe/Oslo');";
    expect(refused(`${work} raise('stop')`)).toBe('err');
    expect(linesOf(root)).toEqual(before);
    expect(root.collectionEvents).toEqual([]);
    const outcome = db.outcome(work, ROOT);
    if (outcome.kind !== 'value') throw new Error('the query failed');
    expect(outcome.change?.collectionEvents.map(({ kind }) => kind)).toEqual(['deleted', 'created']);
    takeBack(outcome.change?.undo ?? []);
    expect(linesOf(root)).toEqual(before);
    root.collectionEvents.length = 0;
  });

  test('there are only so many', () => {
    change("for (i in range(99)) new_collection('c' + str(i));");
    expect(refused("new_collection('one_more')")).toBe('max_quota_err');
    change("del_collection('c7'); new_collection('one_more');");
  });

  test('is made and deleted in the root scope alone', () => {
    expect(db.error("new_collection('x')")).toBe('lookup_err');
    expect(db.error('collections_info()', { scope: 'node' })).toBe('lookup_err');
  });
});

describe('privileges to inspect a collection', () => {
  beforeEach(() => change("new_user('anna'); grant('/t', 'anna', QUERY);"));

  test.each(['QUERY', 'RUN'])('%s on it is enough', (privilege) => {
    expect(refused("collection_info('stuff')", { user: 'anna' })).toBe('forbidden_err');
    expect(look('collections_info().len()', { user: 'anna' })).toBe(0);
    change(`grant('//stuff', 'anna', ${privilege}); new_collection('other');`);
    expect(look("collection_info('stuff').load().name", { user: 'anna' })).toBe('stuff');
    expect(look('collections_info().map(|c| c.load().name);', { user: 'anna' })).toEqual(['stuff']);
  });

  test('CHANGE on the root scope is enough for all of them', () => {
    change("grant('/t', 'anna', CHANGE); new_collection('other');");
    expect(look('collections_info().len()', { user: 'anna' })).toBe(2);
  });
});

describe('defaults of a scope', () => {
  test('are those of the root scope in collections made later', () => {
    change("set_default_deep('@thingsdb', 5); set_time_zone('/t', 'Europe/Oslo'); new_collection('later');");
    expect(root.defaults.thingsdb).toEqual({ deep: 5, timeZone: 'Europe/Oslo' });
    expect([info('later', '.default_deep'), info('later', '.time_zone')]).toEqual([5, 'Europe/Oslo']);
    expect([info('stuff', '.default_deep'), info('stuff', '.time_zone')]).toEqual([1, 'UTC']);
  });

  test('are set for nodes, and for a collection by scope, name or id', () => {
    change("set_default_deep('/n', 3); set_default_deep('@node:5', 4);");
    expect(root.defaults.node.deep).toBe(4);
    change("set_default_deep('//stuff', 2)");
    expect(info('stuff', '.default_deep')).toBe(2);
    change("set_default_deep('stuff', 0)");
    expect(info('stuff', '.default_deep')).toBe(0);
    change(`set_default_deep(${idOf('stuff')}, 127); set_time_zone('stuff', 'Asia/Tokyo');`);
    expect([info('stuff', '.default_deep'), info('stuff', '.time_zone')]).toEqual([127, 'Asia/Tokyo']);
  });

  test('decide how deep results are, and which time a date means', () => {
    db.run('.a = {b: {c: 1}}');
    expect(db.run('.a')).toMatchObject({ b: { '#': 3 } });
    change("set_default_deep('//stuff', 2); set_time_zone('//stuff', 'Asia/Tokyo');");
    expect(db.run('.a')).toMatchObject({ b: { '#': 3, c: 1 } });
    expect(db.run('str(datetime(2024, 1, 1))')).toBe('2024-01-01T00:00:00+0900');
  });

  test.each([
    ["set_default_deep('//stuff', 128)", 'value_err'],
    ["set_default_deep('//stuff', -1)", 'value_err'],
    ["set_default_deep('//stuff', 1.0)", 'type_err'],
    ["set_default_deep('missing', 1)", 'value_err'],
    ["set_default_deep('//missing', raise('not looked at'))", 'lookup_err'],
    ['set_default_deep(99, 1)', 'type_err'],
    ['set_default_deep(nil, 1)', 'type_err'],
    ["set_default_deep('@n:1a', raise('not looked at'))", 'value_err'],
    ["set_default_deep('/node/node0', 1)", 'value_err'],
    ["set_time_zone('@node:0x1', raise('not looked at'))", 'value_err'],
    ["set_time_zone('//stuff', 'Europe/Nowhere')", 'value_err'],
    ["set_time_zone('//stuff', 'europe/oslo')", 'value_err'],
    ["set_time_zone('//stuff', '+02:00')", 'value_err'],
    ["set_time_zone('//stuff', 2)", 'type_err'],
  ])('%s is refused as %s', (code, name) => {
    expect(refused(code)).toBe(name);
  });

  test('are changed by who has CHANGE there', () => {
    change("new_user('anna'); grant('/t', 'anna', CHANGE); grant('//stuff', 'anna', QUERY);");
    expect(refused("set_default_deep('//stuff', 2)", { user: 'anna' })).toBe('forbidden_err');
    change("set_default_deep('/t', 2)", { user: 'anna' });
  });

  test('the list of time zones has each that can be set', () => {
    const zones = look('time_zones_info().load()');
    expect(zones).toContain('Europe/Oslo');
    expect(zones).toContain('UTC');
    expect(db.run('time_zones_info().load().len()')).toBe((zones as Plain[]).length);
  });
});

test('the contents of a collection lie apart from what is known of it', () => {
  change("new_collection('other')");
  const other = db.engine.collections.open(idOf('other'), EMPTY_SOURCE);
  other.create();
  db.run('.a = {}; .b = {};');
  expect([info('stuff', '.things'), info('other', '.things')]).toEqual([3, 1]);
});
