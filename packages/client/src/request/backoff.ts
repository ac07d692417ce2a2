/** Pauses between attempts. */

const FIRST_MS = 50;
const MAX_MS = 2000;

/**
 * A pause with full jitter ("Exponential Backoff And Jitter", AWS Architecture Blog, 2015): anything up to a bound that doubles with each failure.
 *
 * @param failures before this one
 */
export function pauseMs(failures: number, random: () => number): number {
  return random() * Math.min(MAX_MS, FIRST_MS * 2 ** Math.min(failures, 16));
}

/** The wait that a node asks for, more or less a fifth, so that not all come back in the same moment. */
export function spreadMs(ms: number, random: () => number): number {
  return ms * (0.8 + 0.4 * random());
}
