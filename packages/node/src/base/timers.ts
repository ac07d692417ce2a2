/** Waiting, none of which keeps the process alive. */

/**
 * Calls back after some milliseconds.
 *
 * @returns calls it off
 */
export function delay(ms: number, callback: () => void): () => void {
  const timer = setTimeout(callback, ms);
  timer.unref();
  return () => clearTimeout(timer);
}

/** Resolves after some milliseconds. */
export function delayed(ms: number): Promise<void> {
  return new Promise((resolve) => {
    delay(ms, resolve);
  });
}
