/** The number of cells of a terminal that a text takes. */
import { eastAsianWidth } from 'get-east-asian-width';

const GRAPHEMES = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
const EMOJI =
  /^(?:\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f|\p{Regional_Indicator}{2}|[0-9#*]\ufe0f?\u20e3)/u;
/** Most texts: each character takes a cell. */
const ASCII = /^[\x20-\x7e]*$/;
const INVISIBLE = /^[\p{Mark}\p{Default_Ignorable_Code_Point}\p{Cc}]+$/u;

/** The characters of a text as people see them: a letter with its accents, an emoji with its parts. */
export function graphemes(text: string): string[] {
  if (ASCII.test(text)) return text.split('');
  return Array.from(GRAPHEMES.segment(text), ({ segment }) => segment);
}

/** Cells of one grapheme: 0, 1 or 2. */
export function graphemeWidth(grapheme: string): number {
  if (ASCII.test(grapheme)) return grapheme.length;
  if (INVISIBLE.test(grapheme)) return 0;
  if (EMOJI.test(grapheme)) return 2;
  return eastAsianWidth(grapheme.codePointAt(0) ?? 0);
}

/** Cells of a text without line feeds. */
export function textWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const { segment } of GRAPHEMES.segment(text)) width += graphemeWidth(segment);
  return width;
}

/** Control characters as people can see them: they never reach the terminal. Line feeds and tabs stay. */
export function visible(text: string): string {
  // Most texts have none, and are looked through ten times as fast by this pattern.
  if (ASCII.test(text)) return text;
  return text.replace(CONTROL, (char) => {
    const code = char.codePointAt(0) ?? 0;
    if (code < 0x20) return String.fromCodePoint(0x2400 + code);
    return code === 0x7f ? '\u2421' : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

// Bidirectional controls would have what follows them read in another order.
const CONTROL = /(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069\u2028\u2029]/gu;
