/**
 * Things of many properties. A plain thing of more than `PAGED_PROPERTIES_MIN` properties lies in pages of `WIDTH` slots, so that a
 * change writes a page and not the thing:
 *
 *   thing    := refs:varint head:text count:varint slots:varint      of the head, `*` comes first
 *   page     := flags:u8 count:varint gap:varint* property*          as many gaps as properties, or none
 *   property := key:text stored                                      as in `stored-value.ts`
 *
 * Page n has the properties in the slots from n * WIDTH on, and the number FIRST_NUMBER + n. A slot may be free; where some are, each
 * property has a gap: the number of free slots in front of it.
 */
import { ByteReader, type ByteWriter, FormatError } from '../../bytes.js';
import type { Charge } from '../../value/containers.js';
import { bytesOfValue } from '../../value/kinds.js';
import type { Shape } from '../../value/shape.js';
import type { Thing } from '../../value/thing.js';
import type { Value } from '../../value/value.js';
import { readStored, writeStored } from '../stored-value.js';
import { type Page, type PageSink, PageState, PageTable } from './page-table.js';
import { PROPERTY_NUMBER_FIRST, type ThingPages } from './thing-pages.js';
import type { ValuePages } from './value-pages.js';

/** Things of more properties than this are stored in pages, until they have half as many. */
export const PAGED_PROPERTIES_MIN = 1024;

/** Slots of a page, as a power of two. */
const WIDTH_BITS = 7;
const WIDTH = 1 << WIDTH_BITS;

/** The first part of the head of a thing in pages. */
export const PAGED_HEAD = '*';

/** Bits of the flags of a page: whether each property has a gap, and whether some values lie elsewhere, at which earlier software looks. */
const HAS_GAPS = 1;
const HAS_PARTS = 2;

/** Units charged for a property that is read. */
const UNITS_PER_READ_PROPERTY = 256;

/** A thing that comes into memory a page at a time. */
export interface PropertyFilling {
  readonly pages: PropertyPages;
  /** The keys and values that were read, which things in memory hold. */
  readonly shape: Shape;
  readonly slots: Value[];
  /** Pages that were read. */
  read: number;
  /** Bytes that the values take in memory. */
  bytes: number;
}

interface PropertyPage extends Page {
  /** The large values in it; null as long as there was none. */
  values: ValuePages | null;
}

/** The pages of one thing, in the order of the slots. All properties are in memory. */
export class PropertyPages extends PageTable<PropertyPage> {
  declare protected readonly home: ThingPages;
  /** Slot of each key when the pages were written last: when there is another table, every property may have moved. */
  private layout: ReadonlyMap<string, number> | null = null;
  /** Keys, slots and values when the last checkpoint began; pages where they differ since then are written already. */
  private frozen: { readonly shape: Shape; readonly slots: readonly Value[]; readonly end: number } | null =
    null;

  constructor(
    private readonly thing: Thing,
    home: ThingPages,
  ) {
    super(home, home.propertyNumbers, []);
  }

  /** True if a thing that does not lie in pages should. */
  static isWanted({ shape }: Thing): boolean {
    return shape.owned && shape.size > PAGED_PROPERTIES_MIN;
  }

  /** True if one that does should go on with it. */
  get isWanted(): boolean {
    const { shape } = this.thing;
    return shape.owned && shape.size > PAGED_PROPERTIES_MIN / 2;
  }

  /**
   * Fills a stub from its pages, and takes up the values. `input` stands behind the head.
   *
   * @param empty a shape without keys
   * @param charge told of each page before it is read; what was read until it threw is not read again
   */
  static read(
    input: ByteReader,
    empty: Shape,
    thing: Thing,
    home: ThingPages,
    charge: Charge,
  ): PropertyPages {
    const { store } = home;
    const count = input.varint();
    const end = input.varint();
    home.filling ??= PropertyPages.begin(empty, end, thing, home);
    const { filling } = home;
    const { pages, shape, slots } = filling;
    for (; filling.read < pages.pages.length; filling.read++) {
      charge(UNITS_PER_READ_PROPERTY * WIDTH);
      const page = pages.page(filling.read);
      let bytes = 0;
      eachProperty(new ByteReader(home.read(page.number)), filling.read, (record, slot) => {
        const key = record.text();
        shape.place(key, slot);
        const value = readStored(record, key, thing, store, page);
        slots[slot] = value;
        store.takeUp(thing, key, value);
        bytes += bytesOfValue(value);
      });
      filling.bytes += bytes;
      store.bytes += bytes;
    }
    if (shape.size !== count)
      throw new FormatError(`thing ${thing.id} has ${shape.size} properties, not ${count}`);
    // The caller counts a thing that is in memory as a whole.
    store.bytes -= filling.bytes;
    home.filling = null;
    pages.layout = shape.index;
    thing.shape = shape;
    thing.slots = slots;
    return pages;
  }

  private static begin(shape: Shape, end: number, thing: Thing, home: ThingPages): PropertyFilling {
    const pages = new PropertyPages(thing, home);
    pages.grow(pagesFor(end), PageState.CLEAN);
    const bytes = 8 * end;
    home.store.bytes += bytes;
    return { pages, shape, slots: new Array<Value>(end).fill(null), read: 0, bytes };
  }

  /** Must be called before a property changes, or comes, or goes. */
  touchProperty(key: string): void {
    const before = this.isFrozen ? this.frozen?.shape.index.get(key) : undefined;
    if (before !== undefined) this.saveBeforeChange(before >> WIDTH_BITS);
    const { shape, slots } = this.thing;
    // The slots of a table of a failing query are not those of the records, though the table of before comes back.
    if (this.layout !== shape.index) this.layout = null;
    const index = (shape.index.get(key) ?? slots.length) >> WIDTH_BITS;
    this.grow(index + 1, PageState.DIRTY);
    this.touch(index);
  }

  /** Must be called before all properties change. */
  touchAll(): void {
    this.finish();
    this.layout = null;
  }

  /** Writes the head, and freezes the pages that changed. */
  write(out: ByteWriter, sink: PageSink): void {
    const { shape, slots } = this.thing;
    const count = pagesFor(slots.length);
    this.cut(count, sink);
    if (this.layout !== shape.index) for (const page of this.pages) this.change(page);
    this.layout = shape.index;
    this.grow(count, PageState.DIRTY);
    this.frozen = { shape, slots, end: slots.length };
    this.freeze(sink);
    out.varint(shape.size);
    out.varint(slots.length);
  }

  /** Deletes the pages from one on. */
  cut(count: number, sink: PageSink): void {
    for (const { values } of this.pages.slice(count)) values?.endRecord(sink);
    this.retain((_, index) => index < count, sink);
  }

  override again(): void {
    super.again();
    for (const { values } of this.pages) values?.again();
  }

  protected encode(index: number, out: ByteWriter): void {
    if (this.frozen === null) throw new Error('no checkpoint has begun');
    const { shape, slots, end } = this.frozen;
    const page = this.page(index);
    const { keysBySlot } = shape;
    const used: number[] = [];
    const first = index << WIDTH_BITS;
    for (let slot = first; slot < Math.min(first + WIDTH, end); slot++) {
      if (typeof keysBySlot[slot] === 'string') used.push(slot);
    }
    const hasGaps = used.some((slot, i) => slot !== first + i);
    page.entries = used.length;
    const flagsAt = out.length;
    out.u8(0);
    out.varint(used.length);
    if (hasGaps) for (const [i, slot] of used.entries()) out.varint(slot - (used[i - 1] ?? first - 1) - 1);
    let flags = hasGaps ? HAS_GAPS : 0;
    for (const slot of used) {
      const key = keysBySlot[slot] as string;
      out.text(key);
      const isElsewhere = writeStored(
        out,
        key,
        slots[slot] as Value,
        this.thing,
        this.home.store,
        page,
        this.frozenSink,
      );
      if (isElsewhere) flags |= HAS_PARTS;
    }
    out.patch(flagsAt, flags);
    page.values?.endRecord(this.frozenSink);
  }

  /** Adds pages up to a number of them. */
  private grow(count: number, state: PageState): void {
    for (let index = this.pages.length; index < count; index++) {
      const number = PROPERTY_NUMBER_FIRST + index;
      this.numbers.take(number);
      this.pages.push({ number, entries: 0, state, values: null });
    }
  }
}

/** The numbers of the pages of a thing, whose record `input` reads behind the head. The number of the properties comes first. */
export function readPropertyHead(input: ByteReader): {
  readonly count: number;
  readonly numbers: readonly number[];
} {
  const count = input.varint();
  const pages = pagesFor(input.varint());
  return { count, numbers: Array.from({ length: pages }, (_, index) => PROPERTY_NUMBER_FIRST + index) };
}

/** Calls `visit` for each property in the record of a page, which it has to read: `input` stands in front of the key. */
export function eachProperty(
  input: ByteReader,
  index: number,
  visit: (input: ByteReader, slot: number) => void,
): void {
  const flags = input.u8();
  const count = input.varint();
  if (count > WIDTH) throw new FormatError(`a page of ${count} properties`);
  const hasGaps = (flags & HAS_GAPS) !== 0;
  const gaps = hasGaps ? Array.from({ length: count }, () => input.varint()) : [];
  let slot = index << WIDTH_BITS;
  for (let i = 0; i < count; i++, slot++) {
    slot += gaps[i] ?? 0;
    visit(input, slot);
  }
  if (input.remaining > 0) throw new FormatError('a page of properties is longer than it says');
}

/** Number of pages that so many slots make. */
function pagesFor(slots: number): number {
  return Math.ceil(slots / WIDTH);
}
