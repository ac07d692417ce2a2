/** Where a cursor can go in a text: graphemes, words, lines. All offsets in UTF-16 units. */

const GRAPHEMES = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
/** No grapheme that people type is longer: the cursor looks at so much of the text around it. */
const GRAPHEME_MAX = 64;

export function stepLeft(text: string, cursor: number): number {
  const from = wholeOffset(text, Math.max(0, cursor - GRAPHEME_MAX));
  const last = Array.from(GRAPHEMES.segment(text.slice(from, cursor))).at(-1);
  return last === undefined ? cursor : from + last.index;
}

export function stepRight(text: string, cursor: number): number {
  const [first] = GRAPHEMES.segment(text.slice(cursor, cursor + GRAPHEME_MAX));
  return cursor + (first?.segment.length ?? 0);
}

export function wordLeft(text: string, cursor: number): number {
  let at = cursor;
  while (at > 0 && !isWord(text, at - 1)) at -= 1;
  while (at > 0 && isWord(text, at - 1)) at -= 1;
  return at;
}

export function wordRight(text: string, cursor: number): number {
  let at = cursor;
  while (at < text.length && !isWord(text, at)) at += 1;
  while (at < text.length && isWord(text, at)) at += 1;
  return at;
}

export function isWord(text: string, offset: number): boolean {
  return /\w/.test(text.charAt(offset));
}

export function lineStart(text: string, offset: number): number {
  return offset === 0 ? 0 : text.lastIndexOf('\n', offset - 1) + 1;
}

export function lineEnd(text: string, offset: number): number {
  const end = text.indexOf('\n', offset);
  return end < 0 ? text.length : end;
}

/** Blanks that a new line begins with: those of the line, and two more behind an opening bracket. */
export function indentAt(text: string, cursor: number): string {
  const line = text.slice(lineStart(text, cursor), cursor);
  const blanks = /^[ \t]*/.exec(line)?.[0] ?? '';
  return /[([{]\s*$/.test(line) ? `${blanks}  ` : blanks;
}

/** The offset, or the one before it when it lies within a surrogate pair. */
export function wholeOffset(text: string, offset: number): number {
  return /[\udc00-\udfff]/.test(text.charAt(offset)) && /[\ud800-\udbff]/.test(text.charAt(offset - 1))
    ? offset - 1
    : offset;
}
