import { ByteReader } from '../bytes.js';
import type { Dirty } from './dirty.js';
import { isWhole, readRecord, slicePart, writeRecord } from './large-record.js';
import { RecordKind, type RecordSink, type RecordSource } from './records.js';

/** State on disk that can't be what was written there. The node must stop serving it. */
export class DamagedStateError extends Error {}

/**
 * The records of things: those of the last checkpoint, and those that were restored and may not be on disk yet. A large record lies in
 * slices, see `large-record.ts`.
 */
export class ThingRecords implements RecordSource {
  /** The number of slices that a large record has, by `id:part`. */
  private readonly slices = new Map<string, number>();
  /** The number of those read that lie where the last checkpoint wrote them. */
  reads = 0;

  constructor(
    private readonly source: RecordSource,
    private readonly dirty: Dirty,
  ) {}

  read(kind: RecordKind, id: number, part: number): Uint8Array | undefined {
    const pending = this.dirty.pending(kind, id, part);
    if (pending !== undefined) return pending.value ?? undefined;
    this.reads += 1;
    return this.source.read(kind, id, part);
  }

  has(id: number): boolean {
    return this.read(RecordKind.THING, id, 0) !== undefined;
  }

  /** A record of a thing that must be there. Throws `DamagedStateError`. */
  value(id: number, part: number): Uint8Array {
    const record = readRecord(this, RecordKind.THING, id, part);
    if (record === undefined) throw new DamagedStateError(`record ${part} of thing ${id} is missing`);
    if (record.slices > 0) this.slices.set(`${id}:${part}`, record.slices);
    return record.value;
  }

  /** The first record of a thing, to be read from its beginning. Most are whole, and are read where they lie. */
  reader(id: number): ByteReader {
    const record = this.read(RecordKind.THING, id, 0);
    if (record !== undefined && isWhole(record)) return new ByteReader(record, 1);
    return new ByteReader(this.value(id, 0));
  }

  /** Writes a record to a checkpoint, in place of the one before. */
  write(sink: RecordSink, id: number, part: number, value: Uint8Array): void {
    const name = `${id}:${part}`;
    const before = this.slices.size === 0 ? 0 : (this.slices.get(name) ?? 0);
    const now = writeRecord(sink, RecordKind.THING, id, part, value);
    for (let i = now; i < before; i++) sink.delete(RecordKind.THING, id, slicePart(part, i));
    if (now > 0) this.slices.set(name, now);
    else if (before > 0) this.slices.delete(name);
  }

  /** Takes a record out of a checkpoint. */
  delete(sink: RecordSink, id: number, part: number): void {
    const name = `${id}:${part}`;
    const slices = this.slices.size === 0 ? 0 : (this.slices.get(name) ?? 0);
    for (let i = 0; i < slices; i++) sink.delete(RecordKind.THING, id, slicePart(part, i));
    if (slices > 0) this.slices.delete(name);
    sink.delete(RecordKind.THING, id, part);
  }

  /** These records of a thing, and their slices as far as they are known. */
  partsOf(id: number, parts: readonly number[]): readonly number[] {
    if (this.slices.size === 0) return parts;
    return parts.flatMap((part) => {
      const count = this.slices.get(`${id}:${part}`) ?? 0;
      return [part, ...Array.from({ length: count }, (_, i) => slicePart(part, i))];
    });
  }
}
