/**
 * The record of a group itself, as the payload of its group key. Numbers are little-endian.
 *
 *   meta   = generation[4] index[8] term[8] context redo[1] (file[8] slabs[4] bytes[8] crc[4] index[8] term[8] context)?
 *   context = length[4] bytes
 *
 * `index` and `term` tell up to where the log is applied in the records of the group; `context` is the
 * caller's. With `redo` 1 a checkpoint is decided and its file must be brought into the records, which are
 * then at the second index.
 */
import { isU53, readU53LE, writeU53LE } from '../bytes.js';
import { DamagedStateError, demand, LimitError } from '../errors.js';

/** Up to where a group's log is applied in its state, with what the caller wants to know of that point. */
export type Applied = {
  readonly index: number;
  readonly term: number;
  /** Bytes of the caller, such as the configuration at that index. At most 64 KiB. */
  readonly context: Uint8Array;
};

/** A file of changes that belong to a decided checkpoint. */
export type Redo = {
  readonly file: number;
  readonly slabs: number;
  readonly bytes: number;
  /** CRC-32C over the checksums of the slabs. */
  readonly crc: number;
  readonly applied: Applied;
};

export type GroupMeta = {
  readonly generation: number;
  readonly applied: Applied;
  readonly redo: Redo | undefined;
};

export const NOTHING_APPLIED: Applied = { index: 0, term: 0, context: new Uint8Array(0) };

const CONTEXT_BYTES_MAX = 64 * 1024;

/** Throws unless the values can be stored. */
export function checkApplied({ index, term, context }: Applied): void {
  demand(isU53(index) && isU53(term), 'an applied index or term that is not a safe integer');
  if (context.length > CONTEXT_BYTES_MAX) {
    throw new LimitError('The context of a checkpoint in bytes', context.length, CONTEXT_BYTES_MAX);
  }
}

export function encodeMeta({ generation, applied, redo }: GroupMeta): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt32LE(generation);
  if (redo === undefined) return Buffer.concat([head, encodeApplied(applied), Buffer.of(0)]);
  const file = Buffer.alloc(24);
  writeU53LE(file, redo.file, 0);
  file.writeUInt32LE(redo.slabs, 8);
  writeU53LE(file, redo.bytes, 12);
  file.writeUInt32LE(redo.crc, 20);
  return Buffer.concat([head, encodeApplied(applied), Buffer.of(1), file, encodeApplied(redo.applied)]);
}

/** Throws `DamagedStateError`. */
export function decodeMeta(payload: Buffer, group: number): GroupMeta {
  const applied = decodeApplied(payload, 4);
  const hasRedo = applied === undefined ? undefined : payload[applied.end];
  if (applied === undefined || hasRedo === undefined || hasRedo > 1) throw damagedMeta(group);
  const generation = payload.readUInt32LE(0);
  const at = applied.end + 1;
  if (hasRedo === 0) {
    if (payload.length !== at) throw damagedMeta(group);
    return { generation, applied: applied.applied, redo: undefined };
  }
  const after = decodeApplied(payload, at + 24);
  if (after === undefined || after.end !== payload.length) throw damagedMeta(group);
  const file = readU53LE(payload, at);
  const bytes = readU53LE(payload, at + 12);
  if (file === undefined || bytes === undefined) throw damagedMeta(group);
  const slabs = payload.readUInt32LE(at + 8);
  const crc = payload.readUInt32LE(at + 20);
  return { generation, applied: applied.applied, redo: { file, slabs, bytes, crc, applied: after.applied } };
}

function encodeApplied({ index, term, context }: Applied): Buffer {
  const head = Buffer.alloc(20);
  writeU53LE(head, index, 0);
  writeU53LE(head, term, 8);
  head.writeUInt32LE(context.length, 16);
  return Buffer.concat([head, context]);
}

function decodeApplied(payload: Buffer, at: number): { applied: Applied; end: number } | undefined {
  if (payload.length < at + 20) return undefined;
  const index = readU53LE(payload, at);
  const term = readU53LE(payload, at + 8);
  const end = at + 20 + payload.readUInt32LE(at + 16);
  if (index === undefined || term === undefined || end > payload.length) return undefined;
  return { applied: { index, term, context: Buffer.from(payload.subarray(at + 20, end)) }, end };
}

function damagedMeta(group: number): DamagedStateError {
  return new DamagedStateError(`what is stored of group ${group} itself has a wrong form`, group);
}
