import { describe, expect, test } from '@jest/globals';
import { deltaDebug, type FirstGood } from './delta-debug.js';

/** Tries one list after the other, and counts. */
function trying<Element>(isGood: (list: readonly Element[]) => boolean): {
  readonly firstGood: FirstGood<Element>;
  readonly tried: readonly (readonly Element[])[];
} {
  const tried: (readonly Element[])[] = [];
  const firstGood: FirstGood<Element> = async (attempts) => {
    let at = 0;
    for (const left of attempts) {
      tried.push(left);
      if (isGood(left)) return { at, left };
      at += 1;
    }
    return null;
  };
  return { firstGood, tried };
}

const NUMBERS = Array.from({ length: 500 }, (_none, at) => at);

describe('delta debugging', () => {
  test('finds the elements that matter, in their order', async () => {
    const needed = [3, 4, 77, 250, 251, 499];
    const { firstGood, tried } = trying<number>((list) => needed.every((each) => list.includes(each)));
    expect(await deltaDebug(NUMBERS, firstGood)).toEqual(needed);
    expect(tried.length).toBeLessThan(200);
  });

  test('asks once when nothing is needed', async () => {
    const { firstGood, tried } = trying<number>(() => true);
    expect(await deltaDebug(NUMBERS, firstGood)).toEqual([]);
    expect(tried).toEqual([[]]);
  });

  test('keeps everything where all is needed', async () => {
    const { firstGood } = trying<number>((list) => list.length === 9);
    expect(await deltaDebug(NUMBERS.slice(0, 9), firstGood)).toEqual(NUMBERS.slice(0, 9));
  });

  test('asks nothing without elements', async () => {
    const { firstGood, tried } = trying<number>(() => true);
    expect(await deltaDebug([], firstGood)).toEqual([]);
    expect(tried).toEqual([]);
  });

  test('goes on until no single element can be left out, also where one needs another', async () => {
    // Each number needs the next one, and 9 is needed: those below can go only from the smallest on.
    const isChain = (list: readonly number[]): boolean =>
      list.includes(9) && list.every((each) => each === 9 || list.includes(each + 1));
    const { firstGood } = trying<number>(isChain);
    expect(await deltaDebug(NUMBERS.slice(0, 10), firstGood)).toEqual([9]);
  });

  test('takes over what turned out not to be needed', async () => {
    const firstGood: FirstGood<number> = async (attempts) => {
      let at = 0;
      for (const list of attempts) {
        if (list.includes(100)) return { at, left: list.filter((each) => each <= 100) };
        at += 1;
      }
      return null;
    };
    expect(await deltaDebug(NUMBERS, firstGood)).toEqual([100]);
  });
});
