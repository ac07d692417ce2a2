/**
 * Pages of one object that are found by number, of which only some are in memory. As `page-table.ts` does for objects that know all of
 * their pages, this file alone knows here which pages differ from their records, and of checkpoints that are under way or came to
 * nothing; the states of a page are those of `PageState`, and what is absent has no object at all.
 *
 * A checkpoint freezes all pages that changed in the moment in which it begins, and writes them one by one while changes go on. A frozen
 * page that is about to change is encoded first, as it was. A number is never used again, so what was written under it in vain can be
 * left there until its deletion.
 */
import { ByteReader, ByteWriter } from '../../bytes.js';
import { type Page, type PageSink, PageState } from './page-table.js';

export abstract class PageSet<P extends Page> {
  /** The pages in memory. */
  protected readonly present = new Map<number, P>();
  /** The pages in each state but CLEAN. */
  private dirty = new Set<P>();
  private frozen = new Set<P>();
  private saved = new Set<P>();
  /** Numbers of pages that are gone: whose records the next checkpoint deletes, and the one that is under way or was last. */
  private freed: number[] = [];
  private deleting: number[] = [];
  /** Pages for the checkpoint under way that changed before it came to them. */
  private early: [number: number, record: Uint8Array][] = [];

  /** @param record gives the record of a page. Throws `DamagedStateError` when there is none */
  constructor(
    protected readonly record: (number: number) => Uint8Array,
    /** The number of the next new page. */
    protected nextNumber: number,
  ) {}

  protected abstract encode(page: P, out: ByteWriter): void;
  protected abstract decode(number: number, input: ByteReader): P;

  /** Number of pages in memory. */
  get presentCount(): number {
    return this.present.size;
  }

  /** The page with a number, brought into memory. */
  protected get(number: number): P {
    const known = this.present.get(number);
    if (known !== undefined) return known;
    const page = this.peek(number);
    this.present.set(number, page);
    return page;
  }

  /** The same without keeping it in memory. */
  protected peek(number: number): P {
    return this.present.get(number) ?? this.decode(number, new ByteReader(this.record(number)));
  }

  /** Takes up a new page, whose number is `nextNumber`. */
  protected add(page: P): P {
    if (page.number !== this.nextNumber || page.state !== PageState.DIRTY)
      throw new Error('a new page has a number or state that can not be');
    this.nextNumber += 1;
    this.present.set(page.number, page);
    this.dirty.add(page);
    return page;
  }

  /** Must be called before a page changes. */
  protected touch(page: P): void {
    if (page.state === PageState.DIRTY) return;
    this.saveBeforeChange(page);
    this.saved.delete(page);
    page.state = PageState.DIRTY;
    this.dirty.add(page);
  }

  /** Gives a page up. */
  protected free(page: P): void {
    this.saveBeforeChange(page);
    this.dirty.delete(page);
    this.saved.delete(page);
    this.present.delete(page.number);
    this.freed.push(page.number);
  }

  /** Begins a checkpoint: it has the pages as they are now, when `rest` has written them. The one before is durable, or came to nothing. */
  freeze(): void {
    if (this.frozen.size > 0 || this.early.length > 0) throw new Error('a checkpoint is under way already');
    for (const page of this.saved) page.state = PageState.CLEAN;
    this.saved = new Set();
    this.frozen = this.dirty;
    this.dirty = new Set();
    for (const page of this.frozen) page.state = PageState.FROZEN;
    this.deleting = this.freed;
    this.freed = [];
  }

  /** True if `rest` has something to write. */
  get isFrozen(): boolean {
    return this.frozen.size > 0 || this.early.length > 0 || this.deleting.length > 0;
  }

  /** Writes what `freeze` froze, some records at each step. */
  *rest(sink: PageSink): Generator<void, void, undefined> {
    while (this.frozen.size > 0 || this.early.length > 0) {
      for (const [number, record] of this.early) sink.put(number, record);
      this.early = [];
      for (const page of this.frozen) {
        sink.put(page.number, this.recordOf(page));
        this.note(page);
        yield;
      }
    }
    for (const [i, number] of this.deleting.entries()) {
      sink.delete(number);
      if (i % DELETED_AT_ONCE === DELETED_AT_ONCE - 1) yield;
    }
  }

  /** Notes that the checkpoint came to nothing: what it wrote differs from its records. */
  again(): void {
    for (const page of [...this.frozen, ...this.saved]) {
      page.state = PageState.DIRTY;
      this.dirty.add(page);
    }
    this.frozen = new Set();
    this.saved = new Set();
    this.early = [];
    this.freed.push(...this.deleting.splice(0));
  }

  /** Takes pages out of memory that are as their records. No checkpoint may be under way. */
  protected evict(isWanted: (page: P) => boolean): void {
    if (this.isWriting) throw new Error('pages leave memory while a checkpoint has some still to write');
    for (const page of this.present.values()) {
      if (page.state !== PageState.DIRTY && !isWanted(page)) {
        this.present.delete(page.number);
        this.saved.delete(page);
      }
    }
  }

  /** Deletes the records of pages that were given up and may be there still: the object goes as a whole. */
  protected *deleteFreed(sink: PageSink): Generator<void, void, undefined> {
    for (const number of [...this.freed, ...this.deleting]) {
      sink.delete(number);
      yield;
    }
  }

  private get isWriting(): boolean {
    return this.frozen.size > 0 || this.early.length > 0;
  }

  private saveBeforeChange(page: P): void {
    if (page.state !== PageState.FROZEN) return;
    this.early.push([page.number, this.recordOf(page)]);
    this.note(page);
  }

  private recordOf(page: P): Uint8Array {
    SCRATCH.rewind();
    this.encode(page, SCRATCH);
    return SCRATCH.take();
  }

  /** Notes that the checkpoint under way has a page. */
  private note(page: P): void {
    this.frozen.delete(page);
    this.saved.add(page);
    page.state = PageState.SAVED;
  }
}

/**
 * The memory for the record of a page, one for all sets: to get one for each page would take longer than all else that is done for a page
 * that changes during a checkpoint, and would soon be due for collection.
 */
const SCRATCH = new ByteWriter(4096);

/** Records that are deleted in one step. */
const DELETED_AT_ONCE = 32;
