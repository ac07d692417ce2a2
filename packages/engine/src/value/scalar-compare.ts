/** Equality and order of what holds no other values: numbers and bools, texts and bytes. */
import { Bytes, Float } from './scalars.js';
import type { Value } from './value.js';

/** Whether a number or bool equals a value. */
export function equalNumeric(a: Numeric, b: Value): boolean {
  return isNumeric(b) && equalNumbers(a, b);
}

function equalNumbers(a: Numeric, b: Numeric): boolean {
  if (a instanceof Float || b instanceof Float) return toDouble(a) === toDouble(b);
  return toInt(a) === toInt(b);
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

/** Order of a number or bool and what may be one; undefined when it is none. */
export function compareNumeric(a: Numeric, b: Value): number | undefined {
  return isNumeric(b) ? compareNumbers(a, b) : undefined;
}

/** Order of a str or bytes and what may be one; undefined when it is none. */
export function compareRaw(a: string | Bytes, b: Value): number | undefined {
  return isRaw(b) ? Buffer.compare(rawBytes(a), rawBytes(b)) : undefined;
}

function compareNumbers(a: Numeric, b: Numeric): number {
  if (a instanceof Float || b instanceof Float) {
    const x = toDouble(a);
    const y = toDouble(b);
    return x < y ? -1 : x > y ? 1 : x === y ? 0 : Number.NaN;
  }
  const x = toInt(a);
  const y = toInt(b);
  return x < y ? -1 : x > y ? 1 : 0;
}

/** Order of two texts by their UTF-8 bytes, which is the order of their code points. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return x >= 0xd800 && y >= 0xd800 ? codePointRank(x) - codePointRank(y) : x - y;
  }
  return a.length - b.length;
}

/** Surrogates stand for code points above U+FFFF, so they rank behind U+E000 to U+FFFF. */
function codePointRank(unit: number): number {
  return unit >= 0xe000 ? unit - 0x800 : unit + 0x2000;
}

type Numeric = boolean | number | bigint | Float;

export function isNumeric(value: Value): value is Numeric {
  return (
    typeof value === 'number' ||
    typeof value === 'boolean' ||
    typeof value === 'bigint' ||
    value instanceof Float
  );
}

function toDouble(value: Numeric): number {
  return value instanceof Float ? value.value : Number(value);
}

function toInt(value: Exclude<Numeric, Float>): number | bigint {
  return typeof value === 'boolean' ? Number(value) : value;
}

function isRaw(value: Value): value is string | Bytes {
  return typeof value === 'string' || value instanceof Bytes;
}

function rawBytes(value: string | Bytes): Uint8Array {
  return typeof value === 'string' ? Buffer.from(value) : value.data;
}
