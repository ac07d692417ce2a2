/**
 * The value of a property as it stands in a record of its thing:
 *
 *   stored   := value                 as in `value-codec.ts`
 *             | 18 list | 1a list2    a list in pages, see `pages/list-pages.ts`
 *             | 1b set                a set in pages, see `pages/member-pages.ts`
 *             | 19 number:varint      a large value, see `pages/value-pages.ts`
 */
import { ByteReader, ByteWriter } from '../bytes.js';
import { List, ThingSet } from '../value/containers.js';
import type { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import type { ThingMemory } from './memory.js';
import { ListPages, readListHead } from './pages/list-pages.js';
import { eachMember, MemberPages, readSetHead } from './pages/member-pages.js';
import type { PageSink } from './pages/page-table.js';
import { containerPages } from './pages/paged-containers.js';
import { isLarge, ValuePages } from './pages/value-pages.js';
import {
  isSetNext,
  readIsFlat,
  readValue,
  visitThings,
  writeListHead,
  writeSetOf,
  writeValue,
} from './value-codec.js';

/** The codes of what lies in pages, beside those of values; the first form of lists is that of release 0.1.0. */
const LIST = 0x18;
const LARGE = 0x19;
const LIST2 = 0x1a;
const SET = 0x1b;

/** The owner of a record with values: a thing, or a page of its properties. */
export interface RecordOfValues {
  /** The large values in it; null as long as there was none. */
  values: ValuePages | null;
}

/**
 * Writes a value of a thing, and freezes its pages.
 *
 * @param page of properties in which it stands; null for the first record of the thing
 * @returns whether it has pages
 */
export function writeStored(
  out: ByteWriter,
  key: string,
  value: Value,
  thing: Thing,
  store: ThingMemory,
  page: RecordOfValues | null,
  sink: PageSink,
): boolean {
  if (value instanceof List || value instanceof ThingSet) {
    const pages = containerPages(value, thing, store);
    if (pages instanceof ListPages) {
      out.u8(LIST2);
      pages.write(out, sink);
    } else if (pages !== null) {
      out.u8(SET);
      pages.write(out, sink);
    } else writeValue(out, value);
    return pages !== null;
  }
  if (!isLarge(value)) {
    writeValue(out, value);
    return false;
  }
  out.u8(LARGE);
  out.varint(valuesOf(thing, store, page).write(key, value));
  return true;
}

/** Reads what `writeStored` wrote. */
export function readStored(
  input: ByteReader,
  key: string,
  thing: Thing,
  store: ThingMemory,
  page: RecordOfValues | null,
): Value {
  switch (input.peek()) {
    case LIST:
    case LIST2:
      return ListPages.read(input, input.u8() === LIST2, store.pagesOf(thing));
    case SET:
      input.u8();
      return MemberPages.read(input, store.pagesOf(thing));
    case LARGE: {
      input.u8();
      const number = input.varint();
      const value = readValue(new ByteReader(store.readPart(thing.id, number)), store);
      if (isLarge(value)) valuesOf(thing, store, page).found(key, number, value);
      return value;
    }
    default:
      return readValue(input, store);
  }
}

/** The same as `readIsFlat` for a stored value. */
export function readIsStoredFlat(input: ByteReader): boolean {
  return input.peek() === LARGE || readIsFlat(input);
}

function valuesOf(thing: Thing, store: ThingMemory, page: RecordOfValues | null): ValuePages {
  const home = store.pagesOf(thing);
  const record = page ?? home;
  record.values ??= new ValuePages(home);
  return record.values;
}

/** A walk over stored values that does not bring them into memory. */
export interface Walk {
  /** Takes each thing that they refer to, by its id; null where nobody asks. */
  readonly reference: ((id: number) => void) | null;
  /** Takes them as they would stand in one record, piece by piece; null where nobody asks. */
  readonly content: ((bytes: Uint8Array) => void) | null;
  /** The record of a page. */
  page(number: number): Uint8Array;
}

/** Reads past a value. Its content is the same on all nodes: without numbers of pages, and with the members of a set by their ids. */
export function walkStored(input: ByteReader, walk: Walk): void {
  const { reference, content } = walk;
  const start = input.offset;
  switch (input.peek()) {
    case LIST:
    case LIST2: {
      const { pages } = readListHead(input, input.u8() === LIST2);
      const items = pages.reduce((sum, { entries }) => sum + entries, 0);
      content?.(encoded((out) => writeListHead(out, items)));
      for (const { number, refers } of pages) {
        if (content === null && (reference === null || !refers)) continue;
        const record = walk.page(number);
        content?.(record);
        if (reference === null) continue;
        for (const page = new ByteReader(record); page.remaining > 0; ) visitThings(page, reference);
      }
      return;
    }
    case SET: {
      input.u8();
      const { pages } = readSetHead(input);
      if (reference === null && content === null) return;
      const ids: number[] = [];
      for (const { number } of pages) eachMember(new ByteReader(walk.page(number)), (id) => ids.push(id));
      if (reference !== null) for (const id of ids) reference(id);
      content?.(encoded((out) => writeSetOf(out, ids)));
      return;
    }
    case LARGE: {
      input.u8();
      const number = input.varint();
      content?.(walk.page(number));
      return;
    }
    default:
      walkValue(input, start, walk);
  }
}

/** The same for a value that is no page. The order of the members of a set is no contract: a change that is taken back may leave another. */
function walkValue(input: ByteReader, start: number, { reference, content }: Walk): void {
  const members: number[] | null = content !== null && isSetNext(input) ? [] : null;
  visitThings(input, (id) => {
    reference?.(id);
    members?.push(id);
  });
  if (members === null) content?.(input.since(start));
  else
    content?.(
      encoded((out) =>
        writeSetOf(
          out,
          members.sort((a, b) => a - b),
        ),
      ),
    );
}

function encoded(write: (out: ByteWriter) => void): Uint8Array {
  const out = new ByteWriter(16);
  write(out);
  return out.take();
}
