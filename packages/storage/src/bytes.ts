/** Reading and writing of whole numbers up to 2^53 - 1 as 64-bit fields, without bigint (which allocates). */

const TWO_32 = 4294967296;

/** Writes a safe non-negative integer as 8 bytes, least significant first. */
export function writeU53LE(bytes: Buffer, value: number, at: number): void {
  bytes.writeUInt32LE(value >>> 0, at);
  bytes.writeUInt32LE(Math.floor(value / TWO_32), at + 4);
}

/** Reads what {@link writeU53LE} wrote; undefined if the field is above 2^53 - 1. */
export function readU53LE(bytes: Buffer, at: number): number | undefined {
  const high = bytes.readUInt32LE(at + 4);
  return high > 0x1fffff ? undefined : high * TWO_32 + bytes.readUInt32LE(at);
}

/**
 * Writes a safe non-negative integer as 8 bytes, most significant first, so that bytes order as numbers do.
 */
export function writeU53BE(bytes: Buffer, value: number, at: number): void {
  bytes.writeUInt32BE(Math.floor(value / TWO_32), at);
  bytes.writeUInt32BE(value >>> 0, at + 4);
}

/** Reads what {@link writeU53BE} wrote; undefined if the field is above 2^53 - 1. */
export function readU53BE(bytes: Buffer, at: number): number | undefined {
  const high = bytes.readUInt32BE(at);
  return high > 0x1fffff ? undefined : high * TWO_32 + bytes.readUInt32BE(at + 4);
}

/** True for 0 to 2^53 - 1. */
export function isU53(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

/** The same memory as a Buffer, without a copy. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
