/**
 * Transfers over the API, in streams:
 *
 *   POST /@backup     answer: a backup, `application/octet-stream`; what is cut off ends too early
 *   POST /@restore    body: a backup; answer, once it is restored: {"collections": ..., "records": ...}
 *   POST /@export/NAME   answer: one collection
 *   POST /@import/NAME   body: an export or a backup; answer, once it is there: {"collection": ..., "records": ...};
 *                        with /import_tasks behind the name, tasks come along
 *
 * None has a deadline as long as bytes go over: a connection where they do not for ten seconds is closed.
 */
import type { User } from '@althing/engine';
import type { Exchange } from './exchange.js';
import type { Transfer } from './path.js';
import { ClientGoneError, type Pieces } from './pieces.js';
import type { Upload } from './upload.js';

/** The user that asks. */
export interface TransferRequest {
  readonly user: User;
  readonly id: string;
}

export interface TransferHandler {
  /**
   * @param write takes bytes; resolves when it wants more
   * @throws QueryError
   */
  backUp(request: TransferRequest, write: (bytes: Uint8Array) => Promise<void>): Promise<void>;
  /**
   * @returns the answer
   * @throws QueryError; an UnfinishedError when something may have been restored
   */
  restore(request: TransferRequest, source: AsyncIterable<Uint8Array>): Promise<string>;
  /** As `backUp`, of one collection. */
  exportCollection(
    request: TransferRequest,
    collection: string,
    write: (bytes: Uint8Array) => Promise<void>,
  ): Promise<void>;
  /**
   * Makes a collection of what was exported, or lies in a backup under the same name.
   *
   * @returns the answer
   * @throws QueryError; an UnfinishedError when it is not known whether it is there
   */
  importCollection(
    request: TransferRequest,
    asked: Pick<Transfer & { readonly transfer: 'import' }, 'collection' | 'takesTasks'>,
    source: AsyncIterable<Uint8Array>,
  ): Promise<string>;
}

/** Does what a request asks for, and answers it. Throws only as long as nothing was answered. */
export function transferred(
  exchange: Exchange,
  upload: Upload,
  request: TransferRequest,
  asked: Transfer,
  handler: TransferHandler,
): Promise<void> {
  switch (asked.transfer) {
    case 'backup':
      return sent(exchange, upload, (write) => handler.backUp(request, write));
    case 'export':
      return sent(exchange, upload, (write) => handler.exportCollection(request, asked.collection, write));
    case 'restore':
      return taken(exchange, () => handler.restore(request, upload));
    case 'import':
      return taken(exchange, () => handler.importCollection(request, asked, upload));
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
