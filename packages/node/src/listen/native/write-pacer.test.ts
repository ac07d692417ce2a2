import { expect, test } from '@jest/globals';
import { WritePacer } from './write-pacer.js';

const KiB = 1024;

/** A pacer whose turns a test begins. */
function begin() {
  const turns: (() => void)[] = [];
  const pacer = new WritePacer((work) => turns.push(work));
  return { pacer, turn: () => turns.shift()?.(), turns };
}

/** Has so many slices to write, one after the other. */
function writer(pacer: WritePacer, name: string, slices: number, written: string[]): void {
  const pump = (): void => {
    for (let left = slices; left > 0; left = slices) {
      if (!pacer.takes(64 * KiB)) {
        pacer.later(pump);
        return;
      }
      slices -= 1;
      written.push(name);
    }
  };
  pump();
}

test('a turn has an end, and what is short is written all the same', () => {
  const { pacer, turn } = begin();
  const written: string[] = [];
  writer(pacer, 'long', 40, written);
  expect(written).toHaveLength(16);
  expect(pacer.takes(16 * KiB)).toBe(true);
  expect(pacer.takes(17 * KiB)).toBe(false);
  turn();
  expect(written).toHaveLength(32);
  turn();
  expect(written).toHaveLength(40);
});

test('connections take turns, in the order in which they came, and none is left behind', () => {
  const { pacer, turn, turns } = begin();
  const written: string[] = [];
  for (const name of ['a', 'b', 'c']) writer(pacer, name, 20, written);
  const counts = (): number[] =>
    ['a', 'b', 'c'].map((name) => written.filter((each) => each === name).length);
  const after: number[][] = [counts()];
  while (turns.length > 0) {
    turn();
    after.push(counts());
  }
  expect(after).toEqual([
    [16, 0, 0],
    [20, 12, 0],
    [20, 12, 16],
    [20, 20, 20],
    [20, 20, 20],
  ]);
});
