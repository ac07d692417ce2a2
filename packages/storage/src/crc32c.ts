import { nativeCrc32c } from './native-crc32c.js';

/**
 * CRC-32C (Castagnoli polynomial 0x1EDC6F41, reflected 0x82F63B78), as in RFC 3720 appendix B.4, computed
 * by the processor's own instructions where there are many bytes and it can be, else eight at a time, or sixteen as words of the
 * memory. Source of the method: Kounavis and
 * Berry, "A Systematic Approach to Building High Performance Software-Based CRC Generators" (ISCC 2005), known as
 * slicing-by-8.
 *
 * @param bytes where to read
 * @param start first byte
 * @param end one past the last byte
 * @param seed the checksum of what came before, to continue it; 0 to begin
 * @returns an unsigned 32-bit number
 */
export function crc32c(bytes: Uint8Array, start = 0, end = bytes.length, seed = 0): number {
  if (end - start >= NATIVE_MIN_BYTES && nativeCrc32c !== undefined) {
    const isAll = start === 0 && end === bytes.length;
    return nativeCrc32c(isAll ? bytes : bytes.subarray(start, end), seed);
  }
  return crc32cHere(bytes, start, end, seed);
}

/** As {@link crc32c}, all in JavaScript. */
export function crc32cHere(bytes: Uint8Array, start: number, end: number, seed: number): number {
  let crc = ~seed;
  let at = start;
  if (end - start >= WORDS_MIN_BYTES && IS_LITTLE_ENDIAN) {
    const first = start + (-(bytes.byteOffset + start) & 3);
    for (; at < first; at++) crc = table[(crc ^ bytes[at]!) & 255]! ^ (crc >>> 8);
    const count = ((end - at) >> 4) * 4;
    crc = ofWords(crc, new Int32Array(bytes.buffer, bytes.byteOffset + at, count));
    at += count * 4;
  }
  for (const last = end - 8; at <= last; at += 8) {
    const low = crc ^ (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24));
    crc =
      table[0x300 + bytes[at + 4]!]! ^
      table[0x200 + bytes[at + 5]!]! ^
      table[0x100 + bytes[at + 6]!]! ^
      table[bytes[at + 7]!]! ^
      (table[0x700 + (low & 255)]! ^
        table[0x600 + ((low >>> 8) & 255)]! ^
        (table[0x500 + ((low >>> 16) & 255)]! ^ table[0x400 + (low >>> 24)]!));
  }
  for (; at < end; at++) crc = table[(crc ^ bytes[at]!) & 255]! ^ (crc >>> 8);
  return ~crc >>> 0;
}

/**
 * The difference (exclusive or) that a checksum gets when the bytes before its last ones become others. CRCs are linear: that
 * depends on how many bytes these are, and not on what they are.
 *
 * @param difference of the checksums of the two beginnings
 * @param bytes how many follow them, below 2^32
 */
export function carriedOver(difference: number, bytes: number): number {
  let result = difference;
  for (let power = 0, left = bytes; left > 0; power++, left = Math.floor(left / 2)) {
    if (left % 2 === 1) result = carry(zeros[power]!, result);
  }
  return result >>> 0;
}

/** Bytes from which on it pays to call native code. */
const NATIVE_MIN_BYTES = 320;

/** Bytes from which on it pays to look at them as words. */
const WORDS_MIN_BYTES = 384;

const IS_LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/**
 * Continues a checksum over words, whose number is a multiple of four. What the checksum of the words before goes into comes last and
 * apart: a processor does all else of these words while it is still busy with those.
 */
function ofWords(before: number, words: Int32Array): number {
  let crc = before;
  for (let i = 0; i < words.length; i += 4) {
    const a = crc ^ words[i]!;
    const b = words[i + 1]!;
    const c = words[i + 2]!;
    const d = words[i + 3]!;
    crc =
      table[0xb00 + (b & 255)]! ^
      table[0xa00 + ((b >>> 8) & 255)]! ^
      table[0x900 + ((b >>> 16) & 255)]! ^
      table[0x800 + (b >>> 24)]! ^
      table[0x700 + (c & 255)]! ^
      table[0x600 + ((c >>> 8) & 255)]! ^
      table[0x500 + ((c >>> 16) & 255)]! ^
      table[0x400 + (c >>> 24)]! ^
      table[0x300 + (d & 255)]! ^
      table[0x200 + ((d >>> 8) & 255)]! ^
      table[0x100 + ((d >>> 16) & 255)]! ^
      table[d >>> 24]! ^
      (table[0xf00 + (a & 255)]! ^
        table[0xe00 + ((a >>> 8) & 255)]! ^
        (table[0xd00 + ((a >>> 16) & 255)]! ^ table[0xc00 + (a >>> 24)]!));
  }
  return crc;
}

/** Row k holds, for each byte, its effect after k further zero bytes. */
const ROWS = 16;
const table: Int32Array = buildTable();

function buildTable(): Int32Array {
  const rows = new Int32Array(ROWS * 256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
    rows[byte] = crc;
  }
  for (let byte = 0; byte < 256; byte++) {
    let crc = rows[byte]!;
    for (let row = 1; row < ROWS; row++) {
      crc = rows[crc & 255]! ^ (crc >>> 8);
      rows[row * 256 + byte] = crc;
    }
  }
  return rows;
}

/** The effect on each bit of a checksum of a power of two of zero bytes behind it, for each power. */
const zeros: readonly Int32Array[] = buildZeros();

function buildZeros(): Int32Array[] {
  let power = Int32Array.from({ length: 32 }, (_, bit) => table[(1 << bit) & 255]! ^ ((1 << bit) >>> 8));
  const powers = [power];
  while (powers.length < 32) {
    const half = power;
    power = half.map((bits) => carry(half, bits));
    powers.push(power);
  }
  return powers;
}

function carry(power: Int32Array, bits: number): number {
  let result = 0;
  for (let bit = 0, left = bits; left !== 0; bit++, left >>>= 1) if (left & 1) result ^= power[bit]!;
  return result;
}
