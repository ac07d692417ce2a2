/** The key that is looked for in pages of a tree, and looking for it in the record of a leaf: see `key-pages.ts`. */
import { type ByteReader, FormatError } from '../../bytes.js';
import { putSortKey } from '../../value/sort-key.js';

/** No key is longer: it has four texts at most, of which `TEXT_BYTES_MAX` bytes count, a pair of bytes each at worst. */
export const KEY_BYTES_MAX = 4096;

/** The first byte of a record. */
export const PAGE_FORMAT = 1;

/** The key that is looked for, until the next call of `aim`. An object: a variable of another module takes longer to look at. */
export const aimedKey: { readonly bytes: Buffer; length: number } = {
  bytes: Buffer.alloc(KEY_BYTES_MAX),
  length: 0,
};

/** Says which key the next calls of pages look for. One that is longer than any can be compares as its beginning does. */
export function aim(key: string): void {
  const { bytes } = aimedKey;
  const length = Math.min(key.length, KEY_BYTES_MAX);
  for (let i = 0; i < length; i++) bytes[i] = key.charCodeAt(i);
  aimedKey.length = length;
}

/** The same for a key that is one text or int; false where the key has to be made, which has not all of the value in it or not as it is. */
export function aimAtValue(value: string | number): boolean {
  aimedKey.length = putSortKey(value, aimedKey.bytes);
  return aimedKey.length > 0;
}

/** The key that the next calls of pages look for. */
export function aimedText(): string {
  return aimedKey.bytes.toString('latin1', 0, aimedKey.length);
}

/** Said by `firstIn` where an entry would lie behind all of a leaf. */
export const BEHIND = -1;

/** The id of the first entry that has the key that is looked for, in the record of a leaf, of which no page is made; undefined for none; `BEHIND`. */
export function firstIn(number: number, input: ByteReader): number | undefined {
  if (readLevel(input) !== 0) throw new FormatError(`page ${number} of an index is no leaf`);
  const { bytes, length: aimedLength } = aimedKey;
  // The length of the last key, which is before the one that is looked for, and with how many bytes both begin alike.
  let [length, alike] = [0, 0];
  for (let count = input.varint(); count > 0; count--) {
    const shared = input.varint();
    const rest = input.varint();
    assertLengths(number, length, shared, rest);
    length = shared + rest;
    if (shared > alike) {
      input.skip(rest);
    } else {
      alike = shared + input.alike(bytes, shared, Math.min(rest, aimedLength - shared));
      const order = alike < length ? (alike < aimedLength ? input.peek() - bytes[alike]! : 1) : 0;
      if (order > 0) return undefined;
      if (order === 0 && length === aimedLength) return input.varint();
      input.skip(length - alike);
    }
    input.varint();
  }
  return BEHIND;
}

/** Reads what comes first in a record. */
export function readLevel(input: ByteReader): number {
  const format = input.u8();
  if (format !== PAGE_FORMAT) throw new FormatError(`unknown form ${format} of a page of an index`);
  return input.u8();
}

/** @param before the length of the key before */
export function assertLengths(number: number, before: number, shared: number, rest: number): void {
  if (shared > before || shared + rest > KEY_BYTES_MAX)
    throw new FormatError(`page ${number} of an index is damaged`);
}
