/**
 * The calls by which snapshots travel:
 *
 *   call   := 1 group:varint transfer:u48 message           begin, or go on with a transfer that broke off
 *           | 2 transfer:u48 sequence:varint checksum:u32 bytes       a chunk, as the storage describes it
 *   answer := next:varint                                   the chunk that is wanted next
 *
 * `message` is the one of Raft that the snapshot goes with.
 */
import { type ByteReader, ByteWriter } from '@althing/engine';
import type { SnapshotChunk, SnapshotSource } from '@althing/storage';
import { encodeMessage } from 'raft-ts';
import { decodeMembership } from '../between/membership.js';
import type { GroupId } from '../between/protocol.js';
import { snapshotOf } from '../between/snapshot-message.js';
import { decodeApplied } from '../groups/applied.js';

/** The first byte of a call that begins a transfer. */
export const BEGIN = 1;
const CHUNK = 2;

/** Raft's message with what the snapshot really is: it may be newer than when Raft asked for it. */
export function messageFor(source: SnapshotSource, bytes: Uint8Array): Uint8Array {
  const message = snapshotOf(bytes);
  const { index, term, hash, membership } = decodeApplied(source.header.applied);
  return encodeMessage({
    ...message,
    snapshot: { index, term, hash, membership: decodeMembership(membership) },
  });
}

/** The call that begins a transfer, or asks where to go on with it. */
export function encodeBegin(group: GroupId, transfer: number, message: Uint8Array): Uint8Array {
  const out = new ByteWriter(message.length + 24);
  out.u8(BEGIN);
  out.varint(group);
  out.bytes(u48(transfer));
  out.bytes(message);
  return out.take();
}

/** The head of a chunk, before its bytes. */
export function chunkHead(transfer: number, { sequence, checksum }: SnapshotChunk): Uint8Array {
  const head = new ByteWriter(24);
  head.u8(CHUNK);
  head.bytes(u48(transfer));
  head.varint(sequence);
  head.u32(checksum);
  return head.take();
}

function u48(value: number): Uint8Array {
  const bytes = Buffer.alloc(6);
  bytes.writeUIntBE(value, 0, 6);
  return bytes;
}

export function readTransfer(input: ByteReader): number {
  return Buffer.from(input.bytes(6)).readUIntBE(0, 6);
}
