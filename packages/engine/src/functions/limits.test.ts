import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Harness } from '../testing/harness.js';
import { linesOf, RootBench, reloaded } from '../testing/root-bench.js';
import { Float } from '../value/scalars.js';

/** Longer than any limit of these tests. */
const ENDLESS = 'x = 0; for (i in range(100000)) for (j in range(10000)) x += 1; x';

describe('limits of a user', () => {
  let { db, follower, change, look, refused } = new RootBench();

  beforeEach(() => {
    ({ db, follower, change, look, refused } = new RootBench());
    change("new_user('web'); grant('//stuff', 'web', FULL);");
  });

  afterEach(() => {
    expect(linesOf(follower)).toEqual(linesOf(db.engine.root));
    expect(linesOf(reloaded(db.engine.root))).toEqual(linesOf(db.engine.root));
  });

  const limits = (): unknown => look("user_info('web').load().get('limits');");

  test('are set as a whole, told by user_info, and end with nil', () => {
    expect(limits()).toBe(null);
    change("set_limit('web', {duration: 200, share: 0.25, rate: 2.5});");
    expect(limits()).toEqual({ duration: 200, share: new Float(0.25), rate: new Float(2.5) });
    change("set_limit('web', {rate: 10});");
    expect(limits()).toEqual({ duration: null, share: null, rate: new Float(10) });
    change("set_limit('web', nil);");
    expect(limits()).toBe(null);
  });

  test('go with the user', () => {
    change("set_limit('web', {duration: 200}); del_user('web'); new_user('web');");
    expect(limits()).toBe(null);
    expect(db.engine.root.userLimits.all.size).toBe(0);
  });

  test.each([
    ["set_limit('nobody', {});", 'lookup_err'],
    ["set_limit('web', 5);", 'type_err'],
    ["set_limit('web', {time: 5});", 'value_err'],
    ["set_limit('web', {duration: 0});", 'value_err'],
    ["set_limit('web', {duration: 1.5});", 'type_err'],
    ["set_limit('web', {share: 0});", 'value_err'],
    ["set_limit('web', {share: 1.01});", 'value_err'],
    ["set_limit('web', {share: nan});", 'value_err'],
    ["set_limit('web', {rate: 'much'});", 'type_err'],
  ])('%s is refused as %s', (code, name) => {
    expect(refused(code)).toBe(name);
  });

  test('need GRANT', () => {
    expect(refused("set_limit('web', {});", { user: 'web' })).toBe('forbidden_err');
  });

  test('end queries earlier than the node does, and never later', () => {
    const message = (): string => db.failure(ENDLESS, { user: 'web' }).message;
    change("set_limit('web', {duration: 100});");
    expect(message()).toBe('the query ran longer than 100 ms (set_limit() of the user) and was ended');
    change("set_limit('web', {duration: 100000});");
    expect(message()).toContain('1000 ms (query_duration_limit_ms)');
    expect(db.failure(ENDLESS).message).toContain('1000 ms (query_duration_limit_ms)');
  });

  test('hold nobody in the root scope who can set them there', () => {
    change("new_user('boss'); grant('@thingsdb', 'boss', GRANT); grant('//stuff', 'boss', FULL);");
    change(
      "set_limit('boss', {duration: 1}); set_limit('web', {duration: 1}); grant('@thingsdb', 'web', CHANGE);",
    );
    const told = (user: string, scope: 'thingsdb' | 'collection'): string =>
      db.failure(ENDLESS, { user, scope }).message;
    expect(told('boss', 'thingsdb')).toContain('1000 ms (query_duration_limit_ms)');
    expect(told('web', 'thingsdb')).toContain('1 ms (set_limit() of the user)');
    expect(told('boss', 'collection')).toContain('1 ms (set_limit() of the user)');
    change("set_limit('boss', nil);", { user: 'boss' });
  });

  test('give way to what a procedure is given', () => {
    db.run(`new_procedure('slow', || { ${ENDLESS} }, {duration: 300});`);
    change("set_limit('web', {duration: 100});");
    const procedure = db.collection.procedures.byName.get('slow');
    const user = db.engine.root.usersByName.get('web');
    const scope = db.engine.scope(db.collection.id);
    if (procedure === undefined || user === undefined || scope === undefined) throw new Error('not there');
    const body = { kind: 'run', procedure, args: null } as const;
    const outcome = db.engine.run({ scope, user, body, format: 'json' });
    const message = outcome.kind === 'error' ? outcome.error.message : outcome.kind;
    expect(message).toContain('300 ms (the duration of the procedure)');
  });
});

describe('the time limit of a procedure', () => {
  const db = new Harness();

  test('is told, exported, kept by mod_procedure and said anew by set_procedure', () => {
    const duration = (): unknown => db.run("procedure_info('p').load().get('duration');");
    db.run("new_procedure('p', |x| x, {duration: 300});");
    expect(duration()).toBe(300);
    expect(db.run('export().contains("new_procedure(\'p\', |x| x, {duration: 300});");')).toBe(true);
    db.run("mod_procedure('p', |x| x + 1); rename_procedure('p', 'q'); rename_procedure('q', 'p');");
    expect(duration()).toBe(300);
    db.run("mod_procedure('p', |x| x, {duration: 400});");
    expect(duration()).toBe(400);
    db.run("set_procedure('p', |x| x);");
    expect(duration()).toBe(null);
    expect(db.run('run("p", 5);')).toBe(5);
  });

  test.each([
    ["new_procedure('r', || 1, {duration: 0});", 'value_err'],
    ["new_procedure('r', || 1, {time: 5});", 'value_err'],
    ["new_procedure('r', || 1, 5);", 'num_arguments_err'],
  ])('%s is refused as %s', (code, name) => {
    expect(db.error(code)).toBe(name);
  });

  test('is in a dump', () => {
    db.run("new_procedure('d', |x| x, {duration: 700}); new_procedure('e', |x| x);");
    const dump = db.run('export({dump: true});');
    const other = new Harness();
    other.run('import(dump);', { vars: { dump } });
    expect(other.run("procedures_info().map(|p| [p.load().name, p.load().get('duration')]);")).toEqual([
      ['d', 700],
      ['e', null],
      ['p', null],
    ]);
  });
});
