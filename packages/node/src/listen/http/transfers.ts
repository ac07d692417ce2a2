/**
 * Transfers over the API, in streams:
 *
 *   POST /@backup     answer: a backup, `application/octet-stream`; what is cut off ends too early
 *   POST /@restore    body: a backup; answer, once it is restored: {"collections": ..., "records": ...}
 *
 * Neither has a deadline as long as bytes go over: a connection where they do not for ten seconds is closed.
 */
import type { User } from '@althing/engine';
import type { Exchange } from './exchange.js';
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
}

/** Answers with a backup. Throws only as long as nothing was answered. */
export async function backUp(
  exchange: Exchange,
  upload: Upload,
  request: TransferRequest,
  handler: TransferHandler,
): Promise<void> {
  void upload.discard();
  const answer: { pieces: Pieces | null } = { pieces: null };
  try {
    await handler.backUp(request, (bytes) => {
      answer.pieces ??= exchange.begin('application/octet-stream');
      return answer.pieces === null ? Promise.reject(new ClientGoneError()) : answer.pieces.write(bytes);
    });
    answer.pieces?.end();
  } catch (error) {
    if (answer.pieces === null && !exchange.gone) throw error;
    answer.pieces?.break();
  }
}

/** Restores what comes, and answers then. Throws only as long as nothing was answered. */
export async function restore(
  exchange: Exchange,
  upload: Upload,
  request: TransferRequest,
  handler: TransferHandler,
): Promise<void> {
  try {
    exchange.reply({ ok: true, result: await handler.restore(request, upload) });
  } catch (error) {
    if (!exchange.gone) throw error;
  }
}
