import { expect, test } from '@jest/globals';
import { elementAt } from '../../base/element.js';
import { BodyTurns, type Source } from './body-turns.js';

const MiB = 1024 * 1024;

/** The bodies of so many senders, and turns of the event loop. */
function senders(count: number) {
  let ends: (() => void)[] = [];
  const turns = new BodyTurns((callback) => ends.push(callback));
  const paused = new Set<number>();
  const sources = Array.from({ length: count }, (_, i) => ({
    pause: () => paused.add(i),
    resume: () => paused.delete(i),
  }));
  const sourceOf = (i: number): Source => elementAt(sources, i);
  return {
    paused,
    came: (i: number, bytes: number) => turns.came(sourceOf(i), bytes),
    over: (i: number) => turns.over(sourceOf(i)),
    /** Ends the turn; tells who may go on in the next one. */
    next: (): number[] => {
      const now = ends;
      ends = [];
      for (const end of now) end();
      return sources.flatMap((_, i) => (paused.has(i) ? [] : [i]));
    },
  };
}

test('large bodies come one a turn, each in its turn', () => {
  const { came, next, paused } = senders(3);
  for (const i of [0, 1, 2]) came(i, 1000);
  expect(paused.size).toBe(0);
  came(0, MiB);
  expect([...paused]).toEqual([0, 1, 2]);
  expect(next()).toEqual([0]);
  came(0, 5 * MiB);
  expect(next()).toEqual([1]);
  came(1, MiB);
  expect(next()).toEqual([2]);
  came(2, MiB);
  expect(next()).toEqual([0]);
});

test('one that has nothing to bring in its turn keeps nobody waiting', () => {
  const { came, next } = senders(3);
  for (const i of [0, 1, 2]) came(i, MiB);
  expect(next()).toEqual([0]);
  expect(next()).toEqual([0, 1]);
  expect(next()).toEqual([0, 1, 2]);
});

test('a body that has come keeps its place, and another one has its turn', () => {
  const { came, over, next, paused } = senders(2);
  for (const i of [0, 1]) came(i, MiB);
  over(0);
  expect([...paused]).toEqual([0, 1]);
  expect(next()).toEqual([1]);
});
