/**
 * Entries in the order of their keys, and of their ids where keys are equal: a B+ tree, whose leaves have the entries, and whose inner
 * pages have a lower bound, the number and the size of each page below them.
 *
 *   page  := format:u8 level:u8 count:varint (shared:varint rest:varint bytes id:varint below)*     level 0: leaves
 *   below := nothing in a leaf | page:varint entries:varint
 *
 * A key begins with the first `shared` bytes of the one before. Keys are texts of bytes, see `value/sort-key.ts`. How the entries are cut
 * into pages depends on the order in which they came, so it is each node's own.
 *
 * Source: Bayer and McCreight, "Organization and maintenance of large ordered indices" (1972); sizes in inner pages are those of a counted
 * B tree.
 */
import { ByteReader, ByteWriter } from '../../bytes.js';
import { KeyPage, PAGE_BYTES_MAX } from './key-page.js';
import { aim, aimedText, BEHIND, firstIn } from './key-record.js';
import { PageSet } from './page-set.js';
import { type PageSink, PageState } from './page-table.js';

/** A place among the entries: before the entry with this key and id, whether there is one or not. */
export interface KeyPlace {
  readonly key: string;
  readonly id: number;
}

/** Takes an entry; false ends the walk. */
export type VisitEntry = (key: string, id: number) => boolean;

/** Has the keys of entries. */
export interface EntryKeys {
  keyAt(at: number): string;
}

/** Takes the id of an entry, and where its key is; false ends the walk. */
export type VisitPlace = (id: number, keys: EntryKeys, at: number) => boolean;

type VisitLeaf = (page: KeyPage, at: number) => boolean;

/** The record of a tree beside its pages. */
export interface KeyTreeHead {
  /** Number of the topmost page; 0 for none. */
  readonly root: number;
  readonly nextNumber: number;
  readonly count: number;
}

export const EMPTY_TREE: KeyTreeHead = { root: 0, nextNumber: 1, count: 0 };

/** A step from the topmost page to a leaf: a page, and the place of the next one, or of the entry, in it. */
interface Step {
  page: KeyPage;
  at: number;
}

/** Pages of each level that `measure` looks at, at most. */
const PAGES_MEASURED = 8;

export class KeyPages extends PageSet<KeyPage> {
  private root: number;
  private size: number;
  /** The path that was gone last: its steps are used again, since each change takes some. */
  private readonly path: Step[] = [];
  /** Records of leaves in which one entry was looked up: such a leaf becomes a page when it is wanted once more. */
  private readonly packed: Map<number, Uint8Array>;

  constructor(read: (number: number) => Uint8Array, head: KeyTreeHead) {
    const packed = new Map<number, Uint8Array>();
    super((number) => {
      const record = packed.get(number);
      packed.delete(number);
      return record ?? read(number);
    }, head.nextNumber);
    this.packed = packed;
    this.root = head.root;
    this.size = head.count;
  }

  get head(): KeyTreeHead {
    return { root: this.root, nextNumber: this.nextNumber, count: this.size };
  }

  /** Number of entries. */
  get count(): number {
    return this.size;
  }

  /** Adds an entry, which must not be there. */
  insert(key: string, id: number): void {
    if (this.root === 0) this.root = this.newPage(0).number;
    aim(key);
    const path = this.pathTo(id);
    const leaf = last(path);
    if (leaf.page.has(leaf.at, id)) throw new Error(`thing ${id} is in the index already`);
    let isLast = true;
    for (const { page, at } of path) isLast &&= at === page.entries - (page.level === 0 ? 0 : 1);
    for (const { page } of path) this.touch(page);
    for (const { page, at } of path) if (page.level > 0) page.admit(at, id);
    leaf.page.insert(leaf.at, id);
    this.size += 1;
    this.split(path, isLast);
  }

  /** Takes an entry away, which must be there. */
  remove(key: string, id: number): void {
    aim(key);
    const path = this.root === 0 ? [] : this.pathTo(id);
    const leaf = path.at(-1);
    if (leaf?.page.has(leaf.at, id) !== true) throw new Error(`thing ${id} is not in the index`);
    for (const { page } of path) this.touch(page);
    leaf.page.remove(leaf.at);
    for (const { page, at } of path) if (page.level > 0) page.grow(at, -1);
    this.size -= 1;
    this.join(path);
  }

  /** Goes over the entries from a place on, in their order. They must not change meanwhile. */
  ascend({ key, id }: KeyPlace, visit: VisitEntry): void {
    aim(key);
    if (this.root === 0) return;
    this.up(this.root, id, (page, from) => {
      for (let at = from; at < page.entries; at++) if (!visit(page.keyAt(at), page.idAt(at))) return false;
      return true;
    });
  }

  /**
   * Goes over the entries from a place on that are before another one, or the other way round. They must not change meanwhile. No text is
   * made of a key unless the visit asks for it.
   */
  between(low: KeyPlace, high: KeyPlace, reverse: boolean, visit: VisitPlace): void {
    aim(reverse ? high.key : low.key);
    if (this.root === 0) return;
    if (reverse) {
      this.down(this.root, high.id, (page, to) => {
        // Anew for each page, since a visit may have looked for another one.
        aim(low.key);
        const from = page.placeOf(low.id);
        for (let at = to - 1; at >= from; at--) if (!visit(page.idAt(at), page, at)) return false;
        return from === 0;
      });
    } else {
      this.up(this.root, low.id, (page, from) => {
        aim(high.key);
        const to = page.placeOf(high.id);
        for (let at = from; at < to; at++) if (!visit(page.idAt(at), page, at)) return false;
        return to === page.entries;
      });
    }
  }

  /** The id of the first entry with a key; undefined for none. */
  firstOf(key: string): number | undefined {
    aim(key);
    return this.firstAimed();
  }

  /** The same for the key that is looked for. */
  firstAimed(): number | undefined {
    if (this.root === 0) return undefined;
    let page = this.get(this.root);
    let next: number | undefined;
    for (;;) {
      page.isUsed = true;
      if (page.level === 0) break;
      const child = page.childOf(0);
      const number = page.pages[child]!;
      next = page.pages[child + 1];
      const below = this.present.get(number);
      if (below === undefined && page.level === 1 && !this.packed.has(number)) {
        const first = this.firstInLeaf(number);
        return first === BEHIND ? this.firstBehind(next) : first;
      }
      page = below ?? this.get(number);
    }
    const at = page.placeOf(0);
    if (at < page.entries) return page.hasKey(at) ? page.idAt(at) : undefined;
    return this.firstBehind(next);
  }

  /** Looks an entry up in the record of a leaf: most leaves of a large index are wanted once while they are in memory. */
  private firstInLeaf(number: number): number | undefined {
    const record = this.record(number);
    // A record that was read ahead would keep all that was read with it in memory.
    if (record.buffer.byteLength < RECORD_SHARE * record.length) this.packed.set(number, record);
    return firstIn(number, new ByteReader(record));
  }

  /**
   * The id of the first entry with the key that is looked for, which may be the first one of a leaf.
   *
   * @param next the number of that leaf where it lies below the same page as the one before
   */
  private firstBehind(next: number | undefined): number | undefined {
    if (next !== undefined) {
      const leaf = this.get(next);
      leaf.isUsed = true;
      return leaf.hasKey(0) ? leaf.idAt(0) : undefined;
    }
    let first: number | undefined;
    this.eachOf(aimedText(), (id) => {
      first = id;
      return false;
    });
    return first;
  }

  /** Goes over the ids of the entries with a key, in their order. */
  eachOf(key: string, visit: (id: number) => boolean): void {
    this.between({ key, id: 0 }, { key, id: Number.POSITIVE_INFINITY }, false, visit);
  }

  /** The number of entries before a place. */
  rank({ key, id }: KeyPlace): number {
    aim(key);
    let rank = 0;
    for (let number = this.root; number !== 0; ) {
      const page = this.get(number);
      page.isUsed = true;
      if (page.level === 0) return rank + page.placeOf(id);
      const at = page.childOf(id);
      for (let i = 0; i < at; i++) rank += page.sizes[i]!;
      number = page.pages[at]!;
    }
    return rank;
  }

  /** Takes pages out of memory that are as their records and were not used since the last call. No checkpoint may be under way. */
  leave(): void {
    this.evict((page) => {
      const { isUsed } = page;
      page.isUsed = false;
      return isUsed;
    });
    this.packed.clear();
  }

  /**
   * Number of pages, and of bytes that they take on the disk, about: of a level that has many some are looked at, and those below them.
   *
   * @param charge told of each page that may have to be read
   */
  measure(charge: () => void): { readonly pages: number; readonly bytes: number } {
    let [pages, bytes] = [0, 0];
    const out = new ByteWriter();
    let known = this.root === 0 ? [] : [this.root];
    for (let count = known.length; known.length > 0; ) {
      const step = Math.ceil(known.length / PAGES_MEASURED);
      const looked = known.filter((_, i) => i % step === 0);
      known = [];
      out.rewind();
      for (const number of looked) {
        charge();
        const page = this.peek(number);
        this.encode(page, out);
        known.push(...page.pages);
      }
      pages += count;
      bytes += (out.length * count) / looked.length;
      count *= known.length / looked.length;
    }
    return { pages: Math.round(pages), bytes: Math.round(bytes) };
  }

  /** Estimated bytes of the pages in memory. */
  get bytes(): number {
    return BYTES_PER_PAGE * this.presentCount + PAGE_BYTES_MAX * this.packed.size;
  }

  /** Deletes the records of all pages, of which the leaves are not read. */
  *deleteAll(sink: PageSink): Generator<void, void, undefined> {
    yield* this.deleteFreed(sink);
    if (this.root !== 0) yield* this.deleteBelow(this.root, sink);
  }

  /** The faults of the pages, a line each. Reads them all. */
  problems(): string[] {
    const problems: string[] = [];
    if (this.root === 0) return this.size === 0 ? [] : [`there are no pages for ${this.size} entries`];
    const look = (number: number, level: number | null, low: KeyPlace | null): number => {
      const page = this.get(number);
      if (level !== null && page.level !== level) problems.push(`page ${number} lies at level ${page.level}`);
      if (page.entries === 0) problems.push(`page ${number} is empty`);
      problems.push(...page.problems(low));
      if (page.level === 0) return page.entries;
      let sum = 0;
      for (const [i, below] of page.pages.entries()) {
        const size = look(below, page.level - 1, page.entry(i));
        if (size !== page.sizes[i])
          problems.push(`page ${below} has ${size} entries, counted ${page.sizes[i]}`);
        sum += size;
      }
      return sum;
    };
    const size = look(this.root, null, null);
    if (size !== this.size) problems.push(`there are ${size} entries, counted ${this.size}`);
    return problems;
  }

  protected encode(page: KeyPage, out: ByteWriter): void {
    page.write(out);
  }

  protected decode(number: number, input: ByteReader): KeyPage {
    return KeyPage.read(number, input);
  }

  /**
   * @param id of the place, whose key is the one that is looked for; null for the first place
   * @param visit takes each leaf, with the place in it; false ends the walk
   */
  private up(number: number, id: number | null, visit: VisitLeaf): boolean {
    const page = this.get(number);
    page.isUsed = true;
    if (page.level === 0) return visit(page, id === null ? 0 : page.placeOf(id));
    const first = id === null ? 0 : page.childOf(id);
    for (let at = first; at < page.entries; at++)
      if (!this.up(page.pages[at]!, at === first ? id : null, visit)) return false;
    return true;
  }

  /** @param id as of `up`; null for the place behind the last one */
  private down(number: number, id: number | null, visit: VisitLeaf): boolean {
    const page = this.get(number);
    page.isUsed = true;
    if (page.level === 0) return visit(page, id === null ? page.entries : page.placeOf(id));
    const first = id === null ? page.entries - 1 : page.childOf(id);
    for (let at = first; at >= 0; at--)
      if (!this.down(page.pages[at]!, at === first ? id : null, visit)) return false;
    return true;
  }

  private pathTo(id: number): Step[] {
    const { path } = this;
    let page = this.get(this.root);
    for (let depth = 0; ; depth++) {
      page.isUsed = true;
      const at = page.level === 0 ? page.placeOf(id) : page.childOf(id);
      const step = path[depth];
      if (step === undefined) path.push({ page, at });
      else {
        step.page = page;
        step.at = at;
      }
      if (page.level === 0) {
        if (path.length > depth + 1) path.length = depth + 1;
        return path;
      }
      page = this.get(page.pages[at]!);
    }
  }

  /** Makes two pages of each that is too large. What comes behind all others, as ascending keys do, leaves full pages behind. */
  private split(path: readonly Step[], isLast: boolean): void {
    for (let depth = path.length - 1; depth >= 0; depth--) {
      const { page } = path[depth]!;
      if (!page.isTooLarge) return;
      const right = this.newPage(page.level);
      right.takeFrom(page, isLast ? page.entries - 1 : page.middle);
      if (depth === 0) {
        const root = this.newPage(page.level + 1);
        root.link(0, page);
        root.link(1, right);
        this.root = root.number;
        return;
      }
      const { page: parent, at } = path[depth - 1]!;
      parent.sizes[at] = page.size;
      parent.link(at + 1, right);
    }
  }

  /** Takes empty pages away, and makes one of two that are small. */
  private join(path: readonly Step[]): void {
    for (let depth = path.length - 1; depth > 0; depth--) {
      const { page } = path[depth]!;
      const { page: parent, at } = path[depth - 1]!;
      if (page.entries === 0) {
        parent.unlink(at);
        this.free(page);
      } else if (!page.isSmall || !this.joinWithNeighbour(parent, at)) break;
    }
    this.lowerRoot();
  }

  private joinWithNeighbour(parent: KeyPage, at: number): boolean {
    const leftAt = at > 0 ? at - 1 : at;
    if (leftAt + 1 >= parent.entries) return false;
    const left = this.get(parent.pages[leftAt]!);
    const right = this.get(parent.pages[leftAt + 1]!);
    if (left.bytes + right.bytes > JOINED_BYTES_MAX) return false;
    this.touch(left);
    left.append(right);
    parent.sizes[leftAt] = left.size;
    parent.unlink(leftAt + 1);
    this.free(right);
    return true;
  }

  private lowerRoot(): void {
    for (;;) {
      const page = this.get(this.root);
      if (page.level === 0 && page.entries > 0) return;
      if (page.level > 0 && page.entries > 1) return;
      this.root = page.level === 0 || page.entries === 0 ? 0 : page.pages[0]!;
      this.free(page);
      if (this.root === 0) return;
    }
  }

  private *deleteBelow(number: number, sink: PageSink): Generator<void, void, undefined> {
    const page = this.peek(number);
    sink.delete(number);
    yield;
    if (page.level === 1) {
      for (const leaf of page.pages) sink.delete(leaf);
    } else for (const below of page.pages) yield* this.deleteBelow(below, sink);
  }

  private newPage(level: number): KeyPage {
    return this.add(new KeyPage(this.nextNumber, level, PageState.DIRTY));
  }
}

function last(path: readonly Step[]): Step {
  const step = path.at(-1);
  if (step === undefined) throw new Error('a path has a leaf');
  return step;
}

/** Bytes of two pages that become one at most, so that it is not split again at once. */
const JOINED_BYTES_MAX = 0.75 * PAGE_BYTES_MAX;

/** A record is kept if the memory that it lies in is smaller than so many times the record. */
const RECORD_SHARE = 2;

/** Bytes of a page in memory, roughly. */
const BYTES_PER_PAGE = 2000;
