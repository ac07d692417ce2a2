/** Limits of a source text (its length is for the caller to limit). */
import { type LanguageError, syntaxError } from './error.js';

/** Longest name, in characters. */
export const NAME_LENGTH_MAX = 255;

/** The number of statements that may stand inside each other, around the innermost. */
export const NESTING_MAX = 500;

/** The syntax_err for one more. `start` is where the innermost statement begins. */
export function nestedTooDeep(start: number): LanguageError {
  return syntaxError(`more than ${NESTING_MAX} statements nested in each other`, start);
}
