/**
 * A call of each built-in function that changes something, in each scope in which it does: for tests of requests that may change
 * nothing, or are only tried out.
 */
import { builtIns } from '../functions/index.js';
import { type Entry, INSPECT, In } from '../run/builtin.js';
import { Tag } from '../value/tag.js';

export type ChangingScope = 'collection' | 'thingsdb' | 'node';

/** A query for each scope that makes what the calls change. Each call finds the scope as this has left it. */
export const BEFORE_CALLS: Readonly<Record<ChangingScope, string>> = {
  collection: `
    new_type('T'); set_type('T', {n: 'int'}); new_index('T', 'n0', ['n']); new_type('V'); set_enum('E', {A: 1, B: 2});
    .n = 1; .thing = {x: 1, y: {z: 2}}; .list = [1, 2, 3]; .set = set({a: 1}, {a: 2}); .t = T{n: 1}; .r = room();
    .plain = {n: 1}; .ints = {i: 1};
    advance_load('a', 's', 0, 5, [1]); del_instances('T', |t| t.n > 5);
    new_procedure('p', |x| x); task(datetime(2050, 1, 1), |t| nil); nil;`,
  thingsdb: `
    new_user('u'); set_password('u', nil); new_token('u'); new_token('u', datetime(2024, 5, 6, 8)); grant('//stuff', 'u', QUERY);
    whitelist_add('u', 'procedures', 'p'); new_collection('other'); new_module('M', 'm'); new_node('secret', 'node-1');
    set_history('//other', true); set_history('@thingsdb', true); commit('begun');
    new_procedure('p', |x| x); task(datetime(2050, 1, 1), |t| nil); nil;`,
  node: "new_backup('a.backup');",
};

const PROCEDURE_CALLS: readonly (readonly [name: string, code: string])[] = [
  ['new_procedure', "new_procedure('q', || 1);"],
  ['set_procedure', "set_procedure('p', |n: 'int'| n, {duration: 50});"],
  ['mod_procedure', "mod_procedure('p', || 1);"],
  ['rename_procedure', "rename_procedure('p', 'q');"],
  ['del_procedure', "del_procedure('p');"],
];

const OF_BOTH: Readonly<Record<string, string>> = {
  ...Object.fromEntries(PROCEDURE_CALLS),
  task: 'task(datetime(2051, 1, 1), |t| nil);',
  'task.cancel': 'tasks()[0].cancel();',
  'task.del': 'tasks()[0].del();',
  'task.set_args': 'task(datetime(2051, 1, 1), |t, x| x, [1]).set_args([2]);',
  'task.set_closure': 'tasks()[0].set_closure(|t| 1);',
  'task.set_owner': "tasks()[0].set_owner('admin');",
  'task.again_at': 'tasks()[0].again_at(datetime(2050, 1, 2));',
  'task.again_in': "tasks()[0].again_in('days', 1);",
};

/** Calls by function; methods have the type of their receiver in front. */
export const CHANGING_CALLS: Readonly<Record<ChangingScope, Readonly<Record<string, string>>>> = {
  collection: {
    ...OF_BOTH,
    wse: 'wse(.n = 2);',
    import: 'import(export({dump: true}));',
    'thing.assign': '.thing.assign({x: 5, w: {}});',
    'thing.clear': '.thing.clear();',
    'thing.del': ".del('list');",
    'thing.remove': ".thing.remove(|k, v| k == 'x');",
    'thing.ren': ".ren('plain', 'simple');",
    'thing.set': ".set('new', {a: {}});",
    'thing.restrict': ".ints.restrict('int');",
    'thing.to_type': ".plain.to_type('T');",
    'thing.to_thing': '.t.to_thing();',
    'list.clear': '.list.clear();',
    'list.extend': '.list.extend([4, {b: 1}]);',
    'list.extend_unique': '.list.extend_unique([3, 4]);',
    'list.fill': '.list.fill(0);',
    'list.pop': '.list.pop();',
    'list.push': '.list.push({}, 4); .list.push({});',
    'list.remove': '.list.remove(|x| x > 1);',
    'list.shift': '.list.shift();',
    'list.splice': '.list.splice(1, 1, 7, 8);',
    'list.unshift': '.list.unshift(0);',
    'set.add': '.set.add({a: 3});',
    'set.clear': '.set.clear();',
    'set.remove': '.set.remove(|m| m.a == 1);',
    'room.set_name': ".r.set_name('lobby');",
    new_type: "new_type('U');",
    set_type: "set_type('V', {s: 'str'});",
    del_type: "del_type('T');",
    rename_type: "rename_type('T', 'U');",
    mod_type: "mod_type('T', 'add', 's', 'str');",
    new_index: "new_index('T', 'n');",
    rename_index: "rename_index('T', 'n0', 'n1');",
    del_index: "del_index('T', 'n0');",
    set_enum: "set_enum('F', {X: 'x'});",
    mod_enum: "mod_enum('E', 'add', 'C', 3);",
    del_enum: "del_enum('E');",
    rename_enum: "rename_enum('E', 'F');",
    advance_load: "advance_load('b', 's', 0, 5, [1]);",
    del_load: "del_load('a');",
    del_instances: "del_instances('T', |t| t.n > 1);",
    cancel_job: 'cancel_job(jobs_info()[0].id);',
  },
  thingsdb: {
    ...OF_BOTH,
    // The history of the scope wants to know why.
    ...Object.fromEntries(PROCEDURE_CALLS.map(([name, code]) => [name, `commit('why'); ${code}`])),
    wse: "wse(rename_user('u', 'v'));",
    set_history: "set_history('//stuff', true);",
    del_history: "del_history({scope: '@thingsdb', last: 1});",
    new_user: "new_user('v');",
    import_user: "import_user('v', {});",
    del_user: "del_user('u');",
    rename_user: "rename_user('u', 'v');",
    set_password: "set_password('u', nil);",
    new_token: "new_token('u');",
    set_feed: "set_feed('stuff', {keep_mb: 1});",
    set_limit: "set_limit('u', {duration: 200, share: 0.5, rate: 10});",
    del_sessions: "del_sessions('u');",
    del_token: "del_token(new_token('u'));",
    del_expired: 'del_expired();',
    grant: "grant('//stuff', 'u', CHANGE);",
    revoke: "revoke('//stuff', 'u', QUERY);",
    whitelist_add: "whitelist_add('u', 'rooms', 'r');",
    whitelist_del: "whitelist_del('u', 'procedures', 'p');",
    new_collection: "new_collection('third');",
    del_collection: "del_collection('other');",
    rename_collection: "rename_collection('other', 'third');",
    set_default_deep: "set_default_deep('//stuff', 3);",
    set_time_zone: "set_time_zone('//stuff', 'Europe/Amsterdam');",
    new_node: "del_node(1); new_node('secret', 'node-2');",
    del_node: 'del_node(1);',
    remove_node: 'remove_node(0);',
    new_module: "new_module('N', 'n');",
    del_module: "del_module('M');",
    rename_module: "rename_module('M', 'N');",
    set_module_conf: "set_module_conf('M', {a: 1});",
    set_module_scope: "set_module_scope('M', '//stuff');",
    deploy_module: "deploy_module('M', bytes('x'));",
    refresh_module: "refresh_module('M');",
    restore: "restore('file');",
  },
  node: {
    reset_counters: 'reset_counters();',
    cancel_request: 'cancel_request(1);',
    set_log_level: 'set_log_level(ERROR);',
    set_config: "set_config('cache_size_mb', 100);",
    shutdown: 'shutdown();',
    transfer_leadership: 'transfer_leadership();',
    new_backup: "new_backup('b.backup');",
    del_backup: 'del_backup(0);',
    restart_module: "restart_module('M');",
  },
};

/** Calls that change nothing as things stand: what they are for takes a running task, an empty collection, sessions, or another part of the node. */
export const CALLS_WITHOUT_CHANGE: ReadonlySet<string> = new Set([
  'import',
  'task.again_at',
  'task.again_in',
  'restore',
  'refresh_module',
  'del_sessions',
]);

/** The functions that change something in a scope, as the table of functions has them. */
export function changingFunctions(scope: ChangingScope): readonly string[] {
  return builtIns()
    .filter((entry) => changes(entry, scope))
    .map(({ name, on }) => (on === null ? name : `${RECEIVERS.get(on[0] ?? Tag.NIL)}.${name}`));
}

function changes({ in: scopes, changes: rule, needs, on }: Entry, scope: ChangingScope): boolean {
  if (scope === 'node') return scopes === In.NODE && needs !== null && needs !== INSPECT;
  if (rule === null) return false;
  // Outside of collections nothing is stored that has methods, but for tasks.
  if (scope === 'thingsdb') return (rule.scopes & In.ROOT) !== 0 && (on === null || on.includes(Tag.TASK));
  return (rule.scopes & In.COLLECTION) !== 0;
}

const RECEIVERS: ReadonlyMap<Tag, string> = new Map([
  [Tag.THING, 'thing'],
  [Tag.LIST, 'list'],
  [Tag.SET, 'set'],
  [Tag.TASK, 'task'],
  [Tag.ROOM, 'room'],
]);
