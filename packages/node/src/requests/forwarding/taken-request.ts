import type { ByteWriter } from '@althing/engine';
import type { PreparedAnswer } from '../../between/protocol.js';
import type { OpenCall } from '../../calls/calls.js';
import { encodePrepared } from './format.js';
import type { EarlyAnswer } from './pending-request.js';

/** A request that another node sent, and who gets its answer: each copy of it that came meanwhile, too. */
export class TakenRequest implements EarlyAnswer {
  private readonly call: OpenCall;
  private readonly writer: ByteWriter;
  private others: OpenCall[] | null = null;
  private isAnswered = false;

  /** @param writer one that is free for short answers */
  constructor(call: OpenCall, writer: ByteWriter) {
    this.call = call;
    this.writer = writer;
  }

  /** A copy came, and gets the same answer. */
  join(call: OpenCall): void {
    this.others ??= [];
    this.others.push(call);
  }

  prepare(result: string | Uint8Array): PreparedAnswer | null {
    if (result.length > EARLY_LENGTH_MAX) return null;
    return this.call.prepare(encodePrepared(result, this.writer));
  }

  noteAnswered(): void {
    this.isAnswered = true;
  }

  /** Whether somebody still waits for an answer. */
  get awaitsAnswer(): boolean {
    return !this.isAnswered || this.others !== null;
  }

  end(bytes: Uint8Array): void {
    if (!this.isAnswered) this.call.answer(bytes);
    if (this.others !== null) for (const call of this.others) call.answer(bytes);
  }
}

/** Characters or bytes of a result that goes along with its change at most: it is there a second time meanwhile. */
const EARLY_LENGTH_MAX = 4 * 1024;
