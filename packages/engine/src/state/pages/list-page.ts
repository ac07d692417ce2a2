/** A page of a list, and how large pages are. */
import { UNITS_PER_READ_ITEM } from '../../value/containers.js';
import { bytesOfValue, isScalar } from '../../value/kinds.js';
import type { Value } from '../../value/value.js';
import { type Page, PageState } from './page-table.js';

/** Items of a page when it is made; it may grow to twice as many. */
export const PAGE_ITEMS = 256;

/** Bytes of a page beyond which it is cut, if it has several items. */
export const PAGE_BYTES_MAX = 1024 * 1024;

/** Bytes of a page, as they are estimated, beyond which its record may lie in slices. */
const SLICED_BYTES_MIN = 4 * 1024 * 1024;

export interface ListPage extends Page {
  /** Bytes of the items, or more: estimated in memory, and without those that are scalars of a few bytes. */
  bytes: number;
  /** True if items may refer to something. */
  refers: boolean;
}

/** New pages for the items from `start` up to but not including `end`; at least one. */
export function pagesOf(items: readonly Value[], start: number, end: number): ListPage[] {
  const pages: ListPage[] = [];
  let page = newPage();
  pages.push(page);
  for (let i = start; i < end; i++) {
    const item = items[i] as Value;
    const bytes = bytesIn(item);
    if (page.entries === PAGE_ITEMS || (page.entries > 0 && page.bytes + bytes > PAGE_BYTES_MAX)) {
      page = newPage();
      pages.push(page);
    }
    noteItem(page, item, bytes);
  }
  return pages;
}

export function newPage(): ListPage {
  return { number: 0, entries: 0, state: PageState.DIRTY, bytes: 0, refers: false };
}

/** Counts an item of a page. */
export function noteItem(page: ListPage, item: Value, bytes = bytesIn(item)): void {
  page.entries += 1;
  page.bytes += bytes;
  if (!isScalar(item)) page.refers = true;
}

function bytesIn(item: Value): number {
  return typeof item === 'number' ? 0 : bytesOfValue(item);
}

export function isTooLarge({ entries, bytes }: ListPage): boolean {
  return entries > 2 * PAGE_ITEMS || (bytes > PAGE_BYTES_MAX && entries > 1);
}

/** The cost of bringing a page into memory; 0 when it is there. */
export function unitsToRead({ state, entries }: ListPage): number {
  return state === PageState.ABSENT ? UNITS_PER_READ_ITEM * entries : 0;
}

/** True if a page must come into memory before its list goes. */
export function mustBeRead({ refers, bytes }: ListPage): boolean {
  return refers || bytes > SLICED_BYTES_MIN;
}
