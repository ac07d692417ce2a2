import { describe, expect, test } from '@jest/globals';
import { rootLines } from '../admin/describe.js';
import { LEVEL_NEWEST } from '../admin/level.js';
import { replacementConflict, replacementEffects } from '../admin/replacement.js';
import { RootRestore } from '../admin/restore.js';
import { RootGroup } from '../admin/root-group.js';
import { badDataError } from '../error.js';
import type { ModuleLook, NodeView } from '../node-view.js';
import { parseManifest } from '../pack/manifest.js';
import { writeCheckpoint } from '../state/checkpoint.js';
import { RecordKind, type RecordSink } from '../state/records.js';
import { takeBack } from '../state/transaction.js';
import { decodeResult } from '../testing/decode.js';
import { Harness, type HarnessOptions, type Plain } from '../testing/harness.js';
import type { ModuleAnswer } from '../value/future.js';

const ROOT = { scope: 'thingsdb' } as const;

const LOOK: ModuleLook = { status: 'running', file: 'X/x', manifest: null, tasks: 3, restarts: 1 };

/** A database on a node whose modules look like this, with the module `X`. */
function database(look: Partial<ModuleLook> = {}, deploys = true, options: HarnessOptions = {}): Harness {
  const modules = { deploys, look: () => ({ ...LOOK, ...look }), restart: () => {} };
  const db = new Harness({ node: { modules } as unknown as NodeView, ...options });
  db.run("new_module('X', 'x');", ROOT);
  return db;
}

function manifest(fields: object): ReturnType<typeof parseManifest> {
  return parseManifest(JSON.stringify({ main: 'x', version: '1.0', ...fields }), 'linux/amd64');
}

/** The answer of a module: a text in hexadecimal digits. */
function answers(hex: string): () => ModuleAnswer {
  return () => ({ ok: true, data: Buffer.from(hex, 'hex') });
}

/** The contents of the last request. */
function sent(db: Harness): Plain {
  const ask = db.asked.at(-1);
  if (ask === undefined) throw new Error('nothing was asked');
  return decodeResult(ask.data);
}

const FIVE = '05';

describe('definitions of modules', () => {
  test.each([
    ["new_module('A', 'github.com/owner/repo');", 'operation_err'],
    ["new_module('A', 'github.com/owner/repo:tok@v1');", 'operation_err'],
    ["new_module('A', 'github.com/owner');", 'value_err'],
    ["new_module('A', 'github.community');", 'value_err'],
    ["new_module('A', '.');", 'value_err'],
    ["new_module('A', 'x/');", 'value_err'],
    ["new_module('A', '/x');", 'value_err'],
    ["new_module('A', 'x..y');", 'value_err'],
    ["new_module('A', 'é');", 'value_err'],
    ["new_module('A', 'x', nil, 1);", 'num_arguments_err'],
    ["new_module('A', '', 1 / 0);", 'zero_div_err'],
    ["rename_module('X', 'X');", 'lookup_err'],
    ["set_module_conf('NONE', 1 / 0);", 'zero_div_err'],
    ["set_module_conf('1a', 1);", 'value_err'],
    ["set_module_scope('X', '//none');", 'lookup_err'],
    ["deploy_module('X', 'text');", 'type_err'],
    ["deploy_module('X', 5);", 'type_err'],
    ["deploy_module('NONE', nil);", 'lookup_err'],
    ["new_module('M', 'module.json'); deploy_module('M', bytes('x'));", 'operation_err'],
    ["restart_module('X');", 'lookup_err'],
  ])('%s is %s', (code, error) => {
    expect(database().error(code, ROOT)).toBe(error);
  });

  test('are replicated, kept, restored and taken back, with their code', () => {
    const db = database();
    const { root } = db.engine;
    const disk = new Disk();
    const follower = new RootGroup(LEVEL_NEWEST);
    follower.apply(db.foundation);
    follower.confirmLevel();
    follower.apply(db.changes[0]!.effects);
    for (const code of [
      "new_module('Y', 'sub/y.py', {password: 'secret', deeper: {deeper: {deeper: {deeper: 1}}}});",
      "set_module_scope('Y', '//stuff');",
      "deploy_module('Y', 'print(1)');",
      "rename_module('Y', 'Z'); new_module('Y', 'y');",
      "set_module_conf('Z', nil);",
      "deploy_module('X', bytes(range(23).reduce(|text| text + text, 'x')));",
      "del_module('Z');",
    ]) {
      const before = rootLines(root);
      db.run(code, ROOT);
      const [change] = db.changes;
      if (change === undefined) throw new Error('nothing changed');
      const after = rootLines(root);
      takeBack(change.undo);
      expect(rootLines(root)).toEqual(before);
      root.apply(change.effects);
      expect(rootLines(root)).toEqual(after);
      follower.apply(change.effects);
      expect(rootLines(follower)).toEqual(after);
      disk.save(follower);
      expect(rootLines(disk.load())).toEqual(after);
    }
    expect([...root.modules.byName.keys()].sort()).toEqual(['X', 'Y']);
    expect(root.modules.byName.get('Y')?.folder).not.toBe('Y');
    expect(root.modules.contents()).toMatch(/^the module '/);
  });

  test('come back with a backup, with their code', () => {
    const db = database();
    db.run(
      "new_module('Y', 'y.py', 'conf'); deploy_module('Y', range(23).reduce(|text| text + text, 'x'));",
      ROOT,
    );
    const disk = new Disk();
    disk.save(db.engine.root);
    const restore = new RootRestore();
    for (const [kind, id, part, value] of disk.records.values()) restore.add({ kind, id, part, value });
    const other = new Harness();
    const { root } = other.engine;
    expect(replacementConflict(root)).toBeNull();
    const numbers = new Map([...root.collections.keys()].map((id) => [id, id]));
    root.apply(replacementEffects(root, { backup: restore, numbers, heir: null, takesTasks: true }));
    const modules = (from: RootGroup) => rootLines(from).filter((line) => /"folder"|^code of/.test(line));
    expect(modules(root)).toEqual(modules(db.engine.root));
    expect(modules(root)).toHaveLength(3);
    expect(replacementConflict(root)?.message).toMatch(/module/);
  });

  test('show their configuration to those who may change it, and to nobody else', () => {
    const db = database();
    db.run(
      "new_user('kim'); grant('//stuff', 'kim', FULL); set_module_conf('X', {password: 'secret'});",
      ROOT,
    );
    expect(db.run("module_info('X').load().conf;")).toEqual({ password: 'secret' });
    expect(db.run("module_info('X').load().keys();", { user: 'kim' })).toEqual([
      'name',
      'created_at',
      'status',
      'scope',
      'file',
    ]);
    expect(db.run("m = module_info('X').load(); [m.tasks, m.restarts];", { scope: 'node' })).toEqual([3, 1]);
    expect(db.engine.root.events).toEqual([]);
    expect(JSON.stringify(db.changes.map(({ events }) => events))).not.toContain('secret');
  });

  test('name a collection by its id', () => {
    const db = database();
    db.run(
      "new_collection('other'); set_module_scope('X', '//other'); rename_collection('other', 'another');",
      ROOT,
    );
    expect(db.run("module_info('X').load().scope;")).toBe('@collection:another');
    expect(db.error('X;')).toBe('forbidden_err');
    db.run("del_collection('another');", ROOT);
    expect(db.run("module_info('X').load().scope;")).toBe('@collection:<unknown>');
  });

  test('have limits', () => {
    const db = database({}, false);
    expect(db.error("deploy_module('X', bytes('code'));", ROOT)).toBe('operation_err');
    expect(db.run("deploy_module('X', nil); refresh_module('X');", ROOT)).toBeNull();
    expect(db.engine.root.modules.byName.get('X')?.starts).toBe(2);
    expect(db.error("set_module_conf('X', range(22).reduce(|text| text + text, 'x'));", ROOT)).toBe(
      'max_quota_err',
    );
    expect(db.error("range(100).each(|i| new_module(`M{i}`, 'x'));", ROOT)).toBe('max_quota_err');
    expect(db.run('modules_info().len();')).toBe(1);
  });
});

describe('a request to a module', () => {
  test.each([
    ["future({module: 'X', a: 1});", { module: 'X', a: 1 }, [5]],
    ["future({module: 'X'}, 1, 2);", { module: 'X' }, [5, 1, 2]],
    ["future({module: 'X'}, 1).then(|r, a| [r.load(), a, type(r)]);", { module: 'X' }, [5, 1, 'mpdata']],
    ["future({module: 'X', load: 3}).then(|r| r + 1);", { module: 'X', load: 3 }, 6],
    ['X({a: {b: {c: {}}}});', { a: { b: {} } }, [5]],
    ['X({deep: 0, a: {b: 1}});', { deep: 0, a: {} }, [5]],
    ['X({deep: 2, a: {b: {c: {}}}});', { deep: 2, a: { b: { c: {} } } }, [5]],
    ['deep(3); X({a: {b: {c: {d: {}}}}});', { a: { b: { c: { d: {} } } } }, [5]],
    ['t = {a: 1}; f = X({t:}); t.a = 2; f;', { t: { a: 2 } }, [5]],
    ['X({m: X, f: future(nil), set: set(), c: |x|x, e: err()});', undefined, [5]],
    ['x = 1; X({x:}).then(|r| 7); 8;', { x: 1 }, 8],
    [
      '[type(X), X == X, is_module(X), bool(X), [X], {X:}];',
      undefined,
      ['module', true, true, true, [null], { X: null }],
    ],
  ])('%s', (code, request, value) => {
    const db = database();
    db.answer = answers(FIVE);
    expect(db.run(code)).toEqual(value);
    if (request !== undefined) expect(sent(db)).toEqual(request);
  });

  test.each([
    ['X();', 'num_arguments_err'],
    ['X(5);', 'type_err'],
    ['X({deep: 128}, 1 / 0);', 'value_err'],
    ['X({deep: nil});', 'type_err'],
    ['m = X; m({});', 'type_err'],
    ['m = X; m.fn();', 'lookup_err'],
    ['X.fn;', 'type_err'],
    ['X.fn = 1;', 'type_err'],
    ['X[0];', 'type_err'],
    ['str(X);', 'type_err'],
    ['NONE;', 'lookup_err'],
    ['NONE({});', 'lookup_err'],
    ["future({module: 'NONE'});", 'lookup_err'],
    ['range(2001).each(|| X({}));', 'max_quota_err'],
    ['X({a: 1}); 1 / 0;', 'zero_div_err'],
  ])('%s is %s, and nothing is sent', (code, error) => {
    const db = database();
    expect(db.error(code)).toBe(error);
    expect(db.asked).toEqual([]);
    expect(db.engine.runtime.waitingFutures).toBe(0);
  });

  test('keep what their futures hold while they wait, though everything else leaves memory', () => {
    const db = database({}, true, { evicts: true });
    db.answer = answers(FIVE);
    db.run('.p = {a: {n: 1}, l: [1, 2]};');
    db.between = () => {
      // The request is sent: another call changes what its future holds.
      if (db.asked.length === 1) db.run('.p.l.push(3); .p.a.n = 5;');
      return Number.POSITIVE_INFINITY;
    };
    db.run('X({}, .p.a, .p.l).then(|_, a, l| log(json_dump([a.n, l]))); nil;');
    expect(db.logged).toEqual(['[5,[1,2,3]]']);
  });

  test('holds ids of stored things, and the state of the query, not later ones', () => {
    const db = database();
    db.answer = answers(FIVE);
    db.run('.t = {a: 1, sub: {}}; nil;');
    db.run('X({t: .t}); nil;');
    expect(sent(db)).toEqual({ t: { '#': 2, a: 1, sub: { '#': 3 } } });
    db.run('t = .t; X(t); .t.a = 2; .del("t"); nil;');
    expect(sent(db)).toMatchObject({ a: 2 });
  });

  test.each([
    ['c1', ''],
    ['', 'empty'],
    ['0505', 'surplus'],
    ['81a16101a0', 'surplus behind a map'],
    ['d905', 'no text'],
    ['a1ff', 'no UTF-8'],
    ['8101c0', 'a key that is no str'],
    ['cfffffffffffffffff', 'beyond int64'],
    ['d40100', 'an extension type'],
    ['dd7fffffff', 'a length that is not there'],
    [`${'91'.repeat(1001)}c0`, 'nested'],
  ])('a request that is answered with %s is bad_data_err, which else sees', (hex) => {
    const db = database();
    db.answer = answers(hex);
    expect(db.error('X({});')).toBe('bad_data_err');
    expect(db.run('X({}, 7).then(|| 1).else(|e, x| [e.code(), x]);')).toEqual([-53, 7]);
  });

  test('is answered with whatever clients may get', () => {
    const db = database();
    for (const [hex, code, value] of [
      ['82a123cd0102a16192c0c3', 'X({}).then(|r| r);', { '#': 258, a: [null, true] }],
      ['ca3fc00000', 'X({}).then(|r| r.load() * 2);', 3],
      ['81a123c0', 'X({load: true}).else(|e| e.code());', -60],
      ['81a16105', 'X({load: true}).then(|r| { .kept = r; .kept.a; });', 5],
    ] as const) {
      db.answer = answers(hex);
      const told = db.run(code);
      expect(typeof told === 'object' && told !== null && 'value' in told ? told.value : told).toEqual(value);
    }
  });

  test('a request that fails is seen by else, and by nobody who is not there for it', () => {
    const db = database();
    db.answer = () => ({ ok: false, error: badDataError('no') });
    expect(db.failure('.x = 1; X({});').message).toBe('no');
    expect(db.run('.x;')).toBe(1);
    expect(db.error('X({}).then(|| 1);')).toBe('bad_data_err');
    expect(db.run('X({}).else(|e| .failed = e.msg());')).toBe('no');
    expect(db.changes).toHaveLength(1);
    expect(db.error('X({}).else(|| 1 / 0);')).toBe('zero_div_err');
    expect(db.error('try(X({}));')).toBe('bad_data_err');
    db.answer = answers(FIVE);
    expect(db.error('X({}).then(|| 1 / 0).else(|| 5);')).toBe('zero_div_err');
    expect(db.run('X({}).else(|| 7);')).toEqual([5]);
  });

  test('is refused when it is too large, which else sees', () => {
    const db = new Harness({ limits: { resultBytes: 1000 } });
    db.run("new_module('X', 'x');", ROOT);
    expect(db.run('X({l: range(2000)}).else(|e| e.code());')).toBe(-57);
    expect(db.asked).toEqual([]);
  });

  test('is not sent where the answer may lead to a change that can not be made there', () => {
    const db = database();
    const call = (code: string) => {
      const scope = db.engine.scope(db.engine.root.collectionsByName.get('stuff')!.id)!;
      const [user] = db.engine.root.users.values();
      const prepared = db.engine.prepare(code);
      const first = db.engine.run({
        scope,
        user: user!,
        format: 'json',
        body: { kind: 'query', prepared, vars: null },
        fresh: { isFresh: () => true },
      });
      if (first.kind !== 'more') throw new Error(first.kind);
      return db.engine.futures.resume(first.rest, { mayChange: false, until: Number.POSITIVE_INFINITY }).kind;
    };
    expect(call('X({});')).toBe('asks');
    expect(call('X({}).then(|| .x = 1);')).toBe('needs_change');
    expect(call('future(|| future(|| .x = 1)); X({});')).toBe('needs_change');
  });

  test('waits beside others, whose answers may come in any order', () => {
    const db = database();
    const scope = db.engine.scope(db.engine.root.collectionsByName.get('stuff')!.id)!;
    const [user] = db.engine.root.users.values();
    const prepared = db.engine.prepare(
      '.l = []; X({a: 1}).then(|| .l.push(1)); X({a: 2}).then(|| .l.push(2)); .l;',
    );
    const first = db.engine.run({
      scope,
      user: user!,
      format: 'json',
      body: { kind: 'query', prepared, vars: null },
    });
    if (first.kind !== 'more') throw new Error(first.kind);
    const { rest } = first;
    const resume = () => db.engine.futures.resume(rest, { mayChange: true, until: Number.POSITIVE_INFINITY });
    expect([resume(), resume(), resume()].map(({ kind }) => kind)).toEqual(['asks', 'asks', 'waits']);
    expect(db.engine.runtime.waitingFutures).toBe(2);
    // The last that was made asked first.
    rest.take(2, { ok: true, data: Uint8Array.of(5) });
    expect([resume().kind, resume().kind]).toEqual(['more', 'waits']);
    rest.take(2, { ok: true, data: Uint8Array.of(5) });
    expect(resume().kind).toBe('waits');
    rest.take(1, { ok: true, data: Uint8Array.of(5) });
    expect(resume()).toMatchObject({ kind: 'value', result: '[1,2]' });
    expect(db.engine.runtime.waitingFutures).toBe(0);
  });
});

describe('a manifest', () => {
  const G = { defaults: { g: 'G' } };

  test.each([
    [{}, 'X.f();', { g: 'G' }, []],
    [{}, 'X.f({q: 1}, 7);', { q: 1, g: 'G' }, [7]],
    [{ argmap: [] }, 'X.f(1, 2);', { g: 'G' }, [1, 2]],
    [{ argmap: ['a'], defaults: { a: 'd' } }, 'X.f();', { a: 'd', g: 'G' }, []],
    [{ argmap: ['a'], defaults: { a: 'd' } }, 'X.f(nil);', { a: null, g: 'G' }, []],
    [{ argmap: ['a'], defaults: { a: 'd' } }, 'X.f(1, 2);', { a: 1, g: 'G' }, [2]],
    [{ argmap: ['a', 'b'], defaults: { b: 5, g: 'x' } }, 'X.f();', { a: null, b: 5, g: 'x' }, []],
    [{ argmap: ['a', '*'] }, 'X.f(1, {a: 2, c: 3});', { a: 2, c: 3, g: 'G' }, []],
    [{ argmap: ['deep', 'load', 'a'] }, 'X.f(0, true, {t: {}});', { a: {}, g: 'G' }, []],
    [
      { defaults: { list: [1, { a: 1.5 }], n: null } },
      'X.f();',
      { list: [1, { a: 1.5 }], n: null, g: 'G' },
      [],
    ],
  ])('exposes %j: %s', (exposed, code, request, extra) => {
    const db = database({ manifest: manifest({ ...G, exposes: { f: exposed } }) });
    db.answer = answers(FIVE);
    expect(db.run(code)).toEqual([5, ...extra]);
    expect(
      JSON.parse(
        JSON.stringify(sent(db), (_, value) =>
          value instanceof Object && 'value' in value ? value.value : value,
        ),
      ),
    ).toEqual(request);
  });

  test('exposes closures, and completes requests', () => {
    const db = database({
      manifest: manifest({
        ...G,
        doc: 'Doc.',
        exposes: { twice: '|m, n| m.f({n: n * 2})', f: {}, len: '|m| 1', write: '|m| .x = 1' },
      }),
    });
    db.answer = answers(FIVE);
    expect(db.run('X.twice(4);')).toEqual([5]);
    expect(sent(db)).toEqual({ n: 8, g: 'G' });
    expect(db.run('X.len();')).toBe(1);
    expect(db.error('X.write();')).toBe('operation_err');
    expect(db.run('wse(X.write());')).toBe(1);
    expect(db.error('X.none();')).toBe('lookup_err');
    expect(db.error('X.f(5);')).toBe('type_err');
    db.run('.t = {own: 1}; nil;');
    db.run('X(.t); nil;');
    expect(sent(db)).toEqual({ own: 1, g: 'G' });
    expect(db.run('.t;')).toEqual({ '#': 2, own: 1 });
    const info = db.run("module_info('X');") as Readonly<Record<string, Plain>>;
    expect(Object.keys(info)).toEqual([
      'name',
      'created_at',
      'status',
      'scope',
      'file',
      'conf',
      'version',
      'doc',
      'defaults',
      'exposes',
    ]);
    expect(info.exposes).toMatchObject({
      f: { defaults: { g: 'G' }, argmap: ['*'] },
      write: { with_side_effects: true },
    });
  });

  test.each([
    ['{', 'expected'],
    ['[]', 'object'],
    ['{"main": "x", "version": "1", "main": "y"}', 'twice'],
    ['{"main": "x", "version": "1", "other": 1}', 'unknown key'],
    ['{"main": "../x", "version": "1"}', 'main'],
    ['{"main": {"linux/386": "x"}, "version": "1"}', 'linux/amd64'],
    ['{"version": "1"}', 'main'],
    ['{"main": "x", "version": "1.2.3.4"}', 'version'],
    ['{"main": "x", "version": "1", "defaults": {"#": 1}}', 'reserved'],
    ['{"main": "x", "version": "1", "defaults": {"deep": 128}}', 'deep'],
    ['{"main": "x", "version": "1", "exposes": {"1a": {}}}', 'name'],
    ['{"main": "x", "version": "1", "exposes": {"a": "x +"}}', 'closure'],
    ['{"main": "x", "version": "1", "exposes": {"a": {"argmap": ["a", "a"]}}}', 'once'],
    ['{"main": "x", "version": "1", "requirements": ["$(rm)"]}', 'requirements'],
    ['{"main": "x", "version": "1", "includes": ["/etc/passwd"]}', 'includes'],
    ['['.repeat(100_000), ''],
  ])('%s is not valid', (text, why) => {
    expect(() => parseManifest(text, 'linux/amd64')).toThrow(new RegExp(why, 'i'));
  });

  test('is read for this platform', () => {
    const main = { 'linux/amd64': 'bin/a', 'linux/arm64': 'bin/b' };
    expect(
      manifest({ main, version: 1.1, includes: [main, 'x.txt'], requirements: ['msgpack>=1.0'] }),
    ).toMatchObject({ main: 'bin/a', version: '1.1' });
  });
});

/** The records that checkpoints wrote. */
class Disk implements RecordSink {
  readonly records = new Map<string, readonly [kind: number, id: number, part: number, value: Uint8Array]>();

  put(kind: RecordKind, id: number, part: number, value: Uint8Array): void {
    this.records.set(`${kind} ${id} ${part}`, [kind, id, part, value]);
  }

  delete(kind: RecordKind, id: number, part: number): void {
    this.records.delete(`${kind} ${id} ${part}`);
  }

  save(root: RootGroup): void {
    this.put(RecordKind.META, 0, 0, root.encodeMeta());
    writeCheckpoint(root, this);
    root.dirty.release();
  }

  load(): RootGroup {
    const root = new RootGroup(LEVEL_NEWEST);
    const records = [...this.records.values()].sort(([a, , p], [b, , q]) => a - b || p - q);
    for (const [kind, id, part, value] of records) root.loadRecord(kind, id, value, part);
    return root;
  }
}
