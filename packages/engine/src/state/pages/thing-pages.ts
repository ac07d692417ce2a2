import type { ByteWriter } from '../../bytes.js';
import type { ThingMemory } from '../memory.js';
import { type PageHome, PageNumbers, type PageSink, type Unfinished } from './page-table.js';
import type { PropertyFilling, PropertyPages } from './property-pages.js';
import type { ValuePages } from './value-pages.js';

/** The number of the first page of properties. */
export const PROPERTY_NUMBER_FIRST = 2 ** 22;

/** The first number of large values, and the end of their numbers: `large-record.ts` can count no further. */
const VALUE_NUMBER_FIRST = 2 ** 23;
const NUMBER_END = 2 ** 24;

/** The pages of one thing, whose records lie under its id: those of its lists and sets, of its properties, and of large values. */
export class ThingPages implements PageHome {
  readonly numbers: PageNumbers;
  readonly propertyNumbers: PageNumbers;
  readonly valueNumbers: PageNumbers;
  /** The pages of its properties; null as long as they stand in its first record. */
  properties: PropertyPages | null = null;
  /** Its properties while they come into memory; null where none do. */
  filling: PropertyFilling | null = null;
  /** The large values that its first record has; null as long as there was none. */
  values: ValuePages | null = null;

  constructor(
    private readonly id: number,
    readonly store: ThingMemory,
  ) {
    const { unfinished } = store;
    this.numbers = new PageNumbers(1, PROPERTY_NUMBER_FIRST, unfinished);
    this.propertyNumbers = new PageNumbers(PROPERTY_NUMBER_FIRST, VALUE_NUMBER_FIRST, unfinished);
    this.valueNumbers = new PageNumbers(VALUE_NUMBER_FIRST, NUMBER_END, unfinished);
  }

  get unfinished(): Set<Unfinished> {
    return this.store.unfinished;
  }

  get scratch(): ByteWriter {
    return this.store.scratch;
  }

  /** All numbers under which there may be a record. */
  get allNumbers(): number[] {
    return this.kinds.flatMap(({ all }) => all);
  }

  read(number: number): Uint8Array {
    return this.store.readPart(this.id, number);
  }

  /** Begins to delete the records that were given up. */
  freeze(sink: PageSink): void {
    for (const numbers of this.kinds) numbers.freeze(sink);
  }

  /** Notes that what was written last did not become durable, but for lists and sets, which their thing knows. */
  again(): void {
    this.properties?.again();
    this.values?.again();
    for (const numbers of this.kinds) numbers.again();
  }

  private get kinds(): readonly PageNumbers[] {
    return [this.numbers, this.propertyNumbers, this.valueNumbers];
  }
}
