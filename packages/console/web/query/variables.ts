/** Variables of a query as texts with types, and the values that they stand for. */
import { isWireBytes, isWireMap, parseJson, stringifyJson, type WireValue } from '@althing/client';
import { scalarText, typeOf } from '../results/show.js';

export const VARIABLE_TYPES = ['str', 'int', 'float', 'bool', 'nil', 'bytes', 'json'] as const;
export type VariableType = (typeof VARIABLE_TYPES)[number];

export interface Variable {
  readonly name: string;
  readonly type: VariableType;
  readonly text: string;
}

const INT_MIN = -(2n ** 63n);
const INT_MAX = 2n ** 63n - 1n;

/**
 * The value of a text, exactly.
 *
 * @throws RangeError with what is wrong, for people
 */
export function valueOfText(type: VariableType, text: string): WireValue {
  const plain = text.trim();
  switch (type) {
    case 'str':
      return text;
    case 'nil':
      return null;
    case 'bool':
      if (plain === 'true' || plain === 'false') return plain === 'true';
      throw new RangeError('a bool is true or false');
    case 'int': {
      if (!/^[+-]?\d+$/.test(plain)) throw new RangeError('an int has digits only');
      const value = BigInt(plain.replace(/^\+/, ''));
      if (value < INT_MIN || value > INT_MAX) throw new RangeError('an int has 64 bits');
      return value;
    }
    case 'float':
      return floatOf(plain);
    case 'bytes':
      return bytesOf(plain);
    case 'json':
      return jsonOf(plain);
  }
}

/** The type and text of a value, from which `valueOfText` makes an equal one. */
export function textOfValue(value: WireValue): { type: VariableType; text: string } {
  const type = typeOf(value);
  // A field for text makes a line feed of each carriage return.
  const isBent = typeof value === 'string' && value.includes('\r');
  if (type === 'list' || type === 'thing' || isBent) return { type: 'json', text: stringifyJson(value) };
  if (isWireBytes(value)) {
    return { type, text: [...value].map((byte) => byte.toString(16).padStart(2, '0')).join(' ') };
  }
  return { type, text: value === null ? '' : scalarText(value) };
}

/**
 * The variables of a query.
 *
 * @throws RangeError that names the variable
 */
export function valuesOf(variables: readonly Variable[]): Map<string, WireValue> {
  const values = new Map<string, WireValue>();
  for (const { name, type, text } of variables) {
    if (name === '') continue;
    try {
      values.set(name, valueOfText(type, text));
    } catch (error) {
      throw new RangeError(`variable ${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return values;
}

/**
 * Variables of a JSON object.
 *
 * @throws RangeError unless it is one
 */
export function variablesOfJson(text: string): Variable[] {
  const value = jsonOf(text);
  if (!isWireMap(value)) throw new RangeError('variables are an object: {"name": value}');
  return [...value].map(([name, each]) => ({ name, ...textOfValue(each) }));
}

function floatOf(text: string): number {
  if (text === 'inf' || text === '+inf') return Number.POSITIVE_INFINITY;
  if (text === '-inf') return Number.NEGATIVE_INFINITY;
  if (text === 'nan') return Number.NaN;
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text))
    throw new RangeError('a float is a number such as 1.5, inf or nan');
  return Number(text);
}

function bytesOf(text: string): Uint8Array {
  const digits = text.replace(/\s/g, '');
  if (!/^(?:[0-9a-f]{2})*$/i.test(digits)) throw new RangeError('bytes are pairs of hexadecimal digits');
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

function jsonOf(text: string): WireValue {
  try {
    return parseJson(text);
  } catch (error) {
    throw new RangeError(error instanceof Error ? error.message : String(error));
  }
}
