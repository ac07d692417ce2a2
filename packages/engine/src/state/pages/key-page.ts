import { type ByteReader, type ByteWriter, FormatError } from '../../bytes.js';
import { aimedKey, assertLengths, KEY_BYTES_MAX, PAGE_FORMAT, readLevel } from './key-record.js';
import { type Page, PageState } from './page-table.js';
import { StagedKeys } from './staged-keys.js';

/** Bytes of a page above which it is split: a checkpoint writes each page whose entries changed, so they are small. */
export const PAGE_BYTES_MAX = 1024;

/** Entries that a page has at least when it is split, whatever their size. */
const ENTRIES_MIN = 4;

/** Bytes counted for an entry beside what its key has for itself: its id, and what it costs to write it. */
const ENTRY_BYTES = 6;

/** Bytes of an entry in memory before the rest of its key, and of its slot: see `KeyPage`. */
const ENTRY_HEAD = 9;
const SLOT_BYTES = 4;

/** An entry lies below that. */
const DATA_BYTES_MAX = 0xffff;

/** Entries that are going to lie in another page, or otherwise in this one. */
const staged = new StagedKeys();

/** The key that is made a text. */
const spelled = Buffer.alloc(KEY_BYTES_MAX);

const NO_BYTES = Buffer.alloc(0);
const NONE: number[] = [];

/**
 * One page of a tree: see `key-pages.ts`. In memory its entries lie in one piece, so that a look-up comes to a few lines of the processor's
 * cache a page, and the collector of memory has nothing to go through:
 *
 *   data  := common entry* free slot*      `common` is what all keys begin with; entries lie in no order, and there may be gaps between them
 *   entry := length:u16 id:u56 rest        `rest` is what a key has behind that
 *   slot  := place:u16 first:u16           where an entry lies, and the first two bytes of its rest; that of the first entry is at the end
 */
export class KeyPage implements Page {
  /** True if it was looked at since it was last asked whether it may leave memory. */
  isUsed = true;
  /** Number of entries. */
  entries = 0;
  /** The pages below, and the number of entries in each; empty in a leaf. */
  pages = NONE;
  sizes = NONE;
  private data = NO_BYTES;
  private common = 0;
  /** Where the entries end. */
  private end = 0;
  /** Bytes of keys: what is common, and the rests. */
  private used = 0;

  constructor(
    readonly number: number,
    readonly level: number,
    public state: PageState,
  ) {
    if (level === 0) return;
    this.pages = [];
    this.sizes = [];
  }

  /** Number of entries in the leaves below it, or in itself. */
  get size(): number {
    return this.level === 0 ? this.entries : this.sizes.reduce((sum, size) => sum + size, 0);
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
    return Array.from({ length: this.entries }, (_, at) => this.keyAt(at));
  }

  /** The ids of the entries; of an inner page, no entry of the page below is before the one that stands for it. */
  get ids(): number[] {
    return Array.from({ length: this.entries }, (_, at) => this.idAt(at));
  }

  keyAt(at: number): string {
    return spelled.toString('latin1', 0, this.copy(at, spelled, 0));
  }

  idAt(at: number): number {
    const { data } = this;
    const from = this.placeAt(at) + 2;
    const low =
      (data[from]! | (data[from + 1]! << 8) | (data[from + 2]! << 16)) + data[from + 3]! * 0x1000000;
    const high = data[from + 4]! | (data[from + 5]! << 8) | (data[from + 6]! << 16);
    return high === 0 ? low : high * 0x100000000 + low;
  }

  entry(at: number): { readonly key: string; readonly id: number } {
    return { key: this.keyAt(at), id: this.idAt(at) };
  }

  /** True where the entry at a place has the key that is looked for. */
  has(at: number, id: number): boolean {
    return at < this.entries && this.compareCommon() === 0 && this.compareRest(at, id) === 0;
  }

  /** The same, whatever the id. */
  hasKey(at: number): boolean {
    return this.has(at, this.idAt(at));
  }

  /** The place of the first entry that is not before another one, which has the key that is looked for. */
  placeOf(id: number): number {
    return this.search(id, 0);
  }

  /** The place of the page below that an entry with the key that is looked for lies in, or would. */
  childOf(id: number): number {
    return Math.max(0, this.search(id, 1) - 1);
  }

  /** The place of the first entry that compares with another one, which has the key that is looked for, as a number or above. */
  private search(id: number, least: number): number {
    const order = this.compareCommon();
    if (order !== 0) return order < 0 ? 0 : this.entries;
    const { data, common } = this;
    const { bytes, length } = aimedKey;
    const first =
      ((common < length ? bytes[common]! : 0) << 8) | (common + 1 < length ? bytes[common + 1]! : 0);
    let from = 0;
    let to = this.entries;
    // The place of these two bytes in the first entry: asking for each slot anew takes longer.
    const last = data.length - 2;
    while (from < to) {
      const middle = (from + to) >> 1;
      const place = last - SLOT_BYTES * middle;
      const other = (data[place]! << 8) | data[place + 1]!;
      const order = other !== first ? other - first : this.compareRest(middle, id);
      if (order < least) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  /** The place at which the page is cut into two of about the same size. */
  get middle(): number {
    let at = 0;
    for (let size = this.common; at < this.entries - 1 && 2 * (size + ENTRY_BYTES * at) < this.bytes; at++)
      size += this.restAt(at);
    return Math.max(1, at);
  }

  /** Puts an entry with the key that is looked for at a place. */
  insert(at: number, id: number): void {
    const size = ENTRY_HEAD + SLOT_BYTES + aimedKey.length - this.common;
    const isFull = this.end + size + SLOT_BYTES * this.entries > this.data.length;
    if (isFull || this.compareCommon() !== 0) {
      staged.count = 0;
      this.stage(0, this.entries);
      let common = 0;
      const most = Math.min(aimedKey.length, staged.common);
      while (common < most && aimedKey.bytes[common] === staged.bytes[common]) common += 1;
      this.settle(size + this.common + (this.end >> 1), common);
    }
    const { data } = this;
    const slot = this.slotAt(at);
    for (let i = slot - SLOT_BYTES * (this.entries - at); i < slot; i++) data[i] = data[i + SLOT_BYTES]!;
    this.put(slot, id, aimedKey.bytes, this.common, aimedKey.length);
    this.entries += 1;
  }

  remove(at: number): void {
    const { data } = this;
    const rest = this.restAt(at);
    if (this.placeAt(at) + ENTRY_HEAD + rest === this.end) this.end -= ENTRY_HEAD + rest;
    for (let i = this.slotAt(at) - 1; i >= this.slotAt(this.entries - 1); i--)
      data[i + SLOT_BYTES] = data[i]!;
    this.used -= rest;
    this.entries -= 1;
    if (this.entries === 0) [this.common, this.end, this.used] = [0, 0, 0];
  }

  /** Puts a page below this one, at the place of its first entry. */
  link(at: number, page: KeyPage): void {
    aimedKey.length = page.copy(0, aimedKey.bytes, 0);
    this.insert(at, page.idAt(0));
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
    if (this.level > 0) {
      this.pages = other.pages.splice(at);
      this.sizes = other.sizes.splice(at);
    }
    staged.count = 0;
    other.stage(at, count);
    this.settle(other.end >> 2);
    staged.count = 0;
    other.stage(0, at);
    other.settle(at === count - 1 ? 0 : other.end >> 2);
  }

  /** Puts the entries of another page behind these, which are some. That one is of no use then. */
  append(other: KeyPage): void {
    staged.count = 0;
    this.stage(0, this.entries);
    other.stage(0, other.entries);
    this.settle(0);
    if (this.level === 0) return;
    this.pages.push(...other.pages);
    this.sizes.push(...other.sizes);
  }

  write(out: ByteWriter): void {
    const { level, entries, data, common } = this;
    out.u8(PAGE_FORMAT);
    out.u8(level);
    out.varint(entries);
    for (let at = 0; at < entries; at++) {
      const shared = at === 0 ? 0 : this.shared(at - 1, at);
      const from = this.placeAt(at) + ENTRY_HEAD;
      const rest = this.restAt(at);
      out.varint(shared);
      out.varint(common + rest - shared);
      if (at === 0) out.part(data, 0, common);
      out.part(data, from + Math.max(0, shared - common), from + rest);
      out.varint(this.idAt(at));
      if (level > 0) {
        out.varint(this.pages[at]!);
        out.varint(this.sizes[at]!);
      }
    }
  }

  static read(number: number, input: ByteReader): KeyPage {
    const page = new KeyPage(number, readLevel(input), PageState.CLEAN);
    const { level, pages, sizes } = page;
    let [start, end, common] = [0, 0, KEY_BYTES_MAX];
    staged.count = 0;
    for (let count = input.varint(); count > 0; count--) {
      const shared = input.varint();
      const rest = input.varint();
      assertLengths(number, end - start, shared, rest);
      staged.reserve(end + shared + rest);
      for (let i = 0; i < shared; i++) staged.bytes[end + i] = staged.bytes[start + i]!;
      input.copyTo(staged.bytes, end + shared, rest);
      if (staged.count > 0) common = Math.min(common, shared);
      start = end;
      end += shared + rest;
      staged.push(end, input.varint());
      if (level > 0) {
        pages.push(input.varint());
        sizes.push(input.varint());
      }
    }
    if (input.remaining > 0) throw new FormatError(`there is more than page ${number} of an index`);
    page.settle(0, Math.min(common, end - start));
    return page;
  }

  /**
   * The faults of the entries, a line each.
   *
   * @param low no entry may be before it; null for none
   */
  problems(low: { readonly key: string; readonly id: number } | null): string[] {
    const problems: string[] = [];
    const { number, entries, end, data } = this;
    if (end + SLOT_BYTES * entries > data.length)
      problems.push(`page ${number} has ${entries} entries up to ${end} of ${data.length} bytes`);
    for (let i = 0; i < entries; i++) {
      const order = compare(this.entry(i), i === 0 ? low : this.entry(i - 1));
      if (order < 0 || (order === 0 && i > 0))
        problems.push(`page ${number}: entry ${i} (thing ${this.idAt(i)}) is not in order`);
    }
    return problems;
  }

  private slotAt(at: number): number {
    return this.data.length - SLOT_BYTES * (at + 1);
  }

  /** Where an entry lies. */
  private placeAt(at: number): number {
    const slot = this.slotAt(at);
    return (this.data[slot]! << 8) | this.data[slot + 1]!;
  }

  /** The length of the rest of its key. */
  private restAt(at: number): number {
    const place = this.placeAt(at);
    return (this.data[place]! << 8) | this.data[place + 1]!;
  }

  /** Negative where the key that is looked for is before all that begin as these do, positive behind them. */
  private compareCommon(): number {
    const { data, common } = this;
    const { bytes, length } = aimedKey;
    for (let i = 0; i < common; i++) {
      if (i === length) return -1;
      const order = bytes[i]! - data[i]!;
      if (order !== 0) return order;
    }
    return 0;
  }

  /** Negative where an entry is before the one that is looked for, positive behind it; both begin alike. */
  private compareRest(at: number, id: number): number {
    const { data } = this;
    const place = this.placeAt(at);
    const from = place + ENTRY_HEAD;
    const end = from + ((data[place]! << 8) | data[place + 1]!);
    const { bytes, length } = aimedKey;
    let i = this.common;
    for (let at = from; at < end; at++, i++) {
      if (i === length) return 1;
      const order = data[at]! - bytes[i]!;
      if (order !== 0) return order;
    }
    return i < length ? -1 : this.idAt(at) - id;
  }

  /** Number of bytes with which two keys begin alike. */
  private shared(a: number, b: number): number {
    const { data } = this;
    const [fromA, fromB] = [this.placeAt(a) + ENTRY_HEAD, this.placeAt(b) + ENTRY_HEAD];
    const end = Math.min(this.restAt(a), this.restAt(b));
    let i = 0;
    while (i < end && data[fromA + i] === data[fromB + i]) i += 1;
    return this.common + i;
  }

  /** Copies a key, and says where it ends. */
  private copy(at: number, target: Uint8Array, to: number): number {
    const { data, common } = this;
    const from = this.placeAt(at) + ENTRY_HEAD;
    const rest = this.restAt(at);
    for (let i = 0; i < common; i++) target[to + i] = data[i]!;
    for (let i = 0; i < rest; i++) target[to + common + i] = data[from + i]!;
    return to + common + rest;
  }

  /** Copies some entries, which `settle` puts into a page. */
  private stage(from: number, to: number): void {
    for (let at = from; at < to; at++) {
      const { length } = staged;
      staged.reserve(length + this.common + this.restAt(at));
      staged.push(this.copy(at, staged.bytes, length), this.idAt(at));
    }
  }

  /** Has the entries that were copied, and nothing else; there is room for so many bytes more. */
  private settle(room: number, common = staged.common): void {
    const { bytes, ends, ids, count } = staged;
    const size = staged.length - common * Math.max(0, count - 1) + (ENTRY_HEAD + SLOT_BYTES) * count;
    if (size > DATA_BYTES_MAX) throw new FormatError(`page ${this.number} of an index is too large`);
    this.data = Buffer.allocUnsafeSlow(size + room);
    this.common = common;
    this.end = common;
    this.used = common;
    this.entries = count;
    for (let i = 0; i < common; i++) this.data[i] = bytes[i]!;
    let start = 0;
    for (let at = 0; at < count; at++) {
      this.put(this.slotAt(at), ids[at]!, bytes, start + common, ends[at]!);
      start = ends[at]!;
    }
  }

  /** Writes an entry and its slot; its rest lies from one offset to another. */
  private put(slot: number, id: number, source: Uint8Array, from: number, to: number): void {
    const { data, end: place } = this;
    const rest = to - from;
    data[slot] = place >> 8;
    data[slot + 1] = place;
    data[slot + 2] = rest > 0 ? source[from]! : 0;
    data[slot + 3] = rest > 1 ? source[from + 1]! : 0;
    data[place] = rest >> 8;
    data[place + 1] = rest;
    const low = id >>> 0;
    const high = (id - low) / 0x100000000;
    data[place + 2] = low;
    data[place + 3] = low >>> 8;
    data[place + 4] = low >>> 16;
    data[place + 5] = low >>> 24;
    data[place + 6] = high;
    data[place + 7] = high >>> 8;
    data[place + 8] = high >>> 16;
    const at = place + ENTRY_HEAD - from;
    for (let i = from; i < to; i++) data[at + i] = source[i]!;
    this.end = at + to;
    this.used += rest;
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
