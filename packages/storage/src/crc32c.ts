/**
 * CRC-32C (Castagnoli polynomial 0x1EDC6F41, reflected 0x82F63B78), as in RFC 3720 appendix B.4, computed
 * eight bytes at a time. Source of the method: Kounavis and Berry, "A Systematic Approach to Building High
 * Performance Software-Based CRC Generators" (ISCC 2005), known as slicing-by-8.
 *
 * @param bytes where to read
 * @param start first byte
 * @param end one past the last byte
 * @param seed the checksum of what came before, to continue it; 0 to begin
 * @returns an unsigned 32-bit number
 */
export function crc32c(bytes: Uint8Array, start = 0, end = bytes.length, seed = 0): number {
  let crc = ~seed;
  let at = start;
  for (const last = end - 8; at <= last; at += 8) {
    const low = crc ^ (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24));
    crc =
      table[0x700 + (low & 255)]! ^
      table[0x600 + ((low >>> 8) & 255)]! ^
      table[0x500 + ((low >>> 16) & 255)]! ^
      table[0x400 + (low >>> 24)]! ^
      table[0x300 + bytes[at + 4]!]! ^
      table[0x200 + bytes[at + 5]!]! ^
      table[0x100 + bytes[at + 6]!]! ^
      table[bytes[at + 7]!]!;
  }
  for (; at < end; at++) crc = table[(crc ^ bytes[at]!) & 255]! ^ (crc >>> 8);
  return ~crc >>> 0;
}

/** Row k holds, for each byte, its effect after k further zero bytes. */
const table: Int32Array = buildTable();

function buildTable(): Int32Array {
  const rows = new Int32Array(8 * 256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
    rows[byte] = crc;
  }
  for (let byte = 0; byte < 256; byte++) {
    let crc = rows[byte]!;
    for (let row = 1; row < 8; row++) {
      crc = rows[crc & 255]! ^ (crc >>> 8);
      rows[row * 256 + byte] = crc;
    }
  }
  return rows;
}
