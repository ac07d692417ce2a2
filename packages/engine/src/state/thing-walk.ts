/** Walks over the records of a thing without bringing it into memory: its references, and its content. */
import { ByteReader, ByteWriter, FormatError } from '../bytes.js';
import type { Catalog } from '../schema/catalog.js';
import { Restriction } from '../schema/restriction.js';
import type { Type } from '../schema/type.js';
import { readRecord } from './large-record.js';
import { eachProperty, PAGED_HEAD, readPropertyHead } from './pages/property-pages.js';
import { RecordKind, type RecordSource } from './records.js';
import { readIsStoredFlat, type Walk, walkStored } from './stored-value.js';
import { INSTANCE_HEAD } from './thing-record.js';
import { writeValue } from './value-codec.js';

/** Gives a record of the thing that is being read. */
type ReadPart = (part: number) => Uint8Array;

/** Calls `visit` with the id of each thing that a thing refers to. */
export function visitThingsOfRecord(read: ReadPart, visit: (id: number) => void): void {
  const input = new ByteReader(read(0));
  input.varint();
  const walk: Walk = { reference: visit, content: null, page: read };
  walkProperties(input.text(), input, walk, null);
}

/** True if an instance with this record refers to nothing by a field, and keeps no pages for it: a scalar, an empty list or set, or no value. */
export function isFieldFlat(record: ByteReader, field: number): boolean {
  record.varint();
  if (!record.text().startsWith(INSTANCE_HEAD)) return false;
  for (let count = record.varint(); count > 0; count--) {
    if (record.varint() === field) return readIsStoredFlat(record);
    walkStored(record, PASSING);
  }
  return true;
}

/**
 * The content of a thing, in a row of bytes that is the same wherever it holds the same: each node cuts things and their values into pages of
 * its own, and may have the members of a set in another order; an instance that was not touched since its type changed has a record of
 * before, and so has a thing whose restriction ended with the type or enum that it names.
 *
 * @param schema the types of the collection
 * @throws FormatError
 */
export function sharedThing(id: number, source: RecordSource, schema: Catalog): Uint8Array[] {
  const read = (part: number): Uint8Array => {
    const found = readRecord(source, RecordKind.THING, id, part);
    if (found === undefined) throw new FormatError(`record ${part} of thing ${id} is missing`);
    return found.value;
  };
  const input = new ByteReader(read(0));
  const content = new Content();
  content.writer.varint(input.varint());
  const head = input.text();
  if (head.startsWith(INSTANCE_HEAD)) {
    content.writer.text(head);
    addFields(content, input, schema.type(Number(head.slice(INSTANCE_HEAD.length))), read);
    return content.end();
  }
  const restriction = head.startsWith(PAGED_HEAD) ? head.slice(PAGED_HEAD.length) : head;
  const isOver = Restriction.read(restriction, schema)?.inForce === false;
  content.writer.text(isOver ? '' : restriction);
  const walk: Walk = { reference: null, content: content.add, page: read };
  walkProperties(head, input, walk, content);
  return content.end();
}

/**
 * Goes over the properties of a thing; `input` stands behind its head.
 *
 * @param keys gets their number and each key; null where nobody asks
 */
function walkProperties(head: string, input: ByteReader, walk: Walk, keys: Content | null): void {
  const each = (record: ByteReader): void => {
    const start = record.offset;
    record.bytes(record.varint());
    keys?.add(record.since(start));
    walkStored(record, walk);
  };
  if (head.startsWith(PAGED_HEAD)) {
    const { count, numbers } = readPropertyHead(input);
    keys?.writer.varint(count);
    for (const [index, number] of numbers.entries())
      eachProperty(new ByteReader(walk.page(number)), index, each);
    return;
  }
  const count = input.varint();
  keys?.writer.varint(count);
  const isInstance = head.startsWith(INSTANCE_HEAD);
  for (let left = count; left > 0; left--) {
    if (!isInstance) each(input);
    else {
      input.varint();
      walkStored(input, walk);
    }
  }
}

/** Reads past values; pages are read for who asks alone. */
const PASSING: Walk = {
  reference: null,
  content: null,
  page: (number) => {
    throw new Error(`nobody asks for page ${number}`);
  },
};

/** The values of an instance for its type as it is now. */
function addFields(content: Content, input: ByteReader, type: Type, read: ReadPart): void {
  const values = new Map<number, Content>();
  for (let count = input.varint(); count > 0; count--) {
    const value = new Content();
    values.set(input.varint(), value);
    walkStored(input, { reference: null, content: value.add, page: read });
  }
  if (type.def === null) throw new FormatError(`an instance of the type ${type.id}, which is not there`);
  for (const { id, initial } of type.def.fields) {
    const value = values.get(id);
    if (value === undefined) writeValue(content.writer, initial);
    else for (const bytes of value.end()) content.add(bytes);
  }
  if (type.def.successor === null) return;
  const succeeding = values.get(type.def.successor.id);
  content.writer.u8(succeeding === undefined ? 0 : 1);
  for (const bytes of succeeding?.end() ?? []) content.add(bytes);
}

/** Bytes in a row, of which long ones are not copied. */
class Content {
  readonly writer = new ByteWriter(256);
  private readonly done: Uint8Array[] = [];

  readonly add = (bytes: Uint8Array): void => {
    if (bytes.length < COPIED_BYTES_MAX) {
      this.writer.bytes(bytes);
      return;
    }
    this.done.push(this.writer.take(), bytes);
    this.writer.rewind();
  };

  end(): Uint8Array[] {
    return [...this.done, this.writer.take()];
  }
}

const COPIED_BYTES_MAX = 4096;
