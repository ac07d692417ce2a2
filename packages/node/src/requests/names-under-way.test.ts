import { describe, expect, test } from '@jest/globals';
import { ANY_BODY } from '../groups/body-hash.js';
import { NamesUnderWay } from './names-under-way.js';

/** The owner of the names of a client. */
function ownerIn(names: NamesUnderWay<string>, group: number, user: number, client: string) {
  const owner = names.clientOwner(group, {
    key: null,
    client: { user, client, sequence: 1, low: 1, body: ANY_BODY },
  });
  if (owner === null) throw new Error('a client has names');
  return owner;
}

describe('names under way', () => {
  test('a name is held from taking to giving back, and owners do not share numbers', () => {
    const names = new NamesUnderWay<string>();
    const [a, b] = [ownerIn(names, 1, 1, 'a'), ownerIn(names, 1, 1, 'b')];
    names.take(a, 1, 'first');
    names.take(b, 1, 'second');
    expect(names.size).toBe(2);
    expect(a.get(1)).toBe('first');
    expect(a.get(2)).toBeUndefined();
    expect(names.release(b, 1)).toBe('second');
    expect(names.release(b, 1)).toBeUndefined();
    expect(b.get(1)).toBeUndefined();
    expect(names.size).toBe(1);
  });

  test('a client counts in each group, and for each user, on its own', () => {
    const names = new NamesUnderWay<string>();
    const all = [1, 2, 1].flatMap((group) => [3, 4].map((user) => ownerIn(names, group, user, 'c')));
    for (const [at, owner] of all.slice(0, 4).entries()) names.take(owner, 1, String(at));
    expect(all.map((owner) => owner.get(1))).toEqual(['0', '1', '2', '3', '0', '1']);
    for (let i = 0; i < 1000; i++) ownerIn(names, 1, 3, `c${i}`);
    expect(ownerIn(names, 1, 3, 'c')).toBe(all[0]);
  });

  test('no name is lost when many owners come and go', () => {
    const names = new NamesUnderWay<string>();
    names.take(ownerIn(names, 1, 1, 'long'), 7, 'kept');
    const ownerOf = (incarnation: number) =>
      names.nodeOwner(3, { origin: 1, incarnation, sequence: 5, low: 1 });
    for (let i = 0; i < 2000; i++) {
      names.take(ownerOf(i), 5, 'other');
      if (i % 3 > 0) names.release(ownerOf(i), 5);
    }
    expect(ownerIn(names, 1, 1, 'long').get(7)).toBe('kept');
    expect(ownerOf(999).get(5)).toBe('other');
    expect(names.size).toBe(1 + Math.ceil(2000 / 3));
  });

  test('a client whose owner was forgotten holds its next name where it is found', () => {
    const names = new NamesUnderWay<string>();
    ownerIn(names, 1, 1, 'idle');
    // Only few owners stay without a request, and only few clients are known by their own names.
    for (let i = 0; i < 255; i++) names.nodeOwner(3, { origin: 1, incarnation: i, sequence: 5, low: 1 });
    names.nodeOwner(3, { origin: 1, incarnation: 255, sequence: 5, low: 1 });
    names.take(ownerIn(names, 1, 1, 'idle'), 1, 'first');
    for (let i = 0; i < 300; i++) ownerIn(names, 1, 1, `other ${i}`);
    expect(ownerIn(names, 1, 1, 'idle').get(1)).toBe('first');
  });
});
