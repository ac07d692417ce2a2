import { beforeEach, describe, expect, test } from '@jest/globals';
import { Harness, NOW_MS } from '../testing/harness.js';

const NOW = Math.floor(NOW_MS / 1000);
let db = new Harness();

beforeEach(() => {
  db = new Harness();
});

describe('a load', () => {
  test('is nothing before its first rows, and tells then how far it is', () => {
    expect(db.run("load_info('a');")).toBe(null);
    expect(db.run("advance_load('a', 'x', 0, 10, [2, 5]);")).toBe(10);
    db.nowMs += 5000;
    expect(db.run("advance_load('a', 'x', 10, 3, [0]);")).toBe(13);
    const info = {
      name: 'a',
      source: 'x',
      rows: 13,
      refused: 3,
      last_refused: [10],
      begun_at: NOW,
      moved_at: NOW + 5,
    };
    expect(db.run("return load_info('a'), 2;")).toMatchObject(info);
    expect(db.run('return loads_info(), 2;')).toMatchObject([info]);
  });

  test('makes no row twice: its place and what is made go together', () => {
    const step = ".l.push('row'); advance_load('a', 'x', 0, 1, []);";
    db.run('.l = [];');
    db.run(step);
    expect(db.error(step)).toBe('operation_err');
    expect(db.run('.l;')).toEqual(['row']);
  });

  test('a load of another source is refused under the same name', () => {
    db.run("advance_load('a', 'x', 0, 1, []);");
    expect(db.error("advance_load('a', 'y', 1, 1, []);")).toBe('operation_err');
  });

  test('a load that is forgotten begins anew', () => {
    db.run("advance_load('a', 'x', 0, 1, []); advance_load('b', 'x', 0, 1, []); del_load('a');");
    expect(db.run("[load_info('a'), load_info('b').rows];")).toEqual([null, 1]);
    expect(db.run("advance_load('a', 'y', 0, 2, []);")).toBe(2);
  });

  test.each([
    ["advance_load('', 'x', 0, 1, [])", 'value_err'],
    ["advance_load('a', '', 0, 1, [])", 'value_err'],
    ["advance_load('a', 'x', 1, 1, [])", 'operation_err'],
    ["advance_load('a', 'x', -1, 1, [])", 'value_err'],
    ["advance_load('a', 'x', 0, 1, [1])", 'value_err'],
    ["advance_load('a', 'x', 0, 5, [2, 1])", 'value_err'],
    ["advance_load('a', 'x', 0, 1, ['0'])", 'value_err'],
    ["advance_load('a', 'x', 0, 1)", 'num_arguments_err'],
    ["del_load('a')", 'lookup_err'],
  ])('%s is refused as %s', (code, name) => {
    expect(db.error(code)).toBe(name);
  });

  test('a load that nobody went on with for long makes room for the hundred and first', () => {
    db.run("range(100).each(|i| advance_load(str(i), 'x', 0, 1, []));");
    expect(db.error("advance_load('new', 'x', 0, 1, []);")).toBe('max_quota_err');
    db.nowMs += 30 * 86_400_000;
    db.run("advance_load('50', 'x', 1, 1, []); advance_load('new', 'x', 0, 1, []);");
    expect(db.run("[loads_info().len(), load_info('50').rows, load_info('new').rows];")).toEqual([100, 2, 1]);
  });
});
