import { DiskFullError } from '@althing/storage';
import { backgroundClock, pause } from '../../base/clock.js';
import type { DiskKeeper } from '../../state/disk-keeper.js';
import { StartStoppedError } from './running-node.js';

/** The reasons for which a start that waits may end. */
export interface StartWaitOptions {
  /** Null while the node can go on. */
  readonly failure: () => Error | null;
  /** Gives the start up. */
  readonly signal: AbortSignal;
  readonly disk: Pick<DiskKeeper, 'level'>;
}

/** Time that a start waits for room on a full disk, in milliseconds. */
const START_FULL_MS = 10_000;

/** Time between two looks at what a start waits for, in milliseconds. */
const POLL_MS = 2;

/**
 * Waits for a condition that events bring about.
 *
 * @throws the failure of the node, StartStoppedError, DiskFullError
 */
export async function startWait(
  condition: () => boolean,
  { failure, signal, disk }: StartWaitOptions,
): Promise<void> {
  let fullSince: number | null = null;
  while (!condition()) {
    const error = failure();
    if (error !== null) throw error;
    if (signal.aborted) throw new StartStoppedError();
    fullSince = disk.level === 'full' ? (fullSince ?? performance.now()) : null;
    if (fullSince !== null && performance.now() - fullSince > START_FULL_MS) {
      throw new DiskFullError('the log has no room to go on, not even with the reserve');
    }
    await pause(backgroundClock, POLL_MS);
  }
}
