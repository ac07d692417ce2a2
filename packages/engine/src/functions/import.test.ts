import { crc32 } from 'node:zlib';
import { beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CollectionGroup } from '../state/collection-group.js';
import { groupLines, schemaLines, stateLines } from '../state/describe.js';
import { EMPTY_SOURCE } from '../state/records.js';
import { takeBack } from '../state/transaction.js';
import { Harness } from '../testing/harness.js';
import { ShapeTree } from '../value/shape.js';

/** A collection with something of everything. */
const FULL = `
  new_type('A'); new_type('B'); new_type('W', WPO); new_type('Gone'); new_type('Root');
  set_enum('E', {X: 'x', Y: 'y', up: |this| this.value().upper()});
  set_enum('T', {ONE: {n: 1}});
  set_type('A', {id: '#', n: 'int<0:9>', b: 'B?', bs: '{B}', l: '[int]', e: 'E', any: 'any', twice: |this| this.n * 2});
  set_type('B', {a: 'A?', as: '{A}', s: 'str'});
  mod_type('A', 'rel', 'b', 'a'); mod_type('A', 'rel', 'bs', 'as');
  set_type('W', {n: 'any'});
  .a = A{n: 3, l: [1, 2], e: E{Y}, any: E{X}};
  .b = B{s: 'b'};
  .a.b = .b; .a.bs.add(.b, B{s: 'second'});
  .list = [1, 2.5, 'three', nil, true, [4, [5]], {six: {seven: 7}}, /x/i, bytes('eight'), |x| x + 1, datetime(0), -9223372036854775807];
  .self = {}; .self.me = .self;
  .set = set(.self, {});
  .strs = {}; .strs.restrict('str'); .strs.x = 'y';
  .many = range(2000).map(|i| i);
  .large = 'z' * 40000;
  .gone = Gone{}; del_type('Gone');
  .deleted = {}; .del('deleted');
  .wrapped = .a.wrap('W');
  new_procedure('p', |x| {'doc'; x + .a.n;});
  nil;`.replace("'z' * 40000", "range(40000).map(|i| 'z').reduce(|a, b| a + b)");

const WITH_TASKS = `
  .a = {n: 1};
  .t = task(datetime(2050, 1, 1), |t, x, u| x, [{only: 'here'}]);
  .u = task(datetime(2050, 1, 1), |t, x, n| x, [.a, [1, [2]]]);
  .t.set_args([.t.args()[0], .u]); .u.cancel();
  nil;`;

let db: Harness;

beforeEach(() => {
  db = new Harness({ evicts: false });
});

/** The dump of what some code makes. */
function dumpOf(code: string): Uint8Array {
  const from = new Harness();
  from.run(code);
  const dump = from.run('export({dump: true})');
  if (!(dump instanceof Uint8Array)) throw new Error('a dump is bytes');
  return Uint8Array.from(dump);
}

function lines(group: CollectionGroup): string[] {
  return [...stateLines(group), ...schemaLines(group), ...groupLines(group)].filter(
    // The number of changes is the collection's own.
    (line) => !line.startsWith('changes'),
  );
}

/** The right checksum behind bytes that were changed. */
function sealed(data: Uint8Array): Uint8Array {
  const copy = Buffer.from(data);
  copy.writeUInt32BE(crc32(copy.subarray(0, copy.length - 4)), copy.length - 4);
  return Uint8Array.from(copy);
}

describe('a dump', () => {
  test('makes the same collection, on the leader and wherever its effects are applied', () => {
    const dump = dumpOf(FULL);
    const effects = db.effects('import(d)', { vars: { d: dump } });
    const again = db.run('export({dump: true})');
    expect(Buffer.from(again as Uint8Array).equals(dump)).toBe(true);
    const follower = new CollectionGroup(db.collection.id, new ShapeTree(), EMPTY_SOURCE);
    follower.create();
    follower.apply(effects);
    expect(lines(follower)).toEqual(lines(db.collection));
    expect(
      db.run(
        '[.a.n, .a.b == .b, .b.a == .a, .a.bs.len(), .a.e.value(), p(4), .a.twice(), .self.me == .self]',
      ),
    ).toEqual([3, true, true, 2, 'y', 7, 6, true]);
    expect(db.run('[.many.len(), .large.len(), type(.gone), .list[5][1][0], .strs.restriction()]')).toEqual([
      2000,
      40000,
      'thing',
      5,
      'str',
    ]);
  });

  test('begins with a byte that no text begins with; one without it, as dumps were at first, is read', () => {
    const data = dumpOf('.x = 1; nil;');
    expect([...data.subarray(0, 3)]).toEqual([0xc1, 0x41, 0x4c]);
    db.run('import(d);', { vars: { d: sealed(data.subarray(1)) } });
    expect(db.run('.x;')).toBe(1);
  });

  test('keeps ids, and what comes later gets ids behind them', () => {
    const dump = dumpOf('.x = {}; .y = {}; .del("x"); nil;');
    db.run('import(d)', { vars: { d: dump } });
    expect(db.run('[.y.id(), {.z = {}; .z.id();}]')).toEqual([3, 4]);
  });

  test('gives no id again that the collection gave before it was empty', () => {
    const dump = dumpOf('.x = {}; nil;');
    const follower = new CollectionGroup(db.collection.id, new ShapeTree(), EMPTY_SOURCE);
    follower.create();
    const change = (code: string): void => follower.apply(db.effects(code, { vars: { d: dump } }));
    change('.l = range(20).map(|| {}); .r = room(); .t = task(datetime(), || 1);');
    const next = db.collection.store.nextId;
    change('.t.del(); .clear();');
    change('import(d);');
    change('.y = {}; .r = room(); .t = task(datetime(), || 1);');
    expect(db.run('[.y.id(), .r.id(), .t.id()]')).toEqual([next, next + 1, next + 2]);
    expect(lines(follower)).toEqual(lines(db.collection));
  });

  test('is complete, or nothing is left of it', () => {
    const before = lines(db.collection);
    const dump = dumpOf(FULL);
    expect(db.error('import(d); raise("no");', { vars: { d: dump } })).not.toBe('');
    expect(lines(db.collection)).toEqual(before);
    const outcome = db.outcome('import(d); .more = {};', { vars: { d: dump } });
    if (outcome.kind !== 'value') throw new Error('the import failed');
    takeBack(outcome.change?.undo ?? []);
    expect(lines(db.collection)).toEqual(before);
    expect(db.run('import(d); .a.n;', { vars: { d: dump } })).toBe(3);
  });

  test('has tasks, which come along if that is asked for, and belong to who imports them', () => {
    const dump = dumpOf(WITH_TASKS);
    db.run("new_user('kim'); grant('//stuff', 'kim', QUERY|CHANGE);", { scope: 'thingsdb' });
    const importing = (code: string): void => {
      const follower = new CollectionGroup(db.collection.id, new ShapeTree(), EMPTY_SOURCE, db.engine.root);
      follower.create();
      follower.apply(db.effects(code, { vars: { d: dump }, user: 'kim' }));
      expect(lines(follower)).toEqual(lines(db.collection));
    };
    importing('import(d)');
    expect(db.run('[tasks(), .t, .a.n]')).toEqual([[], 'task:nil', 1]);
    // The root, and what it refers to: what only the arguments held is gone.
    expect(db.collection.store.thingCount).toBe(2);
    db = new Harness({ evicts: false });
    db.run("new_user('kim'); grant('//stuff', 'kim', QUERY|CHANGE);", { scope: 'thingsdb' });
    importing('import(d, {import_tasks: true})');
    expect(db.run('[.t, .t.args(), .t.args()[1] == .u, .u.args()[0] == .a]')).toEqual([
      '<task:4 owner:kim run_at:2050-01-01T00:00:00Z status:nil>',
      [{ '#': 3, only: 'here' }, '<task:5 owner:kim run_at:nil status:err>'],
      true,
      true,
    ]);
    expect(db.error('import(d)', { vars: { d: dump } })).toBe('operation_err');
  });

  test('a dump of a typed root makes one', () => {
    const dump = dumpOf("new_type('Root'); set_type('Root', {n: 'int'}); .to_type('Root'); .n = 5; nil;");
    expect(db.run('import(d); [type(root()), .n, type_count("Root")]', { vars: { d: dump } })).toEqual([
      'Root',
      5,
      1,
    ]);
    expect(db.error('.n = "x"')).toBe('type_err');
  });
});

describe('refused imports', () => {
  test.each([
    ['.x = 1; import(d)', 'operation_err'],
    ["new_type('A'); import(d)", 'operation_err'],
    ['import(d, {other: 1})', 'value_err'],
    ['import(d, {import_tasks: 1})', 'type_err'],
    ['import("x")', 'type_err'],
    // An assignment, and a method that writes, lock what they are about to change.
    ['.other = {import(d)}', 'operation_err'],
    ['.set("other", {import(d)})', 'operation_err'],
    ['.assign({import(d); {z: 1}})', 'operation_err'],
    ['import(bytes("x"))', 'value_err'],
  ])('%s is a %s', (code, error) => {
    expect(db.error(code, { vars: { d: dumpOf('.x = 1; nil;') } })).toBe(error);
  });

  test('a dump of another format, cut off or damaged', () => {
    const data = dumpOf(FULL);
    const other = Uint8Array.from(data);
    other[9] = 2;
    expect(db.error('import(d)', { vars: { d: sealed(other) } })).toBe('value_err');
    for (const length of [9, 10, 20, data.length - 1]) {
      expect(db.error('import(d)', { vars: { d: data.slice(0, length) } })).toBe('bad_data_err');
    }
    const damaged = Uint8Array.from(data);
    damaged[data.length >> 1] = (damaged[data.length >> 1] ?? 0) ^ 1;
    expect(db.error('import(d)', { vars: { d: damaged } })).toBe('bad_data_err');
  });

  test.each([
    ['of everything', FULL.replace('40000', '400').replace('2000', '20')],
    ['with tasks', WITH_TASKS],
  ])('a made-up one %s changes nothing, or what it makes is sound', (_, code) => {
    const data = dumpOf(code);
    const before = lines(db.collection);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(data.length - 1), fc.integer({ min: 0, max: 255 })), {
          minLength: 1,
          maxLength: 4,
        }),
        (changes) => {
          const made = Uint8Array.from(data);
          for (const [at, byte] of changes) made[at] = byte;
          const outcome = db.outcome('import(d, {import_tasks: true})', { vars: { d: sealed(made) } });
          if (outcome.kind === 'value') {
            const follower = new CollectionGroup(db.collection.id, new ShapeTree(), EMPTY_SOURCE);
            follower.create();
            follower.apply(outcome.change?.effects ?? new Uint8Array());
            expect(lines(follower)).toEqual(lines(db.collection));
            takeBack(outcome.change?.undo ?? []);
          } else if (outcome.kind === 'error') {
            expect([-53, -60]).toContain(outcome.error.code);
          }
          expect(lines(db.collection)).toEqual(before);
        },
      ),
      { numRuns: 150 },
    );
  });
});
