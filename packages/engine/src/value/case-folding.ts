import { CASE_FOLDING } from './case-folding.generated.js';

/** Characters that others are told from by their case alone, with those others: Unicode 15.0, simple case folding. */
const FOLDED: ReadonlyMap<string, string> = new Map(
  CASE_FOLDING.flatMap(([first, count, step, delta]) =>
    Array.from({ length: count }, (_, i) => first + i * step).map(
      (code) => [String.fromCodePoint(code), String.fromCodePoint(code + delta)] as const,
    ),
  ),
);

/**
 * A text in which letters that differ in case alone are the same, by the simple case folding of Unicode (a character for each, no locale).
 * The table is our own: what the runtime does may differ from node to node.
 */
export function foldCase(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  let folded = '';
  for (const character of text) folded += FOLDED.get(character) ?? character;
  return folded;
}

const ASCII = /^[\0-\x7f]*$/;
