/**
 * The digest of a group's state, by which nodes find out whether they hold the same: a hash over its records.
 *
 *   digest := SHA-256 of (record* index* procedure*), the records in their order, the procedures in the order of their hashes
 *   record := kind:u8 id:u64 part:u32 content
 *
 * Some of what is stored is each node's own, and not in it: the format of the counters, the numbers of the
 * records of procedures and of large values, where garbage may be, into which pieces a large list, thing or index is cut, and
 * the order of the members of a set.
 * **Whoever changes how anything is stored** must see to it that the digest stays the same, or give it
 * another version: else nodes of two versions would take each other for damaged.
 */
import { createHash, type Hash } from 'node:crypto';
import {
  CollectionGroup,
  EMPTY_SOURCE,
  getOrInsertComputed,
  RecordKind,
  RootGroup,
  ShapeTree,
  SharedIndex,
  sharedThing,
} from '@althing/engine';
import { SnapshotReader, type SnapshotSource, type StateRecord } from '@althing/storage';
import { type GroupId, ROOT_GROUP } from '../between/protocol.js';

/** Digests of two versions can't be compared. */
export const DIGEST_VERSION = 5;

const NAME_BYTES = 13;

/** Bytes of what one thing holds. Of a larger one it only counts that it is there. */
const THING_BYTES_MAX = 64 * 1024 * 1024;

/** Bytes of its records that are held in memory: in pieces, a thing takes more than it holds, but never twice as much. */
const RECORD_BYTES_MAX = 2 * THING_BYTES_MAX;

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

/** A thing whose records are still coming. */
interface Thing {
  readonly id: number;
  /** The records by part. */
  readonly records: Map<number, Uint8Array>;
  bytes: number;
}

/** The part of a group's records that is the same on all nodes, in a form that does not depend on the node. */
export abstract class SharedRecords {
  private readonly procedures: Uint8Array[] = [];
  private readonly kindOfGroup: typeof CollectionGroup | typeof RootGroup;
  private thing: Thing | null = null;
  private readonly indexes = new Map<number, SharedIndex>();
  /** The types of the collection, whose records come first: without them no instance can be read. */
  private readonly types = new CollectionGroup(0, new ShapeTree(), EMPTY_SOURCE);

  constructor(group: GroupId) {
    this.kindOfGroup = group === ROOT_GROUP ? RootGroup : CollectionGroup;
  }

  /** Takes what a record holds; of one that holds too much only that it is there, as null. */
  protected abstract record(
    kind: number,
    id: number,
    part: number,
    content: Iterable<Uint8Array> | null,
  ): void;

  /** The digest of what a procedure holds: each node has another number for it. */
  protected abstract procedure(digest: Uint8Array): void;

  /** Takes a record, in their order. Its value must stay as it is until the next thing came. */
  add({ kind, id, part, value }: StateRecord): void {
    if (kind === RecordKind.THING) {
      this.addThing(id, part, value);
      return;
    }
    this.endThing();
    if (kind === RecordKind.INDEX || kind === RecordKind.INDEX_PAGE) {
      getOrInsertComputed(this.indexes, id, () => new SharedIndex()).add(
        part,
        value,
        kind === RecordKind.INDEX,
      );
      return;
    }
    if (kind === RecordKind.TYPE) this.types.loadRecord(kind, id, value, part);
    if (kind === RecordKind.PROCEDURE) this.procedures.push(createHash('sha256').update(value).digest());
    else this.record(kind, id, part, [kind === RecordKind.META ? this.kindOfGroup.sharedMeta(value) : value]);
  }

  /** Takes what is told at last. */
  protected finish(): void {
    this.endThing();
    for (const [id, index] of [...this.indexes].sort(([a], [b]) => a - b)) {
      if (index.isThere) this.record(RecordKind.INDEX, id, 0, [Buffer.from(index.text)]);
    }
    for (const procedure of this.procedures.sort(Buffer.compare)) this.procedure(procedure);
  }

  private addThing(id: number, part: number, value: Uint8Array): void {
    if (this.thing?.id !== id) {
      this.endThing();
      this.thing = { id, records: new Map(), bytes: 0 };
    }
    const { thing } = this;
    thing.bytes += value.length;
    if (thing.bytes <= RECORD_BYTES_MAX) thing.records.set(part, value);
    else thing.records.clear();
  }

  private endThing(): void {
    const { thing } = this;
    if (thing === null) return;
    this.thing = null;
    const { id, records, bytes } = thing;
    // Left-over records of a removed thing say nothing.
    if (!records.has(0) && bytes <= RECORD_BYTES_MAX) return;
    this.record(RecordKind.THING, id, 0, this.contentOf(thing));
  }

  private contentOf({ id, records, bytes }: Thing): Iterable<Uint8Array> | null {
    if (bytes > RECORD_BYTES_MAX) return null;
    const parts = sharedThing(id, { read: (_kind, _id, part) => records.get(part) }, this.types.store.schema);
    if (bytes <= THING_BYTES_MAX / 2) return parts;
    const all = [...parts];
    return all.reduce((length, part) => length + part.length, 0) <= THING_BYTES_MAX ? all : null;
  }
}

export class StateDigest extends SharedRecords {
  private readonly hash: Hash = createHash('sha256');

  end(): Buffer {
    this.finish();
    return this.hash.digest();
  }

  protected override record(
    kind: number,
    id: number,
    part: number,
    content: Iterable<Uint8Array> | null,
  ): void {
    const name = Buffer.allocUnsafe(NAME_BYTES);
    name.writeUInt8(kind, 0);
    name.writeBigUInt64BE(BigInt(id), 1);
    name.writeUInt32BE(part, 9);
    this.hash.update(name);
    if (content === null) return;
    let length = 0;
    for (const bytes of content) {
      this.hash.update(bytes);
      length += bytes.length;
    }
    // Behind it, since only then it is known.
    this.hash.update(String(length));
  }

  protected override procedure(digest: Uint8Array): void {
    this.hash.update(digest);
  }
}
