/**
 * Transfers over the API, in streams:
 *
 *   POST /@backup     answer: a backup, `application/octet-stream`; what is cut off ends too early
 *   POST /@restore    body: a backup; answer, once it is restored: {"collections": ..., "records": ...}
 *   POST /@export/NAME   answer: one collection
 *   POST /@import/NAME   body: an export or a backup; answer, once it is there: {"collection": ..., "records": ..., "parts": ..., "resumed": ...};
 *                        with /import_tasks behind the name, tasks come along, and belong to the user that asks; with /owned_tasks
 *                        they belong to the users that the export names, where there are such; with the digest at the end of the
 *                        file behind that, the import goes on where an earlier one of the same file was interrupted
 *
 * All take GRANT on `@thingsdb`, so a request with `Althing-Read-Only` does none of this.
 *
 * None has a deadline as long as bytes go over: a connection where they do not for ten seconds is closed.
 */
import { badDataError, Privilege, type QueryError, refusalOf, type User } from '@althing/engine';
import { ClientGoneError, type TransferRequest, type Transfers } from '../../backup/transfers.js';
import { isDry, problemOf, type TermHeaders } from '../shared/terms.js';
import type { Exchange } from './exchange.js';
import type { Transfer } from './path.js';
import type { Pieces } from './pieces.js';
import { NO_DRY_RUN } from './refusals.js';
import type { Upload } from './upload.js';

/** Why a transfer can't be made on the terms of its request; null when it can. */
export function refusalBy(terms: TermHeaders | null, user: User): QueryError | null {
  if (terms === null) return null;
  const problem = problemOf(terms);
  if (problem !== null) return badDataError(problem);
  if (isDry(terms.dryRun)) return NO_DRY_RUN;
  return terms.readOnly === 'true' ? refusalOf(user, Privilege.GRANT, '@thingsdb', true) : null;
}

/** Does what a request asks for, and answers it. Throws only as long as nothing was answered. */
export function transferred(
  exchange: Exchange,
  upload: Upload,
  request: TransferRequest,
  asked: Transfer,
  transfers: Transfers,
): Promise<void> {
  switch (asked.transfer) {
    case 'backup':
      return sent(exchange, upload, (write) => transfers.backUp(request, write));
    case 'export':
      return sent(exchange, upload, (write) => transfers.exportCollection(request, asked.collection, write));
    case 'restore':
      return taken(exchange, () => transfers.restore(request, upload));
    case 'import':
      return taken(exchange, () => transfers.importCollection(request, asked, upload));
  }
}

/** Answers with a stream. */
async function sent(
  exchange: Exchange,
  upload: Upload,
  work: (write: (bytes: Uint8Array) => Promise<void>) => Promise<void>,
): Promise<void> {
  void upload.discard();
  const answer: { pieces: Pieces | null } = { pieces: null };
  try {
    await work((bytes) => {
      answer.pieces ??= exchange.begin('application/octet-stream');
      return answer.pieces === null ? Promise.reject(new ClientGoneError()) : answer.pieces.write(bytes);
    });
    answer.pieces?.end();
  } catch (error) {
    if (answer.pieces === null && !exchange.gone) throw error;
    answer.pieces?.break();
  }
}

/** Takes what comes, and answers then. */
async function taken(exchange: Exchange, work: () => Promise<string>): Promise<void> {
  try {
    exchange.reply({ ok: true, result: await work() });
  } catch (error) {
    if (!exchange.gone) throw error;
  }
}
