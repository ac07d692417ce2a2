import { expect, test } from '@jest/globals';
import { Harness } from '../testing/harness.js';

const harness = new Harness();

test('len is the size of the packed data', () => {
  expect(harness.run('time_zones_info().len() == bytes(time_zones_info()).len()')).toBe(true);
});

test('load gives ordinary values', () => {
  expect(harness.run("i = user_info('admin').load(); [type(i), i.name]", { scope: 'thingsdb' })).toEqual([
    'thing',
    'admin',
  ]);
  expect(harness.run('l = time_zones_info().load(); [type(l), l[0]]')).toEqual(['list', 'UTC']);
  expect(harness.run("type(user_info('admin').load().access)", { scope: 'thingsdb' })).toBe('list');
});

test('there is nothing else to do with it', () => {
  expect(harness.error('time_zones_info().load(1)')).toBe('num_arguments_err');
  expect(harness.error("'a'.load()")).toBe('lookup_err');
});
