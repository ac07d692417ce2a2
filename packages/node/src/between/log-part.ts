/**
 * A part of the log of a group as bytes, from thread to thread and from node to node:
 *
 *   part     := nothing | (0 | 1 before:position) oldest:position last:position count:varint (position payload:blob)*
 *   position := index:varint term:varint hash:u32
 *
 * Nothing: it can't be had now.
 */
import { ByteReader, ByteWriter } from 'raft-ts';
import type { CommittedEntry, LogPart, LogPosition } from './protocol.js';

export function encodePart(part: LogPart | null): Uint8Array {
  if (part === null) return new Uint8Array();
  const { before, oldest, last, entries } = part;
  const out = new ByteWriter();
  out.u8(before === null ? 0 : 1);
  if (before !== null) writePosition(out, before);
  writePosition(out, oldest);
  writePosition(out, last);
  out.varint(entries.length);
  for (const entry of entries) {
    writePosition(out, entry);
    out.bytes(entry.payload);
  }
  return out.finish();
}

export function decodePart(bytes: Uint8Array): LogPart | null {
  if (bytes.length === 0) return null;
  const input = new ByteReader(bytes);
  const before = input.u8() === 0 ? null : readPosition(input);
  const [oldest, last] = [readPosition(input), readPosition(input)];
  const entries: CommittedEntry[] = [];
  for (let left = input.varint(); left > 0; left--)
    entries.push({ ...readPosition(input), payload: input.bytes() });
  return { before, oldest, last, entries };
}

function writePosition(out: ByteWriter, { index, term, hash }: LogPosition): void {
  out.varint(index);
  out.varint(term);
  out.u32(hash);
}

function readPosition(input: ByteReader): LogPosition {
  return { index: input.varint(), term: input.varint(), hash: input.u32() };
}
