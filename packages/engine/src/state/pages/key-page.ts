import { type ByteReader, type ByteWriter, FormatError } from '../../bytes.js';
import { type Page, PageState } from './page-table.js';

/** Bytes of a page above which it is split: a checkpoint writes each page whose entries changed, so they are small. */
export const PAGE_BYTES_MAX = 1024;

/** Entries that a page has at least when it is split, whatever their size. */
const ENTRIES_MIN = 4;

/** Bytes counted for an entry beside what its key has for itself: its id, and what it costs to write it. */
const ENTRY_BYTES = 6;

/** No key is longer: it has four texts at most, of which `TEXT_BYTES_MAX` bytes count, a pair of bytes each at worst. */
const KEY_BYTES_MAX = 4096;

/** The key that is looked for, until the next call of `aim`. */
const aimed = Buffer.alloc(KEY_BYTES_MAX);
let aimedLength = 0;

/** The keys of the page that is being read, and the key that is made a text. */
let decoded = Buffer.alloc(4 * KEY_BYTES_MAX);
const spelled = Buffer.alloc(KEY_BYTES_MAX);

const NO_BYTES = Buffer.alloc(0);
const NONE: number[] = [];

/** Says which key the next calls of pages look for. One that is longer than any can be compares as its beginning does. */
export function aim(key: string): void {
  aimedLength = Math.min(key.length, KEY_BYTES_MAX);
  for (let i = 0; i < aimedLength; i++) aimed[i] = key.charCodeAt(i);
}

/**
 * One page of a tree: see `key-pages.ts`. In memory the keys lie in one piece: what all of them begin with, once, and the rest of each. A
 * look-up so comes to a few lines of the processor's cache a page, and the collector of memory has no texts to go through.
 */
export class KeyPage implements Page {
  /** Whether it was looked at since it was last asked whether it may leave memory. */
  isUsed = true;
  /** The ids of the entries; of an inner page, no entry of the page below is before the one that stands for it. */
  ids: number[] = [];
  /** The pages below, and the number of entries in each; empty in a leaf. */
  pages = NONE;
  sizes = NONE;
  /** The bytes that all keys begin with, then the others of each, up to its end. */
  private data = NO_BYTES;
  private common = 0;
  private ends: number[] = [];

  constructor(
    readonly number: number,
    readonly level: number,
    public state: PageState,
  ) {
    if (level === 0) return;
    this.pages = [];
    this.sizes = [];
  }

  get entries(): number {
    return this.ids.length;
  }

  /** Number of entries in the leaves below it, or in itself. */
  get size(): number {
    return this.level === 0 ? this.ids.length : this.sizes.reduce((sum, size) => sum + size, 0);
  }

  /** Bytes of the entries, roughly. */
  get bytes(): number {
    return this.used + ENTRY_BYTES * this.entries;
  }

  get isTooLarge(): boolean {
    return this.bytes > PAGE_BYTES_MAX && this.entries >= ENTRIES_MIN;
  }

  get isSmall(): boolean {
    return this.bytes < PAGE_BYTES_MAX / 4;
  }

  get keys(): string[] {
    return this.ids.map((_, at) => this.keyAt(at));
  }

  keyAt(at: number): string {
    return spelled.toString('latin1', 0, this.copy(at, 0, this.lengthAt(at), spelled, 0));
  }

  entry(at: number): { readonly key: string; readonly id: number } {
    return { key: this.keyAt(at), id: this.ids[at]! };
  }

  /** True where the entry at a place has the key that is looked for. */
  has(at: number, id: number): boolean {
    return at < this.entries && this.compareCommon() === 0 && this.compareRest(at, id) === 0;
  }

  /** The place of the first entry that is not before another one, which has the key that is looked for. */
  placeOf(id: number): number {
    const order = this.compareCommon();
    if (order !== 0) return order < 0 ? 0 : this.entries;
    let from = 0;
    let to = this.entries;
    while (from < to) {
      const middle = (from + to) >> 1;
      if (this.compareRest(middle, id) < 0) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  /** The place of the page below that an entry with the key that is looked for lies in, or would. */
  childOf(id: number): number {
    const at = this.placeOf(id);
    return this.has(at, id) ? at : Math.max(0, at - 1);
  }

  /** The place at which the page is cut into two of about the same size. */
  get middle(): number {
    let at = 0;
    while (at < this.entries - 1 && 2 * (this.startAt(at) + ENTRY_BYTES * at) < this.bytes) at += 1;
    return Math.max(1, at);
  }

  /** Puts an entry with the key that is looked for at a place. */
  insert(at: number, id: number): void {
    let common = 0;
    while (common < this.common && common < aimedLength && aimed[common] === this.data[common]) common += 1;
    if (common < this.common) this.pack(this, 0, this.entries, common);
    const start = this.startAt(at);
    const { used } = this;
    const size = aimedLength - common;
    this.reserve(used + size);
    this.data.copyWithin(start + size, start, used);
    for (let i = 0; i < size; i++) this.data[start + i] = aimed[common + i]!;
    this.ends.splice(at, 0, start);
    for (let i = at; i < this.ends.length; i++) this.ends[i]! += size;
    this.ids.splice(at, 0, id);
  }

  remove(at: number): void {
    const start = this.startAt(at);
    const size = this.ends[at]! - start;
    this.data.copyWithin(start, start + size, this.used);
    this.ends.splice(at, 1);
    for (let i = at; i < this.ends.length; i++) this.ends[i]! -= size;
    this.ids.splice(at, 1);
    if (this.entries === 0) this.common = 0;
  }

  /** Puts a page below this one, at the place of its first entry. */
  link(at: number, page: KeyPage): void {
    aimedLength = page.copy(0, 0, page.lengthAt(0), aimed, 0);
    this.insert(at, page.ids[0]!);
    this.pages.splice(at, 0, page.number);
    this.sizes.splice(at, 0, page.size);
  }

  unlink(at: number): void {
    this.remove(at);
    this.pages.splice(at, 1);
    this.sizes.splice(at, 1);
  }

  /** Notes that an entry with the key that is looked for comes into the page below at a place. One before its bound becomes the bound, which only that of the first one can. */
  admit(at: number, id: number): void {
    this.grow(at, 1);
    if (at > 0 || this.placeOf(id) > 0) return;
    this.remove(0);
    this.insert(0, id);
  }

  /** Notes that the page below at a place has more entries. */
  grow(at: number, by: number): void {
    this.sizes[at] = this.sizes[at]! + by;
  }

  /** Takes over the entries of another page from a place on, which is not its first; this one is empty. */
  takeFrom(other: KeyPage, at: number): void {
    const count = other.entries;
    this.ids = other.ids.splice(at);
    if (this.level > 0) {
      this.pages = other.pages.splice(at);
      this.sizes = other.sizes.splice(at);
    }
    this.pack(other, at, count, other.shared(at, count - 1));
    other.pack(other, 0, at, other.shared(0, at - 1));
  }

  /** Puts the entries of another page behind these, which are some. That one is of no use then. */
  append(other: KeyPage): void {
    let common = 0;
    const end = Math.min(this.common, other.common);
    while (common < end && this.data[common] === other.data[common]) common += 1;
    this.pack(this, 0, this.entries, common);
    other.pack(other, 0, other.entries, common);
    const offset = this.used - common;
    this.reserve(offset + other.used);
    this.data.set(other.data.subarray(common, other.used), this.used);
    for (const end of other.ends) this.ends.push(offset + end);
    this.ids.push(...other.ids);
    if (this.level === 0) return;
    this.pages.push(...other.pages);
    this.sizes.push(...other.sizes);
  }

  write(out: ByteWriter): void {
    const { level, ids, ends } = this;
    out.u8(level);
    out.varint(ids.length);
    for (let i = 0; i < ids.length; i++) {
      const shared = i === 0 ? 0 : this.shared(i - 1, i);
      const from = i === 0 ? 0 : this.startAt(i) + shared - this.common;
      out.varint(shared);
      out.varint(ends[i]! - from);
      out.part(this.data, from, ends[i]!);
      out.varint(ids[i]!);
      if (level > 0) {
        out.varint(this.pages[i]!);
        out.varint(this.sizes[i]!);
      }
    }
  }

  static read(number: number, input: ByteReader): KeyPage {
    const page = new KeyPage(number, input.u8(), PageState.CLEAN);
    const { ids, level, pages, sizes, ends } = page;
    let [start, end] = [0, 0];
    let common = KEY_BYTES_MAX;
    for (let count = input.varint(); count > 0; count--) {
      const shared = input.varint();
      const rest = input.varint();
      if (shared > end - start || shared + rest > KEY_BYTES_MAX)
        throw new FormatError(`page ${number} of an index is damaged`);
      if (end + KEY_BYTES_MAX > decoded.length) decoded = Buffer.concat([decoded], 2 * decoded.length);
      for (let i = 0; i < shared; i++) decoded[end + i] = decoded[start + i]!;
      input.copyTo(decoded, end + shared, rest);
      if (ends.length > 0) common = Math.min(common, shared);
      start = end;
      end += shared + rest;
      ends.push(end);
      ids.push(input.varint());
      if (level > 0) {
        pages.push(input.varint());
        sizes.push(input.varint());
      }
    }
    if (input.remaining > 0) throw new FormatError(`there is more than page ${number} of an index`);
    page.data = decoded;
    if (ids.length > 0) page.pack(page, 0, ids.length, Math.min(common, end - start));
    else page.data = NO_BYTES;
    return page;
  }

  /**
   * The faults of the entries, a line each.
   *
   * @param low no entry may be before it; null for none
   */
  problems(low: { readonly key: string; readonly id: number } | null): string[] {
    const problems: string[] = [];
    const { ids, number, ends, used } = this;
    if (ends.length !== ids.length || used > this.data.length)
      problems.push(
        `page ${number} has ${ends.length} keys in ${used} of ${this.data.length} bytes, for ${ids.length} entries`,
      );
    for (let i = 0; i < ids.length; i++) {
      const order = compare(this.entry(i), i === 0 ? low : this.entry(i - 1));
      if (order < 0 || (order === 0 && i > 0))
        problems.push(`page ${number}: entry ${i} (thing ${ids[i]}) is not in order`);
    }
    return problems;
  }

  /** Bytes that keys take. */
  private get used(): number {
    return this.ends.at(-1) ?? 0;
  }

  /** The offset at which the rest of a key begins; for the place behind the last one, the offset of the next key. */
  private startAt(at: number): number {
    return at === 0 ? this.common : this.ends[at - 1]!;
  }

  private lengthAt(at: number): number {
    return this.common + this.ends[at]! - this.startAt(at);
  }

  /** Negative where the key that is looked for is before all that begin as these do, positive behind them. */
  private compareCommon(): number {
    const { data, common } = this;
    for (let i = 0; i < common; i++) {
      if (i === aimedLength) return -1;
      const order = aimed[i]! - data[i]!;
      if (order !== 0) return order;
    }
    return 0;
  }

  /** Negative where an entry is before the one that is looked for, positive behind it; both begin alike. */
  private compareRest(at: number, id: number): number {
    const { data } = this;
    const end = this.ends[at]!;
    let i = this.common;
    for (let from = this.startAt(at); from < end; from++, i++) {
      if (i === aimedLength) return 1;
      const order = data[from]! - aimed[i]!;
      if (order !== 0) return order;
    }
    return i < aimedLength ? -1 : this.ids[at]! - id;
  }

  /** Number of bytes with which two keys begin alike. */
  private shared(a: number, b: number): number {
    if (a === b) return this.lengthAt(a);
    const { data } = this;
    const [fromA, fromB] = [this.startAt(a), this.startAt(b)];
    const end = Math.min(this.ends[a]! - fromA, this.ends[b]! - fromB);
    let i = 0;
    while (i < end && data[fromA + i] === data[fromB + i]) i += 1;
    return this.common + i;
  }

  /** Copies some bytes of a key, and says where they end. */
  private copy(at: number, from: number, to: number, target: Uint8Array, place: number): number {
    const { data, common } = this;
    const rest = this.startAt(at) - common;
    for (let i = from; i < to; i++) target[place + i - from] = data[i < common ? i : rest + i]!;
    return place + to - from;
  }

  /** Has the keys of some entries of a page, of which so many bytes are common. */
  private pack(page: KeyPage, from: number, to: number, common: number): void {
    let size = common;
    for (let at = from; at < to; at++) size += page.lengthAt(at) - common;
    const data = Buffer.allocUnsafeSlow(size);
    const ends: number[] = [];
    let end = page.copy(from, 0, common, data, 0);
    for (let at = from; at < to; at++) {
      end = page.copy(at, common, page.lengthAt(at), data, end);
      ends.push(end);
    }
    this.data = data;
    this.common = common;
    this.ends = ends;
  }

  /** Makes room for keys of so many bytes, and for some more. */
  private reserve(size: number): void {
    if (size <= this.data.length) return;
    const data = Buffer.allocUnsafeSlow(size + (size >> 2));
    data.set(this.data.subarray(0, this.used));
    this.data = data;
  }
}

/** Negative, zero or positive; everything is behind null. */
function compare(
  a: { readonly key: string; readonly id: number },
  b: { readonly key: string; readonly id: number } | null,
): number {
  if (b === null || a.key > b.key) return 1;
  return a.key < b.key ? -1 : a.id - b.id;
}
