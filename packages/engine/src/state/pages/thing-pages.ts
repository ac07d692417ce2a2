import type { ByteWriter } from '../../bytes.js';
import type { ThingMemory } from '../memory.js';
import { type PageHome, PageNumbers, type Unfinished } from './page-table.js';

/** Where the pages of one thing belong, whose records lie under its id. */
export class ThingPages implements PageHome {
  readonly store: ThingMemory;
  /** Numbers of the pages of lists. */
  readonly numbers: PageNumbers;
  private readonly id: number;

  constructor(id: number, store: ThingMemory) {
    this.id = id;
    this.store = store;
    this.numbers = new PageNumbers(1, LIST_NUMBER_MAX, store.unfinished);
  }

  get unfinished(): Set<Unfinished> {
    return this.store.unfinished;
  }

  get scratch(): ByteWriter {
    return this.store.scratch;
  }

  read(number: number): Uint8Array {
    return this.store.readPart(this.id, number);
  }
}

/** Behind it come the numbers of pages of properties. */
const LIST_NUMBER_MAX = 2 ** 22 - 1;
