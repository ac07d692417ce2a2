/**
 * The answers of a session to what it did not do: why a change is not made now, or what became of one that
 * was.
 */
import { nodeError, type QueryError, quotaError } from '@althing/engine';
import { CHANGE_BYTES_MAX } from './limits.js';
import type { Shortage } from './request-sessions.js';

export const TOO_MANY_KEYS = nodeError(
  'too many requests came with an Idempotency-Key in the last minute: try again, or name requests by Althing-Request',
);

export const SHORTAGES: Readonly<Record<Shortage, QueryError>> = {
  sessions: nodeError(
    'too many clients named requests by Althing-Request in the last hour: try again, and keep the name of a client for all of its requests',
  ),
  bytes: nodeError(
    'the answers that clients with named requests (Althing-Request) may still ask for take too much room: try again',
  ),
};

export const DISK_FULL = nodeError(
  'the disk of the node is full: reads go on, changes are refused until there is room again',
);

export const DISK_LOW = nodeError(
  'the disk of the node is almost full: reads go on, changes are refused until there is room again; free some space, or delete a collection',
);

export const STATE_SHUT = nodeError(
  'the disk of the node is full, and its data can not be opened: it goes on by itself when there is room again',
);

export const RESTORING = nodeError('a backup is being restored: try again when that is done');

export const NO_CHANGES = nodeError('the node takes no changes at the moment: try again');

export const NOT_WRITTEN = nodeError(
  'the change could not be written and is not acknowledged; it may or may not take effect',
);

export const NOT_WRITTEN_DISK_FULL = nodeError(
  'the disk of the node is full; the change is not acknowledged, but may take effect once there is room',
);

export const LEADERSHIP_LOST = nodeError(
  'the node lost its leadership before the change was acknowledged; it may or may not have taken effect',
);

export const NOT_ANSWERED = nodeError(
  'what was read depended on a change that could not be written; nothing was changed: try again',
);

export function tooLarge({ length }: Uint8Array): QueryError | null {
  if (length <= CHANGE_BYTES_MAX) return null;
  return quotaError(
    `the change takes ${length} bytes in the log; at most ${CHANGE_BYTES_MAX} are allowed: make it in several steps`,
  );
}
