/** The elements that are left when one of several attempts to leave some out was good. */
export interface Attempt<Element> {
  /** The number of the attempt, from 0 on. */
  readonly at: number;
  /** The elements of that attempt, or fewer, in the same order. */
  readonly left: readonly Element[];
}

/** Tries lists one after the other, and tells of the first that is good; null if there is none. */
export type FirstGood<Element> = (attempts: Iterable<readonly Element[]>) => Promise<Attempt<Element> | null>;

/**
 * Leaves out as many elements as possible: runs of them, at first all at once, then ever shorter ones, in the end one
 * by one, until none can be left out any more (Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input,
 * 2002, without the tests of single parts, which seldom help here).
 */
export async function deltaDebug<Element>(
  elements: readonly Element[],
  firstGood: FirstGood<Element>,
): Promise<readonly Element[]> {
  let left = elements;
  let size = left.length;
  while (left.length > 0) {
    const before = left.length;
    for (let from = 0; from < left.length; ) {
      const good = await firstGood(withoutRuns(left, from, size));
      if (good === null) break;
      from += good.at * size;
      left = good.left;
    }
    if (size === 1 && left.length === before) break;
    size = Math.max(1, Math.min(size >> 1, left.length));
  }
  return left;
}

/** The elements without each run of a size, from some place on. */
function* withoutRuns<Element>(
  elements: readonly Element[],
  from: number,
  size: number,
): Generator<readonly Element[]> {
  for (let at = from; at < elements.length; at += size) {
    yield [...elements.slice(0, at), ...elements.slice(at + size)];
  }
}
