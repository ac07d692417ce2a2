import { asBuffer } from '../bytes.js';
import { SnapshotRefusedError } from '../errors.js';
import { compareNames, type RecordName, readName } from './keys.js';
import { VALUE_BYTES_MAX } from './limits.js';
import {
  type ChunkContent,
  decodeContent,
  formatOf,
  isWhole,
  nextTotal,
  type Piece,
  type SnapshotChunk,
  type SnapshotFormat,
  type SnapshotHeader,
  type StoredPiece,
} from './snapshot-format.js';
import type { StateRecord } from './state-store.js';
import { isValue, VALUE_HEADER_BYTES } from './values.js';

/** A record as another store has it; `name` is as in its key. */
export type StoredRecord = { readonly name: Buffer; readonly value: Buffer };

/** The records of a chunk: of format 1, or of format 2; the other list is empty. */
export type Taken = { readonly records: readonly StateRecord[]; readonly stored: readonly StoredRecord[] };

/**
 * Checks the chunks of one snapshot, in order, and puts their records together, without storing anything.
 * The records that it gave are right only once the last chunk was taken.
 */
export class SnapshotReader {
  private state: 'open' | 'complete' | 'failed' = 'open';
  private currentHeader: SnapshotHeader | undefined;
  private expectedSequence = 0;
  private records = 0;
  private total: Buffer | undefined;
  private lastName: RecordName | undefined;
  private lastStored: Buffer | undefined;
  /** Pieces of the value that is being put together. */
  private pieces: (Piece | StoredPiece)[] = [];
  private pieceBytes = 0;

  /** The content of the first chunk; undefined before it came. */
  get header(): SnapshotHeader | undefined {
    return this.currentHeader;
  }

  /** The chunk that must come next. */
  get nextSequence(): number {
    return this.expectedSequence;
  }

  /** The trailer has come and all is verified: with format 2 all but what values hold, which their own checksums tell. */
  get isComplete(): boolean {
    return this.state === 'complete';
  }

  /** The format of the chunks; any before the first one. */
  get format(): SnapshotFormat {
    return this.currentHeader === undefined ? 1 : formatOf(this.currentHeader);
  }

  /**
   * Takes the next chunk; gives the records that are complete now, in rising order. They may lie in the
   * chunk's bytes. Throws `SnapshotRefusedError`: for a chunk that was changed on its way, or is not the next
   * one, the right one may still come; otherwise no further one is taken.
   */
  take(chunk: SnapshotChunk): readonly StateRecord[] {
    const { records, stored } = this.takeStored(chunk);
    return stored.length === 0 ? records : stored.map(recordOf);
  }

  /** Like {@link take}, but gives records of format 2 as they came. */
  takeStored(chunk: SnapshotChunk): Taken {
    if (!isWhole(chunk, this.format)) throw damaged(`chunk ${chunk.sequence} does not hold its checksum`);
    if (chunk.sequence !== this.expectedSequence || this.state !== 'open') {
      throw new SnapshotRefusedError(
        'out_of_order',
        `chunk ${chunk.sequence} came, not ${this.expectedSequence}`,
      );
    }
    try {
      const content = decodeContent(asBuffer(chunk.bytes), this.format);
      if ((content.kind === 'header') !== (this.expectedSequence === 0))
        throw damaged('its header is not its first chunk');
      const taken = this.takeContent(content);
      this.total = nextTotal(this.total, chunk, this.format);
      this.expectedSequence++;
      return taken;
    } catch (error) {
      this.state = 'failed';
      throw error;
    }
  }

  private takeContent(content: ChunkContent): Taken {
    switch (content.kind) {
      case 'header':
        this.currentHeader = content.header;
        return NOTHING;
      case 'records':
        return { records: this.takePieces(content.pieces), stored: [] };
      case 'stored':
        return { records: [], stored: this.takeStoredPieces(content.pieces) };
      case 'trailer': {
        const isAll = this.pieces.length === 0 && content.records === this.records;
        if (!isAll || this.total === undefined || !content.total.equals(this.total)) {
          throw damaged('it is not what its trailer says');
        }
        this.state = 'complete';
        return NOTHING;
      }
    }
  }

  private takePieces(pieces: readonly Piece[]): StateRecord[] {
    const records: StateRecord[] = [];
    for (const piece of pieces) {
      const before = this.pieces[0];
      const isSame = before === undefined || ('kind' in before && compareNames(before, piece) === 0);
      const value = this.assemble(piece, isSame);
      if (value === undefined) continue;
      if (this.lastName !== undefined && compareNames(this.lastName, piece) >= 0)
        throw damaged('its records are not in order');
      this.lastName = piece;
      const { kind, id, part } = piece;
      records.push({ kind, id, part, value });
      this.records++;
    }
    return records;
  }

  private takeStoredPieces(pieces: readonly StoredPiece[]): StoredRecord[] {
    const stored: StoredRecord[] = [];
    let last = this.lastStored;
    for (const piece of pieces) {
      const { name } = piece;
      const before = this.pieces[0];
      const value = this.assemble(
        piece,
        before === undefined || ('name' in before && name.equals(before.name)),
      );
      if (value === undefined) continue;
      if (last !== undefined && last.compare(name) >= 0) throw damaged('its records are not in order');
      last = name;
      if (!isValue(value)) throw damaged('a value has a wrong form');
      stored.push({ name, value });
      this.records++;
    }
    // The chunk need not be kept for the sake of a name.
    this.lastStored = last === undefined ? undefined : Buffer.from(last);
    return stored;
  }

  /** The whole value once its last piece is there. */
  private assemble(piece: Piece | StoredPiece, isSame: boolean): Buffer | undefined {
    this.pieceBytes += piece.data.length;
    if (!isSame || this.pieceBytes > VALUE_BYTES_MAX + VALUE_HEADER_BYTES)
      throw damaged('a value in pieces has a wrong form');
    if (piece.more) {
      const data = Buffer.from(piece.data);
      this.pieces.push(
        'name' in piece ? { ...piece, name: Buffer.from(piece.name), data } : { ...piece, data },
      );
      return undefined;
    }
    const value =
      this.pieces.length === 0 ? piece.data : Buffer.concat([...this.pieces, piece].map(({ data }) => data));
    this.pieces = [];
    this.pieceBytes = 0;
    return value;
  }
}

const NOTHING: Taken = { records: [], stored: [] };

function recordOf({ name, value }: StoredRecord): StateRecord {
  return { ...readName(name), value: value.subarray(VALUE_HEADER_BYTES) };
}

function damaged(what: string): SnapshotRefusedError {
  return new SnapshotRefusedError('damaged', what);
}
