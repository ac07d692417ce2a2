/**
 * The forms of text that `is_email`, `is_url`, `is_tel` and the types `email`, `url`, `tel` accept. Each is told in
 * one pass over the text, whatever the text is. The empty text has none of these forms.
 */

/**
 * One or more of `A-Z a-z 0-9 . ! # $ % & * + / = ? ^ _ { | } ~ -`, back-tick or U+2019; then `@`; then labels of
 * `A-Z a-z 0-9 -` with single dots between them.
 */
export function isEmail(text: string): boolean {
  let position = 0;
  while (isEmailName(text.charCodeAt(position))) position++;
  if (position === 0 || text[position] !== '@') return false;
  do {
    const label = ++position;
    while (isAlphanumeric(text.charCodeAt(position)) || text.charCodeAt(position) === HYPHEN) position++;
    if (position === label) return false;
  } while (text.charCodeAt(position) === DOT);
  return position === text.length;
}

/**
 * `http://`, `https://` or `ftp://`; then only `A-Z a-z 0-9 - @ : % . _ + ~ # = ? & /`, among which a word (letters,
 * digits, `_`) begins or ends behind 1 to 256 characters that have no `?`, `&` or `/`.
 */
export function isUrl(text: string): boolean {
  const scheme = URL_SCHEMES.find((one) => text.startsWith(one));
  if (scheme === undefined) return false;
  const start = scheme.length;
  for (let i = start; i < text.length; i++) if (!isUrlCode(text.charCodeAt(i))) return false;
  for (let i = start + 1; i <= text.length && i <= start + URL_HOST_MAX; i++) {
    if (URL_HOST_END.includes(text[i - 1]!)) return false;
    if (isWord(text.charCodeAt(i - 1)) !== isWord(text.charCodeAt(i))) return true;
  }
  return false;
}

/**
 * An optional `+`; up to two times 1 to 4 digits in parentheses, each with an optional `-`, `.` or white space behind;
 * then 3 to 5 times 1 to 4 digits, each with an optional `-` or white space behind.
 */
export function isTel(text: string): boolean {
  let position = text[0] === '+' ? 1 : 0;
  for (let i = 0; i < 2 && text[position] === '('; i++) {
    const digits = countDigits(text, position + 1);
    position += digits + 1;
    if (digits < 1 || digits > 4 || text[position] !== ')') return false;
    position++;
    if (isTelSeparator(text.charCodeAt(position)) || text[position] === '.') position++;
  }
  // A row of d digits can be any number of groups from d/4 to d.
  let fewest = 0;
  let most = 0;
  while (position < text.length) {
    const digits = countDigits(text, position);
    if (digits === 0) return false;
    fewest += Math.ceil(digits / 4);
    most += digits;
    position += digits;
    if (isTelSeparator(text.charCodeAt(position))) position++;
  }
  return most >= 3 && fewest <= 5;
}

const DOT = 0x2e;
const HYPHEN = 0x2d;
const URL_SCHEMES = ['http://', 'https://', 'ftp://'];
const URL_HOST_MAX = 256;
const URL_HOST_END = '?&/';
const APOSTROPHE = 0x2019;
const EMAIL_NAMES = codesWith('.!#$%&*+/=?^_{|}~-`');
const URL_CODES = codesWith('-@:%._+~#=?&/');

function isAlphanumeric(code: number): boolean {
  return isDigit(code) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function isWord(code: number): boolean {
  return isAlphanumeric(code) || code === 0x5f;
}

function isEmailName(code: number): boolean {
  return EMAIL_NAMES[code] === true || code === APOSTROPHE;
}

function isUrlCode(code: number): boolean {
  return URL_CODES[code] === true;
}

/** The ASCII characters that are alphanumeric or one of some marks, by code. */
function codesWith(marks: string): readonly boolean[] {
  return Array.from(
    { length: 0x80 },
    (_, code) => isAlphanumeric(code) || marks.includes(String.fromCharCode(code)),
  );
}

/** True for a hyphen or white space. */
function isTelSeparator(code: number): boolean {
  return code === 0x2d || code === 0x20 || (code >= 0x09 && code <= 0x0d);
}

function countDigits(text: string, start: number): number {
  let end = start;
  while (isDigit(text.charCodeAt(end))) end++;
  return end - start;
}
