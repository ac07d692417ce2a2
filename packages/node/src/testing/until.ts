import { setTimeout as pause } from 'node:timers/promises';

/** Milliseconds that a test waits for something unless it says otherwise. */
export const WAIT_MS = 60_000;

/**
 * Waits until a condition holds, looking every few milliseconds.
 *
 * @param what is waited for, for the error when it does not come
 */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string,
  timeoutMs = WAIT_MS,
): Promise<void> {
  const end = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`waited ${timeoutMs} ms in vain until ${what}`);
    await pause(5);
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
