import { beforeEach, describe, expect, test } from '@jest/globals';
import type { CollectionGroup } from '../state/collection-group.js';
import { Marking } from '../state/marking.js';
import { SchemaEditor } from '../state/parts/schema.js';
import { type Transaction, takeBack } from '../state/transaction.js';
import { Harness } from '../testing/harness.js';
import { PersistedCollection } from '../testing/persisted.js';
import { brokenRules, newGroup, schemaLines, stateLines } from '../testing/state-lines.js';
import { Thing } from '../value/thing.js';

/** The things, types and enums of a collection. */
const allLines = (group: CollectionGroup): string[] => [...schemaLines(group), ...stateLines(group)];

let db = new Harness();
beforeEach(() => {
  db = new Harness();
});

describe('members', () => {
  test('keep their order and default through deletions and renames', () => {
    db.run(
      "set_enum('E', {A: 1, B: 2, C: 3, D: 4}); mod_enum('E', 'del', 'B'); mod_enum('E', 'ren', 'C', 'X')",
    );
    expect(db.run("[enum_info('E').load().members, E().name()]")).toEqual([
      [
        ['A', 1],
        ['X', 3],
        ['D', 4],
      ],
      'A',
    ]);
    expect(db.run("mod_enum('E', 'def', 'D'); [enum_map('E').keys(), E().name()]")).toEqual([
      ['D', 'A', 'X'],
      'D',
    ]);
  });

  test('a deleted name that comes again is another member', () => {
    db.run("set_enum('E', {A: 1, B: 2}); .a = E{A}");
    db.run("mod_enum('E', 'del', 'B'); mod_enum('E', 'add', 'B', 7)");
    expect(db.run('[.a.name(), E{B}.value(), E(7).name()]')).toEqual(['A', 7, 'B']);
  });

  test.each([
    ['a bool', 'true'],
    ['nil', 'nil'],
    ['a list', '[]'],
    ['a set', 'set()'],
    ['a datetime', 'datetime(0)'],
    ['a regular expression', '/a/'],
    ['an error', 'err()'],
  ])('have no value that is %s', (_, value) => {
    expect(db.error(`set_enum('E', {A: ${value}})`)).toBe('type_err');
    expect(db.run("has_enum('E')")).toBe(false);
  });

  test('the error says which enum and member, what was expected, and what came', () => {
    expect(db.failure("set_enum('E', {A: 1, B: 'x'})").message).toBe(
      'enum `E`, member `B`: expected a value of the type int, got "x"',
    );
  });

  test('a value of another kind that is equal is a value_err', () => {
    expect(db.error("set_enum('E', {A: 1, B: 1.0})")).toBe('value_err');
    expect(db.error("set_enum('E', {A: 'x', B: bytes('x')})")).toBe('value_err');
    expect(db.error("set_enum('E', {A: 1, B: 2.0})")).toBe('type_err');
  });

  test('the kind stays, also of the only member', () => {
    db.run("set_enum('E', {A: 1})");
    expect(db.error("mod_enum('E', 'mod', 'A', 'x')")).toBe('type_err');
    expect(db.run("mod_enum('E', 'mod', 'A', 2); E{A}.value()")).toBe(2);
  });

  test('equal values change nothing, not even the time of the last change', () => {
    db.run("set_enum('E', {A: 1, B: 2})");
    db.run("mod_enum('E', 'mod', 'A', 1); mod_enum('E', 'def', 'A'); mod_enum('E', 'ren', 'A', 'A')");
    expect(db.run("enum_info('E').load().modified_at")).toBeNull();
  });
});

describe('len', () => {
  test('is that of a value that has one', () => {
    db.run("set_enum('S', {A: 'four'}); set_enum('Y', {A: bytes('abc')}); set_enum('T', {A: {x: 1}})");
    expect(db.run('[S{A}.len(), Y{A}.len(), T{A}.len()]')).toEqual([4, 3, 1]);
    expect(db.error('S{A}.len(1)')).toBe('num_arguments_err');
  });

  test('may be a method of an enum whose values have none', () => {
    db.run("set_enum('I', {A: 1, len: |m, by| m.value() * by})");
    expect(db.run('I{A}.len(21)')).toBe(21);
    db.run("set_enum('J', {A: 1})");
    expect(db.error('J{A}.len()')).toBe('lookup_err');
  });
});

describe('a member in use is not deleted', () => {
  beforeEach(() => {
    db.run("set_enum('E', {A: 1, B: 2})");
  });

  test.each([
    ['a property', '.x = E{A}', ".del('x')"],
    ['a list', '.x = [1, E{A}]', ".del('x')"],
    ['what was pushed to a list', '.x = []; .x.push(E{A})', '.x.pop()'],
    ['a list in a list', '.x = [[E{A}]]', '.x.clear()'],
    ['a loose thing that was stored later', 't = {e: E{A}}; .x = t', '.x = nil'],
    ['a default', "set_type('T', {e: 'E{A}'})", "mod_type('T', 'mod', 'e', 'E')"],
  ])('a member in use is not deleted by %s', (_, hold, release) => {
    db.run(`${hold}; nil`);
    expect(db.error("mod_enum('E', 'del', 'A')")).toBe('operation_err');
    db.run(`${release}; nil`);
    db.run("mod_enum('E', 'del', 'A')");
    expect(brokenRules(db.collection)).toEqual([]);
  });

  test.each([
    ['itself', 'x = E{A}'],
    ['in a list', 'x = [[E{A}]]'],
    ['in a thing', 'x = {a: {b: E{A}}}'],
  ])('a member in use is not deleted by a variable that holds it, %s', (_, hold) => {
    expect(db.error(`${hold}; mod_enum('E', 'del', 'A')`)).toBe('operation_err');
    expect(db.error(`${hold}; del_enum('E')`)).toBe('operation_err');
    db.run(`${hold}; x = nil; mod_enum('E', 'del', 'A')`);
  });

  test.each([
    ['in a list', '.x = [E{A}, mod_enum("E", "del", "A")]'],
    ['in a thing', '.x = {e: E{A}, d: mod_enum("E", "del", "A")}'],
    ['of an enum that is gone', '.x = [[E{A}], del_enum("E")]'],
  ])('a member that a temporary value held is not stored, %s', (_, code) => {
    expect(db.error(code)).toBe('operation_err');
    expect(db.run(`is_err(try(${code}))`)).toBe(true);
    expect(brokenRules(db.collection)).toEqual([]);
  });

  test('a failed query takes the deletion back', () => {
    db.run('.e = E{B}');
    expect(db.error("mod_enum('E', 'del', 'A'); mod_enum('E', 'add', 'C', 9); raise('no')")).toBe('err');
    expect(db.run("[enum_map('E'), .e, E{A}.value()]")).toEqual([{ A: 1, B: 2 }, 2, 1]);
  });
});

describe('an enum in use', () => {
  test.each([
    "E({mod_enum('E', 'ren', 'A', 'X'); 1})",
    "enum('E', {del_enum('E'); 1})",
    "E{|| {rename_enum('E', 'F'); 'A'}}",
    "mod_enum('E', 'add', 'Z', {mod_enum('E', 'del', 'B'); 9})",
    'wse(E{A}.m())',
  ])('it can not be changed: %s', (code) => {
    db.run("set_enum('E', {A: 1, B: 2, m: |t| mod_enum('E', 'del', 'B')})");
    expect(db.error(code)).toBe('operation_err');
    expect(db.run("enum_map('E').keys()")).toEqual(['A', 'B']);
  });
});

describe('limits', () => {
  test('an enum has at most 65,535 members', () => {
    const large = new Harness({ limits: { durationMs: 60_000 } });
    large.run("t = {}; range(65535).each(|i| t.set('m' + str(i), i)); set_enum('E', t)");
    expect(large.error("mod_enum('E', 'add', 'more', -1)")).toBe('max_quota_err');
    expect(large.run("[E(65534).name(), enum_info('E').len() > 65535]")).toEqual(['m65534', true]);
  });
});

describe('privileges to see enums', () => {
  test('the text of methods is shown to those who may change the collection', () => {
    db.run("set_enum('E', {A: 1, m: |t| t.value()})");
    db.run("new_user('reader'); set_password('reader', nil)", { scope: 'thingsdb' });
    db.run("grant('//stuff', 'reader', QUERY)", { scope: 'thingsdb' });
    expect(db.run("enum_info('E').load().methods.m.has('definition')")).toBe(true);
    expect(db.run("enum_info('E').load().methods.m.has('definition')", { user: 'reader' })).toBe(false);
  });
});

describe('things as values', () => {
  const thingOf = (collection: PersistedCollection, value: number): Thing => {
    const thing = new Thing(0, collection.group.store.shapes.empty(), []);
    thing.put('x', value);
    return thing;
  };
  const withEnum = (collection: PersistedCollection, thing: Thing): Transaction =>
    collection.change((transaction) =>
      new SchemaEditor(collection.group.store, transaction).putEnum({
        id: 0,
        name: 'E',
        createdAt: 1,
        modifiedAt: null,
        nextMember: 1,
        members: [{ id: 0, name: 'A', value: thing }],
        methods: new Map(),
      }),
    );

  test('are stored with the enum, read back with it, and not forgotten', () => {
    const collection = new PersistedCollection();
    withEnum(collection, thingOf(collection, 7));
    collection.checkpoint();
    const before = allLines(collection.group);

    collection.reopen();

    const value = collection.group.store.schema.enumNamed('E')?.default.value as Thing;
    expect(value.holders).toBe(1);
    collection.group.store.load(value);
    expect(value.get('x')).toBe(7);
    expect(collection.group.store.find(value.id)).toBe(value);
    expect(brokenRules(collection.group)).toEqual([]);
    expect(allLines(collection.group)).toEqual(before);
  });

  test('are no garbage, also in a circle that nothing else refers to', () => {
    const collection = new PersistedCollection();
    const thing = thingOf(collection, 7);
    withEnum(collection, thing);
    collection.change((transaction) => {
      transaction.setProperty(thing, 'self', thing);
      transaction.setProperty(collection.group.store.root, 'x', thing);
      transaction.deleteProperty(collection.group.store.root, 'x');
    });
    const marking = new Marking(collection.group.store);
    while (marking.step(10));
    expect(marking.next()).toEqual([]);
  });

  test('go with the enum, and come back when that is taken back', () => {
    const collection = new PersistedCollection();
    const thing = thingOf(collection, 7);
    withEnum(collection, thing);
    const before = allLines(collection.group);
    const transaction = collection.change((change) =>
      new SchemaEditor(collection.group.store, change).dropEnum(0, 'E'),
    );
    expect(collection.group.store.find(thing.id)).toBeUndefined();
    takeBack(transaction.inverse);
    expect(allLines(collection.group)).toEqual(before);
    expect(brokenRules(collection.group)).toEqual([]);
  });
});

test('followers hold the same after every change', () => {
  const follower = newGroup();
  for (const code of [
    "set_enum('E', {A: {x: 1}, B: {x: 2}, m: |t| t.value().x})",
    '.e = E{A}; .l = [E{B}, E{B}]',
    "mod_enum('E', 'add', 'C', {x: 3})",
    "mod_enum('E', 'mod', 'A', {x: 9})",
    "mod_enum('E', 'ren', 'B', 'Y'); mod_enum('E', 'def', 'C')",
    ".l = nil; mod_enum('E', 'del', 'Y')",
    "rename_enum('E', 'F')",
  ]) {
    follower.apply(db.effects(`${code}; nil`));
    expect(allLines(follower)).toEqual(allLines(db.collection));
    expect(brokenRules(follower)).toEqual([]);
    expect(brokenRules(db.collection)).toEqual([]);
  }
});
