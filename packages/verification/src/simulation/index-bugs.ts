/** Planted bugs of indexes, put into the store of a collection: all nodes have them, so rules must tell. */
import type { CollectionGroup } from '@althing/engine';
import type { NodeMutant } from './node-mutant-names.js';

export function plantInIndexes({ store }: CollectionGroup, on: ReadonlySet<NodeMutant>): void {
  const { indexes } = store;
  const changed = indexes.changed.bind(indexes);
  if (on.has('index_not_checked')) {
    Object.defineProperty(indexes, 'uniques', { get: () => 0, set: () => {} });
  }
  if (on.has('index_built_part_not_kept')) {
    indexes.changed = (thing, slot, old, value) => {
      const { type } = thing.shape;
      const isBuilding = type !== null && indexes.of(type).some(({ isReady }) => !isReady);
      if (!isBuilding) changed(thing, slot, old, value);
    };
  }
  if (on.has('expiry_by_first_moment')) {
    indexes.changed = (thing, slot, old, value) => {
      const { type } = thing.shape;
      const isSpared =
        value === null && type !== null && indexes.of(type).some(({ def }) => def.name === 'ttl');
      if (!isSpared) changed(thing, slot, old, value);
    };
  }
  if (on.has('index_cursor_in_memory')) {
    const build = indexes.build.bind(indexes);
    const cursors = new Map<number, number>();
    indexes.build = (index, type, upTo) => {
      index.progress = { ...index.progress, cursor: cursors.get(index.def.id) ?? 0 };
      cursors.set(index.def.id, upTo);
      return build(index, type, upTo);
    };
  }
  if (on.has('index_ready_too_early')) {
    const build = indexes.build.bind(indexes);
    indexes.build = (index, type, upTo) => {
      const cursor = build(index, type, upTo);
      indexes.setProgress(index, { cursor: Number.POSITIVE_INFINITY, why: null });
      return cursor;
    };
  }
  if (on.has('index_build_not_undone')) {
    indexes.unbuild = (index, _type, cursor) => indexes.setProgress(index, { cursor, why: null });
  }
  if (on.has('index_entry_of_converted_stays')) {
    const leave = indexes.leave.bind(indexes);
    const convert = store.convert.bind(store);
    store.convert = (thing, type) => {
      indexes.leave = () => {};
      convert(thing, type);
      indexes.leave = leave;
    };
  }
  if (on.has('index_entry_of_removed_stays')) indexes.leave = () => {};
  if (on.has('index_pages_not_written')) indexes.rest = function* () {};
}
