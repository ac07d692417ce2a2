/** Time, timers and randomness for the logic of requests, handed in so that tests and simulations can play them. */

export interface Clock {
  /** Milliseconds that never go back. */
  now(): number;
  /** Calls back after some milliseconds; returns what calls it off. */
  after(ms: number, work: () => void): () => void;
}

export interface Surroundings {
  readonly clock: Clock;
  /** A random number from 0 to below 1. */
  readonly random: () => number;
  /** A new name for a client: random, of letters and digits. */
  readonly newClientName: () => string;
}

/** The surroundings of a real program. */
export function realSurroundings(): Surroundings {
  return {
    clock: {
      now: () => performance.now(),
      after: (ms, work) => {
        const timer = setTimeout(work, ms);
        return () => clearTimeout(timer);
      },
    },
    random: Math.random,
    // `crypto.randomUUID` is missing in pages that came over plain HTTP.
    newClientName: () =>
      Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) =>
        byte.toString(16).padStart(2, '0'),
      ).join(''),
  };
}
