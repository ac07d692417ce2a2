/**
 * The identity of the node that a data folder belongs to: made with it and never changed.
 *
 *   identity := format:u8 (1) nodeId:u48 clusterId:16 bytes        (big endian)
 */
import { createHash, randomBytes } from 'node:crypto';

export interface Identity {
  /** Random, from 1 to 2^48 - 1; no two nodes have the same. */
  readonly nodeId: number;
  readonly clusterId: Uint8Array;
}

const FORMAT = 1;
const LENGTH = 1 + 6 + 16;

export function newIdentity(): Identity {
  return { nodeId: randomBytes(6).readUIntBE(0, 6) || 1, clusterId: randomBytes(16) };
}

export function encodeIdentity({ nodeId, clusterId }: Identity): Uint8Array {
  const bytes = Buffer.alloc(LENGTH);
  bytes[0] = FORMAT;
  bytes.writeUIntBE(nodeId, 1, 6);
  bytes.set(clusterId, 7);
  return bytes;
}

/** Throws for bytes that are no identity of a version that we know. */
export function decodeIdentity(data: Uint8Array): Identity {
  const bytes = Buffer.from(data);
  if (bytes.length !== LENGTH || bytes[0] !== FORMAT) {
    throw new Error('the identity in the data folder is of a format that this version does not know');
  }
  return { nodeId: bytes.readUIntBE(1, 6), clusterId: bytes.subarray(7) };
}

/** 16 bytes that tell the log of a node from any other: log and state of a folder must belong together. */
export function logIdentity(identity: Identity): Uint8Array {
  return createHash('sha256').update(encodeIdentity(identity)).digest().subarray(0, 16);
}

/** The identity of a group: the same on all nodes of the cluster, and different from group to group. */
export function groupIdentity({ clusterId }: { readonly clusterId: Uint8Array }, group: number): Uint8Array {
  const bytes = Buffer.alloc(16 + 8);
  bytes.set(clusterId, 0);
  bytes.writeBigUInt64BE(BigInt(group), 16);
  return bytes;
}
