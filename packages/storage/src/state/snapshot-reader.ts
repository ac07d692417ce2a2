import { asBuffer } from '../bytes.js';
import { SnapshotRefusedError } from '../errors.js';
import { compareNames, type RecordName } from './keys.js';
import { VALUE_BYTES_MAX } from './limits.js';
import {
  decodeContent,
  isWhole,
  nextTotal,
  type Piece,
  type SnapshotChunk,
  type SnapshotHeader,
} from './snapshot-format.js';
import type { StateRecord } from './state-store.js';

/**
 * Checks the chunks of one snapshot, in order, and puts their records together, without storing anything.
 * What it gave is right only once the last chunk was taken.
 */
export class SnapshotReader {
  private state: 'open' | 'complete' | 'failed' = 'open';
  private currentHeader: SnapshotHeader | undefined;
  private expectedSequence = 0;
  private records = 0;
  private total: Buffer | undefined;
  private lastName: RecordName | undefined;
  /** Pieces of the value that is being put together. */
  private pieces: Piece[] = [];
  private pieceBytes = 0;

  /** The content of the first chunk; undefined before it came. */
  get header(): SnapshotHeader | undefined {
    return this.currentHeader;
  }

  /** The chunk that must come next. */
  get nextSequence(): number {
    return this.expectedSequence;
  }

  /** The trailer has come and all is verified. */
  get isComplete(): boolean {
    return this.state === 'complete';
  }

  /**
   * Takes the next chunk; gives the records that are complete now, in rising order. They may lie in the
   * chunk's bytes. Throws `SnapshotRefusedError`: for a chunk that was changed on its way, or is not the next
   * one, the right one may still come; otherwise no further one is taken.
   */
  take(chunk: SnapshotChunk): readonly StateRecord[] {
    if (!isWhole(chunk)) throw damaged(`chunk ${chunk.sequence} does not hold its checksum`);
    if (chunk.sequence !== this.expectedSequence || this.state !== 'open') {
      throw new SnapshotRefusedError(
        'out_of_order',
        `chunk ${chunk.sequence} came, not ${this.expectedSequence}`,
      );
    }
    try {
      const records = this.takeContent(asBuffer(chunk.bytes));
      this.expectedSequence++;
      return records;
    } catch (error) {
      this.state = 'failed';
      throw error;
    }
  }

  private takeContent(bytes: Buffer): readonly StateRecord[] {
    const content = decodeContent(bytes);
    if ((content.kind === 'header') !== (this.expectedSequence === 0))
      throw damaged('its header is not its first chunk');
    const records: StateRecord[] = [];
    switch (content.kind) {
      case 'header':
        this.currentHeader = content.header;
        break;
      case 'records':
        for (const piece of content.pieces) {
          const value = this.assemble(piece);
          if (value === undefined) continue;
          this.checkOrder(piece);
          const { kind, id, part } = piece;
          records.push({ kind, id, part, value });
          this.records++;
        }
        break;
      case 'trailer': {
        const isAll = this.pieces.length === 0 && content.records === this.records;
        if (!isAll || this.total === undefined || !content.total.equals(this.total)) {
          throw damaged('it is not what its trailer says');
        }
        this.state = 'complete';
      }
    }
    this.total = nextTotal(this.total, bytes);
    return records;
  }

  /** The whole value once its last piece is there. */
  private assemble(piece: Piece): Buffer | undefined {
    const before = this.pieces[0];
    const isSame = before === undefined || compareNames(before, piece) === 0;
    this.pieceBytes += piece.data.length;
    if (!isSame || this.pieceBytes > VALUE_BYTES_MAX) throw damaged('a value in pieces has a wrong form');
    if (piece.more) {
      this.pieces.push({ ...piece, data: Buffer.from(piece.data) });
      return undefined;
    }
    const value =
      before === undefined ? piece.data : Buffer.concat([...this.pieces, piece].map(({ data }) => data));
    this.pieces = [];
    this.pieceBytes = 0;
    return value;
  }

  private checkOrder(name: RecordName): void {
    if (this.lastName !== undefined && compareNames(this.lastName, name) >= 0)
      throw damaged('its records are not in order');
    this.lastName = name;
  }
}

function damaged(what: string): SnapshotRefusedError {
  return new SnapshotRefusedError('damaged', what);
}
