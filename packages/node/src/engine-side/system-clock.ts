import { systemClock } from '../base/clock.js';
import { delay } from '../base/timers.js';
import type { EngineClock } from './ports.js';

/** The clock of the machine, for an engine side: nothing that waits for it keeps the process alive. */
export const engineClock: EngineClock = {
  now: systemClock.now,
  after: delay,
  every(ms, work) {
    const timer = setInterval(work, ms).unref();
    return () => clearInterval(timer);
  },
  soon(work) {
    setImmediate(work);
  },
};
