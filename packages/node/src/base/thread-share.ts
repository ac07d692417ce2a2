import { performance } from 'node:perf_hooks';

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
