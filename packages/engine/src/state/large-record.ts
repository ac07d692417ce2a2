/**
 * Records of any size. A store takes values up to a limit; a larger record goes on in further ones.
 *
 *   record       := 00 bytes               whole
 *                 | 01 count:varint        cut into `count` slices, in the records (id, SLICES + 128 * part + 0, 1, ...)
 */
import { ByteReader, ByteWriter } from '../bytes.js';
import type { RecordKind, RecordSink, RecordSource } from './records.js';

/** Bytes of one slice. */
const SLICE_BYTES = 16 * 1024 * 1024;

/** Slices of one record at most. */
const SLICES_MAX = 128;

/** Parts from here on are slices. */
const SLICES = 2 ** 31;

const WHOLE = 0;
const CUT = 1;

/** Writes a record; returns in how many slices, 0 for a whole one. */
export function writeRecord(
  sink: RecordSink,
  kind: RecordKind,
  id: number,
  part: number,
  value: Uint8Array,
): number {
  if (value.length <= SLICE_BYTES) {
    const record = Buffer.allocUnsafe(1 + value.length);
    record[0] = WHOLE;
    record.set(value, 1);
    sink.put(kind, id, part, record);
    return 0;
  }
  const out = new ByteWriter(16);
  const count = Math.ceil(value.length / SLICE_BYTES);
  if (count > SLICES_MAX) throw new Error(`a record of ${value.length} bytes can not be stored`);
  out.u8(CUT);
  out.varint(count);
  sink.put(kind, id, part, out.take());
  for (let i = 0; i < count; i++) {
    sink.put(kind, id, slicePart(part, i), value.subarray(i * SLICE_BYTES, (i + 1) * SLICE_BYTES));
  }
  return count;
}

/** Reads a record, and tells in how many slices it was; undefined when there is none. */
export function readRecord(
  source: RecordSource,
  kind: RecordKind,
  id: number,
  part: number,
): { readonly value: Uint8Array; readonly slices: number } | undefined {
  const record = source.read(kind, id, part);
  if (record === undefined) return undefined;
  if (isWhole(record)) return { value: record.subarray(1), slices: 0 };
  const input = new ByteReader(record, 1);
  const count = input.varint();
  const slices: Uint8Array[] = [];
  for (let i = 0; i < count; i++) {
    const slice = source.read(kind, id, slicePart(part, i));
    if (slice === undefined) throw new Error(`slice ${i} of record ${id}:${part} is missing`);
    slices.push(slice);
  }
  return { value: Buffer.concat(slices), slices: count };
}

/** True if a record is not cut into slices: then what it holds begins at its second byte. */
export function isWhole(record: Uint8Array): boolean {
  return record[0] === WHOLE;
}

export function slicePart(part: number, slice: number): number {
  return SLICES + part * SLICES_MAX + slice;
}
