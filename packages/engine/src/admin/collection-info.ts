/**
 * A collection, as the root scope knows it.
 *
 *   collection := id:varint name:text created:varint deep:u8 zone:text members:varint (node:varint)*
 */
import type { ByteReader, ByteWriter } from '../bytes.js';

export interface CollectionInfo {
  readonly id: number;
  readonly name: string;
  /** Unix seconds. */
  readonly createdAt: number;
  /** Default depth of results. */
  readonly deep: number;
  readonly timeZone: string;
  /** The nodes that its Raft group begins with, by id. Where it is now, Raft knows. */
  readonly members: readonly number[];
}

export function writeCollection(out: ByteWriter, collection: CollectionInfo): void {
  out.varint(collection.id);
  out.text(collection.name);
  out.varint(collection.createdAt);
  out.u8(collection.deep);
  out.text(collection.timeZone);
  out.varints(collection.members);
}

/** @throws FormatError */
export function readCollection(input: ByteReader): CollectionInfo {
  return {
    id: input.varint(),
    name: input.text(),
    createdAt: input.varint(),
    deep: input.u8(),
    timeZone: input.text(),
    members: input.varints(),
  };
}
