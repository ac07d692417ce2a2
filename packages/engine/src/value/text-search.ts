/**
 * Finding one text in another in linear time, whatever the two are.
 *
 * The search of the JavaScript engine is the fastest on ordinary texts, but takes time proportional to the product of
 * both lengths on others: seconds for `aaa...b...aaa` in half a megabyte of `a`. Where that product is large, the
 * two-way algorithm takes its place: Crochemore and Perrin, "Two-way string-matching", J. ACM 38 (1991), section 4.
 */

/** The engine's own search is used while (length of the text) * (length of the pattern) stays below: 30 ms at worst. */
const NATIVE_PRODUCT_MAX = 2 ** 26;

/** Patterns up to this length are left to the engine in any case. */
const NATIVE_LENGTH_MAX = 8;

/** Units of work for looking at a character: by the engine's own search, by the other one, and for mirroring it before that. */
const UNITS_PER_NATIVE = 1;
const UNITS_PER_TWO_WAY = 5;
const UNITS_PER_MIRRORED = 3;

/** The cost of looking through all of a text for a pattern, in units of `Runtime.charge`. */
export function unitsToSearch(text: string, pattern: string, backwards = false): number {
  if (isHarmless(text, pattern, backwards)) return UNITS_PER_NATIVE * text.length;
  return (UNITS_PER_TWO_WAY + (backwards ? UNITS_PER_MIRRORED : 0)) * (text.length + pattern.length);
}

/** True if the engine's own search does not take long. */
function isHarmless(text: string, pattern: string, backwards: boolean): boolean {
  return (
    (pattern.length <= NATIVE_LENGTH_MAX && !backwards) ||
    text.length * pattern.length <= NATIVE_PRODUCT_MAX ||
    pattern.length > text.length
  );
}

/** True if a text has another one in it. */
export function includesText(text: string, pattern: string): boolean {
  return pattern === '' || new TextSearch(text, pattern).next() >= 0;
}

/**
 * The places of a pattern in a text, without overlaps, from one end to the other. Offsets count UTF-16 units; since both
 * texts are valid Unicode, a match never begins or ends inside a character.
 */
export class TextSearch {
  /** The two-way search, in mirrored texts when it goes backwards; null for the engine's own. */
  private readonly twoWay: TwoWay | null;
  /** Where the next match may begin; backwards: where it may end. */
  private position: number;

  /** @param pattern not empty */
  constructor(
    private readonly text: string,
    private readonly pattern: string,
    private readonly backwards = false,
  ) {
    this.position = backwards ? text.length : 0;
    if (isHarmless(text, pattern, backwards)) this.twoWay = null;
    else if (backwards) this.twoWay = new TwoWay(mirrored(text), mirrored(pattern));
    else this.twoWay = new TwoWay(text, pattern);
  }

  /** Where the next match begins, or -1. */
  next(): number {
    return this.backwards ? this.before() : this.after();
  }

  private after(): number {
    const { text, pattern, position } = this;
    const found = this.twoWay === null ? text.indexOf(pattern, position) : this.twoWay.find(position);
    if (found >= 0) this.position = found + pattern.length;
    return found;
  }

  private before(): number {
    const { text, pattern, position } = this;
    const last = position - pattern.length;
    if (last < 0) return -1;
    let found: number;
    if (this.twoWay === null) {
      found = text.lastIndexOf(pattern, last);
    } else {
      const place = this.twoWay.find(text.length - position);
      found = place < 0 ? -1 : text.length - place - pattern.length;
    }
    if (found >= 0) this.position = found;
    return found;
  }
}

/** Turns offsets in units into positions in code points, one after another; cheap when they are near each other. */
export class PositionCounter {
  private offset = 0;
  private position = 0;

  /** @param pairs whether the text has surrogate pairs */
  constructor(
    private readonly text: string,
    private readonly pairs: boolean,
  ) {}

  /** The position of an offset that lies between two characters. */
  at(offset: number): number {
    if (!this.pairs) return offset;
    const { text } = this;
    for (; this.offset < offset; this.offset++) if (!isLow(text.charCodeAt(this.offset))) this.position += 1;
    for (; this.offset > offset; this.offset--) {
      if (!isLow(text.charCodeAt(this.offset - 1))) this.position -= 1;
    }
    return this.position;
  }
}

/** The second half of a surrogate pair, which does not count. */
function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

function mirrored(text: string): string {
  // The bytes of each unit are swapped by the reversal and put right again.
  return Buffer.from(text, 'utf16le').reverse().swap16().toString('utf16le');
}

class TwoWay {
  /** The pattern is cut behind this index, so that its right part can be compared first. */
  private readonly cut: number;
  /** Period of the pattern, or a shift that is always safe. */
  private readonly shift: number;
  private readonly isPeriodic: boolean;

  constructor(
    private readonly text: string,
    private readonly pattern: string,
  ) {
    const down = maximalSuffix(pattern, 1);
    const up = maximalSuffix(pattern, -1);
    const { start, period } = down.start > up.start ? down : up;
    this.cut = start;
    this.isPeriodic = isRepeated(pattern, start + 1, period);
    this.shift = this.isPeriodic ? period : Math.max(start + 1, pattern.length - start - 1) + 1;
  }

  /** The first match that begins at `from` or later, or -1. */
  find(from: number): number {
    const { text, pattern, cut, shift } = this;
    const length = pattern.length;
    const end = text.length - length;
    /** The pattern is known to match up to this index at the current place. */
    let known = -1;
    for (let place = from; place <= end; ) {
      let i = Math.max(cut, known) + 1;
      while (i < length && pattern.charCodeAt(i) === text.charCodeAt(place + i)) i++;
      if (i < length) {
        place += i - cut;
        known = -1;
        continue;
      }
      i = cut;
      while (i > known && pattern.charCodeAt(i) === text.charCodeAt(place + i)) i--;
      if (i <= known) return place;
      place += shift;
      known = this.isPeriodic ? length - shift - 1 : -1;
    }
    return -1;
  }
}

/** The greatest suffix in an order of units (1: the usual, -1: reversed): the index before it, and its period. */
function maximalSuffix(pattern: string, order: 1 | -1): { start: number; period: number } {
  let start = -1;
  let candidate = 0;
  let compared = 1;
  let period = 1;
  while (candidate + compared < pattern.length) {
    const difference =
      (pattern.charCodeAt(candidate + compared) - pattern.charCodeAt(start + compared)) * order;
    if (difference < 0) {
      candidate += compared;
      compared = 1;
      period = candidate - start;
    } else if (difference > 0) {
      start = candidate;
      candidate = start + 1;
      compared = 1;
      period = 1;
    } else if (compared === period) {
      candidate += period;
      compared = 1;
    } else {
      compared += 1;
    }
  }
  return { start, period };
}

/** True if the first `length` units come again after a period. */
function isRepeated(pattern: string, length: number, period: number): boolean {
  if (length + period > pattern.length) return false;
  for (let i = 0; i < length; i++) {
    if (pattern.charCodeAt(i) !== pattern.charCodeAt(i + period)) return false;
  }
  return true;
}
