/** Quantifiers of a pattern: how often what stands before them may come. */
import { OPEN_BRACE } from './pattern-codes.js';
import { isDigit, type PatternReader } from './pattern-reader.js';
import type { RepeatMode } from './syntax.js';

const REPEAT_MAX = 65_535;

export interface Quantifier {
  readonly min: number;
  readonly max: number;
  readonly mode: RepeatMode;
  readonly position: number;
}

/**
 * Reads a quantifier; null when there is none.
 *
 * @param lazy whether a quantifier without a `?` is lazy
 * @param skipIgnored skips comments and white space
 */
export function readQuantifier(
  reader: PatternReader,
  lazy: boolean,
  skipIgnored: () => void,
): Quantifier | null {
  const position = reader.position;
  let bounds: { min: number; max: number } | null;
  if (reader.takes('*')) bounds = { min: 0, max: Infinity };
  else if (reader.takes('+')) bounds = { min: 1, max: Infinity };
  else if (reader.takes('?')) bounds = { min: 0, max: 1 };
  else bounds = readBraces(reader);
  if (bounds === null) return null;
  skipIgnored();
  let mode: RepeatMode = lazy ? 'lazy' : 'greedy';
  if (reader.takes('+')) mode = 'possessive';
  else if (reader.takes('?')) mode = lazy ? 'greedy' : 'lazy';
  return { ...bounds, mode, position };
}

/** `{2}`, `{2,}` or `{2,5}`; anything else in braces is text. */
export function readBraces(reader: PatternReader): { min: number; max: number } | null {
  if (reader.peek() !== OPEN_BRACE || !isDigit(reader.peek(1))) return null;
  const start = reader.position++;
  const min = readNumber(reader);
  let max = min;
  if (reader.takes(',')) max = isDigit(reader.peek()) ? readNumber(reader) : Infinity;
  if (!reader.takes('}')) {
    reader.position = start;
    return null;
  }
  if (min > REPEAT_MAX || (max > REPEAT_MAX && max !== Infinity)) {
    reader.fail(`a quantifier can not ask for more than ${REPEAT_MAX} repetitions`, start);
  }
  if (max < min) reader.fail('the quantifier has its numbers out of order', start);
  return { min, max };
}

/** Reads digits; beyond `REPEAT_MAX` the value is that plus one. */
export function readNumber(reader: PatternReader): number {
  let value = 0;
  while (isDigit(reader.peek())) value = Math.min(REPEAT_MAX + 1, value * 10 + reader.next() - 0x30);
  return value;
}
