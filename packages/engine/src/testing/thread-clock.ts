import { openSync, readSync } from 'node:fs';

/**
 * A clock that goes while this thread works and stands still while it waits for a processor: what a limit of time is held
 * to does not depend on how busy the machine is. Linux tells it; elsewhere it is the time of day's monotonic one.
 *
 * @returns gives milliseconds, exact to a few
 */
export function threadClock(): () => number {
  const file = openedOrNull('/proc/thread-self/schedstat');
  if (file === null) return () => performance.now();
  const buffer = Buffer.alloc(128);
  return () => {
    const length = readSync(file, buffer, 0, buffer.length, 0);
    return Number.parseInt(buffer.toString('latin1', 0, length), 10) / 1e6;
  };
}

function openedOrNull(path: string): number | null {
  try {
    return openSync(path, 'r');
  } catch {
    return null;
  }
}
