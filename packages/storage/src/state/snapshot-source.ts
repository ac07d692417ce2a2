import { asBuffer } from '../bytes.js';
import { DamagedStateError, MisuseError } from '../errors.js';
import type { KeyValueCursor, KeyValuePair, KeyValueSnapshot, KeyValueStore } from '../kv/key-value-store.js';
import type { GroupMeta } from './group-meta.js';
import { isRecordKey, recordRange } from './keys.js';
import {
  beginPieces,
  encodeHeader,
  encodeTrailer,
  makeChunk,
  nextTotal,
  PIECE_HEADER_BYTES,
  type SnapshotChunk,
  type SnapshotFormat,
  type SnapshotHeader,
  writePiece,
} from './snapshot-format.js';
import { checkValue, VALUE_HEADER_BYTES } from './values.js';

export const CHUNK_BYTES_DEFAULT = 256 * 1024;
export const CHUNK_BYTES_MIN = 1024;
const FETCHED_PAIRS = 512;

/** The beginning of a chunk of records. */
type Boundary = {
  /** The first key to read. */
  readonly from: Buffer;
  /** The bytes of its value that earlier chunks hold. */
  readonly offset: number;
  /** Records that earlier chunks hold whole. */
  readonly records: number;
  /** The total over the earlier chunks. */
  readonly total: Buffer;
};

/**
 * A consistent view of a group, read as a stream of chunks of a bounded size. The same chunk always has the
 * same bytes, so a receiver that lost its connection goes on where it was. To be closed.
 */
export class SnapshotSource {
  readonly header: SnapshotHeader;
  private readonly generation: number;
  private readonly chunkBytes: number;
  private readonly first: SnapshotChunk;
  /** The beginnings of the chunks that were made so far, from chunk 1. */
  private readonly boundaries: Boundary[];
  private isOpen = true;

  constructor(
    private readonly store: KeyValueStore,
    private readonly view: KeyValueSnapshot,
    group: number,
    meta: GroupMeta,
    chunkBytes: number,
    private readonly format: SnapshotFormat,
    private readonly onClose: () => void,
  ) {
    const { applied, generation } = meta;
    this.header = format === 1 ? { group, applied } : { group, applied, generation };
    this.generation = generation;
    this.chunkBytes = Math.max(chunkBytes, CHUNK_BYTES_MIN);
    this.first = makeChunk(0, encodeHeader(this.header), format);
    const { from } = recordRange(group, generation);
    const total = nextTotal(undefined, this.first, format);
    this.boundaries = [{ from: asBuffer(from), offset: 0, records: 0, total }];
  }

  /**
   * The chunks from a sequence number on: 0 for the beginning, or how many the receiver has. Throws
   * `DamagedStateError` if a record is damaged.
   *
   * @param allocate gives a buffer of so many bytes, which the next chunk may lie in
   */
  async *chunks(
    from = 0,
    allocate: (bytes: number) => Buffer = Buffer.allocUnsafe,
  ): AsyncGenerator<SnapshotChunk, void, undefined> {
    this.assertOpen();
    if (from === 0) yield this.first;
    const known = Math.max(1, Math.min(from, this.boundaries.length));
    const start = this.boundaries[known - 1];
    if (start === undefined) return;
    const { store, view, header, generation, format } = this;
    const reader = new PieceReader(store, view, header.group, generation, start, format);
    try {
      let { records, total } = start;
      for (let sequence = known; ; sequence++) {
        this.assertOpen();
        const bytes = await reader.next(allocate(this.chunkBytes));
        if (bytes === undefined) {
          if (sequence >= from) yield makeChunk(sequence, encodeTrailer(records, total), format);
          return;
        }
        records += reader.records;
        const chunk = makeChunk(sequence, bytes, format);
        total = nextTotal(total, chunk, format);
        this.boundaries[sequence] = { from: reader.nextKey, offset: reader.nextOffset, records, total };
        if (sequence >= from) yield chunk;
      }
    } finally {
      await reader.close();
    }
  }

  /** Lets the view go. Streams that are being read end with an error. */
  async close(): Promise<void> {
    if (!this.isOpen) return;
    this.isOpen = false;
    await this.view.close();
    this.onClose();
  }

  private assertOpen(): void {
    if (!this.isOpen) throw new MisuseError('a snapshot was read after it was closed');
  }
}

/** Reads records in order and cuts them into pieces that fill chunks. Hot: a record makes no objects. */
class PieceReader {
  private readonly cursor: KeyValueCursor;
  private pairs: readonly KeyValuePair[] = [];
  private at = 0;
  /** The pairs after these, which are read while these are cut. */
  private ahead: Promise<readonly KeyValuePair[]> | undefined;
  /** The key that was cut last, and whether its value was cut short. */
  private key: Buffer;
  private offset: number;
  private isDone = false;
  /** True if the value at hand holds its checksum: what comes in pieces is looked at once. */
  private isChecked = false;
  /** Records that ended in the last chunk. */
  records = 0;

  constructor(
    store: KeyValueStore,
    snapshot: KeyValueSnapshot,
    private readonly group: number,
    generation: number,
    start: Boundary,
    private readonly format: SnapshotFormat,
  ) {
    const { to } = recordRange(group, generation);
    this.cursor = store.iterate({ from: start.from, to }, { snapshot });
    this.key = start.from;
    this.offset = start.offset;
  }

  /** The key where the next chunk begins. */
  get nextKey(): Buffer {
    return this.isDone ? Buffer.concat([this.key, Buffer.of(0)]) : this.key;
  }

  /** The bytes of that key's value in the chunks before. */
  get nextOffset(): number {
    return this.offset;
  }

  /** The bytes of one chunk, in a buffer that it should fill; undefined at the end. */
  async next(bytes: Buffer): Promise<Buffer | undefined> {
    const first = beginPieces(bytes);
    let end = first;
    this.records = 0;
    while (bytes.length - end > PIECE_HEADER_BYTES) {
      if (this.at === this.pairs.length) {
        this.pairs = await (this.ahead ?? this.cursor.next(FETCHED_PAIRS));
        this.at = 0;
        this.ahead = undefined;
        if (this.pairs.length === 0) break;
        this.ahead = this.cursor.next(FETCHED_PAIRS);
        // It is nobody's until these are cut.
        this.ahead.catch(() => undefined);
      }
      end = this.cut(this.pairs[this.at]!, bytes, end);
    }
    return end === first ? undefined : bytes.subarray(0, end);
  }

  async close(): Promise<void> {
    await this.ahead?.catch(() => undefined);
    await this.cursor.close();
  }

  /** Writes the next piece of a pair into the bytes of a chunk; moves on. Gives where the one after it begins. */
  private cut([key, value]: KeyValuePair, bytes: Buffer, at: number): number {
    if (!isRecordKey(key))
      throw new DamagedStateError(`${key.toString('hex')} is no key of a record`, this.group);
    if (!this.isChecked) checkValue(key, value, this.group);
    const start = (this.format === 1 ? VALUE_HEADER_BYTES : 0) + this.offset;
    const end = Math.min(value.length, start + bytes.length - at - PIECE_HEADER_BYTES);
    this.isDone = end === value.length;
    this.isChecked = !this.isDone;
    this.key = key;
    writePiece(bytes, at, key, !this.isDone, value, start, end, this.format);
    if (this.isDone) {
      this.offset = 0;
      this.at++;
      this.records++;
    } else {
      this.offset += end - start;
    }
    return at + PIECE_HEADER_BYTES + end - start;
  }
}
