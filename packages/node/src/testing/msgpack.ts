/**
 * MessagePack as tests write and read it. An int is a number or a bigint, a float a `Float64`, bytes are a
 * Uint8Array, a map is a Map or an object.
 */
import {
  decodeMessagePack,
  encodeMessagePack,
  isWireBytes,
  isWireList,
  type WireValue,
} from '@althing/client';

export type Packable =
  | null
  | boolean
  | number
  | bigint
  | string
  | Float64
  | Uint8Array
  | readonly Packable[]
  | ReadonlyMap<string, Packable>
  | { readonly [key: string]: Packable };

/** A float: `1` is an int, `new Float64(1)` is not. */
export class Float64 {
  constructor(readonly value: number) {}
}

export function packed(value: Packable): Buffer {
  return encodeMessagePack(wireValue(value));
}

/** Reads one value; throws when there is more or less. Ints beyond 2^53 are bigints, maps are objects. */
export function unpacked(data: Uint8Array): Packable {
  return packable(decodeMessagePack(data));
}

function wireValue(value: Packable): WireValue {
  if (value === null || typeof value !== 'object') return typeof value === 'number' ? BigInt(value) : value;
  if (value instanceof Float64) return value.value;
  if (value instanceof Uint8Array) return value;
  if (isList(value)) return value.map(wireValue);
  const entries: [string, Packable][] = value instanceof Map ? [...value] : Object.entries(value);
  return new Map(entries.map(([key, item]) => [key, wireValue(item)]));
}

function packable(value: WireValue): Packable {
  if (typeof value === 'number') return new Float64(value);
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (value === null || typeof value !== 'object' || isWireBytes(value)) return value;
  if (isWireList(value)) return value.map(packable);
  return Object.fromEntries(Array.from(value, ([key, item]) => [key, packable(item)]));
}

function isList(value: Packable): value is readonly Packable[] {
  return Array.isArray(value);
}
