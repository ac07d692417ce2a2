import { LanguageError } from '../error.js';
import { parse } from '../parse.js';
import { tokenize } from './tokens.js';

/**
 * True if a text is the beginning of a query that may become one by going on behind its end: a prompt begins a new line then, in place
 * of sending it. A text that is wrong before its end is not incomplete.
 */
export function isIncomplete(source: string): boolean {
  const { tokens, state } = tokenize(source);
  // The parser places the error of a text or comment that nothing ends at its beginning.
  if (state.open !== '') return true;
  try {
    parse(source);
    return false;
  } catch (error) {
    if (!(error instanceof LanguageError)) throw error;
    const end = tokens.findLast(({ kind }) => kind !== 'comment')?.end ?? 0;
    return error.code === 'syntax_err' && error.offset >= end;
  }
}
