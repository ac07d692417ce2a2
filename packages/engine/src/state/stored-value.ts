/**
 * The value of a property as it stands in a record of its thing:
 *
 *   stored   := value                 as in `value-codec.ts`
 *             | 18 list | 1a list2     a list in pages, see `pages/list-pages.ts`
 *             | 1b set                a set in pages, see `pages/member-pages.ts`
 *             | 19 part:varint        a large value, see `apart.ts`
 */
import { ByteReader, ByteWriter } from '../bytes.js';
import { List, ThingSet } from '../value/containers.js';
import type { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { APART, type Apart, liesApart, type PartSink } from './apart.js';
import type { ThingMemory } from './memory.js';
import { ListPages, readListHead, visitItems } from './pages/list-pages.js';
import { eachMember, MemberPages, readSetHead } from './pages/member-pages.js';
import { isSetNext, readValue, visitThings, writeListHead, writeSetOf, writeValue } from './value-codec.js';

/** The codes of lists and sets in pages, beside those of values; the first form of lists is that of release 0.1.0. */
const LIST = 0x18;
const LIST2 = 0x1a;
const SET = 0x1b;

/** Gives the record of a part of the thing that is being read. */
export type ReadPart = (part: number) => Uint8Array;

/**
 * Writes a value of a thing; what of it lies in records of its own goes to `sink`.
 *
 * @param apart gives what knows of the large values, when there is one
 * @returns whether some of it lies elsewhere
 */
export function writeStored(
  out: ByteWriter,
  key: string,
  value: Value,
  thing: Thing,
  store: ThingMemory,
  apart: () => Apart,
  sink: PartSink,
): boolean {
  if (value instanceof List || value instanceof ThingSet) {
    const pages = store.pagesToWrite(value, thing);
    if (pages instanceof ListPages) {
      const isMarked = store.mayCutThings();
      out.u8(isMarked ? LIST2 : LIST);
      pages.write(out, isMarked, sink);
    } else if (pages !== null) {
      out.u8(SET);
      pages.write(out, sink);
    } else writeValue(out, value);
    return pages !== null;
  }
  if (liesApart(value)) {
    out.u8(APART);
    out.varint(apart().write(key, value, sink));
    return true;
  }
  writeValue(out, value);
  return false;
}

export function readStored(
  input: ByteReader,
  key: string,
  thing: Thing,
  store: ThingMemory,
  apart: () => Apart,
): Value {
  switch (input.peek()) {
    case LIST:
    case LIST2:
      return ListPages.read(input, input.u8() === LIST2, store.pagesOf(thing));
    case SET:
      input.u8();
      return MemberPages.read(input, store.pagesOf(thing));
    case APART: {
      input.u8();
      const part = input.varint();
      const value = readValue(new ByteReader(store.readPart(thing.id, part)), store);
      apart().found(key, part, value);
      return value;
    }
    default:
      return readValue(input, store);
  }
}

/** Reads past a value, and calls `visit` with the id of each thing that it refers to. */
export function visitStored(input: ByteReader, visit: (id: number) => void, readPart: ReadPart): void {
  switch (input.peek()) {
    case APART:
      input.u8();
      input.varint();
      return;
    case LIST:
    case LIST2: {
      const { pages } = readListHead(input, input.u8() === LIST2);
      for (const { number, refers } of pages) if (refers) visitItems(new ByteReader(readPart(number)), visit);
      return;
    }
    case SET:
      input.u8();
      for (const { number } of readSetHead(input).pages) eachMember(new ByteReader(readPart(number)), visit);
      return;
    default:
      visitThings(input, visit);
  }
}

/** Where a value lies: in the record, in one of its own, or in pages; of a set whose members are not in order, these in order. */
export type PlaceOfValue =
  | { readonly kind: 'inside'; readonly start: number; readonly end: number }
  | { readonly kind: 'set'; readonly start: number; readonly ids: readonly number[] }
  | { readonly kind: 'members'; readonly start: number; readonly parts: readonly number[] }
  | { readonly kind: 'apart'; readonly start: number; readonly part: number }
  | {
      readonly kind: 'pages';
      readonly start: number;
      readonly parts: readonly number[];
      readonly items: number;
    };

/** Reads past a value. */
export function placeOfValue(input: ByteReader): PlaceOfValue {
  const start = input.offset;
  switch (input.peek()) {
    case APART:
      input.u8();
      return { kind: 'apart', start, part: input.varint() };
    case LIST:
    case LIST2: {
      const { pages } = readListHead(input, input.u8() === LIST2);
      const items = pages.reduce((sum, { entries }) => sum + entries, 0);
      return { kind: 'pages', start, parts: pages.map(({ number }) => number), items };
    }
    case SET: {
      input.u8();
      const { pages } = readSetHead(input);
      return { kind: 'members', start, parts: pages.map(({ number }) => number) };
    }
    default: {
      const members: number[] | null = isSetNext(input) ? [] : null;
      let isInOrder = true;
      let last = 0;
      visitThings(input, (id) => {
        if (members === null) return;
        members.push(id);
        if (id < last) isInOrder = false;
        last = id;
      });
      if (members === null || isInOrder) return { kind: 'inside', start, end: input.offset };
      return { kind: 'set', start, ids: members.sort((a, b) => a - b) };
    }
  }
}

/**
 * A value as it would stand in the record in one piece. The order of the members of a set is no contract: a change of a large one that is
 * taken back may leave another one in the memory of the node that led.
 */
export function* sharedValue(
  record: Uint8Array,
  place: PlaceOfValue,
  read: ReadPart,
): Generator<Uint8Array, void, undefined> {
  switch (place.kind) {
    case 'inside':
      yield record.subarray(place.start, place.end);
      return;
    case 'apart':
      yield read(place.part);
      return;
    case 'set':
    case 'members': {
      const ids = place.kind === 'set' ? place.ids : idsIn(place.parts, read);
      const out = new ByteWriter(16 + 4 * ids.length);
      writeSetOf(out, ids);
      yield out.take();
      return;
    }
    case 'pages': {
      const head = new ByteWriter(16);
      writeListHead(head, place.items);
      yield head.take();
      for (const part of place.parts) yield read(part);
    }
  }
}

/**
 * Properties of a plain thing as they would stand in a record in one piece.
 *
 * @param count of them, from where `input` stands in `record` on, up to the end
 */
export function* sharedProperties(
  record: Uint8Array,
  input: ByteReader,
  count: number,
  from: number,
  read: ReadPart,
): Generator<Uint8Array, void, undefined> {
  let start = from;
  for (let left = count; left > 0; left--) {
    input.bytes(input.varint());
    const value = placeOfValue(input);
    if (value.kind === 'inside') continue;
    yield record.subarray(start, value.start);
    yield* sharedValue(record, value, read);
    start = input.offset;
  }
  yield record.subarray(start);
}

/** The ids in some pages of a set, in rising order. */
function idsIn(parts: readonly number[], read: ReadPart): number[] {
  const ids: number[] = [];
  for (const part of parts) eachMember(new ByteReader(read(part)), (id) => ids.push(id));
  return ids;
}
