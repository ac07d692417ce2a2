/**
 * Points of a program that have been tried at positions of a text without success. A point that is met again
 * at the same position is not tried again; so the search takes time linear in the text.
 * (Memoised backtracking, as in B. Ford's packrat parsing; RE2 calls it "bit state".)
 *
 * The bits lie in pages that are made when they are needed. When too many are, everything is forgotten, which costs
 * time but never changes a result.
 */
export class Memo {
  /** Work done for new pages since the caller last looked, in words of memory. */
  #debt = 0;
  readonly #marks: number;
  readonly #positionBits: number;
  readonly #pageWords: number;
  #pages: (Uint32Array | undefined)[] = [];
  #words = 0;

  /** @param marks number of points */
  constructor(marks: number) {
    this.#marks = marks;
    let bits = 10;
    while (bits > 0 && marks << bits > PAGE_BITS_MAX) bits--;
    this.#positionBits = bits;
    this.#pageWords = ((marks << bits) + 31) >>> 5;
  }

  /** Notes a visit. False when the point had been visited at this position before. */
  visit(position: number, mark: number): boolean {
    const page =
      this.#pages[position >>> this.#positionBits] ?? this.#addPage(position >>> this.#positionBits);
    const bit = (position & ((1 << this.#positionBits) - 1)) * this.#marks + mark;
    const word = page[bit >>> 5]!;
    const mask = 1 << (bit & 31);
    if ((word & mask) !== 0) return false;
    page[bit >>> 5] = word | mask;
    return true;
  }

  /** Instructions that are owed; none any more. */
  takeDebt(): number {
    const debt = this.#debt;
    this.#debt = 0;
    return debt;
  }

  /** Forgets the visits at one position. */
  forget(position: number): void {
    const page = this.#pages[position >>> this.#positionBits];
    if (page === undefined) return;
    const first = (position & ((1 << this.#positionBits) - 1)) * this.#marks;
    for (let bit = first; bit < first + this.#marks; bit++) page[bit >>> 5]! &= ~(1 << (bit & 31));
    this.#debt += this.#marks >>> 3;
  }

  #addPage(index: number): Uint32Array {
    if (this.#words + this.#pageWords > WORDS_MAX) {
      this.#pages = [];
      this.#words = 0;
    }
    const page = new Uint32Array(this.#pageWords);
    this.#pages[index] = page;
    this.#words += this.#pageWords;
    this.#debt += this.#pageWords;
    return page;
  }
}

/** 64 kB a page, unless the marks of a single position need more. */
const PAGE_BITS_MAX = 1 << 19;
/** 32 MB in all. */
const WORDS_MAX = 1 << 23;
