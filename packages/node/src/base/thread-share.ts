import { getPriority, setPriority } from 'node:os';
import { performance } from 'node:perf_hooks';

/** A thread that is so much nicer gets about a tenth of the time that it would have beside one that needs it as well. */
const NICER = 10;
const NICE_MAX = 19;

/**
 * Has the thread that calls this, and those that it starts, go behind the others of the process where there are too few processors.
 * Only Linux knows priorities of threads; elsewhere this does nothing.
 */
export function giveWay(): void {
  if (process.platform === 'linux') setPriority(Math.min(getPriority() + NICER, NICE_MAX));
}

/**
 * Watches how busy the thread that calls this is.
 *
 * @returns tells whether less than a share (0 to 1) of the time since it was last asked was spent on work, and not on
 *   waiting for events
 */
export function hardlyBusy(share: number): () => boolean {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization < share;
  };
}
