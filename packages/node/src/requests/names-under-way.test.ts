import { describe, expect, test } from '@jest/globals';
import { NamesUnderWay, nodeNameOf } from './names-under-way.js';

describe('names under way', () => {
  test('a name is held from taking to giving back, and owners do not share numbers', () => {
    const names = new NamesUnderWay<string>();
    names.take({ owner: 'a', number: 1 }, 'first');
    names.take({ owner: 'b', number: 1 }, 'second');
    expect(names.size).toBe(2);
    expect(names.find({ owner: 'a', number: 1 })).toBe('first');
    expect(names.find({ owner: 'a', number: 2 })).toBeUndefined();
    expect(names.release({ owner: 'b', number: 1 })).toBe('second');
    expect(names.release({ owner: 'b', number: 1 })).toBeUndefined();
    expect(names.find({ owner: 'b', number: 1 })).toBeUndefined();
    expect(names.size).toBe(1);
  });

  test('no name is lost when many owners come and go', () => {
    const names = new NamesUnderWay<string>();
    names.take({ owner: 'long', number: 7 }, 'kept');
    for (let i = 0; i < 2000; i++) {
      const name = nodeNameOf({ origin: 1, incarnation: i, sequence: 5, low: 1 }, 3);
      names.take(name, 'other');
      if (i % 3 > 0) names.release(name);
    }
    expect(names.find({ owner: 'long', number: 7 })).toBe('kept');
    expect(names.find({ owner: 'node 3 1 999', number: 5 })).toBe('other');
    expect(names.size).toBe(1 + Math.ceil(2000 / 3));
  });
});
