/**
 * The text that is searched, addressed by code points.
 *
 * A string without surrogates is used as it is: its indexes are code point indexes. Any other is unpacked once into
 * an array of code points. Make one Subject per string and operation.
 */
export class Subject {
  /** Number of code points. */
  readonly length: number;
  /** The code points, or null when the indexes of `text` are code point indexes. */
  readonly codes: Int32Array | null;
  /** Code point indexes of the characters that take two units of `text`, ascending. */
  readonly #pairs: Int32Array;

  constructor(readonly text: string) {
    if (SURROGATE.test(text)) {
      const codes = new Int32Array(text.length);
      const pairs: number[] = [];
      let length = 0;
      for (let unit = 0; unit < text.length; unit++) {
        const code = text.codePointAt(unit)!;
        if (code > 0xffff) {
          unit++;
          pairs.push(length);
        }
        codes[length++] = code;
      }
      this.length = length;
      this.codes = codes.subarray(0, length);
      this.#pairs = Int32Array.from(pairs);
    } else {
      this.length = text.length;
      this.codes = null;
      this.#pairs = NO_PAIRS;
    }
  }

  /** The text from code point `start` up to but not including `end`. */
  slice(start: number, end: number): string {
    if (this.codes === null) return this.text.slice(start, end);
    return this.text.slice(start + this.#pairsBefore(start), end + this.#pairsBefore(end));
  }

  #pairsBefore(position: number): number {
    const pairs = this.#pairs;
    let low = 0;
    let high = pairs.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (pairs[middle]! < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const SURROGATE = /[\ud800-\udfff]/;
const NO_PAIRS = new Int32Array(0);
