/**
 * Texts are JavaScript strings without lone surrogates; everything that counts counts code points. Most texts have no
 * surrogate pairs, and then units and code points are the same.
 */

const SURROGATE = /[\ud800-\udfff]/;

/** True if the text has characters above U+FFFF, so that its units are not its code points. */
export function hasPairs(text: string): boolean {
  return SURROGATE.test(text);
}

/** Number of code points. */
export function lengthOf(text: string): number {
  if (!hasPairs(text)) return text.length;
  let count = 0;
  for (let i = 0; i < text.length; i++) {
    if (isHighSurrogate(text.charCodeAt(i))) i++;
    count++;
  }
  return count;
}

/** The code point at a position from 0, as a text. */
export function characterAt(text: string, position: number): string {
  if (!hasPairs(text)) return text.charAt(position);
  return String.fromCodePoint(text.codePointAt(unitOffset(text, position)) as number);
}

/** Offset in units of a position in code points. */
export function unitOffset(text: string, position: number): number {
  let offset = 0;
  for (let i = 0; i < position && offset < text.length; i++) {
    offset += isHighSurrogate(text.charCodeAt(offset)) ? 2 : 1;
  }
  return offset;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

/** Digits that `%g` prints. */
const FLOAT_DIGITS = 6;

/**
 * A float as C's `%g` prints it: six significant digits, ties to even, no trailing zeros, an exponent of at least two
 * digits when it is below -4 or above 5.
 */
export function formatFloat(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  if (value === 0) return '0';
  const sign = value < 0 ? '-' : '';
  const { digits, exponent } = roundDigits(Math.abs(value));
  if (exponent >= -4 && exponent < FLOAT_DIGITS) return sign + trimZeros(positional(digits, exponent));
  const power = `${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
  return `${sign}${trimZeros(`${digits.slice(0, 1)}.${digits.slice(1)}`)}e${power}`;
}

/** The six leading digits, rounded half to even, and the exponent of the first. */
function roundDigits(value: number): { digits: string; exponent: number } {
  // Forty digits are enough to tell a tie from its neighbours: doubles have 53 bits.
  const [mantissa = '', power = ''] = value.toExponential(40).split('e');
  const all = mantissa.replace('.', '');
  const exponent = Number(power);
  const head = Number(all.slice(0, FLOAT_DIGITS));
  const tail = all.slice(FLOAT_DIGITS).replace(/0+$/, '');
  const up = tail > '5' || (tail === '5' && head % 2 === 1);
  const rounded = String(head + (up ? 1 : 0));
  return rounded.length > FLOAT_DIGITS
    ? { digits: rounded.slice(0, FLOAT_DIGITS), exponent: exponent + 1 }
    : { digits: rounded, exponent };
}

function positional(digits: string, exponent: number): string {
  if (exponent < 0) return `0.${'0'.repeat(-exponent - 1)}${digits}`;
  return `${digits.slice(0, exponent + 1)}.${digits.slice(exponent + 1)}`;
}

function trimZeros(digits: string): string {
  return digits.replace(/\.?0*$/, '');
}
