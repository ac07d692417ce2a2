import { until } from '@althing/node/testing';
import { describe, expect, test } from '@jest/globals';
import type { Response } from '../chaos/requests.js';
import { SteadyLoad } from './steady-load.js';

const OK: Response = { outcome: 'ok', value: null, index: 0, status: 200, node: '', error: '' };
const LOST: Response = { ...OK, outcome: 'unknown', error: '502 lost' };

/** A counter, and what goes wrong with the writes. */
class Counter {
  value = -1;
  keys: string[] = [];
  fault: 'none' | 'lost' | 'twice' | 'unknown' = 'none';

  ask = async (_scope: string, code: string, headers: Readonly<Record<string, string>> = {}) => {
    if (code === '.n = 0;') this.value = 0;
    if (code === '.n += 1;') {
      this.keys.push(headers['Idempotency-Key'] ?? '');
      if (this.fault !== 'lost') this.value += this.fault === 'twice' ? 2 : 1;
      if (this.fault === 'unknown') return LOST;
    }
    return { ...OK, value: this.value };
  };
}

describe('a steady load', () => {
  test('sends as much as it was told, each write with a key of its own', async () => {
    const counter = new Counter();
    const load = new SteadyLoad(counter.ask, '//load');
    await load.prepare();
    const begin = performance.now();
    load.start({ writesPerS: 1000, readsPerS: 500 });
    await until(() => load.writes >= 100, 'a hundred writes');
    await load.stop();
    const end = performance.now();
    expect(load.writes).toBeLessThanOrEqual(((end - begin) / 1000) * 1000 + 1);
    expect(load.reads).toBeGreaterThan(0);
    expect(new Set(counter.keys).size).toBe(load.writes);
    expect(load.hasWritten(begin)).toBe(true);
    expect(load.hasWritten(end)).toBe(false);
    expect(await load.problem()).toBeNull();
    const gap = load.longestGap(begin, end);
    expect(gap).toBeGreaterThan(0);
    expect(gap).toBeLessThan(end - begin);
    expect(load.longestGap(end, end + 50)).toBeCloseTo(50);
  });

  test.each([
    ['lost', /^\d+ writes lost$/, 0],
    ['twice', /^\d+ writes done twice$/, 0],
    ['unknown', null, 10],
  ] as const)('notices what is %s', async (fault, problem, failures) => {
    const counter = new Counter();
    counter.fault = fault;
    const load = new SteadyLoad(counter.ask, '//load');
    await load.prepare();
    load.start({ writesPerS: 1000, readsPerS: 0 });
    await until(() => counter.keys.length >= 10, 'some writes');
    await load.stop();
    const found = await load.problem();
    if (problem === null) expect(found).toBeNull();
    else expect(found).toMatch(problem);
    expect(load.failures.length).toBeGreaterThanOrEqual(failures);
  });
});
