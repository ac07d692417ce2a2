/** Options of reading JSON. */
import { badDataError, type QueryError } from '../error.js';

export interface JsonOptions {
  /** Arrays and objects inside each other at most. */
  readonly nestingMax: number;
  /** The error for text that is no JSON. */
  readonly malformed: (message: string) => QueryError;
  /** The error for text that is nested too deeply. */
  readonly tooDeep: (message: string) => QueryError;
  /** The treatment of half of a pair of UTF-16 units, which stands for no character: an error, or `?`. */
  readonly loneSurrogate: 'malformed' | 'replaced';
  /** Called after so many values each, or escapes in a long string, so that the work can be charged for; what it throws ends the work. */
  readonly onValues?: (count: number) => void;
}

/** Values between two calls of `onValues`: a power of two. */
export const VALUES_PER_CALL = 32;

/** Options of reading requests. */
export const REQUEST_JSON: JsonOptions = {
  nestingMax: 127,
  malformed: badDataError,
  tooDeep: badDataError,
  loneSurrogate: 'malformed',
};
