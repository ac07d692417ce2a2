import { describe, expect, test } from '@jest/globals';
import { until } from '../../testing/index.js';
import { Deadlines } from './deadlines.js';

describe('deadlines', () => {
  test('an item whose time is up is given up, once', async () => {
    const late: string[] = [];
    const deadlines = new Deadlines<string>(20, (item) => late.push(item));
    const begun = performance.now();
    deadlines.add('a');
    deadlines.add('b');
    await until(() => late.length === 2, 'both are given up');
    expect(late.sort()).toEqual(['a', 'b']);
    expect(performance.now() - begun).toBeGreaterThanOrEqual(19);
    expect(deadlines.size).toBe(0);
  });

  test('an item that is done in time is left alone, and others are not', async () => {
    const late: string[] = [];
    const deadlines = new Deadlines<string>(20, (item) => late.push(item));
    const done = deadlines.add('done');
    deadlines.add('late');
    deadlines.delete(done);
    await until(() => deadlines.size === 0, 'none is waited for');
    deadlines.add('later');
    await until(() => deadlines.size === 0, 'none is waited for');
    expect(late).toEqual(['late', 'later']);
  });
});
