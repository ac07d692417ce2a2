/** All types and enums of a collection in a row, in dumps and imports: see `transfer.ts`. */
import { type ByteReader, type ByteWriter, FormatError } from '../../bytes.js';
import type { EnumState, TypeState } from '../../schema/catalog.js';
import { ENUMS_MAX, TYPES_MAX } from '../../schema/type.js';
import { takeIdsBack } from '../ids.js';
import type { Store } from '../store.js';
import { defIn, putType } from './schema.js';
import { readEnum, readType, writeEnum, writeType } from './schema-codec.js';

/** Writes all types, those that are gone too: their ids are not given again. No job goes along that gives instances the successor of a field. */
export function writeTypes(out: ByteWriter, { schema }: Store): void {
  writeStates(out, schema.typeIdsKnown(), (id) => withoutSuccessor(schema.stateOfType(id)), writeType);
}

function withoutSuccessor(state: TypeState): TypeState {
  const def = defIn(state);
  return def === null ? state : { ...def, successor: null };
}

export function writeEnums(out: ByteWriter, { schema }: Store): void {
  writeStates(out, schema.enumIdsKnown(), (id) => schema.stateOfEnum(id), writeEnum);
}

function writeStates<State extends object>(
  out: ByteWriter,
  ids: readonly number[],
  stateOf: (id: number) => State | undefined,
  write: (out: ByteWriter, id: number, state: State) => void,
): void {
  out.varint(ids.length);
  for (const id of ids) {
    const state = stateOf(id);
    if (state !== undefined) write(out, id, state);
  }
}

/**
 * Takes up what `writeTypes` wrote, in a collection that has no types: what it knows of deleted ones is replaced.
 *
 * @returns the way back
 */
export function readTypes(input: ByteReader, store: Store): () => void {
  const { schema } = store;
  const { nextId } = schema.typeIds;
  const before = readStates<TypeState>(input, TYPES_MAX, (take) => {
    const { id, state } = readType(input, store);
    take(id, schema.stateOfType(id));
    putType(store, id, state);
  });
  return () => {
    for (const [id, state] of before) {
      schema.setType(id, state);
      store.changedTypes.add(id);
    }
    takeIdsBack(schema.typeIds, nextId);
  };
}

/**
 * Takes up what `writeEnums` wrote, in a collection that has no enums; the things that they name are there.
 *
 * @returns the way back
 */
export function readEnums(input: ByteReader, store: Store): () => void {
  const { schema } = store;
  const { nextId } = schema.enumIds;
  const before = readStates<EnumState>(input, ENUMS_MAX, (take) => {
    const { id, state } = readEnum(input, store);
    take(id, schema.stateOfEnum(id));
    store.setEnum(id, state);
  });
  return () => {
    for (const [id, state] of before) store.setEnum(id, state);
    takeIdsBack(schema.enumIds, nextId);
  };
}

/** Highest id of a type or enum that is taken up, so that ids never run out. */
const ID_MAX = 2 ** 40;

/**
 * Reads types or enums.
 *
 * @param read tells `take` of each, with what was known of its id
 * @returns what was known
 */
function readStates<State extends TypeState | EnumState>(
  input: ByteReader,
  max: number,
  read: (take: (id: number, before: State) => void) => void,
): Map<number, State> {
  const count = input.varint();
  if (count > max) throw new FormatError(`${count} types or enums`);
  const known = new Map<number, State>();
  for (let left = count; left > 0; left--) {
    read((id, before) => {
      const isThere = before !== undefined && !('gone' in before);
      if (id > ID_MAX || isThere || known.has(id))
        throw new FormatError(`the id ${id} of a type or enum can not be`);
      known.set(id, before);
    });
  }
  return known;
}
