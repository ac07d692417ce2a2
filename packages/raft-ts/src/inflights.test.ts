import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Inflights } from './inflights.js';

describe('the window of one member', () => {
  test('is full by count or by bytes, and admits one more of any size while it is not', () => {
    const window = new Inflights(3, 100);
    window.add(1, 10);
    expect(window.full).toBe(false);
    window.add(2, 1000);
    expect([window.full, window.count, window.bytes]).toEqual([true, 2, 1010]);
    expect(() => window.add(3, 1)).toThrow('beyond the window');
    window.freeTo(2);
    expect([window.full, window.count, window.bytes]).toEqual([false, 0, 0]);
    for (const last of [3, 4, 5]) window.add(last, 1);
    expect(window.full).toBe(true);
  });

  test('behaves like a list of what is not acknowledged', () => {
    const acts = fc.array(
      fc.record({ adds: fc.boolean(), step: fc.integer({ min: 0, max: 5 }), bytes: fc.nat({ max: 50 }) }),
    );
    fc.assert(
      fc.property(acts, (list) => {
        const window = new Inflights(100, 1_000_000);
        let model: { last: number; bytes: number }[] = [];
        let last = 0;
        for (const { adds, step, bytes } of list) {
          if (adds && !window.full) {
            last += step;
            window.add(last, bytes);
            model.push({ last, bytes });
          } else {
            window.freeTo(last - step);
            model = model.filter((each) => each.last > last - step);
          }
          expect(window.count).toBe(model.length);
          expect(window.bytes).toBe(model.reduce((sum, each) => sum + each.bytes, 0));
        }
      }),
    );
  });

  test('keeps order, forgets everything when told, and stays small over a long life', () => {
    const window = new Inflights(50, 1_000_000);
    window.add(5, 1);
    expect(() => window.add(4, 1)).toThrow('out of order');
    window.clear();
    expect(window.count).toBe(0);
    for (let index = 6; index < 1000; index += 1) {
      window.add(index, 1);
      if (window.count > 40) window.freeTo(index - 35);
      expect(window.count).toBeLessThanOrEqual(41);
    }
  });
});
