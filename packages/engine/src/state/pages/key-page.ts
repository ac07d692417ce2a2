import { type ByteReader, type ByteWriter, FormatError } from '../../bytes.js';
import { type Page, PageState } from './page-table.js';

/** Bytes of a page above which it is split: a checkpoint writes each page whose entries changed, so they are small. */
export const PAGE_BYTES_MAX = 1024;

/** Entries that a page has at least when it is split, whatever their size. */
const ENTRIES_MIN = 4;

/** Bytes counted for an entry beside its key: its id, and what it costs to write it. */
const ENTRY_BYTES = 6;

/** No key is longer: it has four texts at most, of which `TEXT_BYTES_MAX` bytes count, a pair of bytes each at worst. */
const KEY_BYTES_MAX = 4096;

/** The bytes of the key that is being read. */
const keyBytes = Buffer.alloc(KEY_BYTES_MAX);

/** One page of a tree: see `key-pages.ts`. */
export class KeyPage implements Page {
  /** Whether it was looked at since it was last asked whether it may leave memory. */
  isUsed = true;
  /** The entries; of an inner page, no entry of the page below is before the one that stands for it. */
  keys: string[] = [];
  ids: number[] = [];
  /** The pages below, and the number of entries in each; empty in a leaf. */
  pages: number[] = [];
  sizes: number[] = [];
  /** Bytes of the entries, roughly. */
  bytes = 0;

  constructor(
    readonly number: number,
    readonly level: number,
    public state: PageState,
  ) {}

  get entries(): number {
    return this.keys.length;
  }

  /** Number of entries in the leaves below it, or in itself. */
  get size(): number {
    return this.level === 0 ? this.keys.length : this.sizes.reduce((sum, size) => sum + size, 0);
  }

  get isTooLarge(): boolean {
    return this.bytes > PAGE_BYTES_MAX && this.entries >= ENTRIES_MIN;
  }

  get isSmall(): boolean {
    return this.bytes < PAGE_BYTES_MAX / 4;
  }

  entry(at: number): { readonly key: string; readonly id: number } {
    return { key: this.keys[at]!, id: this.ids[at]! };
  }

  has(at: number, key: string, id: number): boolean {
    return this.ids[at] === id && this.keys[at] === key;
  }

  /** The place of the first entry that is not before another one. */
  placeOf(key: string, id: number): number {
    const { keys, ids } = this;
    let from = 0;
    let to = keys.length;
    while (from < to) {
      const middle = (from + to) >> 1;
      const other = keys[middle]!;
      if (other < key || (other === key && ids[middle]! < id)) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  /** The place of the page below that an entry lies in, or would. */
  childOf(key: string, id: number): number {
    const at = this.placeOf(key, id);
    return this.has(at, key, id) ? at : Math.max(0, at - 1);
  }

  /** The place at which the page is cut into two of about the same size. */
  get middle(): number {
    let bytes = 0;
    let at = 0;
    while (at < this.entries - 1 && 2 * bytes < this.bytes) bytes += bytesOf(this.keys[at++]!);
    return Math.max(1, at);
  }

  insert(at: number, key: string, id: number): void {
    this.keys.splice(at, 0, key);
    this.ids.splice(at, 0, id);
    this.bytes += bytesOf(key);
  }

  remove(at: number): void {
    this.bytes -= bytesOf(this.keys[at]!);
    this.keys.splice(at, 1);
    this.ids.splice(at, 1);
  }

  /** Puts a page below this one. No entry of it is before the one that is given. */
  link(at: number, key: string, id: number, page: KeyPage): void {
    this.insert(at, key, id);
    this.pages.splice(at, 0, page.number);
    this.sizes.splice(at, 0, page.size);
  }

  unlink(at: number): void {
    this.remove(at);
    this.pages.splice(at, 1);
    this.sizes.splice(at, 1);
  }

  /** Notes that an entry comes into the page below at a place. One before its bound becomes the bound, which only that of the first one can. */
  admit(at: number, key: string, id: number): void {
    this.grow(at, 1);
    if (at > 0 || this.placeOf(key, id) > 0) return;
    this.bytes += key.length - this.keys[0]!.length;
    this.keys[0] = key;
    this.ids[0] = id;
  }

  /** Notes that the page below at a place has more entries. */
  grow(at: number, by: number): void {
    this.sizes[at] = this.sizes[at]! + by;
  }

  /** Takes over the entries of another page from a place on; this one is empty. */
  takeFrom(other: KeyPage, at: number): void {
    this.keys = other.keys.splice(at);
    this.ids = other.ids.splice(at);
    this.pages = other.pages.splice(at);
    this.sizes = other.sizes.splice(at);
    this.bytes = this.keys.reduce((sum, key) => sum + bytesOf(key), 0);
    other.bytes -= this.bytes;
  }

  /** Puts the entries of another page behind these. */
  append(other: KeyPage): void {
    this.keys.push(...other.keys);
    this.ids.push(...other.ids);
    this.pages.push(...other.pages);
    this.sizes.push(...other.sizes);
    this.bytes += other.bytes;
  }

  write(out: ByteWriter): void {
    const { level, keys, ids } = this;
    out.u8(level);
    out.varint(keys.length);
    let before = '';
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i]!;
      const shared = sharedLength(before, key);
      out.varint(shared);
      out.varint(key.length - shared);
      out.latin1(key, shared);
      out.varint(ids[i]!);
      if (level > 0) {
        out.varint(this.pages[i]!);
        out.varint(this.sizes[i]!);
      }
      before = key;
    }
  }

  static read(number: number, input: ByteReader): KeyPage {
    const page = new KeyPage(number, input.u8(), PageState.CLEAN);
    const { keys, ids, level, pages, sizes } = page;
    let length = 0;
    for (let count = input.varint(); count > 0; count--) {
      const shared = input.varint();
      const rest = input.varint();
      if (shared > length || shared + rest > KEY_BYTES_MAX)
        throw new FormatError(`page ${number} of an index is damaged`);
      length = shared + rest;
      // The bytes shared with the key before lie there still.
      input.copyTo(keyBytes, shared, rest);
      const key = keyBytes.toString('latin1', 0, length);
      keys.push(key);
      ids.push(input.varint());
      if (level > 0) {
        pages.push(input.varint());
        sizes.push(input.varint());
      }
      page.bytes += bytesOf(key);
    }
    if (input.remaining > 0) throw new FormatError(`there is more than page ${number} of an index`);
    return page;
  }

  /**
   * The faults of the entries, a line each.
   *
   * @param low no entry may be before it; null for none
   */
  problems(low: { readonly key: string; readonly id: number } | null): string[] {
    const problems: string[] = [];
    const { keys, ids, number } = this;
    const bytes = keys.reduce((sum, key) => sum + bytesOf(key), 0);
    if (bytes !== this.bytes) problems.push(`page ${number} takes ${bytes} bytes, counted ${this.bytes}`);
    for (let i = 0; i < keys.length; i++) {
      const order = compare(this.entry(i), i === 0 ? low : this.entry(i - 1));
      if (order < 0 || (order === 0 && i > 0))
        problems.push(`page ${number}: entry ${i} (thing ${ids[i]}) is not in order`);
    }
    return problems;
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

function bytesOf(key: string): number {
  return key.length + ENTRY_BYTES;
}

function sharedLength(a: string, b: string): number {
  const end = Math.min(a.length, b.length);
  let i = 0;
  while (i < end && a.charCodeAt(i) === b.charCodeAt(i)) i += 1;
  return i;
}
