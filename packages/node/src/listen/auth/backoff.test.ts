import { describe, expect, test } from '@jest/globals';
import { Backoff } from './backoff.js';

function makeBackoff(limits: Partial<ConstructorParameters<typeof Backoff>[0]> = {}) {
  const clock = { now: 0 };
  const all = { delayMs: 100, delayMaxMs: 30_000, waitingMax: 8, checkingMax: 4, keysMax: 1000, ...limits };
  return { clock, backoff: new Backoff(all, () => clock.now) };
}

describe('failed logins', () => {
  test('take twice as long each time, up to a limit', () => {
    const { backoff } = makeBackoff();
    const delays = Array.from({ length: 12 }, () => backoff.failed('k'));
    expect(delays).toEqual([100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000, 30_000]);
    for (let i = 0; i < 2000; i++) expect(backoff.failed('k')).toBe(30_000);
  });

  test('failures of one key do not slow others down', () => {
    const { backoff } = makeBackoff();
    for (let i = 0; i < 10; i++) backoff.failed('k');
    expect(backoff.failed('other')).toBe(100);
    expect(backoff.admits('other')).toBe(true);
  });

  test('are refused without a check while too many wait, and tried again afterwards', () => {
    const { backoff } = makeBackoff({ waitingMax: 2 });
    backoff.failed('k');
    expect(backoff.admits('k')).toBe(true);
    backoff.failed('k');
    expect(backoff.admits('k')).toBe(false);
    backoff.answered('k');
    expect(backoff.admits('k')).toBe(true);
  });

  test('logins of which too many are being checked are put off', () => {
    const { backoff } = makeBackoff({ checkingMax: 2 });
    backoff.checks('k');
    backoff.checks('k');
    expect(backoff.admits('k')).toBe(false);
    expect(backoff.admits('other')).toBe(true);
    backoff.checked('k');
    expect(backoff.admits('k')).toBe(true);
    backoff.checked('k');
    expect(backoff.failed('k')).toBe(100);
  });

  test('are forgotten by a success, and after a long time', () => {
    const { backoff, clock } = makeBackoff();
    backoff.failed('k');
    backoff.succeeded('k');
    expect(backoff.failed('k')).toBe(100);
    expect(backoff.failed('k')).toBe(200);
    clock.now += 299_999;
    expect(backoff.failed('k')).toBe(400);
    clock.now += 300_000;
    expect(backoff.failed('k')).toBe(100);
  });

  test('are remembered for so many keys only, the latest', () => {
    const { backoff } = makeBackoff({ keysMax: 3 });
    for (const key of ['a', 'b', 'c', 'a', 'd']) backoff.failed(key);
    expect(backoff.failed('a')).toBe(400);
    expect(backoff.failed('b')).toBe(100);
  });

  test('can be turned off', () => {
    const { backoff } = makeBackoff({ delayMs: 0, delayMaxMs: 0 });
    for (let i = 0; i < 100; i++) {
      expect(backoff.failed('k')).toBe(0);
      backoff.answered('k');
    }
  });
});
