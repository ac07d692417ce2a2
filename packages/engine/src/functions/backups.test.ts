import { beforeEach, describe, expect, test } from '@jest/globals';
import type { NodeView } from '../node-view.js';
import { FakeBackups } from '../testing/fake-backups.js';
import { Harness } from '../testing/harness.js';

const NODE = { scope: 'node' } as const;

let backups: FakeBackups;
let h: Harness;

beforeEach(() => {
  backups = new FakeBackups();
  h = new Harness({ node: { backups } as Partial<NodeView> as NodeView });
});

const run = (code: string): unknown => h.run(code, NODE);
const error = (code: string): string | null => h.error(code, NODE);

describe('new_backup', () => {
  test('alone is taken once, now, and one file is kept', () => {
    expect(run("new_backup('a.backup');")).toBe(0);
    expect(backups.orders).toEqual([
      { template: 'a.backup', createdAt: expect.any(Number), start: 0, repeat: 0, maxFiles: 1 },
    ]);
  });

  test('a backup with a start keeps 7 files; nil and the past mean now', () => {
    run("new_backup('a.tar.gz', datetime(2090, 1, 1), 3600);");
    run("new_backup('a.tar.gz', nil, -5);");
    run("new_backup('a.tar.gz', timeval(-7), 60, -7);");
    expect(backups.orders.map(({ start, repeat, maxFiles }) => [start, repeat, maxFiles])).toEqual([
      [3_786_912_000, 3600, 7],
      [0, 0, 7],
      [0, 60, 1],
    ]);
  });

  test.each(['', 'a', 'a.tar', 'a.TAR.GZ', 'a.backup/', `${'x'.repeat(1000)}.backup`, 'a\n.backup'])(
    'does not take the template %.20p',
    (template) => {
      expect(error(`new_backup("${template}");`)).toBe('value_err');
      expect(backups.orders).toEqual([]);
    },
  );

  test.each<[string, string]>([
    ["new_backup('gs://a.tar.gz')", 'operation_err'],
    ['new_backup(1)', 'type_err'],
    ["new_backup('a.backup', 1)", 'type_err'],
    ["new_backup('a.backup', nil, nil)", 'type_err'],
    ["new_backup('a.backup', nil, 0, nil)", 'type_err'],
    ['new_backup()', 'num_arguments_err'],
  ])('%s is an error', (call, expected) => {
    expect(error(`${call};`)).toBe(expected);
  });

  test('is limited in number', () => {
    run("range(100).each(|| new_backup('a.backup'));");
    expect(error("new_backup('a.backup');")).toBe('max_quota_err');
  });

  test('is there in the scope of a node only', () => {
    expect(h.error("new_backup('a.backup');", { scope: 'thingsdb' })).toBe('lookup_err');
  });
});

test('backup_info has its keys in their order, and only those that apply', () => {
  run("new_backup('a.backup', datetime(2090, 1, 1), 60); new_backup('b.backup');");
  const [first] = backups.infos;
  if (first === undefined) throw new Error('there is a backup');
  backups.infos.push({
    ...first,
    id: 7,
    nextRun: null,
    repeat: 0,
    result: { message: 'no room', code: -63 },
    files: ['x', 'y'],
  });
  const keys = ['id', 'created_at', 'file_template', 'next_run'];
  expect(run('backup_info(0).load().keys();')).toEqual([...keys, 'repeat', 'max_files', 'files']);
  expect(run('backup_info(0).load().next_run;')).toBe('2090-01-01 00:00:00Z');
  expect(run('backup_info(1).load().next_run;')).toBe('pending');
  expect(run('b = backup_info(7).load(); [b.keys(), b.result_code, b.files];')).toEqual([
    ['id', 'created_at', 'file_template', 'result_message', 'result_code', 'files'],
    -63,
    ['x', 'y'],
  ]);
  expect(run('[backups_ok(), backups_info().map(|b| b.load().id)];')).toEqual([false, [0, 1, 7]]);
});

test('a backup is taken off, perhaps with its files', () => {
  run("new_backup('a.backup'); new_backup('b.backup'); del_backup(1); del_backup(0, true);");
  expect(backups.removed).toEqual([
    [1, false],
    [0, true],
  ]);
  expect(run('[backups_ok(), has_backup(0), backups_info()];')).toEqual([true, false, []]);
  expect(error('del_backup(0);')).toBe('lookup_err');
  expect(error('backup_info(0);')).toBe('lookup_err');
  expect(error('del_backup(-1);')).toBe('value_err');
  expect(error('has_backup(-1);')).toBe('value_err');
  expect(error("backup_info('x');")).toBe('type_err');
  expect(error('del_backup(0, 1);')).toBe('type_err');
});
