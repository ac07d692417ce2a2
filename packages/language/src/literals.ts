/** The values that stand in the tree, from the texts of tokens. */
import type { AssignOp } from './ast.js';
import { syntaxError } from './error.js';
import { NAME_LENGTH_MAX } from './limits.js';

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

/** A name as it is; longer than NAME_LENGTH_MAX: syntax_err. `start` is its place in the source. */
export function toName(text: string, start: number): string {
  if (text.length > NAME_LENGTH_MAX) {
    throw syntaxError(
      `name of ${text.length} characters, the limit is ${NAME_LENGTH_MAX}: "${text.slice(0, 20)}..."`,
      start,
    );
  }
  return text;
}

/** True if a link guards its left side: `..`. */
export function isOptional(text: string): boolean {
  return text.length === 2;
}

export function toAssignOp(text: string): AssignOp {
  switch (text) {
    case '=':
    case '+=':
    case '-=':
    case '*=':
    case '/=':
    case '%=':
    case '&=':
    case '^=':
    case '|=':
      return text;
    default:
      throw new Error(`not an assignment: ${text}`);
  }
}

/** The value of an int literal: a safe integer as number, else a bigint, null outside int64. */
export function toInt(text: string): number | bigint | null {
  // Up to 15 digits are exact whatever the base says. (+ 0 turns -0, which no int is, into 0.)
  if (text.length <= 15) {
    const first = text.charCodeAt(0);
    if (first !== MINUS && first !== PLUS) return Number(text);
    const magnitude = Number(text.slice(1));
    return first === MINUS ? 0 - magnitude : magnitude;
  }
  const { negative, prefix, digits } = splitInt(text);
  // 64 binary digits are the longest that can fit; more are not worth a conversion of unbounded length.
  if (digits.length > 64) return null;
  const magnitude = digits === '' ? 0n : BigInt(prefix + digits);
  const value = negative ? -magnitude : magnitude;
  if (value < INT64_MIN || value > INT64_MAX) return null;
  const rounded = Number(value);
  return Number.isSafeInteger(rounded) ? rounded : value;
}

/** The value of a float literal; out of range it becomes an infinity, a denormal or zero. */
export function toFloat(text: string): number {
  if (text.endsWith('inf')) return text.charCodeAt(0) === MINUS ? -Infinity : Infinity;
  return text.endsWith('nan') ? Number.NaN : Number(text);
}

/** The value of a str literal: without its quotes, doubled quotes undone. */
export function toStr(text: string): string {
  const inner = text.slice(1, -1);
  const quote = text.charAt(0);
  return inner.includes(quote) ? inner.replaceAll(quote + quote, quote) : inner;
}

/** The text between the slashes of a regex literal. */
export function toRegexBody(text: string): string {
  return text.slice(1, text.lastIndexOf('/'));
}

/** The letters behind the last slash of a regex literal. */
export function toRegexFlags(text: string): string {
  return text.slice(text.lastIndexOf('/') + 1);
}

/** A stretch of template text with its doubled characters undone. */
export function toTemplateText(text: string): string {
  return text.replace(/``|\{\{|\}\}/g, (doubled) => doubled.charAt(0));
}

const PLUS = 43;
const MINUS = 45;

/** Sign, base prefix (empty for decimal) and digits without leading zeros. */
function splitInt(text: string): { negative: boolean; prefix: string; digits: string } {
  const first = text.charCodeAt(0);
  const unsigned = first === MINUS || first === PLUS ? text.slice(1) : text;
  const prefix = /^0[box]/.test(unsigned) ? unsigned.slice(0, 2) : '';
  return { negative: first === MINUS, prefix, digits: unsigned.slice(prefix.length).replace(/^0+/, '') };
}
