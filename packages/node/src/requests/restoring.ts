/** A query that restores a backup: its answer waits until that is done, however long it takes. */
import { ErrorCode, QueryError } from '@althing/engine';
import type { RestoreRequest } from '../backup/transfers.js';
import { type Reply, UnfinishedError } from '../groups/request.js';

/**
 * Restores a backup.
 *
 * @throws QueryError; an UnfinishedError when it is not known whether it was made
 */
export type Restore = (request: RestoreRequest) => Promise<void>;

/** The reply to a request when its restore has ended. */
export async function restored(restore: Restore, request: RestoreRequest): Promise<Reply> {
  try {
    await restore(request);
    return { ok: true, result: request.result, outcome: 'made' };
  } catch (error) {
    if (error instanceof UnfinishedError) return { ok: false, error, outcome: 'unknown' };
    if (error instanceof QueryError) return { ok: false, error };
    const unknown = new QueryError(ErrorCode.INTERNAL, 'internal error; see the log of the node');
    return { ok: false, error: unknown, outcome: 'unknown' };
  }
}
