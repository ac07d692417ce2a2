/** Reading values of answers, which come exactly: an int is a bigint, a float a number, a thing a map. */
import { isWireList, isWireMap, type WireValue } from '@althing/client';

export function at(value: WireValue | undefined, key: string): WireValue | undefined {
  return isWireMap(value) ? value.get(key) : undefined;
}

/** A text, or what stands for one: empty when there is none. */
export function textAt(value: WireValue | undefined, key: string): string {
  const found = at(value, key);
  return typeof found === 'string' ? found : typeof found === 'bigint' ? String(found) : '';
}

export function numberAt(value: WireValue | undefined, key: string): number | null {
  const found = at(value, key);
  return typeof found === 'bigint' || typeof found === 'number' ? Number(found) : null;
}

export function listAt(value: WireValue | undefined, key: string): readonly WireValue[] {
  return itemsOf(at(value, key));
}

export function itemsOf(value: WireValue | undefined): readonly WireValue[] {
  return isWireList(value) ? value : [];
}

export function textsOf(value: WireValue | undefined): readonly string[] {
  return itemsOf(value).map((item) => (typeof item === 'string' ? item : String(item)));
}

export function entriesOf(value: WireValue | undefined): readonly (readonly [string, WireValue])[] {
  return isWireMap(value) ? [...value] : [];
}
