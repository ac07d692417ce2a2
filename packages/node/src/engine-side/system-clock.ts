import { backgroundClock } from '../base/clock.js';
import type { EngineClock } from './ports.js';

/** The clock of the machine, for an engine side: nothing that waits for it keeps the process alive. */
export const engineClock: EngineClock = {
  ...backgroundClock,
  soon(work) {
    setImmediate(work);
  },
  busy() {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
};
