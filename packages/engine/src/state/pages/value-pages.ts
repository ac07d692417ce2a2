/**
 * Large values. A str or bytes of more than `LARGE_BYTES` under a key of a thing lies in a page of its own, so that a change of another
 * key does not write it again:
 *
 *   property   := key:text 19 number:varint
 *   page       := value                    as in `value-codec.ts`
 */
import type { ByteWriter } from '../../bytes.js';
import { Bytes } from '../../value/scalars.js';
import type { Value } from '../../value/value.js';
import { writeValue } from '../value-codec.js';
import { type Page, type PageSink, PageState, PageTable } from './page-table.js';
import type { ThingPages } from './thing-pages.js';

/** A value that lies in a page of its own when it is that of a property. */
export type LargeValue = string | Bytes;

/** Characters or bytes beyond which a value does. */
const LARGE_BYTES = 16 * 1024;

export function isLarge(value: Value): value is LargeValue {
  if (typeof value === 'string') return value.length > LARGE_BYTES;
  return value instanceof Bytes && value.data.length > LARGE_BYTES;
}

interface ValuePage extends Page {
  readonly key: string;
  value: LargeValue;
  /** True if it was written since the last call of `endRecord`. */
  isInUse: boolean;
}

/** The large values in one record of a thing: in its first one, or in that of a page of its properties. */
export class ValuePages extends PageTable<ValuePage> {
  private readonly byKey = new Map<string, ValuePage>();

  constructor(home: ThingPages) {
    super(home, home.valueNumbers, []);
  }

  /** Notes what was read. */
  found(key: string, number: number, value: LargeValue): void {
    this.numbers.take(number);
    this.add({ number, entries: 1, state: PageState.CLEAN, key, value, isInUse: false });
  }

  /** Notes what the record that is being written has under a key; gives the number of the page. */
  write(key: string, value: LargeValue): number {
    const page =
      this.byKey.get(key) ??
      this.add({ number: 0, entries: 1, state: PageState.DIRTY, key, value, isInUse: true });
    if (page.value !== value) this.change(page);
    page.value = value;
    page.isInUse = true;
    return this.numberOf(page);
  }

  /** The record is written: freezes the values that changed, and deletes those that it does not have any more. */
  endRecord(sink: PageSink): void {
    this.retain(({ isInUse }) => isInUse, sink);
    for (const [key, page] of this.byKey) {
      if (!page.isInUse) this.byKey.delete(key);
      page.isInUse = false;
    }
    this.freeze(sink);
  }

  protected encode(index: number, out: ByteWriter): void {
    writeValue(out, this.page(index).value);
  }

  private add(page: ValuePage): ValuePage {
    this.pages.push(page);
    this.byKey.set(page.key, page);
    return page;
  }
}
