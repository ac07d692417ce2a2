/** The place of an error, as `at` of an error body has it: all count characters, line and column from 1, the offset from 0. */
export interface Place {
  readonly line: number;
  readonly column: number;
  readonly offset: number;
  /** 0 at the end of the text. */
  readonly length: number;
}

/** Longest part of a line that is shown. */
const WIDTH_MAX = 100;

/**
 * The line of a place with a caret under each character of it, for a terminal with one cell a character:
 *
 *   3 | .users.fiter(|u| u.age > 18)
 *     |        ^^^^^
 */
export function excerpt(source: string, place: Place): string {
  const line = [...(source.split('\n')[place.line - 1] ?? '')];
  const column = Math.min(place.column, line.length + 1) - 1;
  const from = Math.max(0, Math.min(column - WIDTH_MAX / 2, line.length - WIDTH_MAX));
  const shown = line.slice(from, from + WIDTH_MAX).map((char) => (isControl(char) ? ' ' : char));
  const head = `${from > 0 ? '...' : ''}`;
  const length = Math.max(1, Math.min(place.length, shown.length - (column - from)));
  const margin = String(place.line);
  const blanks = ' '.repeat(head.length + column - from);
  return `${margin} | ${head}${shown.join('')}\n${' '.repeat(margin.length)} | ${blanks}${'^'.repeat(length)}`;
}

function isControl(char: string): boolean {
  return /\p{Cc}/u.test(char);
}
