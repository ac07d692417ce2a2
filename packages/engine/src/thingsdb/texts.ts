/** Closures and regular expressions, which are texts in data of ThingsDB. */
import { LanguageError } from '@althing/language';
import { compileRegex } from '@althing/regex';
import { Closure, parseCharged } from '../value/closure.js';
import { RegexValue } from '../value/regex-value.js';
import type { DataInput } from './input.js';

/** The closure of a text, in its stored form. */
export function closureOf(text: string, input: DataInput, offset: number): Closure {
  try {
    parseCharged(text, input.charge);
    const closure = new Closure(text, null);
    closure.store();
    return closure;
  } catch (error) {
    if (!(error instanceof LanguageError)) throw error;
    return input.fail(`a closure that can not be read: ${messageOf(error)}`, offset);
  }
}

/** The regular expression of a text with slashes and flags. */
export function regexOf(text: string, input: DataInput, offset: number): RegexValue {
  const end = text.lastIndexOf('/');
  if (end < 1 || !text.startsWith('/')) input.fail('a regular expression without slashes', offset);
  const pattern = text.slice(1, end);
  const flags = text.slice(end + 1);
  try {
    return new RegexValue(pattern, flags, compileRegex(pattern, flags));
  } catch (error) {
    return input.fail(`a regular expression that can not be read: ${messageOf(error)}`, offset);
  }
}

/** The message of an error; errors of the language are none of JavaScript's. */
export function messageOf(error: unknown): string {
  const isTold = typeof error === 'object' && error !== null && 'message' in error;
  return String(isTold ? error.message : error);
}
