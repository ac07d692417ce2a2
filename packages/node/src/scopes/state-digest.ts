/**
 * What tells whether two nodes hold the same state of a group: a hash over its records as they lie on the disk.
 *
 *   digest := SHA-256 of (record* procedure*), the records in their order, the procedures in the order of their hashes
 *   record := kind:u8 id:u64 part:u32 length:u32 value
 *
 * A node numbers the records of procedures by itself, and knows by itself where garbage may be: neither is in it.
 */
import { createHash, type Hash } from 'node:crypto';
import { CollectionGroup, RecordKind } from '@althing/engine';
import { SnapshotReader, type SnapshotSource, type StateRecord } from '@althing/storage';
import { type GroupId, ROOT_GROUP } from '../consensus/protocol.js';

const NAME_BYTES = 17;

/**
 * Reads a view of a group to its end.
 *
 * @param rest gives other work its turn, after each chunk
 * @throws what reading throws, when a record is damaged or the view was closed
 */
export async function stateDigest(
  group: GroupId,
  source: SnapshotSource,
  rest: () => Promise<void>,
): Promise<Buffer> {
  const digest = new StateDigest(group);
  const reader = new SnapshotReader();
  for await (const chunk of source.chunks()) {
    for (const record of reader.take(chunk)) digest.add(record);
    await rest();
  }
  return digest.end();
}

class StateDigest {
  private readonly hash: Hash = createHash('sha256');
  private readonly procedures: Buffer[] = [];
  private readonly isRoot: boolean;

  constructor(group: GroupId) {
    this.isRoot = group === ROOT_GROUP;
  }

  add({ kind, id, part, value }: StateRecord): void {
    if (kind === RecordKind.PROCEDURE) {
      this.procedures.push(createHash('sha256').update(value).digest());
      return;
    }
    const shared = kind === RecordKind.META && !this.isRoot ? CollectionGroup.sharedMeta(value) : value;
    const name = Buffer.allocUnsafe(NAME_BYTES);
    name.writeUInt8(kind, 0);
    name.writeBigUInt64BE(BigInt(id), 1);
    name.writeUInt32BE(part, 9);
    name.writeUInt32BE(shared.length, 13);
    this.hash.update(name).update(shared);
  }

  end(): Buffer {
    for (const procedure of this.procedures.sort(Buffer.compare)) this.hash.update(procedure);
    return this.hash.digest();
  }
}
