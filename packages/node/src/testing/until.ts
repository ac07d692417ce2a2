import { setTimeout as pause } from 'node:timers/promises';

/** Milliseconds that a test waits for something unless it says otherwise. */
export const WAIT_MS = 60_000;

/** The time between two looks, in milliseconds: a tenth of what was waited so far, within these. */
const LOOK_MIN_MS = 5;
const LOOK_MAX_MS = 50;

/**
 * Waits until a condition holds, looking every few milliseconds; after a while less often: each look costs the nodes that are asked.
 *
 * @param what is waited for, for the error when it does not come
 */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string,
  timeoutMs = WAIT_MS,
): Promise<void> {
  const began = performance.now();
  while (!(await condition())) {
    const waited = performance.now() - began;
    if (waited > timeoutMs) throw new Error(`waited ${timeoutMs} ms in vain until ${what}`);
    await pause(Math.min(Math.max(waited / 10, LOOK_MIN_MS), LOOK_MAX_MS));
  }
}

/** The outcome of a promise, or an error when it takes too long. */
export async function within<T>(work: Promise<T>, what: string, timeoutMs = WAIT_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited ${timeoutMs} ms in vain for ${what}`)), timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
