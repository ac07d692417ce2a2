import { type Entry, func, method, type Receiver } from '../run/builtin.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import { Bytes, type MpData } from '../value/scalars.js';
import { Tag } from '../value/tag.js';

const BYTES_RECEIVER: Receiver<Bytes> = { tags: [Tag.BYTES] };

/** Methods of bytes, and base64. */
export const BYTES: readonly Entry[] = [
  method(BYTES_RECEIVER, 'len', {
    doc: 'Number of bytes.',
    run: (_rt, bytes) => bytes.data.length,
  }),
  func('base64_encode', {
    doc: 'The bytes of a value in base64, padded, without line breaks.',
    params: [p.raw('value')],
    run: encode,
  }),
  func('base64_decode', {
    doc: 'The bytes of a base64 text; padding may be missing, - and _ stand for + and /.',
    params: [p.raw('value')],
    run: decode,
  }),
];

function encode(rt: Runtime, value: string | Bytes | MpData): string {
  rt.charge(typeof value === 'string' ? value.length : value.data.length);
  const data =
    typeof value === 'string'
      ? Buffer.from(value)
      : Buffer.from(value.data.buffer, value.data.byteOffset, value.data.byteLength);
  rt.chargeLength(Math.ceil(data.length / 3) * 4);
  return data.toString('base64');
}

/**
 * Never fails on content: a character outside the alphabet counts as six zero bits, also a `=` that is no padding. Up to
 * two of these at the end are padding.
 */
function decode(rt: Runtime, value: string | Bytes | MpData): Bytes {
  const data = typeof value === 'string' ? singleBytes(value) : value.data;
  rt.charge(data.length);
  let length = data.length;
  for (let i = 0; i < 2 && data[length - 1] === PADDING; i++) length -= 1;
  const whole = Math.floor(length / 4);
  const rest = length % 4;
  const decoded = new Uint8Array(whole * 3 + REST_BYTES[rest]!);
  let to = 0;
  for (let from = 0; from < whole * 4; from += 4) {
    const bits =
      (SEXTETS[data[from]!]! << 18) |
      (SEXTETS[data[from + 1]!]! << 12) |
      (SEXTETS[data[from + 2]!]! << 6) |
      SEXTETS[data[from + 3]!]!;
    decoded[to++] = bits >> 16;
    decoded[to++] = bits >> 8;
    decoded[to++] = bits;
  }
  if (rest > 0) {
    const at = (i: number): number => (i < rest ? SEXTETS[data[whole * 4 + i]!]! : 0);
    const bits = (at(0) << 18) | (at(1) << 12) | (at(2) << 6);
    for (let shift = 16; to < decoded.length; shift -= 8) decoded[to++] = bits >> shift;
  }
  return new Bytes(decoded);
}

const PADDING = '='.charCodeAt(0);

/** Bytes that 0 to 3 characters at the end make. A single one has six bits: two zero bits follow. */
const REST_BYTES = [0, 1, 1, 2];

/** The six bits of each byte of the text. */
const SEXTETS: Uint8Array = sextets();

function sextets(): Uint8Array {
  const values = new Uint8Array(256);
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
  for (let i = 0; i < alphabet.length; i++) values[alphabet.charCodeAt(i)] = i;
  for (const character of '+-.') values[character.charCodeAt(0)] = 62;
  for (const character of '/_,') values[character.charCodeAt(0)] = 63;
  return values;
}

/** One byte for each character; those that are not ASCII become one that is not in the alphabet. */
function singleBytes(text: string): Uint8Array {
  return Buffer.from(NOT_ASCII.test(text) ? text.replace(ALL_NOT_ASCII, ' ') : text, 'latin1');
}

const NOT_ASCII = /\P{ASCII}/u;
const ALL_NOT_ASCII = /\P{ASCII}/gu;
