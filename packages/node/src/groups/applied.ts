/**
 * The context of a checkpoint: its place in the log.
 *
 *   context := hash:u32 (big endian) membership
 */
import type { Applied as StoredApplied } from '@althing/storage';
import type { Applied } from '../between/protocol.js';

export function encodeContext({ hash, membership }: Applied): Uint8Array {
  const context = Buffer.alloc(4 + membership.length);
  context.writeUInt32BE(hash, 0);
  context.set(membership, 4);
  return context;
}

export function decodeApplied({ index, term, context }: StoredApplied): Applied {
  const bytes = Buffer.from(context);
  return { index, term, hash: bytes.readUInt32BE(0), membership: bytes.subarray(4) };
}
