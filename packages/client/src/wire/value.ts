/**
 * Values as they travel between a client and a node, with nothing lost: an int is never a float, bytes are never text.
 */

/** A value on the wire: an int is a `bigint`, a float a `number`. */
export type WireValue =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint8Array
  | readonly WireValue[]
  | ReadonlyMap<string, WireValue>;

/** The deepest nesting that is read or written. */
export const nestingMax = 1000;

/** Bytes or text that do not form a value, or a value that the format can't carry. */
export class WireError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'WireError';
  }
}

export function isWireMap(value: WireValue | undefined): value is ReadonlyMap<string, WireValue> {
  return value instanceof Map;
}

export function isWireList(value: WireValue | undefined): value is readonly WireValue[] {
  return Array.isArray(value);
}

export function isWireBytes(value: WireValue | undefined): value is Uint8Array {
  return value instanceof Uint8Array;
}

/** A map of the given fields; those that are undefined are left out. */
export function wireMap(fields: Readonly<Record<string, WireValue | undefined>>): Map<string, WireValue> {
  const map = new Map<string, WireValue>();
  for (const [key, value] of Object.entries(fields)) if (value !== undefined) map.set(key, value);
  return map;
}
