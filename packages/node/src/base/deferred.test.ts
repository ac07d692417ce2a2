import { describe, expect, test } from '@jest/globals';
import { Deferred } from './deferred.js';
import { elementAt } from './element.js';

describe('Deferred', () => {
  test('is settled once, by whoever comes first', async () => {
    const good = new Deferred<number>();
    good.resolve(1);
    good.reject(new Error('too late'));
    expect(await good.promise).toBe(1);
    const bad = new Deferred<number>();
    bad.reject(new Error('no'));
    bad.resolve(2);
    await expect(bad.promise).rejects.toThrow('no');
  });
});

describe('elementAt', () => {
  test('gives what is there, also null and 0, and throws where nothing is', () => {
    expect([elementAt([0, null], 0), elementAt([0, null], 1), elementAt(Buffer.of(7), 0)]).toEqual([
      0,
      null,
      7,
    ]);
    expect(() => elementAt([1], 1)).toThrow('no element 1');
    expect(() => elementAt([1], -1)).toThrow('no element -1');
  });
});
