/**
 * Sets of code points: what one character of the text is tested against.
 *
 * A set is a sorted list of disjoint ranges, or, where `\p{..}` occurs, a predicate that is asked per character.
 */

/** A predicate over code points that has no list of ranges, such as a Unicode property. */
export interface Predicate {
  test(code: number): boolean;
}

export const CODE_MAX = 0x10ffff;

export class CharSet {
  /** The rule for the characters from 256 up: none of them, all of them, or one must look. */
  readonly high: 'none' | 'all' | 'some';
  /** The cost of looking, in instructions of the matcher; 0 when it is about as fast as a table. */
  readonly weight: number;
  /** The ranges again, in the form that is fast to search if that has to be done often. */
  readonly #bounds: ArrayLike<number>;

  /**
   * @param ranges first and last code point of each range, ascending, disjoint, not adjacent
   * @param predicate further members
   * @param negated the set holds what neither the ranges nor the predicate have (only with a predicate)
   */
  constructor(
    readonly ranges: readonly number[],
    readonly predicate: Predicate | null = null,
    readonly negated = false,
  ) {
    const last = ranges.length - 1;
    if (predicate !== null) this.high = 'some';
    else if (last < 0 || ranges[last]! < 256) this.high = 'none';
    else this.high = ranges[last] === CODE_MAX && ranges[last - 1]! <= 256 ? 'all' : 'some';
    this.#bounds = this.high === 'some' ? Int32Array.from(ranges) : ranges;
    this.weight = this.high !== 'some' || last < 16 ? 0 : 1 + (Math.log2(last) >> 2);
    if (predicate !== null) this.weight++;
  }

  has(code: number): boolean {
    return (isInRanges(this.#bounds, code) || (this.predicate?.test(code) ?? false)) !== this.negated;
  }

  get isEmpty(): boolean {
    return this.ranges.length === 0 && this.predicate === null;
  }
}

/** Collects the ranges of a class. */
export class CharSetBuilder {
  readonly #ranges: number[] = [];

  addRange(first: number, last: number): void {
    this.#ranges.push(first, last);
  }

  addRanges(ranges: readonly number[]): void {
    for (const bound of ranges) this.#ranges.push(bound);
  }

  /** Adds the other case of the ASCII letters that were added as ranges. */
  foldCase(): void {
    const ranges = this.#ranges;
    for (let i = 0, end = ranges.length; i < end; i += 2) {
      const first = ranges[i]!;
      const last = ranges[i + 1]!;
      addShifted(ranges, Math.max(first, 0x41), Math.min(last, 0x5a), 0x20);
      addShifted(ranges, Math.max(first, 0x61), Math.min(last, 0x7a), -0x20);
    }
  }

  /** The set of the ranges and the predicate, or of all other characters. */
  build(negated: boolean, predicate: Predicate | null = null): CharSet {
    const ranges = normalise(this.#ranges);
    if (predicate !== null) return new CharSet(ranges, predicate, negated);
    return new CharSet(negated ? complement(ranges) : ranges);
  }
}

/** All code points that are not in the ranges. */
export function complement(ranges: readonly number[]): number[] {
  const result: number[] = [];
  let next = 0;
  for (let i = 0; i < ranges.length; i += 2) {
    if (ranges[i]! > next) result.push(next, ranges[i]! - 1);
    next = ranges[i + 1]! + 1;
  }
  if (next <= CODE_MAX) result.push(next, CODE_MAX);
  return result;
}

/** The union of sets, or null when one of them can't be united by its ranges. */
export function unite(sets: readonly CharSet[]): CharSet | null {
  const builder = new CharSetBuilder();
  for (const set of sets) {
    if (set.predicate !== null) return null;
    builder.addRanges(set.ranges);
  }
  return builder.build(false);
}

export function isAsciiLetter(code: number): boolean {
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}

/** `\w`: what word boundaries look at. */
export function isWordCode(code: number): boolean {
  return isAsciiLetter(code) || (code >= 0x30 && code <= 0x39) || code === 0x5f;
}

export const DIGIT: readonly number[] = [0x30, 0x39];
export const WORD: readonly number[] = [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a];
export const SPACE: readonly number[] = [0x09, 0x0d, 0x20, 0x20];
/** `\h`: horizontal white space of Unicode. */
export const HORIZONTAL_SPACE: readonly number[] = [
  0x09, 0x09, 0x20, 0x20, 0xa0, 0xa0, 0x1680, 0x1680, 0x180e, 0x180e, 0x2000, 0x200a, 0x202f, 0x202f, 0x205f,
  0x205f, 0x3000, 0x3000,
];
/** `\v`: vertical white space of Unicode. */
export const VERTICAL_SPACE: readonly number[] = [0x0a, 0x0d, 0x85, 0x85, 0x2028, 0x2029];

/** `.` with the flag `s`. */
export const ANY: CharSet = new CharSet([0, CODE_MAX]);
/** `.` without it, and `\N`. */
export const NOT_NEWLINE: CharSet = new CharSet([0, 0x09, 0x0b, CODE_MAX]);

/** POSIX classes by name; ASCII only. */
export const POSIX_CLASSES: ReadonlyMap<string, readonly number[]> = new Map([
  ['alpha', [0x41, 0x5a, 0x61, 0x7a]],
  ['lower', [0x61, 0x7a]],
  ['upper', [0x41, 0x5a]],
  ['alnum', [0x30, 0x39, 0x41, 0x5a, 0x61, 0x7a]],
  ['ascii', [0x00, 0x7f]],
  ['blank', [0x09, 0x09, 0x20, 0x20]],
  ['cntrl', [0x00, 0x1f, 0x7f, 0x7f]],
  ['digit', [0x30, 0x39]],
  ['graph', [0x21, 0x7e]],
  ['print', [0x20, 0x7e]],
  ['punct', [0x21, 0x2f, 0x3a, 0x40, 0x5b, 0x60, 0x7b, 0x7e]],
  ['space', [0x09, 0x0d, 0x20, 0x20]],
  ['word', [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a]],
  ['xdigit', [0x30, 0x39, 0x41, 0x46, 0x61, 0x66]],
]);

function isInRanges(bounds: ArrayLike<number>, code: number): boolean {
  let low = 0;
  let high = bounds.length >> 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (code > bounds[2 * middle + 1]!) low = middle + 1;
    else high = middle;
  }
  return 2 * low < bounds.length && bounds[2 * low]! <= code;
}

function addShifted(ranges: number[], first: number, last: number, shift: number): void {
  if (first <= last) ranges.push(first + shift, last + shift);
}

/** Sorts and merges. */
function normalise(ranges: readonly number[]): number[] {
  if (ranges.length === 2) return [ranges[0]!, ranges[1]!];
  const pairs: [number, number][] = [];
  for (let i = 0; i < ranges.length; i += 2) pairs.push([ranges[i]!, ranges[i + 1]!]);
  pairs.sort((a, b) => a[0] - b[0]);
  const result: number[] = [];
  for (const [first, last] of pairs) {
    const end = result.length - 1;
    if (end > 0 && first <= result[end]! + 1) result[end] = Math.max(result[end]!, last);
    else result.push(first, last);
  }
  return result;
}
