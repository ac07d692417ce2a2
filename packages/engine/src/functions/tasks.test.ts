import { describe, expect, test } from '@jest/globals';
import type { TaskOutcome } from '../calls/call.js';
import { writeCheckpoint } from '../state/checkpoint.js';
import { CollectionGroup } from '../state/collection-group.js';
import { groupLines, stateLines } from '../state/describe.js';
import { Marking } from '../state/marking.js';
import { EMPTY_SOURCE, RecordKind } from '../state/records.js';
import { takeBack } from '../state/transaction.js';
import { Harness } from '../testing/harness.js';

const FAR = 'datetime(2050, 1, 1)';

/** Runs a task of the collection, with its futures, to its end. */
function runTask(db: Harness, id: number): TaskOutcome {
  const fresh = { isFresh: () => true };
  const { engine, collection } = db;
  const outcome = engine.taskRuns.run(collection.id, id, { fresh });
  if (outcome.kind !== 'more') return outcome;
  const end = engine.futures.resume(outcome.rest, {
    mayChange: true,
    until: Number.POSITIVE_INFINITY,
    fresh,
  });
  if (end.kind === 'error' && outcome.rest.call.run !== null)
    return engine.taskRuns.fail(collection.id, outcome.rest.call.run, end.error);
  return end.kind === 'value' ? { kind: 'done', change: end.change, error: null, run: null } : NONE;
}

const NONE: TaskOutcome = { kind: 'done', change: null, error: null, run: null };

function linesOf(group: CollectionGroup): string[] {
  return [...stateLines(group), ...groupLines(group)];
}

describe('tasks', () => {
  test('are the same on a follower, in a checkpoint, and when they are taken back', () => {
    const db = new Harness({ evicts: false });
    const follower = new CollectionGroup(1, db.engine.runtime.shapes, EMPTY_SOURCE);
    follower.create();
    const records = new Map<string, Uint8Array>();
    const before = linesOf(db.collection);
    const undone: (readonly (() => void)[])[] = [];
    for (const code of [
      `.t = task(${FAR}, |t, a, b| a, [{n: {m: 1}}, [1, [2.5]]]); nil;`,
      `.u = task(${FAR}, |t, a, b| a, [.t, .t.args()[0]]); .t.set_args([.t.args()[0].n]); nil;`,
      '.t.set_closure(|t| t); .u.cancel(); nil;',
      `.l = [task(${FAR}, || 1), task()]; .u.del(); nil;`,
    ]) {
      db.run(code);
      for (const { effects, undo } of db.changes) {
        follower.apply(effects);
        undone.push(undo);
      }
      expect(linesOf(follower)).toEqual(linesOf(db.collection));
    }
    const source = {
      read: (kind: number, id: number, part: number) => records.get(`${kind}/${id}/${part}`),
    };
    writeCheckpoint(follower, {
      put: (kind, id, part, value) => records.set(`${kind}/${id}/${part}`, value),
      delete: (kind, id, part) => records.delete(`${kind}/${id}/${part}`),
    });
    const reopened = new CollectionGroup(1, db.engine.runtime.shapes, source);
    reopened.loadRecord(RecordKind.META, 0, follower.encodeMeta());
    for (const [name, value] of records) {
      const [kind = 0, id = 0, part = 0] = name.split('/').map(Number);
      if (kind === RecordKind.TASK) reopened.loadRecord(kind, id, value, part);
    }
    expect(linesOf(reopened)).toEqual(linesOf(db.collection));
    expect(db.run('[.t, .u, .l, tasks().len()];')).toEqual([
      '<task:4 owner:admin run_at:2050-01-01T00:00:00Z status:nil>',
      'task:nil',
      ['<task:6 owner:admin run_at:2050-01-01T00:00:00Z status:nil>', 'task:nil'],
      2,
    ]);
    for (const undo of undone.toReversed()) takeBack(undo);
    db.collection.store.orphans.clear();
    expect(linesOf(db.collection)).toEqual(before);
  });

  test('between things that a query stores are taken back with them', () => {
    const db = new Harness();
    const before = linesOf(db.collection);
    const code = `.a = {b: {}}; .t = task(${FAR}, |t, x| x, [{}]); .c = {}; task(${FAR}, || 1); .d = {e: [{}]};`;
    expect(db.error(`${code} 1 / 0;`)).toBe('zero_div_err');
    expect(linesOf(db.collection)).toEqual(before);
    db.run(`${code} nil;`);
    const made = linesOf(db.collection);
    for (const { effects, undo } of db.changes) {
      takeBack(undo);
      expect(linesOf(db.collection)).toEqual(before);
      db.collection.apply(effects);
    }
    expect(linesOf(db.collection)).toEqual(made);
  });

  test('keep their arguments alive, also through circles and a search for garbage', () => {
    const db = new Harness();
    db.run(`x = {}; .x = x; x.me = x; task(${FAR}, |t, x| x, [x]); .del('x'); nil;`);
    const collect = (): number => {
      const marking = new Marking(db.collection.store);
      while (marking.step(10));
      return marking.next().length;
    };
    expect(collect()).toBe(0);
    expect(db.run('x = tasks()[0].args()[0]; x.me == x;')).toBe(true);
    db.run('tasks()[0].del(); nil;');
    expect(collect()).toBe(1);
  });

  test('get an owner only once the change that made the user is committed', () => {
    const db = new Harness();
    db.run("new_user('kim'); grant('//stuff', 'kim', QUERY|CHANGE);", { scope: 'thingsdb' });
    db.run(`.t = task(${FAR}, || 1); nil;`);
    db.uncommittedUser = db.engine.root.usersByName.get('kim')?.id ?? 0;
    expect(db.outcome(".t.set_owner('kim');")).toEqual({ kind: 'behind', collection: 0 });
    expect(db.outcome(`task(${FAR}, || 1);`, { user: 'kim' })).toEqual({ kind: 'behind', collection: 0 });
    expect(db.run('[tasks().len(), .t.owner()];')).toEqual([1, 'admin']);
    db.uncommittedUser = 0;
    expect(db.run(".t.set_owner('kim'); .t.owner();")).toBe('kim');
  });

  test('belong to their owner: others need GRANT, and go with it when it is deleted', () => {
    const db = new Harness();
    const root = { scope: 'thingsdb' } as const;
    db.run(
      "new_user('kim'); grant('//stuff', 'kim', QUERY|CHANGE); new_user('lea'); grant('//stuff', 'lea', CHANGE);",
      root,
    );
    db.run(`.t = task(${FAR}, |t, a| a); nil;`, { user: 'kim' });
    for (const code of [
      '.t.del();',
      '.t.cancel();',
      '.t.set_args([1]);',
      '.t.set_closure(|| 1);',
      ".t.set_owner('lea');",
    ]) {
      expect(db.error(code, { user: 'lea' })).toBe('forbidden_err');
    }
    expect(db.error(".t.set_owner('admin');", { user: 'kim' })).toBe('forbidden_err');
    expect(db.run('.t.set_args([1]); .t.owner();')).toBe('kim');
    expect(db.run("[.t.set_owner('lea'), .t.owner()];", { user: 'kim' })).toEqual([null, 'lea']);
    db.run("del_user('lea');", root);
    expect(db.run('[.t, tasks()];')).toEqual(['task:nil', []]);
    expect(db.collection.tasks.size).toBe(1);
    db.engine.taskRuns.removeOrphaned(db.collection.id);
    expect(db.collection.tasks.size).toBe(0);
    expect(db.engine.taskRuns.removeOrphaned(db.collection.id)).toBeNull();
  });

  test('are a part of definitions', () => {
    const db = new Harness();
    db.run("set_type('T', {a: 'task', b: 'task?', l: '[task]'}); .t = T{}; nil;");
    expect(db.run('[.t.a, .t.b, .t.l, type(.t.a)];')).toEqual(['task:nil', null, [], 'task']);
    db.run(`.t.a = task(${FAR}, || 1); .t.b = .t.a; .t.l.push(.t.a); nil;`);
    expect(db.run('[.t.wrap("T").unwrap() == .t, .t.a == .t.l[0], [.t.a, task()].map_id()];')).toEqual([
      true,
      true,
      [3, null],
    ]);
    expect(db.error("set_type('A', {p: 'any'}); A{p: future(nil)};")).toBe('type_err');
    for (const code of ['.t.a = nil;', ".t.b = 'x';", '.t.l.push({});'])
      expect(db.error(code)).toBe('type_err');
    expect(db.run("type_info('T').load().fields;")).toEqual([
      ['a', 'task'],
      ['b', 'task?'],
      ['l', '[task]'],
    ]);
  });
});

describe('a run', () => {
  test.each([
    ['|t| .x = t.id()', ['task:nil', 3]],
    [
      '|t| { .x = 1; t.again_in("hours", 1); }',
      ['<task:3 owner:admin run_at:2024-05-06T08:08:09Z status:ok>', 1],
    ],
    [
      '|t| { .x = 1; t.again_in("days", 1); 1/0; }',
      ['<task:3 owner:admin run_at:2024-05-07T07:08:09Z status:err>', null],
    ],
    ['|t| { .x = 1; t.del(); }', ['task:nil', 1]],
    ['|t| { t.del(); 1/0; }', ['<task:3 owner:admin run_at:nil status:err>', null]],
    ['|t| { .x = 1; t.cancel(); }', ['task:nil', 1]],
    ['|t| { t.again_in("days", 1); t.cancel(); .x = t.at(); }', ['task:nil', null]],
    [
      '|t| { t.again_in("days", 1); t.again_in("days", 1); .x = t.at(); }',
      ['<task:3 owner:admin run_at:2024-05-08T07:08:09Z status:ok>', '2024-05-08T07:08:09Z'],
    ],
    ['|t| { .x = 1; future(|| .x += 1); }', ['task:nil', 2]],
    ['|t| { .x = 1; future(|| { .x += 1; 1/0; }); }', ['<task:3 owner:admin run_at:nil status:err>', 1]],
    [
      '|t| { .x = 1; t.again_in("days", 1); future(|| { .x += 1; 1/0; }); }',
      ['<task:3 owner:admin run_at:2024-05-07T07:08:09Z status:err>', 1],
    ],
    ['|t| { .x = change_id() == nil; }', ['task:nil', false]],
    ['|t| type(t)', ['task:nil', null]],
  ])('%s', (closure, expected) => {
    const db = new Harness();
    db.run(`.t = task(datetime(), ${closure}); nil;`);
    const [task] = db.collection.tasks.list();
    const before = linesOf(db.collection);
    const outcome = runTask(db, task?.id ?? 0);
    if (outcome.kind !== 'done') throw new Error(outcome.kind);
    expect(db.run("[.t, .get('x')];")).toEqual(
      expected.map((value) =>
        value === 3
          ? task?.id
          : typeof value === 'string'
            ? value.replace('task:3', `task:${task?.id}`)
            : value,
      ),
    );
    expect(db.run('.t.err();') === null).toBe(outcome.error === null);
    // Changes of a failed run without futures are gone, and with them what became of the task.
    if (outcome.change !== null && !closure.includes('future')) takeBack(outcome.change.undo);
    if (!closure.includes('future')) expect(linesOf(db.collection)).toEqual(before);
  });

  test('is one of its owner, with the privileges that it has then', () => {
    const db = new Harness();
    const root = { scope: 'thingsdb' } as const;
    db.run("new_user('kim'); grant('//stuff', 'kim', QUERY|CHANGE);", root);
    db.run('.t = task(datetime(), |t| { .who = user_info().load().name; t.again_in("days", 1); }); nil;', {
      user: 'kim',
    });
    const id = Number(db.run('.t.id();'));
    runTask(db, id);
    expect(db.run('[.who, .t.err()];')).toEqual(['kim', null]);
    db.run(".del('who'); nil;");
    db.run("revoke('//stuff', 'kim', CHANGE);", root);
    runTask(db, id);
    expect(db.run("[.has('who'), .t.err().code(), .t.at()];")).toEqual([false, -55, null]);
    db.run("del_user('kim');", root);
    expect(runTask(db, id)).toEqual(NONE);
  });

  test('again_in skips what has passed, in steps of the calendar', () => {
    const db = new Harness();
    const next = (start: string, step: string): unknown => {
      const id = Number(db.run(`task(datetime('${start}'), |t| t.again_in(${step})).id();`));
      runTask(db, id);
      return db.run(`t = task(${id}); [t.at(), t.err()];`);
    };
    expect(next('1970-01-01T00:00:01Z', "'seconds', 1")).toEqual(['2024-05-06T07:08:09Z', null]);
    expect(next('2024-01-31T00:00:00Z', "'months', 1")).toEqual(['2024-05-29T00:00:00Z', null]);
    expect(next('2024-05-06T07:08:09Z', "'years', 100")).toEqual([
      null,
      'a task can not be scheduled behind 2106-02-07T06:28:15Z',
    ]);
    expect(next('2024-05-06T07:08:09Z', "'hours', 9223372036854775807")).toEqual([
      null,
      'a task can not be scheduled behind 2106-02-07T06:28:15Z',
    ]);
  });
});

test('tasks are no orphans while the users are read from a snapshot', () => {
  const db = new Harness({ evicts: false });
  db.run(`task(${FAR}, || nil);`);
  const { tasks } = db.collection;
  const { root } = db.engine;
  const [admin] = root.users.values();
  const { nextId } = root;
  root.clear();
  root.nextId = nextId;
  expect(tasks.orphans()).toEqual([]);
  root.loaded();
  expect(tasks.orphans()).toHaveLength(1);
  if (admin !== undefined) root.putUser(admin);
  expect(tasks.orphans()).toEqual([]);
});
