/**
 * Large sets. A stored set of more than `PAGED_MEMBERS_MIN` members lies in pages of ids that follow each other, so that a member that
 * comes or goes writes a page. As long as nobody asks for all members, a page comes into memory when it is about to change or when one of its
 * members is looked for; from then on the set is in memory as a small one is. A member's order is a number that rises with each one
 * that is added. The head stands in the record of the thing:
 *
 *   set    := next:varint count:varint (number:varint gap:varint entries:varint)*     next: the order of the next member
 *   page   := (gap:varint order:varint)*
 *
 * A gap is the distance to the id before: in the head to the first one of the page before, where a page has room for ids from its
 * first one on; in a page to the id before.
 */
import { ByteReader, type ByteWriter } from '../../bytes.js';
import {
  type Charge,
  FREE,
  type MemberBacking,
  ThingSet,
  UNITS_PER_MEMBER,
  UNITS_PER_READ_ITEM,
} from '../../value/containers.js';
import { BYTES_PER_MEMBER } from '../../value/kinds.js';
import type { Thing } from '../../value/thing.js';
import type { Value } from '../../value/value.js';
import { MemberOrder } from './member-order.js';
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

/** Members that come into memory at once. */
const MEMBERS_AT_ONCE = 1024;

/** A set that comes into memory. */
interface Filling {
  readonly order: MemberOrder;
  /** Pages that were read. */
  pages: number;
  /** The first members, which things in memory refer to. */
  readonly members: Set<Thing>;
}

/** The pages of one set, in the order of the ids. */
export class MemberPages extends PageTable<MemberPage> implements MemberBacking {
  declare protected readonly home: ThingPages;
  /** Number of members. */
  size = 0;
  /** The members that come into memory; null where none do. */
  private filling: Filling | null = null;
  /** True once the thing left memory: a query may know the set still, but members that it reads then are held by nothing in memory. */
  private isAway = false;

  private constructor(
    private readonly set: ThingSet,
    home: ThingPages,
    pages: MemberPage[],
    private nextOrder: number,
  ) {
    super(home, home.numbers, pages);
    for (const { entries } of pages) this.size += entries;
    set.backing = this;
  }

  /** True if a set that lies in no pages should. */
  static isWanted({ size }: ThingSet): boolean {
    return size > PAGED_MEMBERS_MIN;
  }

  /** True if one that does should go on with it. */
  get isWanted(): boolean {
    return this.size >= PAGED_MEMBERS_MIN / 2;
  }

  get isFilling(): boolean {
    return this.filling !== null;
  }

  get present(): number {
    return this.filling?.members.size ?? 0;
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

  /** Reads the head of a set. None of its members is in memory then. */
  static read(input: ByteReader, home: ThingPages): ThingSet {
    const { nextOrder, pages } = readSetHead(input);
    for (const { number } of pages) home.numbers.take(number);
    const set = new ThingSet();
    new MemberPages(set, home, pages, nextOrder);
    set.held = null;
    return set;
  }

  /** Reads the pages, which do not stay in memory, and makes the things in the order in which they were added. */
  fill(charge: Charge): Set<Thing> {
    const { store } = this.home;
    this.filling ??= { order: new MemberOrder(this.nextOrder, this.size), pages: 0, members: new Set() };
    const { order, members } = this.filling;
    for (; this.filling.pages < this.pages.length; this.filling.pages++) {
      const page = this.page(this.filling.pages);
      charge(UNITS_PER_READ_ITEM * page.entries);
      this.eachEntry(page, (id, place) => order.note(id, place));
    }
    order.sort(charge);
    while (members.size < this.size) {
      const count = Math.min(MEMBERS_AT_ONCE, this.size - members.size);
      charge(UNITS_PER_MEMBER * count);
      for (let i = 0; i < count; i++) {
        const thing = store.thingOfId(order.next());
        members.add(thing);
        if (!this.isAway) thing.holders += 1;
      }
      if (!this.isAway) store.bytes += BYTES_PER_MEMBER * count;
    }
    this.filling = null;
    return members;
  }

  get anyMembers(): Thing[] {
    this.load(0);
    return this.page(0).ids.map((id) => this.home.store.thingOfId(id));
  }

  /** Calls `visit` for each member that is in memory. */
  private eachPresent(visit: (thing: Thing) => void): void {
    for (const thing of this.set.held ?? this.filling?.members ?? []) visit(thing);
  }

  /** Calls `visit` with the id of each member, without bringing anything into memory. */
  visitThings(visit: (id: number) => void): void {
    for (const page of this.pages) this.eachEntry(page, visit);
  }

  /** The thing leaves memory: its members are counted out. */
  leaveThing(letGo: (thing: Thing) => void): void {
    this.eachPresent(letGo);
    this.isAway = true;
  }

  has(id: number, charge: Charge): boolean {
    if (id === 0) return false;
    const index = this.indexOf(id);
    const page = this.page(index);
    if (page.state === PageState.ABSENT) charge(UNITS_PER_READ_ITEM * page.entries);
    this.load(index);
    return page.ids[placeOf(page.ids, id)] === id;
  }

  /** Takes up a new member, to which a reference was counted. */
  add(thing: Thing): void {
    this.set.endFilling(FREE);
    const { id } = thing;
    const index = this.indexOf(id);
    this.load(index);
    this.touch(index);
    const page = this.page(index);
    const place = placeOf(page.ids, id);
    if (page.ids[place] === id) throw new Error(`${id} is a member already`);
    page.ids.splice(place, 0, id);
    page.orders.splice(place, 0, this.nextOrder++);
    page.entries += 1;
    this.size += 1;
    page.first = Math.min(page.first, id);
    if (page.entries > PAGE_MEMBERS_MAX) this.split(index);
    if (this.set.held === null) thing.holders -= 1;
    else this.set.held.add(thing);
  }

  /** Takes a member out, before the reference to it is counted out. */
  delete(thing: Thing): void {
    this.set.endFilling(FREE);
    const { id } = thing;
    const index = this.indexOf(id);
    this.load(index);
    this.touch(index);
    const page = this.page(index);
    const place = placeOf(page.ids, id);
    if (page.ids[place] !== id) throw new Error(`${id} is no member`);
    page.ids.splice(place, 1);
    page.orders.splice(place, 1);
    page.entries -= 1;
    this.size -= 1;
    if (page.entries === 0 && this.pages.length > 1) this.replace(index, []);
    if (this.set.held === null) thing.holders += 1;
    else this.set.held.delete(thing);
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
    this.set.fill(FREE);
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
    let before = 0;
    this.eachEntry(this.page(index), (id, order) => {
      out.varint(id - before);
      out.varint(order);
      before = id;
    });
  }

  protected override decode(index: number, input: ByteReader): void {
    const { ids, orders } = this.page(index);
    eachMember(input, (id, order) => {
      ids.push(id);
      orders.push(order);
    });
  }

  private eachEntry(
    { number, state, ids, orders }: MemberPage,
    visit: (id: number, order: number) => void,
  ): void {
    if (state === PageState.ABSENT) eachMember(new ByteReader(this.home.read(number)), visit);
    else for (const [i, id] of ids.entries()) visit(id, orders[i] as number);
  }

  /** Makes two pages of one that was touched: what is added behind all others, as most is, fills pages to the end. */
  private split(index: number): void {
    const { number, ids, orders } = this.page(index);
    const isLast = index === this.pages.length - 1;
    const half = isLast ? PAGE_MEMBERS_MAX : PAGE_MEMBERS_MAX / 2;
    const lower = newPage(ids.slice(0, half), orders.slice(0, half));
    lower.number = number;
    this.replace(index, [lower, newPage(ids.slice(half), orders.slice(half))]);
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
