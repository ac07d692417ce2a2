/**
 * The indexes of one collection, and what keeps them in step with its instances: each primitive change of the store that makes or removes
 * an instance, or changes a value of one, says so here, and so does its way back. Nothing is checked here: uniqueness is for leaders, see
 * `transaction/unique.ts`.
 */
import { ByteReader, ByteWriter, FormatError } from '../bytes.js';
import type { Type } from '../schema/type.js';
import type { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import type { Dirty } from './dirty.js';
import type { KeyPages } from './pages/key-pages.js';
import type { PageSink } from './pages/page-table.js';
import { RecordKind, type RecordSink } from './records.js';
import { DamagedStateError } from './thing-records.js';
import { type IndexProgress, READY, TypeIndex } from './type-index.js';

/** The side of a store that indexes need. */
export interface IndexHost {
  readonly dirty: Dirty;
  thingOfId(id: number): Thing;
  load(thing: Thing): void;
  /** The newest record of a kind; undefined for none. */
  readRecord(kind: RecordKind, id: number, part: number): Uint8Array | undefined;
}

/** A tree that is no index's any more, whose records are to go. */
interface GoneTree {
  readonly id: number;
  readonly tree: KeyPages;
  /** True if the checkpoint that is under way, or was last, deletes them. */
  isDeleting: boolean;
}

export class Indexes {
  readonly byId = new Map<number, TypeIndex>();
  /** The indexes by the ids of their types. */
  private readonly byType = new Map<number, readonly TypeIndex[]>();
  /** Number of indexes, and of unique ones: fields, since each change of a thing looks at them. */
  count = 0;
  uniques = 0;
  /** The number of look-ups in one of them, on this node, since they are in its memory. */
  lookUps = 0;
  /** Ids of indexes whose records differ from what was put last. */
  private readonly changedRecords = new Set<number>();
  private readonly gone = new Map<KeyPages, GoneTree>();
  /** The trees of which the checkpoint under way has pages to write, with the ids of their indexes. */
  private frozen: (readonly [id: number, tree: KeyPages])[] = [];

  constructor(private readonly host: IndexHost) {}

  /** The indexes of a type, in the order in which they were made. */
  of({ id }: Pick<Type, 'id'>): readonly TypeIndex[] {
    return this.byType.get(id) ?? NONE;
  }

  /** The index with an id. Throws `FormatError` for none: effects name only what is there. */
  known(id: number): TypeIndex {
    const index = this.byId.get(id);
    if (index === undefined) throw new FormatError(`there is no index ${id}`);
    return index;
  }

  named(type: Type, name: string): TypeIndex | undefined {
    return this.of(type).find(({ def }) => def.name === name);
  }

  /** Makes an index of what is known of one. */
  make(def: TypeIndex['def'], progress: IndexProgress): TypeIndex {
    return new TypeIndex(def, progress, this.read);
  }

  /** Takes an index up, which has what its cursor says, or has it again. */
  add(index: TypeIndex): void {
    const { id, type } = index.def;
    this.byId.set(id, index);
    this.count = this.byId.size;
    this.byType.set(
      type,
      [...this.of({ id: type }), index].sort((a, b) => a.def.id - b.def.id),
    );
    if (index.isUnique) this.uniques += 1;
    this.gone.delete(index.tree);
    this.changedRecords.add(id);
  }

  /** Takes an index away; its records go with the next checkpoint. `add` takes that back. */
  remove(index: TypeIndex): void {
    this.forget(index);
    this.discard(index);
  }

  /** The same for one of which nothing is durable: its id may be given again. */
  forget(index: TypeIndex): void {
    const { id, type } = index.def;
    const rest = this.of({ id: type }).filter((other) => other !== index);
    if (rest.length > 0) this.byType.set(type, rest);
    else this.byType.delete(type);
    this.byId.delete(id);
    this.count = this.byId.size;
    if (index.isUnique) this.uniques -= 1;
    this.changedRecords.add(id);
  }

  /** Notes that what is known of an index changed. */
  touch({ def }: TypeIndex): void {
    this.changedRecords.add(def.id);
  }

  /**
   * Takes all entries out of an index, which failed.
   *
   * @returns the way back
   */
  fail(index: TypeIndex, why: string): () => void {
    const { tree, progress } = index;
    this.discard(index);
    index.empty();
    this.setProgress(index, { cursor: 0, why });
    return () => {
      this.gone.delete(tree);
      index.tree = tree;
      this.setProgress(index, progress);
    };
  }

  /** The pages of an index are to go. */
  private discard({ def, tree }: TypeIndex): void {
    this.gone.set(tree, { id: def.id, tree, isDeleting: false });
  }

  /** A loaded thing is an instance of a type from now on, or again. */
  enter(type: Type, thing: Thing): void {
    for (const index of this.of(type)) {
      if (!index.covers(thing.id)) continue;
      insert(index, thing);
      this.changedRecords.add(index.def.id);
    }
  }

  /** Takes `enter` back; the thing has the values that it had. */
  leave(type: Type, thing: Thing): void {
    for (const index of this.of(type)) {
      if (!index.covers(thing.id)) continue;
      index.tree.remove(index.keyOf(thing), thing.id);
      this.changedRecords.add(index.def.id);
    }
  }

  /** The number of indexes that have the value at a slot of a thing. */
  countAt(thing: Thing, slot: number): number {
    const { type } = thing.shape;
    if (type === null) return 0;
    return this.of(type).filter((index) => index.slotsOf(thing).includes(slot)).length;
  }

  /** The value at a slot of a stored instance becomes another one. */
  changed(thing: Thing, slot: number, old: Value, value: Value): void {
    const { type } = thing.shape;
    if (type === null) return;
    for (const index of this.of(type)) {
      if (!index.covers(thing.id) || !index.slotsOf(thing).includes(slot)) continue;
      const before = index.keyWith(thing, slot, old);
      const now = index.keyWith(thing, slot, value);
      index.noteTexts(now, thing, new Map([[slot, value]]));
      if (before === now) continue;
      index.tree.remove(before, thing.id);
      index.tree.insert(now, thing.id);
      this.changedRecords.add(index.def.id);
    }
  }

  /**
   * Takes up the instances with ids above the cursor and up to another one, which becomes the cursor.
   *
   * @returns the cursor before
   */
  build(index: TypeIndex, type: Type, upTo: number): number {
    const { cursor } = index.progress;
    this.eachBetween(type, cursor, upTo, (thing) => insert(index, thing));
    this.setProgress(index, { cursor: upTo, why: null });
    return cursor;
  }

  /** Takes `build` back. */
  unbuild(index: TypeIndex, type: Type, cursor: number): void {
    this.eachBetween(type, cursor, index.progress.cursor, (thing) =>
      index.tree.remove(index.keyOf(thing), thing.id),
    );
    this.setProgress(index, { cursor, why: null });
  }

  setProgress(index: TypeIndex, progress: IndexProgress): void {
    index.progress = progress;
    if (progress.cursor === READY || progress.why !== null) index.wholeTexts = null;
    this.touch(index);
  }

  private eachBetween(type: Type, from: number, to: number, visit: (thing: Thing) => void): void {
    type.instances.eachAbove(from, (id) => {
      if (id > to) return false;
      const thing = this.host.thingOfId(id);
      this.host.load(thing);
      visit(thing);
      return true;
    });
  }

  /** Takes up the record of an index. */
  load(value: Uint8Array): void {
    const index = TypeIndex.load(new ByteReader(value), this.read);
    const before = this.byId.get(index.def.id);
    if (before !== undefined) this.forget(before);
    this.add(index);
    this.changedRecords.delete(index.def.id);
  }

  clear(): void {
    for (const map of [this.byId, this.byType, this.gone]) map.clear();
    this.changedRecords.clear();
    this.frozen = [];
    this.uniques = 0;
    this.count = 0;
  }

  /** Puts the records that changed, and freezes the pages: a checkpoint begins. */
  freeze(): void {
    for (const id of this.changedRecords) {
      const out = new ByteWriter();
      const index = this.byId.get(id);
      index?.write(out);
      this.host.dirty.put(RecordKind.INDEX, id, 0, index === undefined ? null : out.take());
    }
    this.changedRecords.clear();
    this.frozen = [];
    for (const [id, { tree }] of this.byId) {
      tree.freeze();
      if (tree.isFrozen) this.frozen.push([id, tree]);
    }
    for (const goneTree of this.gone.values()) {
      // The checkpoint that deleted them is durable.
      if (goneTree.isDeleting) this.gone.delete(goneTree.tree);
      else goneTree.isDeleting = true;
    }
  }

  /** Writes the frozen pages, and deletes those of indexes that are gone, a little at each step. */
  *rest(sink: RecordSink): Generator<void, void, undefined> {
    for (const [id, tree] of this.frozen) yield* tree.rest(pagesIn(sink, id));
    for (const { id, tree, isDeleting } of [...this.gone.values()]) {
      if (isDeleting) yield* tree.deleteAll(pagesIn(sink, id));
    }
    this.frozen = [];
  }

  /** The checkpoint came to nothing. */
  again(): void {
    for (const { tree } of this.byId.values()) tree.again();
    for (const goneTree of this.gone.values()) {
      goneTree.tree.again();
      goneTree.isDeleting = false;
    }
    this.frozen = [];
  }

  /** Estimated bytes of the pages in memory. */
  get bytes(): number {
    let bytes = 0;
    for (const { tree } of this.byId.values()) bytes += tree.bytes;
    return bytes;
  }

  /** Takes pages out of memory that were not used since the last call. No checkpoint may be under way. */
  evict(): void {
    for (const { tree } of this.byId.values()) tree.leave();
  }

  private readonly read = (id: number, number: number): Uint8Array => {
    const record = this.host.readRecord(RecordKind.INDEX_PAGE, id, number);
    if (record === undefined) throw new DamagedStateError(`page ${number} of index ${id} is missing`);
    return record;
  };
}

function insert(index: TypeIndex, thing: Thing): void {
  const key = index.keyOf(thing);
  index.tree.insert(key, thing.id);
  index.noteTexts(key, thing);
}

function pagesIn(sink: RecordSink, id: number): PageSink {
  return {
    put: (number, record) => sink.put(RecordKind.INDEX_PAGE, id, number, record),
    delete: (number) => sink.delete(RecordKind.INDEX_PAGE, id, number),
  };
}

const NONE: readonly TypeIndex[] = [];
