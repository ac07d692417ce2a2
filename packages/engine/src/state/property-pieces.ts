/**
 * Things of many properties. A plain thing of more than `PIECED_MIN` properties lies in several records, *pieces* of up to
 * `WIDTH` properties each, so that a change writes a piece and not the thing, and so that a checkpoint can write it bit by bit:
 *
 *   thing    := refs:varint head:text count:varint slots:varint      of the head, `*` comes first
 *   piece    := flags:u8 count:varint gap:varint* property*          as many gaps as properties, or none
 *   property := key:text stored                                      as in `stored-value.ts`
 *
 * Piece n has the properties in the slots from n * WIDTH on. A slot may be free; where some are, each property has a gap: the
 * number of free slots in front of it. The record of a piece lies under the id of the thing, with FIRST_PART + n as its number.
 *
 * A checkpoint writes the first record at once, and the pieces when it comes to them. One that is about to change is written before
 * that, as it was.
 */
import { ByteReader, ByteWriter, FormatError } from '../bytes.js';
import { Restriction } from '../schema/restriction.js';
import type { Shape } from '../value/shape.js';
import type { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import type { Apart, PartSink } from './apart.js';
import type { ThingMemory } from './memory.js';
import { type ReadPart, readStored, sharedProperties, visitStored, writeStored } from './stored-value.js';

/** Things of more properties than this are stored in pieces, until they have half as many. */
export const PIECED_PROPERTIES_MIN = 1024;

/** Slots of a piece, as a power of two. */
const WIDTH_BITS = 7;
const WIDTH = 1 << WIDTH_BITS;

/** What stands in front of the head of a thing in pieces. */
export const PIECED_HEAD = '*';

/** The numbers of their records, behind those of the pieces of lists and in front of those of large values. */
const FIRST_PART = 2 ** 22;

/** Bits of the flags of a piece: whether each property has a gap, and whether some values lie elsewhere, at which earlier software looks. */
const HAS_GAPS = 1;
const HAS_PARTS = 2;

/** What a checkpoint still has to write. */
interface Unwritten {
  /** Keys, slots and values when it began; what is not the same any more since then is written already. */
  readonly shape: Shape;
  readonly slots: readonly Value[];
  readonly end: number;
  readonly pieces: Set<number>;
  readonly sink: PartSink;
}

/** The pieces of one thing. */
export class PropertyPieces {
  private readonly thing: Thing;
  private readonly store: ThingMemory;
  /** Slot of each key when the pieces were written last: when there is another table, every property may have moved. */
  private layout: ReadonlyMap<string, number> | null = null;
  /** Pieces that differ from their records. */
  private dirty = new Set<number>();
  /** Those that the last checkpoint was to write. */
  private saving: ReadonlySet<number> = NO_PIECES;
  private unwritten: Unwritten | null = null;
  /** Number of records there are when the last checkpoint is durable, and how many there may be if it is not. */
  private stored = 0;
  private storedBefore = 0;
  constructor(thing: Thing, store: ThingMemory) {
    this.thing = thing;
    this.store = store;
  }

  /** Whether a thing that does not lie in pieces should. */
  static suit({ shape }: Thing): boolean {
    return shape.owned && shape.size > PIECED_PROPERTIES_MIN;
  }

  /** Whether one that does should go on with it. */
  get suits(): boolean {
    const { shape } = this.thing;
    return shape.owned && shape.size > PIECED_PROPERTIES_MIN / 2;
  }

  /** Fills a stub from its records. `input` stands behind the head. */
  static read(head: string, input: ByteReader, thing: Thing, store: ThingMemory): PropertyPieces {
    const pieces = new PropertyPieces(thing, store);
    const count = input.varint();
    const end = input.varint();
    const shape = store.shapes.empty(Restriction.read(head, store.schema)).own();
    const slots = new Array<Value>(end).fill(null);
    pieces.stored = piecesOf(end);
    for (let piece = 0; piece < pieces.stored; piece++) {
      const apart = (): Apart => store.makeApart(thing).ofPiece(piece);
      const record = new PieceReader(store.readPart(thing.id, FIRST_PART + piece), piece);
      for (let slot = record.next(); slot !== -1; slot = record.next()) {
        const key = record.input.text();
        shape.place(key, slot);
        slots[slot] = readStored(record.input, key, thing, store, apart);
      }
      record.end(thing.id);
    }
    if (shape.size !== count)
      throw new FormatError(`thing ${thing.id} has ${shape.size} properties, not ${count}`);
    pieces.layout = shape.index;
    thing.shape = shape;
    thing.slots = slots;
    return pieces;
  }

  /** Must be called before a property changes, or comes, or goes. */
  touch(key: string): void {
    const slot = this.unwritten?.shape.index.get(key);
    if (slot !== undefined) this.writeUnwritten(slot >> WIDTH_BITS);
    const { shape, slots } = this.thing;
    // The slots of a table of a failing query are not those of the records, though the table of before comes back.
    if (this.layout !== shape.index) this.layout = null;
    this.dirty.add((shape.index.get(key) ?? slots.length) >> WIDTH_BITS);
  }

  /** Must be called before all properties change. */
  touchAll(): void {
    this.finish();
    this.layout = null;
  }

  /** Writes the first record; the pieces that changed follow by `rest`. */
  begin(out: ByteWriter, sink: PartSink): void {
    const { thing, store } = this;
    const { shape, slots } = thing;
    const count = piecesOf(slots.length);
    store.apartOf(thing)?.finish(sink);
    if (this.layout !== shape.index) {
      this.layout = shape.index;
      for (let piece = 0; piece < count; piece++) this.dirty.add(piece);
    }
    this.drop(count, sink);
    const pieces = new Set<number>();
    for (const piece of this.dirty) if (piece < count) pieces.add(piece);
    this.dirty = new Set();
    this.saving = new Set(pieces);
    this.unwritten = { shape, slots, end: slots.length, pieces, sink };
    store.unfinished.add(this);
    out.varint(thing.refs);
    out.text(PIECED_HEAD + (thing.restriction?.stored ?? ''));
    out.varint(shape.size);
    out.varint(slots.length);
  }

  /** Writes what `begin` left, a piece at each step. */
  *rest(): Generator<void, void, undefined> {
    if (this.unwritten !== null) {
      for (const piece of this.unwritten.pieces) {
        this.writeUnwritten(piece);
        yield;
      }
    }
    this.unwritten = null;
    this.store.unfinished.delete(this);
  }

  /** Writes what `begin` left. */
  finish(): void {
    if (this.unwritten === null) return;
    for (const piece of this.unwritten.pieces) this.writeUnwritten(piece);
    this.unwritten = null;
    this.store.unfinished.delete(this);
  }

  /** The thing is written as a whole from now on. */
  giveUp(sink: PartSink): void {
    this.drop(0, sink);
    this.layout = null;
    this.dirty.clear();
    this.saving = NO_PIECES;
  }

  /** Notes that what was written last did not become durable. */
  again(): void {
    for (const piece of this.saving) this.dirty.add(piece);
    this.stored = Math.max(this.stored, this.storedBefore);
    this.unwritten = null;
    this.store.unfinished.delete(this);
  }

  /** Numbers of all records that there may be. */
  get parts(): number[] {
    const count = Math.max(this.stored, this.storedBefore);
    return Array.from({ length: count }, (_, piece) => FIRST_PART + piece);
  }

  /** Deletes the records of pieces that are not there any more. */
  private drop(count: number, sink: PartSink): void {
    const apart = this.store.apartOf(this.thing);
    for (let piece = count; piece < this.stored; piece++) {
      sink.delete(FIRST_PART + piece);
      apart?.pieceOf(piece)?.finish(sink);
    }
    this.storedBefore = this.stored;
    this.stored = count;
  }

  private writeUnwritten(piece: number): void {
    const { unwritten } = this;
    if (unwritten?.pieces.delete(piece) === true) this.write(piece, unwritten);
  }

  private write(piece: number, { shape, slots, end, sink }: Unwritten): void {
    const { thing, store } = this;
    const { keysBySlot } = shape;
    const apart = (): Apart => store.makeApart(thing).ofPiece(piece);
    if (scratch.length > SCRATCH_BYTES) scratch = new ByteWriter(SCRATCH_BYTES);
    const out = scratch;
    out.rewind();
    const gaps: number[] = [];
    let flags = 0;
    let next = piece * WIDTH;
    for (let slot = next, last = Math.min(slot + WIDTH, end); slot < last; slot++) {
      const key = keysBySlot[slot];
      if (key === undefined || key === null) continue;
      if (slot > next) flags |= HAS_GAPS;
      gaps.push(slot - next);
      next = slot + 1;
      out.text(key);
      if (writeStored(out, key, slots[slot] as Value, thing, store, apart, sink)) flags |= HAS_PARTS;
    }
    store.apartOf(thing)?.pieceOf(piece)?.finish(sink);
    const record = new ByteWriter(out.length + 8 * gaps.length + 16);
    record.u8(flags);
    record.varint(gaps.length);
    if ((flags & HAS_GAPS) !== 0) for (const gap of gaps) record.varint(gap);
    record.bytes(out.view());
    sink.put(FIRST_PART + piece, record.view());
  }
}

/** Calls `visit` with the id of each thing that the pieces refer to. `input` stands behind the head. */
export function visitPieces(input: ByteReader, visit: (id: number) => void, readPart: ReadPart): void {
  input.varint();
  const count = piecesOf(input.varint());
  for (let piece = 0; piece < count; piece++) {
    const record = new PieceReader(readPart(FIRST_PART + piece), piece);
    for (let slot = record.next(); slot !== -1; slot = record.next()) {
      record.input.bytes(record.input.varint());
      visitStored(record.input, visit, readPart);
    }
  }
}

/** What stands behind the head of a thing in one piece. `input` stands behind that of one in pieces. */
export function* sharedPieces(input: ByteReader, readPart: ReadPart): Generator<Uint8Array, void, undefined> {
  const head = new ByteWriter(8);
  head.varint(input.varint());
  yield head.take();
  const count = piecesOf(input.varint());
  for (let piece = 0; piece < count; piece++) {
    const record = readPart(FIRST_PART + piece);
    const { input: properties, count: size } = new PieceReader(record, piece);
    yield* sharedProperties(record, properties, size, properties.offset, readPart);
  }
}

/** Reads the head of a piece, and where its properties belong. */
class PieceReader {
  /** Stands in front of the properties. */
  readonly input: ByteReader;
  readonly flags: number;
  readonly count: number;
  private readonly gaps: number[] = [];
  private read = 0;
  private slot: number;

  constructor(record: Uint8Array, piece: number) {
    const input = new ByteReader(record);
    this.input = input;
    this.slot = piece * WIDTH;
    this.flags = input.u8();
    this.count = input.varint();
    if (this.count > WIDTH) throw new FormatError(`a piece of ${this.count} properties`);
    if ((this.flags & HAS_GAPS) !== 0) for (let i = 0; i < this.count; i++) this.gaps.push(input.varint());
  }

  /** The slot of the next property; -1 behind the last. */
  next(): number {
    if (this.read === this.count) return -1;
    const slot = this.slot + (this.gaps[this.read] ?? 0);
    this.slot = slot + 1;
    this.read += 1;
    return slot;
  }

  end(id: number): void {
    if (this.input.remaining > 0) throw new FormatError(`a piece of thing ${id} is longer than it says`);
  }
}

/** Number of pieces that so many slots make. */
function piecesOf(slots: number): number {
  return Math.ceil(slots / WIDTH);
}

const SCRATCH_BYTES = 256 * 1024;

/** The properties of a piece that is being written. */
let scratch = new ByteWriter(SCRATCH_BYTES);

const NO_PIECES: ReadonlySet<number> = new Set();
