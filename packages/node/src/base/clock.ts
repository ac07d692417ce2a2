// The global of this name has a getter, which takes longer than the look at the clock.
import { performance } from 'node:perf_hooks';

/** Time, as the parts of a node are handed it: that of the machine, or that of a test. */
export interface Clock {
  /** Milliseconds since some beginning; never jumps. */
  readonly now: () => number;
  /** Calls back after some milliseconds; the function that it returns calls it off. */
  readonly after: (ms: number, work: () => void) => () => void;
  /** Calls back again and again; the function that it returns ends that. */
  readonly every: (ms: number, work: () => void) => () => void;
}

/** The clock of the machine. What waits for it keeps the process alive. */
export const systemClock: Clock = {
  now: () => performance.now(),
  after(ms, work) {
    const timer = setTimeout(work, ms);
    return () => clearTimeout(timer);
  },
  every(ms, work) {
    const timer = setInterval(work, ms);
    return () => clearInterval(timer);
  },
};

/** The clock of the machine, for what does not keep the process alive. */
export const backgroundClock: Clock = {
  now: () => performance.now(),
  after(ms, work) {
    const timer = setTimeout(work, ms).unref();
    return () => clearTimeout(timer);
  },
  every(ms, work) {
    const timer = setInterval(work, ms).unref();
    return () => clearInterval(timer);
  },
};

/** Resolves after some milliseconds. */
export function pause({ after }: Pick<Clock, 'after'>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    after(ms, resolve);
  });
}
