import { SnapshotRefusedError } from '../errors.js';
import {
  decodeContent,
  isWhole,
  nextTotal,
  type Piece,
  type SnapshotChunk,
  type SnapshotHeader,
} from './snapshot-format.js';
import type { StateRecord } from './state-store.js';

/** What a chunk brought. */
export interface SnapshotPart {
  /** Records that are complete now, in rising order. */
  readonly records: readonly StateRecord[];
  readonly isLast: boolean;
}

/**
 * Reads the chunks of one snapshot, in order, without storing anything: for backups. What it gave is right only once the
 * last chunk was taken.
 */
export class SnapshotReader {
  #header: SnapshotHeader | undefined;
  #sequence = 0;
  #records = 0;
  #total: Buffer | undefined;
  #pieces: Piece[] = [];
  #pieceBytes = 0;
  #isComplete = false;

  /** What the first chunk told; undefined before it came. */
  get header(): SnapshotHeader | undefined {
    return this.#header;
  }

  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Throws `SnapshotRefusedError`: a chunk is damaged, missing, or too much. */
  take(chunk: SnapshotChunk): SnapshotPart {
    if (!isWhole(chunk)) throw refused(`chunk ${chunk.sequence} does not fit its checksum`);
    if (this.#isComplete || chunk.sequence !== this.#sequence) {
      throw refused(`chunk ${chunk.sequence} came where ${this.#sequence} was due`);
    }
    const bytes = Buffer.from(chunk.bytes.buffer, chunk.bytes.byteOffset, chunk.bytes.length);
    const content = decodeContent(bytes);
    if ((content.kind === 'header') !== (this.#sequence === 0))
      throw refused('its header is not at its beginning');
    this.#sequence += 1;
    if (content.kind === 'trailer') {
      this.#end(content.records, content.total);
      return { records: [], isLast: true };
    }
    this.#total = nextTotal(this.#total, bytes);
    if (content.kind === 'header') {
      this.#header = content.header;
      return { records: [], isLast: false };
    }
    return { records: content.pieces.flatMap((piece) => this.#add(piece)), isLast: false };
  }

  #add(piece: Piece): StateRecord[] {
    const [first] = this.#pieces;
    if (
      first !== undefined &&
      (first.kind !== piece.kind || first.id !== piece.id || first.part !== piece.part)
    ) {
      throw refused('a record is not complete');
    }
    this.#pieceBytes += piece.data.length;
    if (this.#pieceBytes > RECORD_BYTES_MAX) throw refused('a record is too large');
    this.#pieces.push(piece);
    if (piece.more) return [];
    const value = Buffer.concat(this.#pieces.map(({ data }) => data));
    const { kind, id, part } = piece;
    this.#pieces = [];
    this.#pieceBytes = 0;
    this.#records += 1;
    return [{ kind, id, part, value }];
  }

  #end(records: number, total: Buffer): void {
    if (this.#pieces.length > 0 || records !== this.#records || this.#total?.equals(total) !== true) {
      throw refused('it does not fit its checksum');
    }
    this.#isComplete = true;
  }
}

/** More than any record that is written. */
const RECORD_BYTES_MAX = 64 * 1024 * 1024;

function refused(what: string): SnapshotRefusedError {
  return new SnapshotRefusedError('damaged', what);
}
