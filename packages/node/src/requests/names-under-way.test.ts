import { describe, expect, test } from '@jest/globals';
import { ANY_BODY } from '../groups/body-hash.js';
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

  test('a client counts in each group, and for each user, on its own', () => {
    const names = new NamesUnderWay<string>();
    const of = (group: number, user: number, client: string) =>
      names.clientNameOf(group, {
        key: null,
        client: { user, client, sequence: 1, low: 1, body: ANY_BODY },
      }) ?? { owner: '', number: 0 };
    const all = [1, 2, 1].flatMap((group) => [3, 4].map((user) => of(group, user, 'c').owner));
    expect(new Set(all).size).toBe(4);
    expect(all.slice(4)).toEqual(all.slice(0, 2));
    for (let i = 0; i < 1000; i++) expect(of(1, 3, `c${i}`).owner).toBe(`client 1 3 c${i}`);
    expect(of(1, 3, 'c').owner).toBe(all[0]);
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
