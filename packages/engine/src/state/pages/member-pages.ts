/**
 * Large sets. A stored set of more than `PAGED_MEMBERS_MIN` members lies in pages of ids that follow each other, so that a member that
 * comes or goes writes a page. In memory a set is what it always is; a page comes into memory when it is about to change. A member's
 * order is a number that rises with each one that is added. The head stands in the record of the thing:
 *
 *   set    := next:varint count:varint (number:varint gap:varint entries:varint)*     next: the order of the next member
 *   page   := (gap:varint order:varint)*
 *
 * A gap is the distance to the id before: in the head to the first one of the page before, where a page has room for ids from its
 * first one on; in a page to the id before.
 */
import { ByteReader, type ByteWriter } from '../../bytes.js';
import { ThingSet } from '../../value/containers.js';
import type { Value } from '../../value/value.js';
import { type Page, type PageSink, PageState, PageTable } from './page-table.js';
import type { ThingPages } from './thing-pages.js';

/** Sets of more members than this are stored in pages, until they have half as many. */
export const PAGED_MEMBERS_MIN = 1024;

/** Members of a page at most. */
const PAGE_MEMBERS_MAX = 1024;

interface MemberPage extends Page {
  /** No id of the page is below it. */
  first: number;
  /** The ids in rising order, and the order of each; empty while they are not in memory. */
  ids: number[];
  orders: number[];
}

/** The pages of one set, in the order of the ids. */
export class MemberPages extends PageTable<MemberPage> {
  private constructor(
    private readonly set: ThingSet,
    home: ThingPages,
    pages: MemberPage[],
    private nextOrder: number,
  ) {
    super(home, home.numbers, pages);
    set.backing = this;
  }

  /** True if a set that lies in no pages should. */
  static isWanted({ members }: ThingSet): boolean {
    return members.size > PAGED_MEMBERS_MIN;
  }

  /** True if one that does should go on with it. */
  get isWanted(): boolean {
    return this.set.members.size >= PAGED_MEMBERS_MIN / 2;
  }

  /** Cuts a set that lies in no pages. */
  static cut(set: ThingSet, home: ThingPages): MemberPages {
    const ids = Array.from(set.members, ({ id }) => id);
    const places = Array.from(ids.keys());
    if (ids.some((id, i) => i > 0 && id < (ids[i - 1] as number)))
      places.sort((a, b) => (ids[a] as number) - (ids[b] as number));
    const pages: MemberPage[] = [];
    for (let start = 0; start < places.length; start += PAGE_MEMBERS_MAX) {
      const orders = places.slice(start, start + PAGE_MEMBERS_MAX);
      const members = orders.map((order) => ids[order] as number);
      pages.push(newPage(members, orders));
    }
    return new MemberPages(set, home, pages, ids.length);
  }

  /** Reads a set, all members of which come into memory, and no page stays there. */
  static read(input: ByteReader, home: ThingPages): ThingSet {
    const { nextOrder, pages } = readSetHead(input);
    const ids: number[] = [];
    const orders: number[] = [];
    let last = -1;
    let isInOrder = true;
    for (const { number } of pages) {
      home.numbers.take(number);
      eachMember(new ByteReader(home.read(number)), (id, order) => {
        ids.push(id);
        orders.push(order);
        if (order < last) isInOrder = false;
        last = order;
      });
    }
    const set = new ThingSet();
    const { members } = set;
    const { store } = home;
    // New things have rising ids, so most members were added in the order of their ids.
    const inOrder = isInOrder ? ids : placesInOrder(orders, nextOrder).map((place) => ids[place] as number);
    for (const id of inOrder) members.add(store.thingOfId(id));
    new MemberPages(set, home, pages, nextOrder);
    return set;
  }

  /** Notes a new member. */
  add(id: number): void {
    const index = this.indexOf(id);
    this.load(index);
    this.touch(index);
    const page = this.page(index);
    const place = placeOf(page.ids, id);
    if (page.ids[place] === id) throw new Error(`${id} is a member already`);
    page.ids.splice(place, 0, id);
    page.orders.splice(place, 0, this.nextOrder++);
    page.entries += 1;
    page.first = Math.min(page.first, id);
    if (page.entries > PAGE_MEMBERS_MAX) this.split(index);
  }

  /** Notes that a member is gone. */
  delete(id: number): void {
    const index = this.indexOf(id);
    this.load(index);
    this.touch(index);
    const page = this.page(index);
    const place = placeOf(page.ids, id);
    if (page.ids[place] !== id) throw new Error(`${id} is no member`);
    page.ids.splice(place, 1);
    page.orders.splice(place, 1);
    page.entries -= 1;
    if (page.entries === 0 && this.pages.length > 1) this.replace(index, 1, []);
  }

  /** Writes the head, and freezes the pages that changed. */
  write(out: ByteWriter, sink: PageSink): void {
    this.freeze(sink);
    out.varint(this.nextOrder);
    out.varint(this.pages.length);
    let before = 0;
    for (const { number, first, entries } of this.pages) {
      out.varint(number);
      out.varint(first - before);
      out.varint(entries);
      before = first;
    }
  }

  /** The set is stored without pages from now on, or not at all. */
  drop(): void {
    this.freeNumbers();
    this.set.backing = null;
  }

  /** Takes pages out of memory that are as they are on disk. */
  leave(): void {
    this.evict((page) => {
      page.ids = [];
      page.orders = [];
    });
  }

  protected encode(index: number, out: ByteWriter): void {
    const { ids, orders } = this.page(index);
    let before = 0;
    for (const [i, id] of ids.entries()) {
      out.varint(id - before);
      out.varint(orders[i] as number);
      before = id;
    }
  }

  protected override decode(index: number, input: ByteReader): void {
    const { ids, orders } = this.page(index);
    eachMember(input, (id, order) => {
      ids.push(id);
      orders.push(order);
    });
  }

  /** Makes two pages of one that was touched: what is added behind all others, as most is, fills pages to the end. */
  private split(index: number): void {
    const { number, ids, orders } = this.page(index);
    const isLast = index === this.pages.length - 1;
    const half = isLast ? PAGE_MEMBERS_MAX : PAGE_MEMBERS_MAX / 2;
    const lower = newPage(ids.slice(0, half), orders.slice(0, half));
    lower.number = number;
    this.replace(index, 1, [lower, newPage(ids.slice(half), orders.slice(half))]);
  }

  /** The page that an id lies in, or would. */
  private indexOf(id: number): number {
    let from = 0;
    let to = this.pages.length;
    while (from + 1 < to) {
      const middle = (from + to) >> 1;
      if (this.page(middle).first <= id) from = middle;
      else to = middle;
    }
    return from;
  }
}

/** True if a value is a set that lies in pages. */
export function isPagedSet(value: Value): value is ThingSet & { readonly backing: MemberPages } {
  return value instanceof ThingSet && value.backing instanceof MemberPages;
}

/** Reads the head of a set: its pages, none of which is in memory. */
export function readSetHead(input: ByteReader): { readonly nextOrder: number; readonly pages: MemberPage[] } {
  const nextOrder = input.varint();
  const pages: MemberPage[] = [];
  let first = 0;
  for (let count = input.varint(); count > 0; count--) {
    const number = input.varint();
    first += input.varint();
    pages.push({ number, entries: input.varint(), state: PageState.ABSENT, first, ids: [], orders: [] });
  }
  return { nextOrder, pages };
}

/** Calls `visit` with each member in the record of a page of a set, in the order of the ids. */
export function eachMember(input: ByteReader, visit: (id: number, order: number) => void): void {
  for (let id = 0; input.remaining > 0; ) {
    id += input.varint();
    visit(id, input.varint());
  }
}

function newPage(ids: number[], orders: number[]): MemberPage {
  return { number: 0, entries: ids.length, state: PageState.DIRTY, first: ids[0] ?? 0, ids, orders };
}

/** The places of members in the order in which they were added. */
function placesInOrder(orders: readonly number[], nextOrder: number): number[] {
  if (nextOrder > SPARSE_MIN * orders.length)
    return Array.from(orders.keys()).sort((a, b) => (orders[a] as number) - (orders[b] as number));
  const all = new Int32Array(nextOrder).fill(-1);
  orders.forEach((order, place) => {
    all[order] = place;
  });
  const places: number[] = [];
  for (const place of all) if (place >= 0) places.push(place);
  return places;
}

/** The number of orders for each member from which on it is better to sort them. */
const SPARSE_MIN = 16;

/** The place of the first id that is not below another one. */
function placeOf(ids: readonly number[], id: number): number {
  let from = 0;
  let to = ids.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((ids[middle] as number) < id) from = middle + 1;
    else to = middle;
  }
  return from;
}
