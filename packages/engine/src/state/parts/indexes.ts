/**
 * Indexes as a part of the state of a collection with their effects and their records.
 *
 *   effect := 15 index                        a new index, which has no instances yet; `index` as in `schema/index-def.ts`
 *           | 16 id:varint name:text          the index has another name
 *           | 17 id:varint                    the index is deleted
 *           | 18 id:varint upTo:varint        it has the instances up to this id from now on; 0: all of them, now and later
 *           | 19 id:varint why:text           it can't be completed: it has no instances from now on
 *
 * A build says nothing of what is in the index: each node takes up the instances that it has, which are the same on all. Where a build
 * stands is a part of the state, so another leader goes on there.
 *
 * Records: INDEX (id) as in `type-index.ts`, INDEX_PAGE (id, number) `page` as in `pages/key-pages.ts`.
 */
import { type IndexDef, readIndexDef, writeIndexDef } from '../../schema/index-def.js';
import { type BoundEffect, effect, effectsOn, perform } from '../effect.js';
import { nextIdOf, takeIdsBack } from '../ids.js';
import { RecordKind } from '../records.js';
import type { Store } from '../store.js';
import { type Counted, one } from '../tally.js';
import { NS_PER_ENTRY } from '../transaction/undo-costs.js';
import type { Transaction } from '../transaction.js';
import { READY, type TypeIndex } from '../type-index.js';
import type { GroupPart } from './part.js';

/** The state itself lies in the store, whose changes keep it in step. */
export class IndexPart implements GroupPart {
  readonly effects: readonly BoundEffect[];
  readonly kinds = [RecordKind.INDEX, RecordKind.INDEX_PAGE];

  constructor(private readonly store: Store) {
    this.effects = effectsOn(store, IndexEffect);
  }

  load(kind: RecordKind, _id: number, _part: number, value: Uint8Array): void {
    // Pages are read when something asks for them.
    if (kind === RecordKind.INDEX) this.store.indexes.load(value);
  }

  flush(): void {
    this.store.indexes.freeze();
  }

  clear(): void {
    this.store.indexes.clear();
  }

  contents(): string | null {
    // A type has it, and is named before.
    return null;
  }
}

/** Time it takes to take a change of an index itself back, in nanoseconds, as measured on a slow machine. */
const NS_PER_INDEX = 5000;

/** The entries of a build are counted where it was made. */
const nothing = (): Counted => ['definitions', 0];

const IndexEffect = {
  PUT: effect<Store, [def: IndexDef], TypeIndex>({
    code: 0x15,
    write: writeIndexDef,
    read: (input) => [readIndexDef(input)],
    apply: (store, def) => {
      const index = store.indexes.make(def, { cursor: 0, why: null });
      store.indexes.add(index);
      if (def.id >= store.nextId) store.nextId = def.id + 1;
      return index;
    },
    inverse: (store) => {
      const { nextId } = store;
      return (index) => {
        store.indexes.forget(index);
        takeIdsBack(store, nextId);
      };
    },
    cost: () => NS_PER_INDEX,
    counts: one('definitions'),
  }),
  RENAME: effect<Store, [id: number, name: string]>({
    code: 0x16,
    write: (out, id, name) => {
      out.varint(id);
      out.text(name);
    },
    read: (input) => [input.varint(), input.text()],
    apply: rename,
    inverse: (store, id) => {
      const { name } = store.indexes.known(id).def;
      return () => rename(store, id, name);
    },
    cost: () => NS_PER_INDEX,
    counts: one('definitions'),
  }),
  DROP: effect<Store, [id: number]>({
    code: 0x17,
    write: (out, id) => out.varint(id),
    read: (input) => [input.varint()],
    apply: (store, id) => store.indexes.remove(store.indexes.known(id)),
    inverse: (store, id) => {
      const index = store.indexes.known(id);
      return () => store.indexes.add(index);
    },
    cost: () => NS_PER_INDEX,
    counts: one('definitions'),
  }),
  BUILD: effect<Store, [id: number, upTo: number], number>({
    code: 0x18,
    write: (out, id, upTo) => {
      out.varint(id);
      out.varint(upTo === READY ? 0 : upTo);
    },
    read: (input) => {
      const id = input.varint();
      const upTo = input.varint();
      return [id, upTo === 0 ? READY : upTo];
    },
    apply: ({ indexes, schema }, id, upTo) => {
      const index = indexes.known(id);
      return indexes.build(index, schema.type(index.def.type), upTo);
    },
    inverse: ({ indexes, schema }, id) => {
      const index = indexes.known(id);
      return (cursor) => indexes.unbuild(index, schema.type(index.def.type), cursor);
    },
    cost: ({ indexes, schema }, id, upTo) => {
      const { def, progress } = indexes.known(id);
      let count = 0;
      schema.type(def.type).instances.eachAbove(progress.cursor, (instance) => {
        if (instance > upTo) return false;
        count += 1;
        return true;
      });
      return NS_PER_INDEX + NS_PER_ENTRY * count;
    },
    counts: nothing,
  }),
  FAIL: effect<Store, [id: number, why: string], () => void>({
    code: 0x19,
    write: (out, id, why) => {
      out.varint(id);
      out.text(why);
    },
    read: (input) => [input.varint(), input.text()],
    apply: ({ indexes }, id, why) => indexes.fail(indexes.known(id), why),
    inverse: () => (back) => back(),
    cost: () => NS_PER_INDEX,
    counts: nothing,
  }),
};

function rename({ indexes }: Store, id: number, name: string): void {
  const index = indexes.known(id);
  index.def = { ...index.def, name };
  indexes.touch(index);
}

/** Changes indexes in a query, or beside queries. */
export class IndexEditor {
  constructor(
    private readonly store: Store,
    private readonly transaction: Transaction,
  ) {}

  /** Makes an index that has no instances yet. */
  make(def: Omit<IndexDef, 'id'>): TypeIndex {
    const { store, transaction } = this;
    return perform(transaction, IndexEffect.PUT, store, { ...def, id: nextIdOf(store, transaction) });
  }

  rename({ def }: TypeIndex, name: string): void {
    perform(this.transaction, IndexEffect.RENAME, this.store, def.id, name);
  }

  drop({ def }: TypeIndex): void {
    perform(this.transaction, IndexEffect.DROP, this.store, def.id);
  }

  /**
   * Takes up more instances.
   *
   * @param upTo the last id; `READY` for all that there are and come
   */
  build({ def }: TypeIndex, upTo: number): void {
    perform(this.transaction, IndexEffect.BUILD, this.store, def.id, upTo);
  }

  /** Ends the build of an index that can't be completed. */
  fail({ def }: TypeIndex, why: string): void {
    perform(this.transaction, IndexEffect.FAIL, this.store, def.id, why);
  }
}
