/**
 * The items of a large list of which few are in memory. V8 keeps an array with a wide gap as a table of the items that are there. Room for all
 * of a million takes 8 MB, and the first touch of so much new memory up to 80 ms, for which the first query to the thing would wait.
 */
import type { List } from '../../value/containers.js';
import type { Value } from '../../value/value.js';

/** Lists of fewer items have room for all of them at once. */
const THIN_ITEMS_MIN = 65_536;

/** A table for more than one in so many items costs more than room for all. */
const THIN_PART = 128;

/** So many items, none of them in memory. */
export function absentItems(count: number): Value[] {
  if (count < THIN_ITEMS_MIN) return new Array<Value>(count).fill(null);
  const items: Value[] = [];
  items[count - 1] = null;
  return items;
}

/** Gives all items of a list room as soon as it pays. */
export class ItemRoom {
  /** Items that may come into memory before; none once all have room. */
  private left: number;

  /** @param absent the number of items of the list, as `absentItems` gives them; 0 for others */
  constructor(
    private readonly list: List,
    absent: number,
  ) {
    this.left = absent < THIN_ITEMS_MIN ? 0 : Math.floor(absent / THIN_PART);
  }

  /** To be called before some items come into memory. */
  take(count: number): void {
    if (count < this.left) this.left -= count;
    else this.give();
  }

  /** Gives all items room. To be called before many of them move. */
  give(): void {
    if (this.left === 0) return;
    this.left = 0;
    const { list } = this;
    const items = new Array<Value>(list.length).fill(null);
    for (const [at, item] of Object.entries(list.held)) items[Number(at)] = item;
    list.held = items;
  }
}
