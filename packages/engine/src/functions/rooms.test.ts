import { expect, test } from '@jest/globals';
import type { CollectionGroup } from '../state/collection-group.js';
import type { RoomEvent } from '../state/events.js';
import { decodeResult } from '../testing/decode.js';
import { Harness } from '../testing/harness.js';
import { PersistedCollection } from '../testing/persisted.js';
import { brokenRules, newGroup, stateLines } from '../testing/state-lines.js';

/** The events of the changes of the last query, as `room event args`, and `room gone`. */
function told({ changes }: Harness): string[] {
  return changes.flatMap(({ roomEvents = [] }) => roomEvents.map(textOf));
}

function textOf(event: RoomEvent): string {
  if (event.kind === 'gone') return `${event.room} gone`;
  return `${event.room} ${event.name} ${JSON.stringify(decodeResult(event.args))}`;
}

test('a room gets an id when it becomes a part of stored data, wherever in it', () => {
  const harness = new Harness();
  expect(harness.run('r = room(); [r.id(), .r = r, r.id(), bool(r), bool(room())]')).toEqual([
    null,
    'room:2',
    2,
    true,
    false,
  ]);
  expect(
    harness.run('.x = {l: [room(), [room()]], t: {r: room()}}; [.x.l[0].id(), .x.l[1][0].id(), .x.t.r.id()]'),
  ).toEqual([5, 6, 7]);
  expect(harness.run('.s = set({a: room()}); .r2 = .r; [.s.one().a.id(), .r2 == .r]')).toEqual([9, true]);
  expect(brokenRules(harness.collection)).toEqual([]);
});

test('a room goes with its last reference, and a change that fails leaves it as it was', () => {
  const harness = new Harness();
  harness.run(".a = room(); .b = [.a]; .a.set_name('lobby');");
  harness.run(".del('a');");
  expect(told(harness)).toEqual([]);
  expect(harness.error(".b.pop(); room('lobby');")).toBe('lookup_err');
  expect(harness.run("room('lobby').id()")).toBe(2);
  expect(harness.run("r = .b.pop(); r.emit('bye'); [r.id(), r.name()]")).toEqual([2, 'lobby']);
  expect(told(harness)).toEqual(['2 bye []', '2 gone']);
  expect(harness.error('room(2)')).toBe('lookup_err');
  expect(harness.run(".c = room(); .c.set_name('lobby'); .c.id()")).toBe(3);
  expect(harness.error(".c.set_name('hall'); .d = room(); .x = {r: room()}; .del('c'); 1/0")).toBe(
    'zero_div_err',
  );
  expect(harness.run("[room('lobby') == .c, .c.id(), .keys()]")).toEqual([true, 3, ['b', 'c']]);
  expect(brokenRules(harness.collection)).toEqual([]);
});

test('a room that went in an earlier change is a new one when it is stored again, without its name', () => {
  const harness = new Harness();
  harness.run(".a = room(); .a.set_name('x'); .a.id()");
  harness.run(
    ".b = 1; r = .a; .del('a'); future(|r| {.b = room(); wse(.c = r); [.c.id(), .c.name()]}, [r]);",
  );
  expect(harness.run('[.c.id() > 2, .c.name()]')).toEqual([true, null]);
  expect(brokenRules(harness.collection)).toEqual([]);
});

test('a room that nothing but the arguments of a task refer to is there for as long as they do', () => {
  const harness = new Harness();
  harness.run(
    ".t = task(datetime(2050, 1, 1), |t, r, s| r.emit(s.len()), [room(), [{in: room()}]]); .t.args()[0].set_name('x');",
  );
  expect(brokenRules(harness.collection)).toEqual([]);
  expect(harness.run("[room('x') == .t.args()[0], .t.args()[0].id() > 0]")).toEqual([true, true]);
  harness.run('.t.set_args([1, []]); nil;');
  expect(told(harness).filter((text) => text.endsWith(' gone'))).toHaveLength(2);
  expect(harness.error("room('x')")).toBe('lookup_err');
  expect(harness.collection.store.rooms.byId.size).toBe(0);
  expect(brokenRules(harness.collection)).toEqual([]);
});

test('circles of garbage take their rooms with them', () => {
  const harness = new Harness();
  harness.run(".a = {r: room()}; .a.me = .a; .a.r.set_name('x'); .del('a');");
  expect(harness.run("room('x').id()")).toBe(3);
  const { engine, collection } = harness;
  const marking = engine.upkeep.searchGarbage(collection.id);
  while (marking.step(100)) {}
  const change = engine.upkeep.removeGarbage(collection.id, marking);
  expect(change?.roomEvents?.map(textOf)).toEqual(['3 gone']);
  expect(harness.error("room('x')")).toBe('lookup_err');
  expect(brokenRules(harness.collection)).toEqual([]);
});

test('events come in the order of emits, with the depth that is asked for, and of what succeeded alone', () => {
  const harness = new Harness();
  harness.run('.r = room(); .t = {a: {b: {c: 1}}};');
  harness.run(
    ".r.emit('one', .t, 2.5, /x/, .r); .r.emit(0, 'two', .t); .r.emit(2, NO_IDS, 'three', .t); nil",
  );
  expect(told(harness)).toEqual([
    '2 one [{"#":3,"a":{"#":4}},{"value":2.5},"/x/","room:2"]',
    '2 two [{"#":3}]',
    '2 three [{"a":{"b":{}}}]',
  ]);
  harness.run("try({.r.emit('kept'); 1/0}); deep(2); .r.emit('deep', .t); room().emit('x'); nil");
  expect(told(harness)).toEqual(['2 kept []', '2 deep [{"#":3,"a":{"#":4,"b":{"#":5}}}]']);
  expect(harness.error(".r.emit('never'); 1/0")).toBe('zero_div_err');
  expect(harness.changes).toEqual([]);
  expect(harness.run(".r.emit('x'); change_id()")).toBe(null);
});

test('emit refuses wrong arguments', () => {
  const harness = new Harness();
  harness.run('.r = room();');
  const errors: [string, string][] = [
    ['.r.emit()', 'num_arguments_err'],
    ['.r.emit(1)', 'num_arguments_err'],
    ['.r.emit(1, 2)', 'num_arguments_err'],
    [".r.emit(128, 'x')", 'value_err'],
    [".r.emit(-1, 'x')", 'value_err'],
    [".r.emit(9223372036854775807, 'x')", 'value_err'],
    [".r.emit('')", 'value_err'],
    ["e = ''; range(256).each(|| e += '😀'); .r.emit(e)", 'value_err'],
    ['.r.emit(nil)', 'type_err'],
    ['.r.emit(1, 2, 3)', 'type_err'],
    ["nse(.r.set_name('x'))", 'operation_err'],
    ['room(9007199254740993)', 'lookup_err'],
    ['room(-1)', 'lookup_err'],
  ];
  for (const [code, error] of errors) expect([code, harness.error(code)]).toEqual([code, error]);
  expect(harness.run("e = ''; range(255).each(|| e += '😀'); .r.emit(127, e)")).toBe(null);
  expect(harness.run(".t = {}; .t.t = .t; .r.emit(127, 'x', .t)")).toBe(null);
  expect(told(harness)).toEqual(['2 x [{"#":3,"t":{"#":3}}]']);
  const big = { vars: { big: 'x'.repeat(1024 * 1024) } };
  expect(harness.failure("range(5).each(|| .r.emit('x', big));", big)).toMatchObject({
    message: expect.stringContaining('4194304 bytes'),
  });
  expect(harness.changes).toEqual([]);
});

test('a follower tells nobody: the call has to go to the leader', () => {
  const harness = new Harness();
  harness.run('.r = room();');
  expect(harness.outcome(".r.emit('x')", { follows: true }).kind).toBe('needs_change');
  expect(harness.outcome("room().emit('x')", { follows: true }).kind).toBe('value');
});

test('a node that applies the effects has the same rooms, and hears what is told as long as somebody listens', () => {
  const harness = new Harness();
  const changes: Uint8Array[] = [];
  const copy = newGroup();
  for (const code of [
    ".r = room(); .r.set_name('lobby'); .l = [.r, room()];",
    ".r.emit('a', 1); .r.emit('b');",
    '.l.pop(); .l = nil;',
  ]) {
    changes.push(harness.effects(code));
  }
  copy.store.rooms.listenersIn = () => 1;
  for (const effects of changes) copy.apply(effects);
  expect(copy.takeRoomEvents().map(textOf)).toEqual(['2 a [1]', '2 b []', '3 gone']);
  expect(copy.takeRoomEvents()).toEqual([]);
  expect(stateLines(copy)).toEqual(stateLines(harness.collection));
  expect(brokenRules(copy)).toEqual([]);
});

test('an event takes its length for each who listens out of the time of the query', () => {
  const harness = new Harness();
  harness.run('.r = room();');
  const { rooms } = harness.collection.store;
  rooms.listenersIn = () => 1000;
  // 5 us and 1 ns for each byte, a thousand times: a query has a second.
  const emit = (bytes: number, times: number): ReturnType<Harness['outcome']> =>
    harness.outcome(`range(${times}).each(|i| .r.emit('a', data)); nil;`, {
      vars: { data: 'x'.repeat(bytes) },
    });
  expect(emit(100_000, 1).kind).toBe('value');
  expect(emit(1_000_000, 1)).toMatchObject({ kind: 'error', error: { code: -5 } });
  expect(emit(100_000, 3).kind).toBe('value');
  expect(emit(400_000, 3)).toMatchObject({ kind: 'error', error: { code: -5 } });
  rooms.listenersIn = () => 0;
  expect(emit(1_000_000, 3).kind).toBe('value');
});

test('a property of a type that is a room holds a room of its own in each instance', () => {
  const harness = new Harness();
  harness.run("set_type('T', {n: 'int'}); .a = T{}; .b = T{};");
  harness.run("mod_type('T', 'add', 'r', 'room'); mod_type('T', 'add', 'o', 'room?');");
  expect(
    harness.run('.c = T{}; [is_room(.a.r), .a.r == .b.r, .b.r == .c.r, .a.o, type_info("T").load().fields]'),
  ).toEqual([
    true,
    false,
    false,
    null,
    [
      ['n', 'int'],
      ['r', 'room'],
      ['o', 'room?'],
    ],
  ]);
  expect(harness.error('.a.r = nil')).toBe('type_err');
  expect(harness.run('.a.o = .b.r; .a.wrap("T")')).toMatchObject({ r: 'room:4', o: 'room:5' });
  expect(brokenRules(harness.collection)).toEqual([]);
});

test('a dump keeps rooms, their ids and names', () => {
  const harness = new Harness();
  harness.run(".x = {r: room(), s: room()}; .x.r.set_name('lobby'); .again = .x.r;");
  const dump = harness.run('export({dump: true})');
  const other = new Harness();
  expect(
    other.run("import(dump); [room('lobby') == .x.r, .again == .x.r, .x.s.id()]", { vars: { dump } }),
  ).toEqual([true, true, 4]);
  expect(other.error('import(dump); 1/0', { vars: { dump } })).toBe('operation_err');
  const third = new Harness();
  expect(third.error('import(dump); 1/0', { vars: { dump } })).toBe('zero_div_err');
  expect(third.run('.keys()')).toEqual([]);
  for (const { collection } of [other, third]) expect(brokenRules(collection)).toEqual([]);
});

test('rooms come back from a checkpoint, also what changed nothing but their names', () => {
  const harness = new Harness();
  const persisted = new PersistedCollection();
  for (const code of [
    ".r = room(); .s = room(); .r.set_name('lobby');",
    ".s.set_name('hall'); .r.set_name('cafe');",
    ".del('s');",
  ]) {
    persisted.group.apply(harness.effects(code));
    persisted.checkpoint();
    persisted.reopen();
    expect(stateLines(persisted.group)).toEqual(stateLines(harness.collection));
    expect(brokenRules(persisted.group)).toEqual([]);
  }
  expect(persisted.group.store.rooms.byName.get('cafe')?.id).toBe(2);
});

test.each([1, 3, 40])(
  'rooms are written as they were when a checkpoint began, %i steps of it before they change',
  (steps) => {
    const harness = new Harness();
    const persisted = new PersistedCollection();
    const apply = (code: string): void => persisted.group.apply(harness.effects(code));
    apply(".l = range(20).map(|| room()); .l[3].set_name('lobby'); .l[4].set_name('hall');");
    // The number of the next id is not a part of what a checkpoint writes bit by bit.
    const linesOf = (group: CollectionGroup): string[] =>
      stateLines(group).filter((line) => !line.startsWith('next '));
    const before = linesOf(harness.collection);
    persisted.begin();
    persisted.encode(steps);
    apply(
      ".l[3].set_name('cafe'); .other = .l[5]; .l.splice(8, 4); .l.push(room()); .l[4].set_name('attic');",
    );
    persisted.finish(true);
    persisted.reopen();
    expect(linesOf(persisted.group)).toEqual(before);
    expect(brokenRules(persisted.group)).toEqual([]);
  },
);

test('rooms of a checkpoint that came to nothing are written by the next one', () => {
  const harness = new Harness();
  const persisted = new PersistedCollection();
  const apply = (code: string): void => persisted.group.apply(harness.effects(code));
  apply(".l = range(20).map(|| room()); .l[3].set_name('lobby');");
  persisted.begin();
  persisted.encode(10);
  apply(".l[5].set_name('cafe');");
  persisted.finish(false);
  persisted.checkpoint();
  persisted.reopen();
  expect(stateLines(persisted.group)).toEqual(stateLines(harness.collection));
  expect(brokenRules(persisted.group)).toEqual([]);
});

test('a checkpoint begins without looking at each room', () => {
  const persisted = new PersistedCollection();
  persisted.group.apply(new Harness().effects('.l = range(5000).map(|| room());'));
  const { dirty } = persisted.group;
  expect(dirty.freeze(() => {}).records.size).toBeLessThan(10);
});
