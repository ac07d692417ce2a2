import { beforeEach, expect, test } from '@jest/globals';
import type { Outcome } from '../calls/call.js';
import { ErrorCode, QueryError } from '../error.js';
import type { NodeView } from '../node-view.js';
import { Harness } from '../testing/harness.js';

const ROOT = { scope: 'thingsdb', mayRestore: true } as const;

let h: Harness;
/** The files that were looked at. */
let looked: string[];

beforeEach(() => {
  looked = [];
  const restores = {
    check: (file: string): void => {
      looked.push(file);
      if (file.startsWith('no ')) throw new QueryError(ErrorCode.BAD_DATA, 'no file');
    },
  };
  h = new Harness({ node: { restores } as Partial<NodeView> as NodeView });
});

const outcome = (code: string, options = {}): Outcome => h.outcome(code, { ...ROOT, ...options });
const error = (code: string, options = {}): string | null => h.error(code, { ...ROOT, ...options });

test.each<[string, string]>([
  ['restore(1)', 'type_err'],
  ['restore()', 'num_arguments_err'],
  ["restore('x', {}, 1)", 'num_arguments_err'],
  ["restore('x', 1)", 'type_err'],
  ["restore('x', {unknown: true})", 'value_err'],
  ["restore('x', {take_access: 1})", 'type_err'],
  ["restore('x', {restore_tasks: nil})", 'type_err'],
  ["restore('x', {take_access: true, restore_tasks: true})", 'value_err'],
  ["restore('no file')", 'bad_data_err'],
  ["restore('x'); restore('x')", 'operation_err'],
  ["new_user('x'); restore('x')", 'operation_err'],
  ["restore('x'); new_user('x')", 'operation_err'],
  ["restore('x'); future(|| 1)", 'operation_err'],
  ["future(|| 1); restore('x')", 'lookup_err'],
  ["revoke('@t', 'admin', JOIN); restore('x')", 'forbidden_err'],
])('%s is an error, and nothing is changed', (code, expected) => {
  expect(error(`${code};`)).toBe(expected);
  expect([h.run("has_user('x');", ROOT), h.changes]).toEqual([false, []]);
});

test('a task or module that is there only in the scope @thingsdb is told after the file was looked at', () => {
  h.run('task(timeval(4000000000), || 1); nil;', { scope: 'thingsdb' });
  expect([error("restore('no file');"), error("restore('a file');")]).toEqual(['bad_data_err', 'lookup_err']);
  h.run("tasks().each(|t| t.del()); new_module('m', 'm.py'); nil;", { scope: 'thingsdb' });
  expect(h.failure("restore('a file');", ROOT).message).toContain("the module 'm'");
  expect(error("restore('a file');", { scope: 'collection' })).toBe('lookup_err');
});

test('is an order to the node that was asked, beside the result of the query', () => {
  const order = { file: 'a file', takesAccess: false, takesTasks: false };
  expect(outcome("restore('a file'); 42;")).toMatchObject({ kind: 'value', change: null, restore: order });
  expect(outcome("restore('a file', {take_access: true});")).toMatchObject({
    restore: { ...order, takesAccess: true },
  });
  expect(outcome("try(restore('no file')); restore('a file', {restore_tasks: true});")).toMatchObject({
    restore: { ...order, takesTasks: true },
  });
  expect(outcome("false && restore('a file'); 7;")).not.toHaveProperty('restore');
  expect(looked.length).toBe(4);
});

test('is not ordered where others were asked; what changes something else belongs there', () => {
  expect(error("restore('a file');", { mayRestore: false })).toBe('operation_err');
  expect(outcome("new_user('x'); false && restore('a file');").kind).toBe('needs_change');
  expect(h.run("has_user('x');", ROOT)).toBe(false);
  const mayRestore = (code: string, name = 'thingsdb' as const): boolean => {
    const scope = h.engine.scope(name);
    if (scope === undefined) throw new Error('there is the scope');
    const body = { kind: 'query', prepared: h.engine.prepare(code), vars: null } as const;
    return h.engine.mayRestore({ scope, body });
  };
  expect([mayRestore("restore ('x');"), mayRestore("new_user('x');")]).toEqual([true, false]);
});
