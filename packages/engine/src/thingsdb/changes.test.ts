import { describe, expect, test } from '@jest/globals';
import { FormatError } from '../bytes.js';
import { brokenRules } from '../state/broken-rules.js';
import { Harness, NOW_MS } from '../testing/harness.js';
import {
  changesFile,
  closure,
  emptyStore,
  instance,
  type packed,
  plain,
  regex,
  room,
  type ThingChange,
  task,
  thing,
} from '../testing/thingsdb-changes.js';
import { writeThingsdbDump } from './dump-writer.js';
import { ThingsdbStore } from './node-store.js';
import type { ThingsdbCollection } from './stored-collection.js';

const NOW = Math.floor(NOW_MS / 1000);
const uncharged = (): void => {};

function storeWith(...files: readonly { readonly path: string; readonly data: Uint8Array }[]): ThingsdbStore {
  const all = emptyStore();
  for (const { path, data } of files) all.set(path, data);
  return ThingsdbStore.open({ paths: [...all.keys()], read: (path) => all.get(path) ?? null }, uncharged);
}

/** A collection that only changes tell of. */
function collectionOf(...changes: readonly (readonly ThingChange[])[]): ThingsdbCollection {
  const made = changesFile(2, 0, [[[0, [29, { name: 'c', user: 1, id: 3, next: 1, created_at: NOW }]]]]);
  const store = storeWith(made, changesFile(3, 3, changes));
  const info = store.root.collections.get(3);
  if (info === undefined) throw new Error('the collection is missing');
  return store.readCollection(info);
}

function dumpOf({ group }: Pick<ThingsdbCollection, 'group'>): string {
  return Buffer.from(writeThingsdbDump(group, '1.9.3', uncharged).bytes).toString('latin1');
}

const TYPE = [
  35,
  { type_id: 0, created_at: NOW, name: 'T', wrap_only: false, hide_id: false, index: false },
] as const;

function setType(fields: readonly (readonly [string, string])[]) {
  return [
    51,
    { type_id: 0, modified_at: NOW, wrap_only: false, hide_id: false, index: false, fields, methods: {} },
  ] as const;
}

const member = { enum_id: 0, modified_at: NOW };
const part = { type_id: 0, modified_at: NOW };

/** Statements, and the changes that ThingsDB writes for them. */
const CASES: readonly (readonly [title: string, code: string, ...changes: (readonly ThingChange[])[]])[] = [
  [
    'properties, lists and sets',
    `.a = 1; .l = [1, 2]; .s = set({q: 1}); .b = {x: 1}; .l.push(3); .a = 2; .s.add({r: 1}); .del('b'); .c = 'x'; .ren('c', 'd');
     .l.fill(7); .l.remove(|x, i| i == 1);`,
    [
      [
        1,
        [0, { a: 1 }],
        [0, { l: [1, 2] }],
        [0, { s: { $: [plain(2, { q: 1 })] } }],
        [0, { b: plain(3, { x: 1 }) }],
      ],
    ],
    [[1, [2, { l: [2, 0, 3] }], [0, { a: 2 }], [3, { s: [plain(4, { r: 1 })] }]]],
    [[1, [1, 'b'], [0, { c: 'x' }], [72, { c: 'd' }], [73, { l: 7 }], [55, { l: [1] }]]],
  ],
  [
    'a property that goes, whose place the last one takes',
    '.a = 1; .c = 3; .b = 2;',
    [[1, [0, { a: 1 }], [0, { x: 0 }], [0, { b: 2 }], [0, { c: 3 }]]],
    [[1, [1, 'x']]],
  ],
  [
    'a thing that leaves one place and comes to another in the same change',
    '.a = {x: 1}; b = .a; .a = nil; .c = b;',
    [[1, [0, { a: plain(2, { x: 1 }) }], [0, { a: null }], [0, { c: thing(2) }]]],
  ],
  [
    'types whose properties come, change, are renamed and go',
    `set_type('T', {a: 'int', b: 'str', c: '[int]', d: 'T?'}); .t = T{a: 1, b: 'x'}; mod_type('T', 'add', 'e', 'int', 5);
     mod_type('T', 'add', 'f', '[str]'); mod_type('T', 'add', 'm', |t| t.a); mod_type('T', 'ren', 'b', 'bb'); mod_type('T', 'mod', 'a', 'int?');
     mod_type('T', 'add', 'key', '#'); mod_type('T', 'mod', 'm', |t| t.e); .t.f.push('y'); mod_type('T', 'hid', true);`,
    [
      [
        0,
        TYPE,
        setType([
          ['a', 'int'],
          ['b', 'str'],
          ['c', '[int]'],
          ['d', 'T?'],
        ]),
      ],
    ],
    [[1, [0, { t: instance(0, 2, [1, 'x', [], null]) }]]],
    [
      [
        0,
        [22, { ...part, name: 'e', spec: 'int', dval: 5 }],
        [22, { ...part, name: 'f', spec: '[str]' }],
        [22, { ...part, name: 'm', closure: closure('|t| t.a') }],
        [27, { ...part, name: 'b', to: 'bb' }],
        [23, { ...part, name: 'a', spec: 'int?' }],
        [22, { ...part, name: 'key', spec: '#' }],
        [23, { ...part, name: 'm', closure: closure('|t| t.e') }],
      ],
      [2, [2, { f: [0, 0, 'y'] }]],
      [0, [71, { ...part, hide_id: true }]],
    ],
  ],
  [
    'a property of a type that goes, whose place the last one takes',
    "set_type('T', {c: 'str', b: 'int'}); .t = T{b: 2, c: 'x'};",
    [
      [
        0,
        TYPE,
        setType([
          ['a', '[T]'],
          ['b', 'int'],
          ['c', 'str'],
        ]),
      ],
    ],
    [[1, [0, { t: instance(0, 2, [[], 2, 'x']) }]]],
    [[0, [24, { ...part, modified_at: 0, name: 'a' }]]],
  ],
  [
    'values that change before their definition does',
    "set_type('T', {a: 'str'}); .t = T{a: '1'};",
    [[0, TYPE, setType([['a', 'int']])]],
    [[1, [0, { t: instance(0, 2, [1]) }]]],
    [
      [2, [0, { a: '1' }]],
      [0, [23, { ...part, modified_at: 0, name: 'a', spec: 'str' }]],
    ],
  ],
  [
    'relations, of which records name one side',
    `set_type('T', {p: 'T?', c: '{T}'}); mod_type('T', 'rel', 'p', 'c'); .a = T{}; .b = T{p: nil}; .b.p = .a; .d = T{}; .a.c.add(.d);
     .e = T{}; .e.p = .b;`,
    [
      [
        0,
        TYPE,
        setType([
          ['p', 'T?'],
          ['c', '{T}'],
        ]),
      ],
    ],
    [[0, [25, { modified_at: NOW, type1_id: 0, prop1: 'p', type2_id: 0, prop2: 'c' }]]],
    [[1, [0, { a: instance(0, 2, [null, { $: [] }]) }], [0, { b: instance(0, 3, [null, { $: [] }]) }]]],
    [[3, [0, { p: thing(2) }]]],
    [
      [1, [0, { d: instance(0, 4, [null, { $: [] }]) }]],
      [2, [3, { c: [thing(4)] }]],
    ],
    // A new instance may bring its partner.
    [[1, [0, { e: instance(0, 5, [thing(3), { $: [] }]) }]]],
  ],
  [
    'a relation of things that know each other from one side only, and its end',
    `set_type('T', {p: 'T?', c: '{T}'}); .a = T{}; .b = T{}; .b.p = .a; .a.c.add(.b); mod_type('T', 'hid', true);`,
    [
      [
        0,
        TYPE,
        setType([
          ['p', 'T?'],
          ['c', '{T}'],
        ]),
      ],
    ],
    [[1, [0, { a: instance(0, 2, [null, { $: [] }]) }], [0, { b: instance(0, 3, [thing(2), { $: [] }]) }]]],
    [[0, [25, { modified_at: NOW, type1_id: 0, prop1: 'p', type2_id: 0, prop2: 'c' }]]],
    [[0, [26, { modified_at: NOW, type_id: 0, name: 'p' }], [71, { ...part, hide_id: true }]]],
  ],
  [
    'types that are made anew, renamed, and deleted with instances',
    "new_type('T'); set_type('U', {a: 'int'}); .u = {a: 1}; .u.to_type('U'); .v = {a: 2}; del_type('T');",
    [[0, TYPE]],
    [[0, [35, { type_id: 1, created_at: NOW, name: 'V', wrap_only: false, hide_id: false, index: false }]]],
    [[0, [41, { id: 1, name: 'U' }]]],
    [
      [
        0,
        [
          51,
          { type_id: 1, modified_at: 0, w: false, h: false, i: false, fields: [['a', 'int']], methods: {} },
        ],
      ],
    ],
    [
      [1, [0, { u: plain(2, { a: 1 }) }]],
      [2, [52, 1]],
    ],
    [
      [1, [0, { v: instance(1, 3, [2]) }]],
      [3, [70, true]],
    ],
    [[0, [13, 0]]],
  ],
  [
    'enums: members and methods come, change, are renamed and go',
    "set_enum('E', {B: 5, D: 4, m: |x| 2}); .e = E{B};",
    [
      [
        0,
        [
          45,
          {
            enum_id: 0,
            created_at: NOW,
            name: 'F',
            members: [
              ['A', 1],
              ['B', 2],
            ],
            methods: [['m', closure('|x| 1')]],
          },
        ],
      ],
    ],
    [[1, [0, { e: { '%': [0, 1] } }]]],
    [
      [
        0,
        [38, { id: 0, name: 'E' }],
        [17, { ...member, name: 'C', value: 3 }],
        [17, { ...member, name: 'n', value: closure('|| nil') }],
        [20, { ...member, name: 'B', value: 5 }],
        [20, { ...member, name: 'm', value: closure('|x| 2') }],
        [18, { ...member, index: 1 }],
        [19, { ...member, name: 'A' }],
        [19, { ...member, name: 'n' }],
        [21, { ...member, name: 'C', to: 'D' }],
        [20, { ...member, name: 'D', value: 4 }],
        [45, { enum_id: 1, created_at: NOW, name: 'Gone', members: [['A', 1]] }],
        [6, 1],
      ],
    ],
  ],
  [
    'procedures and named rooms',
    ".r = room(); .r.set_name('hall'); new_procedure('q', |a| a + 2);",
    [[1, [0, { r: room(2) }], [79, [2, 'old']], [79, [2, null]], [79, [2, 'hall']]]],
    [[0, [32, { name: 'p', created_at: NOW, closure: closure('|a| a+1') }]]],
    [[0, [32, { name: 'x', created_at: NOW, closure: closure('|| 1') }], [10, 'x']]],
    [[0, [40, { old: 'p', name: 'q' }], [74, { name: 'q', created_at: NOW, closure: closure('|a| a+2') }]]],
  ],
  [
    'an import of a dump, which takes the place of nothing',
    '.x = {y: 1}; .z = 2;',
    [[0, [78, { import_tasks: false, dump: [1500, '1.9.3', [77, plain(1, { x: plain(2, { y: 1 }) })]] }]]],
    [[1, [0, { z: 2 }]]],
  ],
];

describe('changes of ThingsDB make what the statements make', () => {
  test.each(CASES)('%s', (_, code, ...changes) => {
    const read = collectionOf(...changes);
    expect(brokenRules(read.group)).toEqual([]);
    const db = new Harness({ evicts: false });
    for (const statement of code.split(';\n')) db.run(statement);
    expect(dumpOf(read)).toBe(dumpOf({ group: db.collection }));
  });
});

describe('tasks in changes of ThingsDB', () => {
  const made = (id: number, source: string) =>
    [59, { id, run_at: NOW + 60, user_id: 7, closure: closure(source), args: [null, thing(2)] }] as const;

  test('come with their arguments, their owners, and how they ended', () => {
    const { group, taskOwners } = collectionOf(
      [[1, [0, { a: plain(2) }]]],
      [[0, made(3, '|t, x| x'), made(4, '|t, x| nil'), made(5, '|t, x| 1')]],
      [[1, [0, { t: task(3) }], [0, { gone: task(5) }]]],
      [
        [
          0,
          [60, { id: 5 }],
          [61, { id: 4 }],
          [64, { id: 4, owner: 9 }],
          [65, { id: 4, closure: closure('|t, y| y') }],
        ],
      ],
      [[0, [62, { id: 3, run_at: NOW + 90, error: { '!': ['no', -80] } }], [63, { id: 3, args: [null, 8] }]]],
    );
    const tasks = group.tasks.list().map(({ id, startAt, status, error, closure: { source }, args }) => ({
      id,
      startAt,
      status,
      error: error?.code ?? null,
      source,
      args: args.items.map((item) => (typeof item === 'number' ? item : 'a thing')),
    }));
    expect(tasks).toEqual([
      { id: 3, startAt: NOW + 90, status: 'err', error: -80, source: '|t, x| x', args: [8] },
      { id: 4, startAt: 0, status: 'nil', error: null, source: '|t, y| y', args: ['a thing'] },
    ]);
    expect([...taskOwners]).toEqual([
      [3, 7],
      [4, 9],
    ]);
    expect(brokenRules(group)).toEqual([]);
  });
});

describe('changes of the scope @thingsdb', () => {
  const HASH = `12345678$1${'a'.repeat(53)}`;

  function rootOf(...changes: readonly (readonly [number, Parameters<typeof packed>[0]])[]) {
    return storeWith(
      changesFile(
        2,
        0,
        changes.map((record) => [[0, record]]),
      ),
    ).root;
  }

  test('make users with passwords, tokens, rights and whitelists', () => {
    const { users, access } = rootOf(
      [36, { id: 2, username: 'bob', created_at: 9 }],
      [36, { id: 3, username: 'gone', created_at: 9 }],
      [48, { id: 2, data: HASH }],
      [34, { id: 2, key: 'k'.repeat(22), expire_ts: 0, created_at: 8, description: 'one' }],
      [34, { id: 2, key: 'x'.repeat(22), expire_ts: 50, created_at: 8, description: '' }],
      [34, { id: 2, key: 'y'.repeat(22), expire_ts: 90, created_at: 8, description: '' }],
      [7, 60],
      [12, 'y'.repeat(22)],
      [42, { id: 2, name: 'robert' }],
      [16, { scope: 0, user: 2, mask: 19 }],
      [44, { scope: 0, user: 2, mask: 2 }],
      [80, [2, 0]],
      [80, [2, 1, 'p']],
      [80, [2, 1, regex('/^get/i')]],
      [80, [2, 1, 'q']],
      [81, [2, 1, 'p']],
      [14, 3],
    );
    expect([...users.keys()]).toEqual([1, 2]);
    expect(users.get(2)).toEqual({
      id: 2,
      name: 'robert',
      createdAt: 9,
      passwordHash: HASH,
      hasPassword: true,
      tokens: [{ key: 'k'.repeat(22), expiresAt: null, createdAt: 8, description: 'one' }],
      rooms: [],
      procedures: ['/^get/i', 'q'],
    });
    expect([...(access.get(0) ?? [])]).toEqual([
      [1, 31],
      [2, 17],
    ]);
  });

  test('make collections with their settings, procedures, tasks and modules', () => {
    const root = rootOf(
      [29, { name: 'a', user: 1, id: 5, next: 1, created_at: 9 }],
      [29, { name: 'b', user: 1, id: 6, created_at: 9 }],
      [5, 6],
      [37, { id: 5, name: 'aa' }],
      [49, { id: 5, tz: 1 }],
      [68, { id: 5, deep: 3 }],
      [82, [5, true]],
      [32, { name: 'p', created_at: 4, closure: closure('|| 1') }],
      [40, { old: 'p', name: 'q' }],
      [59, { id: 8, run_at: 77, user_id: 1, closure: closure('|t| nil'), args: [] }],
      [62, { id: 8, run_at: 0, error: null }],
      [30, { name: 'm', source: 'm.py', created_at: 4, conf_pkg: null, scope_id: null }],
      [39, { old: 'm', name: 'n' }],
    );
    const { collections, procedures, tasks, modules, histories } = root;
    const settings = { timeZone: 'Europe/Amsterdam', deep: 3, folder: null, rootId: 1 };
    expect([...collections.values()]).toEqual([{ id: 5, name: 'aa', createdAt: 9, ...settings }]);
    expect([...procedures.values()]).toEqual([{ name: 'q', createdAt: 4, source: '||1' }]);
    expect([...tasks.values()]).toEqual([{ id: 8, startAt: 0, owner: 1, source: '|t|nil', args: [] }]);
    expect([[...modules], [...histories]]).toEqual([['n'], [5]]);
  });
});

describe('files of changes', () => {
  const user = (id: number, name: string): ThingChange => [0, [36, { id, username: name, created_at: 9 }]];
  const names = (store: ThingsdbStore): string[] => [...store.root.users.values()].map(({ name }) => name);

  test('count once where they overlap, and not at all where the store has them', () => {
    const store = storeWith(
      changesFile(1, 0, [[user(8, 'stored')], [user(2, 'b')]]),
      changesFile(2, 0, [[user(2, 'b')], [user(3, 'c')]]),
      changesFile(9, 0, [[user(4, 'd')]]),
    );
    expect(names(store)).toEqual(['admin', 'b', 'c', 'd']);
    expect(store.newerChanges).toBe(3);
  });

  test('tell the file, the change and the place where they are wrong', () => {
    const wrong = changesFile(2, 0, [[user(2, 'b')], [[0, [99, null]]]]);
    expect(() => storeWith(wrong)).toThrow(
      /^archive\/0000000000000002_0000000000000003.mp, change 3, at byte \d+: there is no record 99/,
    );
  });

  test('files with any byte changed are refused, or make collections that keep all rules', () => {
    const made = changesFile(2, 0, [[[0, [29, { name: 'c', user: 1, id: 3, next: 1, created_at: NOW }]]]]);
    let refused = 0;
    for (const [, , ...changes] of CASES) {
      const { path, data } = changesFile(3, 3, changes);
      for (let at = 0; at < data.length; at += 19) {
        const changed = Buffer.from(data);
        changed[at] = (changed[at] ?? 0) ^ 0x11;
        try {
          const store = storeWith(made, { path, data: changed });
          const info = store.root.collections.get(3);
          if (info !== undefined) expect(brokenRules(store.readCollection(info).group)).toEqual([]);
        } catch (error) {
          expect(error).toBeInstanceOf(FormatError);
          refused += 1;
        }
      }
    }
    expect(refused).toBeGreaterThan(50);
  });
});
