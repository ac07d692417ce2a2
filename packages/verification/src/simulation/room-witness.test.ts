import { beforeEach, expect, test } from '@jest/globals';
import { type Hearing, RoomWitness } from './room-witness.js';

let witness: RoomWitness;
let one: Hearing;
let other: Hearing;
let own: Set<string>;

beforeEach(() => {
  witness = new RoomWitness();
  own = new Set();
  one = witness.join('r', 'one', 10, own);
  other = witness.join('r', 'other', 10, new Set());
  for (const tag of ['a', 'b', 'c', 'd']) witness.sent('r', tag);
});

/** Lets a session hear events; an event with a number is written `a1`. Gives what was wrong. */
function hear(hearing: Hearing, ...events: string[]): (string | null)[] {
  return events.map((text) => {
    const [tag = '', number = ''] = [text.slice(0, 1), text.slice(1)];
    return witness.hear(hearing, { tag, number: number === '' ? null : Number(number) });
  });
}

function left(hearing: Hearing): Hearing {
  witness.leave(hearing);
  return hearing;
}

function refused(hearing: Hearing, tag: string): Hearing {
  witness.refused(hearing.room, tag);
  return hearing;
}

test('sessions that hear the same in the same order, from where they joined on', () => {
  expect(hear(one, 'a1', 'b', 'c2', 'd3')).toEqual([null, null, null, null]);
  expect(hear(other, 'c2', 'd3')).toEqual([null, null]);
  witness.acknowledged('r', 'c', 11);
  witness.acknowledged('r', 'a', 9);
  expect(witness.problems('r', 3)).toEqual([]);
  expect(witness.events).toBe(6);
});

test('a session does not hear what it sent to all others', () => {
  own.add('b');
  expect(hear(other, 'a', 'b', 'c')).toEqual([null, null, null]);
  expect(hear(one, 'a', 'c')).toEqual([null, null]);
  witness.acknowledged('r', 'b', 11);
  expect(witness.problems('r', null)).toEqual([]);
  expect(hear(one, 'b')).toEqual(['one heard b in r, which it sent to all others']);
});

test.each<[string, () => (string | null)[], string]>([
  ['an event twice', () => hear(one, 'a', 'a'), 'one heard a in r, again'],
  ['an event that nobody sent', () => hear(one, 'x'), 'nobody sent x, which was heard in r'],
  ['a number that is missing', () => hear(one, 'a1', 'b3'), 'one heard b in r, which is 3 behind 1'],
  ['a number taken back', () => [...hear(one, 'a1'), ...hear(other, 'b1')], 'which is 1, as a is'],
  ['another order', () => [...hear(one, 'a', 'b'), ...hear(other, 'b', 'a')], ''],
  [
    'an event that is missing',
    () => [...hear(one, 'a', 'b', 'c'), ...hear(other, 'a', 'c')],
    'others heard b',
  ],
  ['one too many', () => [...hear(one, 'a', 'c'), ...hear(other, 'b', 'c')], 'others behind a'],
  ['a room that it left', () => hear(left(one), 'a'), 'where it is not any more'],
  ['what was refused', () => hear(refused(one, 'a'), 'a'), 'which was told not to'],
  ['what is refused', () => [...hear(one, 'a'), witness.refused('r', 'a')], 'a was heard in r'],
])('%s is found, or in the end', (_, play, text) => {
  const told = [...play(), ...witness.problems('r', null)].filter((problem) => problem !== null);
  expect(told.length).toBeGreaterThan(0);
  expect(told.join()).toContain(text);
});

test('an event that is missing in the end is found', () => {
  witness.acknowledged('r', 'a', 11);
  expect(witness.problems('r', null)).toEqual([
    'one did not hear a in r, which happened',
    'other did not hear a in r, which happened',
  ]);
  hear(one, 'a1', 'b2');
  hear(other, 'a1');
  expect(witness.problems('r', 2)).toEqual([
    'other heard 1 last in r, which counts 2',
    'other heard a last in r, and one heard b',
  ]);
  witness.leave(other);
  expect(witness.problems('r', 2)).toEqual([]);
  expect(witness.problems('r', 1)).toEqual([
    'one heard 2 last in r, which counts 1',
    'b told 2 in r, which counts 1',
  ]);
});
