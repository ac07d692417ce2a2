/**
 * Values as the case files write them, with tags for what JSON lacks.
 */
import { isWireBytes, isWireList, WireError, type WireValue } from '@althing/client';

/** Resolves the tags `$float`, `$int` and `$bytes`. */
export function untagged(value: WireValue): WireValue {
  if (isWireList(value)) return value.map(untagged);
  if (!(value instanceof Map)) return value;
  if (value.size === 1) {
    for (const [tag, content] of value) {
      if (tag === '$float') return taggedFloat(content);
      if (tag === '$int' && typeof content === 'string') return BigInt(content);
      if (tag === '$bytes' && typeof content === 'string')
        return new Uint8Array(Buffer.from(content, 'base64'));
    }
  }
  return new Map([...value].map(([key, item]) => [key, untagged(item)]));
}

/** Puts saved answers in the place of strings that are exactly `$name`. */
export function substituted(value: WireValue, saved: ReadonlyMap<string, WireValue>): WireValue {
  if (typeof value === 'string') {
    return value.startsWith('$') ? (saved.get(value.slice(1)) ?? value) : value;
  }
  if (isWireList(value)) return value.map((item) => substituted(item, saved));
  if (value instanceof Map) {
    return new Map([...value].map(([key, item]) => [key, substituted(item, saved)]));
  }
  return value;
}

/** True if a request or an answer in JSON can carry a value. An integer beyond 64 bits is malformed there. */
export function fitsJson(value: WireValue): boolean {
  if (isWireBytes(value)) return false;
  if (typeof value === 'bigint') return BigInt.asIntN(64, value) === value;
  if (typeof value === 'number') return Number.isFinite(value);
  if (isWireList(value)) return value.every(fitsJson);
  if (value instanceof Map) return [...value.values()].every(fitsJson);
  return true;
}

function taggedFloat(content: WireValue): number {
  if (typeof content === 'number' || typeof content === 'bigint') return Number(content);
  if (content === 'nan') return Number.NaN;
  if (content === 'inf') return Number.POSITIVE_INFINITY;
  if (content === '-inf') return Number.NEGATIVE_INFINITY;
  throw new WireError(`${String(content)} is no float`);
}
