/**
 * Pages: how an object that is too large for one record lies in several. This is the only file that knows of pages that differ from
 * their records, and of checkpoints that are under way or came to nothing. A page is in one of five states:
 *
 *   ABSENT --load--> CLEAN --touch--> DIRTY --freeze--> FROZEN --save--> SAVED --touch--> DIRTY
 *
 * A checkpoint freezes the dirty pages of an object when it writes its head, and saves them one by one while changes go on; a frozen
 * page that is about to change is saved first, as it was. A page that was saved is dirty again if the checkpoint comes to nothing
 * (`again`), and may leave memory (`evict`) when none is under way.
 *
 * The kinds of tables alone know what the entries of a page are, how many fit in one, and where they are in memory.
 */
import { ByteReader, type ByteWriter, FormatError } from '../../bytes.js';

export const PageState = {
  /** Its record alone has the entries. */
  ABSENT: 0,
  /** In memory, as its durable record. */
  CLEAN: 1,
  /** In memory, as the record that the last checkpoint wrote, perhaps in vain. */
  SAVED: 2,
  /** In memory, and different from its record, or there is none. */
  DIRTY: 3,
  /** In memory, and still to be written by the checkpoint that is under way. */
  FROZEN: 4,
} as const;

export type PageState = (typeof PageState)[keyof typeof PageState];

export interface Page {
  /** Number of its record; 0 until it gets one, which is when a checkpoint comes to it at the latest. */
  number: number;
  /** Number of entries in it. */
  entries: number;
  state: PageState;
}

/** Writes and deletes the records of one object's pages in a checkpoint. */
export interface PageSink {
  put(number: number, record: Uint8Array): void;
  delete(number: number): void;
}

/** An object with pages that the checkpoint under way has still to write. */
export interface Unfinished {
  /** Writes them, one at each step. */
  rest(): Generator<void, void, undefined>;
  /** The checkpoint came to nothing. */
  again(): void;
}

/** Where the pages of one object belong. */
export interface PageHome {
  readonly unfinished: Set<Unfinished>;
  /** A writer for one page at a time. */
  readonly scratch: ByteWriter;
  /** The record of a page. Throws `DamagedStateError` when there is none. */
  read(number: number): Uint8Array;
}

/**
 * The numbers of the records of one object, or of one kind of them. A number that is given up is not used again before the checkpoint
 * that deletes its record is durable: until then, giving it up may be taken back.
 */
export class PageNumbers implements Unfinished {
  private readonly count: number;
  /** A bit for each number under which there may be a record. */
  private taken = new Uint32Array(4);
  /** Pages whose records the next checkpoint deletes, and those that the last one deleted, perhaps in vain. */
  private freed = new Set<number>();
  private deleting = new Set<number>();
  /** The place of the number that was given out last. */
  private last = -1;
  private sink: PageSink | null = null;

  /** @param end the number behind the last one that may be used */
  constructor(
    private readonly first: number,
    end: number,
    private readonly unfinished: Set<Unfinished>,
  ) {
    this.count = end - first;
  }

  /** All numbers under which there may be a record. */
  get all(): number[] {
    const all: number[] = [];
    for (let place = 0; place < 32 * this.taken.length; place++) {
      if (this.isTaken(place)) all.push(this.first + place);
    }
    return all;
  }

  allocate(): number {
    for (let tried = 0; tried < this.count; tried++) {
      this.last = this.last + 1 === this.count ? 0 : this.last + 1;
      if (this.isTaken(this.last)) continue;
      this.setTaken(this.last);
      return this.first + this.last;
    }
    throw new Error(`all ${this.count} numbers of pages are in use`);
  }

  /** Notes that a number is in use: a record has it, or giving it up was taken back. */
  take(number: number): void {
    const place = number - this.first;
    // The checkpoint under way does not know of the page that has the number from now on.
    if (this.deleting.delete(number)) this.sink?.delete(number);
    else if (!this.freed.delete(number)) {
      if (place < 0 || place >= this.count || this.isTaken(place))
        throw new FormatError(`a second page has the number ${number}`);
      this.setTaken(place);
    }
  }

  free(number: number): void {
    if (!this.isTaken(number - this.first) || this.freed.has(number) || this.deleting.has(number))
      throw new Error(`no page has the number ${number}`);
    this.freed.add(number);
  }

  /** Gives a number up while the object is written: its record goes with this checkpoint. */
  delete(number: number, sink: PageSink): void {
    this.free(number);
    this.freed.delete(number);
    this.deleting.add(number);
    sink.delete(number);
  }

  /** Begins to delete the records that were given up: `rest` does. To be called in each checkpoint that writes the object. */
  freeze(sink: PageSink): void {
    for (const number of this.deleting) this.clearTaken(number - this.first);
    this.deleting = this.freed;
    this.freed = new Set();
    if (this.deleting.size === 0) return;
    this.sink = sink;
    this.unfinished.add(this);
  }

  *rest(): Generator<void, void, undefined> {
    let count = 0;
    for (const number of this.deleting) {
      this.sink?.delete(number);
      count += 1;
      if (count % DELETED_AT_ONCE === 0) yield;
    }
    this.sink = null;
    this.unfinished.delete(this);
  }

  again(): void {
    for (const number of this.deleting) this.freed.add(number);
    this.deleting = new Set();
    this.sink = null;
    this.unfinished.delete(this);
  }

  private isTaken(place: number): boolean {
    return ((this.taken[place >> 5] ?? 0) & (1 << (place & 31))) !== 0;
  }

  private setTaken(place: number): void {
    const word = place >> 5;
    if (word >= this.taken.length) {
      const taken = new Uint32Array(Math.max(word + 1, 2 * this.taken.length));
      taken.set(this.taken);
      this.taken = taken;
    }
    this.taken[word] = (this.taken[word] as number) | (1 << (place & 31));
  }

  private clearTaken(place: number): void {
    this.taken[place >> 5] = (this.taken[place >> 5] as number) & ~(1 << (place & 31));
  }
}

/** Records that are deleted in one step. */
const DELETED_AT_ONCE = 32;

/** The pages of one object, or of a part of it. */
export abstract class PageTable<P extends Page = Page> implements Unfinished {
  /** Number of pages that are absent. */
  private absentCount: number;
  /** Where the checkpoint under way writes frozen pages; null when there are none. */
  private sink: PageSink | null = null;
  /** The page from which on there may be frozen ones. */
  private firstFrozen = 0;

  /** @param numbers of the records of these pages */
  constructor(
    protected readonly home: PageHome,
    protected readonly numbers: PageNumbers,
    protected pages: P[],
  ) {
    this.absentCount = pages.filter(({ state }) => state === PageState.ABSENT).length;
  }

  /** Writes the entries of a page. */
  protected abstract encode(index: number, out: ByteWriter): void;

  /** Brings the entries of a page into memory, for kinds of pages that leave it. */
  protected decode(_index: number, _input: ByteReader): void {
    throw new Error('pages of this kind are always in memory');
  }

  get hasAbsent(): boolean {
    return this.absentCount > 0;
  }

  protected get isFrozen(): boolean {
    return this.sink !== null;
  }

  /** Where the checkpoint under way writes. */
  protected get frozenSink(): PageSink {
    if (this.sink === null) throw new Error('no page is frozen');
    return this.sink;
  }

  protected page(index: number): P {
    const page = this.pages[index];
    if (page === undefined) throw new Error(`there is no page ${index}`);
    return page;
  }

  protected load(index: number): void {
    const page = this.page(index);
    if (page.state !== PageState.ABSENT) return;
    this.decode(index, new ByteReader(this.home.read(page.number)));
    page.state = PageState.CLEAN;
    this.absentCount -= 1;
  }

  /** Must be called before the entries of a page change, which must be in memory. */
  protected touch(index: number): void {
    const page = this.page(index);
    this.saveBeforeChange(index);
    this.change(page);
  }

  /** Writes a page as it was when the checkpoint under way began, if that has it still to write. */
  protected saveBeforeChange(index: number): void {
    if (this.page(index).state === PageState.FROZEN) this.save(index);
  }

  /** Notes that a page differs from its record from now on. */
  protected change(page: P): void {
    if (page.state === PageState.ABSENT || page.state === PageState.FROZEN)
      throw new Error('a page changes that is absent or frozen');
    page.state = PageState.DIRTY;
  }

  /** The number of the record of a page, which gets one if need be. */
  protected numberOf(page: P): number {
    if (page.number === 0) page.number = this.numbers.allocate();
    return page.number;
  }

  /** Drops the other pages while the object is written: their records go with this checkpoint. */
  protected retain(isKept: (page: P, index: number) => boolean, sink: PageSink): void {
    const kept = this.pages.filter(isKept);
    if (kept.length === this.pages.length) return;
    const isGone = new Set(this.pages);
    for (const page of kept) isGone.delete(page);
    for (const { number, state } of isGone) {
      if (state === PageState.FROZEN) throw new Error('a page goes that is frozen');
      if (number !== 0) this.numbers.delete(number, sink);
    }
    this.pages = kept;
  }

  /** Replaces a page by others, or by none. What a checkpoint has still to write of it is written. */
  protected replace(index: number, pages: readonly P[]): void {
    const before = this.pages;
    const { number, state } = this.page(index);
    if (state === PageState.ABSENT || state === PageState.FROZEN)
      throw new Error('a page goes that is absent or frozen');
    if (number !== 0 && !pages.some((page) => page.number === number)) this.numbers.free(number);
    if (pages.length < SPREAD_MAX) before.splice(index, 1, ...pages);
    else this.pages = [...before.slice(0, index), ...pages, ...before.slice(index + 1)];
    this.firstFrozen = 0;
  }

  /** Freezes what differs from its record: `rest` writes it. To be called when the head of the object is written. */
  protected freeze(sink: PageSink): void {
    if (this.sink !== null) throw new Error('a checkpoint is under way already');
    for (const page of this.pages) {
      if (page.state === PageState.DIRTY) {
        page.state = PageState.FROZEN;
        this.numberOf(page);
        this.sink = sink;
      } else if (page.state === PageState.SAVED) page.state = PageState.CLEAN;
    }
    this.firstFrozen = 0;
    if (this.sink !== null) this.home.unfinished.add(this);
  }

  /** Writes the frozen pages, one at each step. */
  *rest(): Generator<void, void, undefined> {
    while (this.firstFrozen < this.pages.length) {
      const index = this.firstFrozen++;
      if (this.page(index).state !== PageState.FROZEN) continue;
      this.save(index);
      yield;
    }
    this.sink = null;
    this.home.unfinished.delete(this);
  }

  /** Writes the frozen pages at once. */
  finish(): void {
    if (this.sink !== null) for (const _ of this.rest());
  }

  /** Notes that what was written last did not become durable. */
  again(): void {
    for (const page of this.pages) {
      if (page.state === PageState.FROZEN || page.state === PageState.SAVED) page.state = PageState.DIRTY;
    }
    this.sink = null;
    this.home.unfinished.delete(this);
  }

  /**
   * Takes the pages out of memory that are as their records. No checkpoint may be under way.
   *
   * @param forget does it with the entries of a page
   */
  protected evict(forget: (page: P, index: number) => void): void {
    if (this.sink !== null) throw new Error('pages leave memory while a checkpoint has some still to write');
    for (const [index, page] of this.pages.entries()) {
      if (page.state !== PageState.CLEAN && page.state !== PageState.SAVED) continue;
      if (page.number === 0) throw new Error('a page leaves memory that has no record');
      forget(page, index);
      page.state = PageState.ABSENT;
      this.absentCount += 1;
    }
  }

  /** Gives the records of all pages up; `keepNumbers` takes that back. */
  protected freeNumbers(): void {
    for (const { number } of this.pages) if (number !== 0) this.numbers.free(number);
  }

  protected keepNumbers(): void {
    for (const { number } of this.pages) if (number !== 0) this.numbers.take(number);
  }

  private save(index: number): void {
    const { frozenSink: sink } = this;
    const page = this.page(index);
    if (page.state !== PageState.FROZEN || page.number === 0)
      throw new Error('a page is saved that is not frozen');
    const { scratch } = this.home;
    scratch.rewind();
    this.encode(index, scratch);
    sink.put(page.number, scratch.take());
    page.state = PageState.SAVED;
  }
}

/** Arguments of one call at most; more could overflow the stack. */
const SPREAD_MAX = 10_000;
