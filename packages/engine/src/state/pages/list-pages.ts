/**
 * Large lists. A stored list of more than `PAGED_ITEMS_MIN` items, or of several items and more than `PAGED_BYTES_MIN` bytes, lies in
 * pages of some hundred items, so that a change writes a page and not the list, and only what is touched must be in memory. What
 * stands in the record of the thing is the head, from which all is known but the items:
 *
 *   list   := nesting:varint inner:varint count:varint (number:varint entries:varint)*
 *   list2  := nesting:varint inner:varint count:varint (number:varint marked:varint)*     marked = 2 * entries + (1 if it must be read)
 *   page   := value*          as in `value-codec.ts`
 *
 * A page must be read before it goes if it refers to things, rooms or members of enums, which are counted, or if it may be so large
 * that its record lies in slices. Of lists of the first form that is taken for granted.
 */
import { ByteReader, type ByteWriter, FormatError } from '../../bytes.js';
import { type Backing, type Charge, FREE, List, UNITS_PER_REFERENCE } from '../../value/containers.js';
import { bytesOfValue, eachThing, isScalar, STRING_BYTES, type VisitOther } from '../../value/kinds.js';
import type { Thing } from '../../value/thing.js';
import type { Value } from '../../value/value.js';
import { type Run, removeRuns, replaceItems } from '../list-edits.js';
import { readValue, visitThings, writeValue } from '../value-codec.js';
import {
  isTooLarge,
  type ListPage,
  mustBeRead,
  newPage,
  noteItem,
  PAGE_BYTES_MAX,
  PAGE_ITEMS,
  pagesOf,
  unitsToRead,
} from './list-page.js';
import { type PageSink, PageState, PageTable } from './page-table.js';
import { absentItems, ItemRoom } from './thin-items.js';
import type { ThingPages } from './thing-pages.js';

/** Lists of more items than this are stored in pages. */
export const PAGED_ITEMS_MIN = 1024;

/** And those of more bytes than this, if they have several items. */
const PAGED_BYTES_MIN = 256 * 1024;

/** A list in so many times as many pages as it needs is cut anew. */
const SPARSE_TIMES = 4;

/** The pages of one list, in order. */
export class ListPages extends PageTable<ListPage> implements Backing {
  declare protected readonly home: ThingPages;
  /** The items, for pages that are frozen while the list went elsewhere; null as long as it is where it was. */
  private frozenItems: readonly Value[] | null = null;
  /** True if the list is no property any more, which may be taken back. */
  private isDropped = false;
  /** True if items were read since the last call of `leave`. Pages that change stay until they are written. */
  private isUsed = true;
  /** True once the thing left memory: a query may know the list still, but things that it reads then are held by nothing in memory. */
  private isAway = false;
  /** A page, and the position of its first item. */
  private cursor = 0;
  private cursorStart = 0;
  private readonly room: ItemRoom;

  private constructor(
    private readonly list: List,
    home: ThingPages,
    pages: ListPage[],
    absent = 0,
  ) {
    super(home, home.numbers, pages);
    list.backing = this;
    this.room = new ItemRoom(list, absent);
  }

  /** Cuts a list that is in memory as a whole, and a property of a stored thing. Its pages get their numbers here, not in a checkpoint. */
  static cut(list: List, home: ThingPages): ListPages {
    const made = new ListPages(list, home, pagesOf(list.held, 0, list.held.length));
    for (const page of made.pages) made.numberOf(page);
    return made;
  }

  /** True if a list that lies in no pages should. */
  static isWanted(list: List): boolean {
    const { length } = list;
    return length > PAGED_ITEMS_MIN || (length > 1 && bytesOfValue(list) > PAGED_BYTES_MIN);
  }

  /** Reads the head of a list. None of its items is in memory then. */
  static read(input: ByteReader, isMarked: boolean, home: ThingPages): List {
    const { nesting, inner, pages } = readListHead(input, isMarked);
    let items = 0;
    for (const page of pages) {
      items += page.entries;
      home.numbers.take(page.number);
    }
    const list = new List(absentItems(items));
    list.nesting = nesting;
    list.inner = inner;
    list.backing = new ListPages(list, home, pages, items);
    return list;
  }

  get unitsToDrop(): number {
    let units = 0;
    for (const page of this.pages)
      if (mustBeRead(page)) units += unitsToRead(page) + UNITS_PER_REFERENCE * page.entries;
    return units;
  }

  get bytes(): number {
    let bytes = 0;
    for (const page of this.pages) if (page.state !== PageState.ABSENT) bytes += page.bytes;
    return bytes;
  }

  fill(charge: Charge): void {
    this.fillRange(0, this.list.length, charge);
  }

  fillRange(start: number, end: number, charge: Charge): void {
    this.isUsed = true;
    if (!this.hasAbsent) return;
    let index = this.seek(start);
    for (let next = this.cursorStart; next < end && index < this.pages.length; index++) {
      const page = this.page(index);
      charge(unitsToRead(page));
      this.load(index);
      next += page.entries;
    }
  }

  at(position: number): Value {
    this.isUsed = true;
    if (this.hasAbsent) this.load(this.seek(position));
    return this.list.held[position] as Value;
  }

  /** Replaces `count` items from `start` on, for which only the pages that they lie in come into memory; returns them. */
  splice(start: number, count: number, added: readonly Value[]): Value[] {
    // The items behind these move.
    if (count !== added.length && start + count < this.list.length) this.room.give();
    const first = this.seek(start);
    const firstStart = this.cursorStart;
    let last = first;
    for (let reached = firstStart; ; last++) {
      this.load(last);
      this.touch(last);
      reached += this.page(last).entries;
      if (reached >= start + count || last === this.pages.length - 1) break;
    }
    this.cursor = first;
    this.cursorStart = firstStart;
    const removed = replaceItems(this.list, start, count, added);
    let left = count;
    for (let i = first; left > 0; i++) {
      const page = this.page(i);
      const taken = Math.min(left, i === first ? firstStart + page.entries - start : page.entries);
      page.entries -= taken;
      left -= taken;
    }
    for (let i = last; i > first; i--) if (this.page(i).entries === 0) this.replace(i, []);
    const page = this.page(first);
    for (const item of added) noteItem(page, item);
    if (page.entries === 0 && this.pages.length > 1) {
      this.replace(first, []);
      this.rewind();
    } else if (isTooLarge(page)) this.cutAgain(first);
    return removed;
  }

  /** Removes the items of some runs, for which only the pages that they lie in come into memory; returns them. */
  removeRuns(runs: readonly Run[]): Value[] {
    this.isUsed = true;
    this.room.give();
    const counts = new Map<ListPage, number>();
    for (const { start, count } of runs) {
      const end = start + count;
      for (let index = this.seek(start), at = start; at < end; index++) {
        const page = this.page(index);
        this.load(index);
        this.touch(index);
        const pageEnd = Math.min(end, this.startOf(index) + page.entries);
        counts.set(page, (counts.get(page) ?? 0) + pageEnd - at);
        at = pageEnd;
      }
    }
    const removed = removeRuns(this.list, runs);
    this.rewind();
    for (const [page, count] of counts) page.entries -= count;
    for (let i = this.pages.length - 1; i >= 0 && this.pages.length > 1; i--)
      if (this.page(i).entries === 0 && counts.has(this.page(i))) this.replace(i, []);
    return removed;
  }

  /** True if most pages are nearly empty. */
  get isSparse(): boolean {
    return this.pages.length > SPARSE_TIMES * Math.max(1, Math.ceil(this.list.length / PAGE_ITEMS));
  }

  /** Puts a value at the end of the list. Only the last page must come into memory, if it has room. */
  append(value: Value): void {
    let last = this.pages.length - 1;
    let page = this.page(last);
    if (page.entries >= PAGE_ITEMS || page.bytes > PAGE_BYTES_MAX) {
      page = newPage();
      last = this.pages.push(page) - 1;
    }
    if (page.state !== PageState.DIRTY) {
      this.load(last);
      this.touch(last);
    }
    this.list.held.push(value);
    if (typeof value === 'number') page.entries += 1;
    else noteItem(page, value);
  }

  /** Writes the head, and freezes the pages that changed. */
  write(out: ByteWriter, sink: PageSink): void {
    this.freeze(sink);
    out.varint(this.list.nesting);
    out.varint(this.list.inner);
    out.varint(this.pages.length);
    for (const page of this.pages) {
      out.varint(page.number);
      out.varint(2 * page.entries + (mustBeRead(page) ? 1 : 0));
    }
  }

  /**
   * The list is no property any more, and its records go with the next checkpoint. Until then pages can be read still, which is never
   * later: between queries nobody holds such a list but for taking the change back.
   */
  drop(): void {
    if (this.isDropped) throw new Error('a list was dropped twice');
    if (this.isFrozen) this.frozenItems = this.list.held.slice();
    this.freeNumbers();
    this.isDropped = true;
    if (!this.hasAbsent) this.list.backing = null;
  }

  /** Takes `drop` back. */
  restore(): void {
    if (!this.isDropped) return;
    this.finish();
    this.again();
    this.keepNumbers();
    this.frozenItems = null;
    this.isDropped = false;
  }

  /** The thing leaves memory: what the items refer to is counted out. */
  leaveThing(letGo: (thing: Thing) => void): void {
    this.eachPresent((item) => eachThing(item, letGo));
    this.isAway = true;
  }

  /** Calls `visit` for each item that is in memory. */
  private eachPresent(visit: (value: Value) => void): void {
    this.eachItem(({ state }) => state !== PageState.ABSENT, visit);
  }

  /** The same as `eachThing` of the list. Pages that refer to nothing stay where they are. */
  eachReference(visit: (thing: Thing) => void, visitOther?: VisitOther): void {
    this.fillReferring(FREE);
    this.eachItem(mustBeRead, (item) => eachThing(item, visit, visitOther));
  }

  /** Brings the pages into memory that refer to things, some at a time: what is there stays there when `charge` ends the work. */
  fillReferring(charge: Charge): void {
    for (let i = 0; this.hasAbsent && i < this.pages.length; i++) {
      const page = this.page(i);
      if (!mustBeRead(page)) continue;
      charge(unitsToRead(page));
      this.load(i);
    }
  }

  /** Calls `visit` with the id of each thing in the list, without bringing anything into memory. */
  visitThings(visit: (id: number) => void): void {
    this.eachPresent((item) => eachThing(item, ({ id }) => visit(id)));
    for (const page of this.pages) {
      if (page.state !== PageState.ABSENT || !page.refers) continue;
      for (const input = new ByteReader(this.home.read(page.number)); input.remaining > 0; )
        visitThings(input, visit);
    }
  }

  /**
   * Takes pages out of memory that are as they are on disk, unless items were read since the last time.
   *
   * @param forget is called for each item that leaves
   */
  leave(forget: (value: Value) => void): void {
    if (this.isUsed) {
      this.isUsed = false;
      return;
    }
    const { held } = this.list;
    this.evict(({ entries }, index) => {
      const start = this.startOf(index);
      for (let i = start; i < start + entries; i++) {
        forget(held[i] as Value);
        held[i] = null;
      }
    });
  }

  protected encode(index: number, out: ByteWriter): void {
    const start = this.startOf(index);
    const items = this.frozenItems ?? this.list.held;
    for (let i = start, end = start + this.page(index).entries; i < end; i++)
      writeValue(out, items[i] as Value);
  }

  protected override decode(index: number, input: ByteReader): void {
    const { store } = this.home;
    const page = this.page(index);
    this.room.take(page.entries);
    const { held } = this.list;
    const start = this.startOf(index);
    page.bytes = input.remaining;
    page.refers = false;
    for (let i = start; i < start + page.entries; i++) {
      const value = readValue(input, store);
      held[i] = value;
      if (typeof value === 'string') page.bytes += STRING_BYTES;
      if (isScalar(value)) continue;
      page.refers = true;
      if (!this.isAway) store.hold(value);
    }
    if (input.remaining > 0) throw new FormatError('a page of a list is longer than its head says');
  }

  /** Calls `visit` for each item of the pages that are meant. */
  private eachItem(isMeant: (page: ListPage) => boolean, visit: (value: Value) => void): void {
    const { held } = this.list;
    let start = 0;
    for (const page of this.pages) {
      if (isMeant(page)) for (let i = start; i < start + page.entries; i++) visit(held[i] as Value);
      start += page.entries;
    }
  }

  /** Makes several pages of one that was touched. */
  private cutAgain(index: number): void {
    const { number, entries } = this.page(index);
    const start = this.startOf(index);
    const pages = pagesOf(this.list.held, start, start + entries);
    (pages[0] as ListPage).number = number;
    this.replace(index, pages);
  }

  /** Places the cursor at the page that a position lies in: at the last one for the end of the list. */
  private seek(position: number): number {
    if (position < this.cursorStart) this.rewind();
    for (const last = this.pages.length - 1; this.cursor < last; this.advance()) {
      if (position < this.cursorStart + this.page(this.cursor).entries) break;
    }
    return this.cursor;
  }

  /** The position of the first item of a page, at which the cursor is then. */
  private startOf(index: number): number {
    if (index < this.cursor) this.rewind();
    while (this.cursor < index) this.advance();
    return this.cursorStart;
  }

  private advance(): void {
    this.cursorStart += this.page(this.cursor).entries;
    this.cursor += 1;
  }

  private rewind(): void {
    this.cursor = 0;
    this.cursorStart = 0;
  }
}

/** A list that lies in pages. */
export type PagedList = List & { readonly backing: ListPages };

/** True if a value is a list that lies in pages. */
export function isPagedList(value: Value): value is PagedList {
  return value instanceof List && value.backing instanceof ListPages;
}

/** Reads the head of a list: its pages, none of which is in memory. */
export function readListHead(
  input: ByteReader,
  isMarked: boolean,
): { readonly nesting: number; readonly inner: number; readonly pages: ListPage[] } {
  const nesting = input.varint();
  const inner = input.varint();
  const pages: ListPage[] = [];
  for (let count = input.varint(); count > 0; count--) {
    const number = input.varint();
    const marked = input.varint();
    const entries = isMarked ? Math.floor(marked / 2) : marked;
    const refers = !isMarked || marked % 2 === 1;
    pages.push({ number, entries, state: PageState.ABSENT, bytes: 0, refers });
  }
  return { nesting, inner, pages };
}
