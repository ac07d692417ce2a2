import { setTimeout as pause } from 'node:timers/promises';

/** Time between two looks at what is due, in milliseconds. */
const TICK_MS = 2;

/**
 * Begins something so many times a second until it is over, also while what was begun before goes on; resolves when all of it has ended.
 *
 * @param begin told when it was due, on the clock of `performance.now()`, and how many are under way
 * @param phase from 0 to 1, so that several take turns
 */
export async function paced(
  perS: number,
  isOver: () => boolean,
  begin: (dueAt: number, underWay: number) => Promise<unknown>,
  phase = 0,
): Promise<void> {
  const stepMs = 1000 / perS;
  const open = new Set<Promise<unknown>>();
  for (let due = performance.now() + phase * stepMs; !isOver(); await pause(TICK_MS)) {
    for (const now = performance.now(); due <= now; due += stepMs) {
      const work = begin(due, open.size).finally(() => open.delete(work));
      open.add(work);
    }
  }
  await Promise.all(open);
}
