/** Characters that mean something in a pattern, by their codes. */
import { isAsciiLetter } from './char-set.js';
import { isDigit } from './pattern-reader.js';

export const OPEN = 0x28;
export const CLOSE = 0x29;
export const OPEN_BRACKET = 0x5b;
export const OPEN_BRACE = 0x7b;
export const BACKSLASH = 0x5c;
export const BAR = 0x7c;
export const CARET = 0x5e;
export const DOLLAR = 0x24;
export const DOT = 0x2e;
export const STAR = 0x2a;
export const PLUS = 0x2b;
export const HYPHEN = 0x2d;
export const EQUALS = 0x3d;
export const EXCLAMATION = 0x21;
export const LESS = 0x3c;
export const QUOTE = 0x27;
export const NEWLINE = 0x0a;

/** White space, which x ignores: that of patterns by Unicode (Pattern_White_Space). */
export function isPatternSpace(code: number): boolean {
  if (code < 0x80) return code === 0x20 || (code >= 0x09 && code <= 0x0d);
  return code === 0x85 || code === 0x200e || code === 0x200f || code === 0x2028 || code === 0x2029;
}

/** A character of a group's name: a letter, a digit or an underscore. */
export function isNameCode(code: number): boolean {
  if (code < 0x80) return isAsciiLetter(code) || isDigit(code) || code === 0x5f;
  return /^[\p{L}\p{Nd}]$/u.test(String.fromCodePoint(code));
}
