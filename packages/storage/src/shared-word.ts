/**
 * Words of memory that threads share, for whose change a thread may wait. The word behind one tells whether a thread waits for it.
 *
 * All waits and wakes of a process go through one lock of V8. A thread that takes it waits for whoever holds it, and that may be a thread of
 * low priority that has no processor: up to 39 ms. So nobody is woken, and the lock is not taken, where nobody waits.
 */

/**
 * Waits until a word is another one than it was. One thread may wait for a word.
 *
 * @param ms waits no longer
 * @returns false if it is the same after that time
 */
export function waitForChange(
  words: Int32Array<SharedArrayBuffer>,
  word: number,
  seen: number,
  ms?: number,
): boolean {
  Atomics.store(words, word + 1, WAITS);
  const outcome = Atomics.wait(words, word, seen, ms);
  Atomics.store(words, word + 1, WAITS_NOT);
  return outcome !== 'timed-out';
}

/** Wakes the thread that waits for a word, if one does. To be called after each change of it, which must be atomic. */
export function wakeWaiting(words: Int32Array<SharedArrayBuffer>, word: number): void {
  // A thread that begins to wait only now sees the change: it tells that it waits before it looks.
  if (Atomics.load(words, word + 1) === WAITS) Atomics.notify(words, word);
}

const WAITS = 1;
const WAITS_NOT = 0;
