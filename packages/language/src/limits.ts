/** Limits of a source text (its length is for the caller to limit). */
import { type LanguageError, syntaxError } from './error.js';

/** Longest name, in characters. */
export const NAME_LENGTH_MAX = 255;

/** The number of statements that may stand inside each other, around the innermost. */
export const NESTING_MAX = 500;

/**
 * Called time and again during work on a long text, every few milliseconds at most; what it throws ends the work. Null where nobody
 * wants to end it.
 */
export type Watch = (() => void) | null;

/** Characters that are parsed, and nodes that are analysed, between two calls of a watch: about a millisecond of work. */
export const CHARACTERS_PER_LOOK = 4096;
export const NODES_PER_LOOK = 4096;

/** The syntax_err for one more. `start` is where the innermost statement begins. */
export function nestedTooDeep(start: number): LanguageError {
  return syntaxError(`more than ${NESTING_MAX} statements nested in each other`, start);
}
