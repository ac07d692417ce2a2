import type { Thing } from '../value/thing.js';

const PAGE_BITS = 10;
const PAGE_SIZE = 1 << PAGE_BITS;

interface Page {
  readonly things: (Thing | undefined)[];
  count: number;
}

/** The things of a collection that are in memory, by id. Ids are dense, so this is an array in pages. */
export class ThingTable {
  private readonly pages = new Map<number, Page>();
  private count = 0;
  /** The page of the last new thing, which mostly that of the next one is. */
  private lastNumber = -1;
  private lastPage: Page | null = null;
  /** The page of the lowest ids: every query that begins at the root asks for it. */
  private firstPage: Page | null = null;

  get size(): number {
    return this.count;
  }

  get(id: number): Thing | undefined {
    if (id < PAGE_SIZE) return this.firstPage?.things[id];
    return this.pages.get(Math.floor(id / PAGE_SIZE))?.things[id % PAGE_SIZE];
  }

  set(id: number, thing: Thing): void {
    const number = Math.floor(id / PAGE_SIZE);
    const page = this.lastNumber === number ? (this.lastPage as Page) : this.pageOf(number);
    const place = id % PAGE_SIZE;
    if (page.things[place] === undefined) {
      page.count += 1;
      this.count += 1;
    }
    page.things[place] = thing;
  }

  delete(id: number): void {
    const number = Math.floor(id / PAGE_SIZE);
    const page = this.pages.get(number);
    const place = id % PAGE_SIZE;
    if (page === undefined || page.things[place] === undefined) return;
    page.things[place] = undefined;
    page.count -= 1;
    this.count -= 1;
    if (page.count > 0) return;
    this.pages.delete(number);
    if (number === 0) this.firstPage = null;
    if (this.lastNumber === number) this.lastNumber = -1;
  }

  private pageOf(number: number): Page {
    let page = this.pages.get(number);
    if (page === undefined) {
      page = { things: new Array<Thing | undefined>(PAGE_SIZE).fill(undefined), count: 0 };
      this.pages.set(number, page);
      if (number === 0) this.firstPage = page;
    }
    this.lastNumber = number;
    this.lastPage = page;
    return page;
  }

  /** All things that are in memory, by rising ids. */
  *inOrder(): Generator<Thing, void, undefined> {
    for (const number of this.pageNumbers().sort((a, b) => a - b)) {
      for (const thing of this.inPage(number)) if (thing !== undefined) yield thing;
    }
  }

  /** Numbers of the pages in use; `inPage` gives their things. For walks in slices. */
  pageNumbers(): number[] {
    return [...this.pages.keys()];
  }

  inPage(number: number): readonly (Thing | undefined)[] {
    return this.pages.get(number)?.things ?? [];
  }
}
