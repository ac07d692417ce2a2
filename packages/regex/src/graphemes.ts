import { PropertyTable } from './properties.js';

/**
 * Extended grapheme clusters for `\X`, by the rules of UAX #29 (Unicode Text Segmentation), section 3.1.1.
 * Spacing marks are approximated by the category Mc.
 */
export class Graphemes {
  readonly #extend = new PropertyTable('\\p{Grapheme_Extend}\\p{Emoji_Modifier}');
  readonly #spacing = new PropertyTable('\\p{Mc}\\u0e33\\u0eb3');
  readonly #control = new PropertyTable('\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}\\p{Cs}');
  readonly #pictographic = new PropertyTable('\\p{Extended_Pictographic}');
  readonly #prepend = new PropertyTable(
    '\\u0600-\\u0605\\u06dd\\u070f\\u0890\\u0891\\u08e2\\u0d4e\\u{110bd}\\u{110cd}\\u{111c2}\\u{111c3}\\u{1193f}' +
      '\\u{11941}\\u{11a3a}\\u{11a84}-\\u{11a89}\\u{11d46}\\u{11f02}',
  );

  /** The position behind the cluster that begins at `start`. `at` gives the code point of a position below `length`. */
  end(start: number, length: number, at: (position: number) => number): number {
    let before = at(start);
    let kind = this.#kind(before);
    let flags = kind === Kind.Flag ? 1 : 0;
    let pictographic = kind === Kind.Pictographic;
    let joined = false;
    let position = start + 1;
    for (; position < length; position++) {
      const code = at(position);
      const next = this.#kind(code);
      const paired = next === Kind.Flag && kind === Kind.Flag && flags % 2 === 1;
      const glued = next === Kind.Pictographic && joined;
      if (!paired && !glued && !continues(kind, next, before, code)) break;
      if (next === Kind.Flag) flags++;
      joined = pictographic && code === ZERO_WIDTH_JOINER;
      pictographic = next === Kind.Pictographic || (pictographic && next === Kind.Extend);
      before = code;
      kind = next;
    }
    return position;
  }

  #kind(code: number): Kind {
    if (code < 0x300) {
      if (code < 0x20 || (code >= 0x7f && code < 0xa0) || code === 0xad) return Kind.Control;
      return code === 0xa9 || code === 0xae ? Kind.Pictographic : Kind.Other;
    }
    if (code === ZERO_WIDTH_JOINER || this.#extend.test(code)) return Kind.Extend;
    if (this.#prepend.test(code)) return Kind.Prepend;
    if (this.#spacing.test(code)) return Kind.Spacing;
    if (this.#control.test(code)) return Kind.Control;
    if (code >= 0x1f1e6 && code <= 0x1f1ff) return Kind.Flag;
    if (this.#pictographic.test(code)) return Kind.Pictographic;
    return hangulKind(code);
  }
}

const ZERO_WIDTH_JOINER = 0x200d;

enum Kind {
  Other,
  Control,
  Extend,
  Spacing,
  Prepend,
  Flag,
  Pictographic,
  HangulL,
  HangulV,
  HangulT,
  HangulLV,
  HangulLVT,
}

/** True if there is no boundary between two neighbours, for the rules that need to know only these two. */
function continues(kind: Kind, next: Kind, before: number, code: number): boolean {
  if (before === 0x0d && code === 0x0a) return true;
  if (kind === Kind.Control || next === Kind.Control) return false;
  if (next === Kind.Extend || next === Kind.Spacing || kind === Kind.Prepend) return true;
  switch (kind) {
    case Kind.HangulL:
      return [Kind.HangulL, Kind.HangulV, Kind.HangulLV, Kind.HangulLVT].includes(next);
    case Kind.HangulV:
    case Kind.HangulLV:
      return next === Kind.HangulV || next === Kind.HangulT;
    case Kind.HangulT:
    case Kind.HangulLVT:
      return next === Kind.HangulT;
    default:
      return false;
  }
}

function hangulKind(code: number): Kind {
  if ((code >= 0x1100 && code <= 0x115f) || (code >= 0xa960 && code <= 0xa97c)) return Kind.HangulL;
  if ((code >= 0x1160 && code <= 0x11a7) || (code >= 0xd7b0 && code <= 0xd7c6)) return Kind.HangulV;
  if ((code >= 0x11a8 && code <= 0x11ff) || (code >= 0xd7cb && code <= 0xd7fb)) return Kind.HangulT;
  if (code >= 0xac00 && code <= 0xd7a3) return (code - 0xac00) % 28 === 0 ? Kind.HangulLV : Kind.HangulLVT;
  return Kind.Other;
}
