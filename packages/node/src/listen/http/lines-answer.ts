import { ClientGoneError } from '../../backup/transfers.js';
import type { LineAnswer, Reply } from '../../groups/request.js';
import type { Exchange } from './exchange.js';
import type { Pieces } from './pieces.js';
import { snapshotHeaders } from './reply-headers.js';

/**
 * An answer that is a line of JSON for each value, the result as the last one, unless it is nil. Its head leaves with the first of them; an error behind that ends the connection
 * without the last chunk.
 */
export class LinesAnswer implements LineAnswer {
  private pieces: Pieces | null = null;
  private place = { index: 0, ageMs: 0 };

  constructor(private readonly exchange: Exchange) {}

  begin(index: number, ageMs: number): void {
    this.place = { index, ageMs };
  }

  write(bytes: Uint8Array): Promise<void> {
    const { index, ageMs } = this.place;
    const headers = [...snapshotHeaders(ageMs), ['Althing-Index', String(index)] as const];
    this.pieces ??= this.exchange.begin('application/x-ndjson', headers);
    return this.pieces === null ? Promise.reject(new ClientGoneError()) : this.pieces.write(bytes);
  }

  finish(reply: Reply): void {
    if (!reply.ok) {
      if (this.pieces === null) this.exchange.reply(reply);
      else this.pieces.break();
      return;
    }
    const { index = 0, snapshotAgeMs = 0 } = reply;
    this.begin(index, snapshotAgeMs);
    this.write(NOTHING).then(
      () => this.pieces?.end(),
      // The client is gone.
      () => this.pieces?.break(),
    );
  }
}

const NOTHING = new Uint8Array(0);
