/**
 * The newest bytes of the log, which followers that are nearly up to date need, as they lie in its segments. They are
 * kept in pages and not as entries: these would be a few objects each, which outlive every quick collection and
 * die a moment later, and cost the collector more than writing them costs.
 */
export class TailCache {
  private readonly pageBytes: number;
  /** Oldest first, so that segments and positions rise. Never changed where it was filled, since views of it are given out. */
  private pages: Page[] = [];
  private keptBytes = 0;

  /** @param maxBytes of all pages together */
  constructor(private readonly maxBytes: number) {
    this.pageBytes = Math.min(PAGE_BYTES_MAX, Math.floor(maxBytes / PAGES_MIN));
  }

  /** Bytes of the pages. */
  get bytes(): number {
    return this.keptBytes;
  }

  /** Bytes of a segment were written behind all others; they are copied. What is beyond the bound goes, the oldest first. */
  added(segment: number, position: number, bytes: Uint8Array): void {
    if (bytes.length > this.maxBytes) return;
    let page = this.pages[this.pages.length - 1];
    const goesOn = page?.segment === segment && page.position + page.used === position;
    if (page === undefined || !goesOn || page.used + bytes.length > page.bytes.length) {
      page = this.turn(segment, position, Math.max(this.pageBytes, bytes.length));
    }
    page.bytes.set(bytes, page.used);
    page.used += bytes.length;
  }

  /** Bytes of a segment, which must not be changed; undefined where they are not all in one page. */
  read(segment: number, position: number, length: number): Buffer | undefined {
    const page = this.pageAt(segment, position);
    if (page === undefined || position + length > page.position + page.used) return undefined;
    const from = position - page.position;
    return page.bytes.subarray(from, from + length);
  }

  /** The position behind the bytes of the page that has those at a position; undefined if none has. */
  endAt(segment: number, position: number): number | undefined {
    const page = this.pageAt(segment, position);
    return page === undefined ? undefined : page.position + page.used;
  }

  private turn(segment: number, position: number, size: number): Page {
    let gone = 0;
    while (gone < this.pages.length && this.keptBytes + size > this.maxBytes) {
      this.keptBytes -= this.pages[gone]!.bytes.length;
      gone += 1;
    }
    if (gone > 0) this.pages.splice(0, gone);
    const page = { segment, position, used: 0, bytes: Buffer.allocUnsafeSlow(size) };
    this.pages.push(page);
    this.keptBytes += size;
    return page;
  }

  /** The page that has the byte at a position. */
  private pageAt(segment: number, position: number): Page | undefined {
    const { pages } = this;
    let low = 0;
    for (let high = pages.length - 1; low < high; ) {
      const middle = (low + high + 1) >> 1;
      const page = pages[middle]!;
      if (page.segment < segment || (page.segment === segment && page.position <= position)) low = middle;
      else high = middle - 1;
    }
    const page = pages[low];
    if (page === undefined || page.segment !== segment || position < page.position) return undefined;
    return position < page.position + page.used ? page : undefined;
  }
}

type Page = {
  readonly segment: number;
  /** The position of its first byte in the segment. */
  readonly position: number;
  used: number;
  readonly bytes: Buffer;
};

const PAGE_BYTES_MAX = 64 * 1024;

/** Least number of pages, where the bound lets a write have one of the usual size. */
const PAGES_MIN = 8;
