/**
 * Large lists. A stored list of more than `PIECED_MIN` items or `PIECED_BYTES_MIN` bytes lies in several records, *pieces* of
 * at most some hundred items each, so that a change writes a piece and not the list, and so that only what is touched must be
 * in memory. The record of the thing has the table of the pieces:
 *
 *   list     := nesting:varint inner:varint count:varint (part:varint items:varint)*
 *   piece    := value*          (as many as the table says; `value` as in `value-codec.ts`)
 *
 * A piece is a record of its own under the id of the thing, with `part` as its number.
 */
import { ByteReader, ByteWriter, FormatError } from '../bytes.js';
import { type Backing, List, UNITS_PER_READ_ITEM } from '../value/containers.js';
import { bytesOfValue, eachThing } from '../value/kinds.js';
import type { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import type { PartSink } from './apart.js';
import type { ThingMemory } from './memory.js';
import { readValue, visitThings, writeValue } from './value-codec.js';

/** Lists of more items than this are stored in pieces. */
export const PIECED_MIN = 1024;

/** And those of more bytes than this, if they have several items. */
const PIECED_BYTES_MIN = 256 * 1024;

/** Items of a piece when it is made; it may grow to twice as many. */
const PIECE_ITEMS = 256;

/** Bytes of a piece beyond which it is cut in two, if it has several items. */
const PIECE_BYTES_MAX = 1024 * 1024;

interface Piece {
  /** Number of the record; 0 until the piece is written for the first time. */
  part: number;
  count: number;
  present: boolean;
  /** Whether the record differs from what is in memory, or there is none yet. */
  dirty: boolean;
}

/** The pieces of one list, in order. */
export class Pieces implements Backing {
  private readonly list: List;
  private readonly owner: Thing;
  private readonly store: ThingMemory;
  private pieces: Piece[];
  private absent = 0;
  /** Whether the items were asked for since the last call of `rest`. */
  private used = true;

  private constructor(list: List, owner: Thing, store: ThingMemory, pieces: Piece[]) {
    this.list = list;
    this.owner = owner;
    this.store = store;
    this.pieces = pieces;
  }

  /** Whether a list that has no pieces should have some. */
  static suit(list: List): boolean {
    const { length } = list;
    return length > PIECED_MIN || (length > 1 && bytesOfValue(list) > PIECED_BYTES_MIN);
  }

  /** Cuts a list that is in memory as a whole. */
  static cut(list: List, owner: Thing, store: ThingMemory): Pieces {
    const pieces = new Pieces(list, owner, store, cutInto(list.held.length));
    list.backing = pieces;
    return pieces;
  }

  /** Reads the table of a list. None of its items is in memory then. */
  static read(input: ByteReader, owner: Thing, store: ThingMemory): List {
    const nesting = input.varint();
    const inner = input.varint();
    const count = input.varint();
    const pieces: Piece[] = [];
    let items = 0;
    for (let i = 0; i < count; i++) {
      const piece = { part: input.varint(), count: input.varint(), present: false, dirty: false };
      items += piece.count;
      pieces.push(piece);
    }
    const list = new List(new Array<Value>(items).fill(null));
    list.nesting = nesting;
    list.inner = inner;
    const backing = new Pieces(list, owner, store, pieces);
    backing.absent = count;
    list.backing = backing;
    return list;
  }

  /** Numbers of the records in use. */
  get parts(): number[] {
    return this.pieces.map(({ part }) => part).filter((part) => part !== 0);
  }

  /** The highest of them; 0 for none. */
  get lastPart(): number {
    return this.pieces.reduce((last, { part }) => Math.max(last, part), 0);
  }

  get unitsToFill(): number {
    if (this.absent === 0) return 0;
    let items = 0;
    for (const { count, present } of this.pieces) if (!present) items += count;
    return UNITS_PER_READ_ITEM * items;
  }

  fillRange(start: number, end: number): void {
    this.used = true;
    if (this.absent === 0) return;
    const index = this.indexOf(start);
    this.loadRange(index, this.startOf(index), end);
  }

  fill(): void {
    this.used = true;
    if (this.absent === 0) return;
    let start = 0;
    for (const piece of this.pieces) {
      if (!piece.present) this.load(piece, start);
      start += piece.count;
    }
  }

  /** The item at a position, of which only the piece must come into memory. */
  at(position: number): Value {
    this.used = true;
    if (this.absent > 0) {
      const { piece, start } = this.find(position);
      if (!piece.present) this.load(piece, start);
    }
    return this.list.held[position] as Value;
  }

  /** Brings the pieces into memory that a change of `count` items from `start` on concerns, makes it, and notes it. */
  splice<T>(start: number, count: number, added: number, change: () => T): T {
    const index = this.indexOf(start);
    const first = this.pieces[index] as Piece;
    const base = this.startOf(index);
    this.loadRange(index, base, start + count);
    const result = change();
    let offset = start - base;
    let left = count;
    for (let i = index; left > 0; i++) {
      const piece = this.pieces[i] as Piece;
      const taken = Math.min(left, piece.count - offset);
      piece.count -= taken;
      piece.dirty = true;
      left -= taken;
      offset = 0;
    }
    first.count += added;
    first.dirty = true;
    if (first.count > 2 * PIECE_ITEMS) this.split(index);
    if (count > 0) this.dropEmpty();
    return result;
  }

  /** Puts a value that holds no others at the end of the list. Only the last piece must come into memory. */
  append(value: Value): void {
    const { list, pieces } = this;
    const last = pieces[pieces.length - 1] as Piece;
    if (!last.present) this.load(last, list.held.length - last.count);
    list.held.push(value);
    last.count += 1;
    last.dirty = true;
    if (last.count > 2 * PIECE_ITEMS) this.split(pieces.length - 1);
  }

  /** Writes the table, and the pieces that changed. */
  write(out: ByteWriter, sink: PartSink): void {
    this.writePieces(sink);
    const { list, pieces } = this;
    out.varint(list.nesting);
    out.varint(list.inner);
    out.varint(pieces.length);
    for (const { part, count } of pieces) {
      out.varint(part);
      out.varint(count);
    }
  }

  /** Notes that what was written last did not become durable. */
  rewrite(): void {
    for (const piece of this.pieces) if (piece.present) piece.dirty = true;
  }

  /** Gives the records up: the list is not stored any more, or goes on without pieces. It must be in memory. */
  dissolve(): void {
    this.fill();
    for (const { part } of this.pieces) this.free(part);
    this.pieces = [];
    this.list.backing = null;
  }

  /** Calls `visit` for each item that is in memory. */
  eachPresent(visit: (value: Value) => void): void {
    const { held } = this.list;
    let start = 0;
    for (const { count, present } of this.pieces) {
      if (present) for (let i = start; i < start + count; i++) visit(held[i] as Value);
      start += count;
    }
  }

  /** Calls `visit` with the id of each thing in the list, without bringing anything into memory. */
  visitThings(visit: (id: number) => void): void {
    this.eachPresent((item) => eachThing(item, (thing) => visit(thing.id)));
    for (const { part, present } of this.pieces) {
      if (present) continue;
      const input = new ByteReader(this.store.readPart(this.owner, part));
      while (input.remaining > 0) visitThings(input, visit);
    }
  }

  /**
   * Takes pieces out of memory that are as they are on disk, unless the items were asked for since the last time.
   *
   * @param forget is called for each item that leaves
   */
  rest(forget: (value: Value) => void): void {
    if (this.used) {
      this.used = false;
      return;
    }
    const { held } = this.list;
    let start = 0;
    for (const piece of this.pieces) {
      if (piece.present && !piece.dirty) {
        for (let i = start; i < start + piece.count; i++) {
          forget(held[i] as Value);
          held[i] = null;
        }
        piece.present = false;
        this.absent += 1;
      }
      start += piece.count;
    }
  }

  /** Brings pieces from `index` on into memory, up to the one that ends at `end`. */
  private loadRange(index: number, base: number, end: number): void {
    let start = base;
    for (let i = index; i < this.pieces.length; i++) {
      const piece = this.pieces[i] as Piece;
      if (i > index && start >= end) return;
      if (!piece.present) this.load(piece, start);
      start += piece.count;
    }
  }

  private load(piece: Piece, start: number): void {
    const input = new ByteReader(this.store.readPart(this.owner, piece.part));
    const { held } = this.list;
    for (let i = 0; i < piece.count; i++) {
      const value = readValue(input, this.store);
      held[start + i] = value;
      this.store.hold(value);
    }
    if (input.remaining > 0)
      throw new FormatError(`a piece of thing ${this.owner.id} is longer than its table says`);
    piece.present = true;
    this.absent -= 1;
  }

  private writePieces(sink: PartSink): void {
    const { held } = this.list;
    const out = new ByteWriter(4096);
    const newPart = this.store.partNumbers(this.owner);
    let start = 0;
    for (let i = 0; i < this.pieces.length; i++) {
      const piece = this.pieces[i] as Piece;
      if (piece.dirty) {
        out.rewind();
        for (let j = start; j < start + piece.count; j++) writeValue(out, held[j] as Value);
        if (out.length > PIECE_BYTES_MAX && piece.count > 1) {
          this.halve(i);
          i -= 1;
          continue;
        }
        if (piece.part === 0) piece.part = newPart();
        sink.put(piece.part, out.take());
        piece.dirty = false;
      }
      start += piece.count;
    }
  }

  private halve(i: number): void {
    const piece = this.pieces[i] as Piece;
    const half = Math.floor(piece.count / 2);
    const rest: Piece = { part: 0, count: piece.count - half, present: true, dirty: true };
    piece.count = half;
    this.pieces.splice(i + 1, 0, rest);
  }

  private split(index: number): void {
    const { pieces } = this;
    const piece = pieces[index] as Piece;
    const parts = cutInto(piece.count);
    (parts[0] as Piece).part = piece.part;
    if (index < pieces.length - 1) {
      this.pieces = [...pieces.slice(0, index), ...parts, ...pieces.slice(index + 1)];
      return;
    }
    // The last one, as it mostly is: no others have to move.
    pieces.pop();
    for (const part of parts) pieces.push(part);
  }

  private dropEmpty(): void {
    if (!this.pieces.some(({ count }) => count === 0)) return;
    for (const { count, part } of this.pieces) if (count === 0) this.free(part);
    this.pieces = this.pieces.filter(({ count }) => count > 0);
    if (this.pieces.length === 0) this.pieces = cutInto(0);
  }

  private free(part: number): void {
    if (part !== 0) this.store.freePart(this.owner, part);
  }

  private find(position: number): { piece: Piece; start: number } {
    const i = this.indexOf(position);
    return { piece: this.pieces[i] as Piece, start: this.startOf(i) };
  }

  /** The piece that a position lies in; the last one for the end of the list. */
  private indexOf(position: number): number {
    const { pieces, list } = this;
    const lastIndex = pieces.length - 1;
    const last = pieces[lastIndex] as Piece;
    if (position >= list.held.length - last.count) return lastIndex;
    let end = 0;
    for (let i = 0; i < lastIndex; i++) {
      end += (pieces[i] as Piece).count;
      if (position < end) return i;
    }
    return lastIndex;
  }

  private startOf(index: number): number {
    const { pieces, list } = this;
    if (index === pieces.length - 1) return list.held.length - (pieces[index] as Piece).count;
    let start = 0;
    for (let i = 0; i < index; i++) start += (pieces[i] as Piece).count;
    return start;
  }
}

/** The numbers of the pieces in a table, of which nothing else is wanted. */
export function readTable(input: ByteReader): { readonly parts: readonly number[]; readonly items: number } {
  input.varint();
  input.varint();
  const parts: number[] = [];
  let items = 0;
  for (let count = input.varint(); count > 0; count--) {
    parts.push(input.varint());
    items += input.varint();
  }
  return { parts, items };
}

/** New pieces for so many items; at least one. */
function cutInto(items: number): Piece[] {
  const pieces: Piece[] = [];
  for (let left = items; left > 0 || pieces.length === 0; left -= PIECE_ITEMS) {
    pieces.push({ part: 0, count: Math.min(left, PIECE_ITEMS), present: true, dirty: true });
  }
  return pieces;
}
