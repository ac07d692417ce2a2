/**
 * Packages of the native protocol:
 *
 *   package := length:u32 id:u16 type:u8 check:u8 data     ; numbers little endian
 *   length  := bytes of data
 *   id      := chosen by the client, echoed in the answer; 65535 in events
 *   check   := type XOR 0xff
 *   data    := one MessagePack value, or nothing
 */
import { joined } from '../wire/joined.js';

const HEADER_BYTES = 8;

/** Types of packages. */
export const PackageType = {
  NODE_STATUS: 0,
  WARN: 5,
  ROOM_JOIN: 6,
  ROOM_LEAVE: 7,
  ROOM_EMIT: 8,
  ROOM_DELETE: 9,
  PONG: 16,
  OK: 17,
  DATA: 18,
  ERROR: 19,
  PING: 32,
  AUTH: 33,
  QUERY: 34,
  RUN: 37,
  JOIN: 38,
  LEAVE: 39,
  EMIT: 40,
  EMIT_PEER: 41,
} as const;

/** One package. */
export interface Package {
  readonly type: number;
  readonly id: number;
  readonly data: Uint8Array;
}

/** The bytes of a package. */
export function packageBytes(type: number, id: number, data: Uint8Array = new Uint8Array()): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES + data.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, data.length, true);
  view.setUint16(4, id, true);
  bytes[6] = type;
  bytes[7] = type ^ 0xff;
  bytes.set(data, HEADER_BYTES);
  return bytes;
}

/** Takes packages out of bytes that come in pieces of any size. */
export class PackageDecoder {
  readonly #bytesMax: number;
  #parts: Uint8Array[] = [];
  #bytes = 0;
  /** Bytes that are needed before there is something new to read. */
  #needed = HEADER_BYTES;

  /** @param bytesMax of the data of a package */
  constructor(bytesMax = Number.POSITIVE_INFINITY) {
    this.#bytesMax = bytesMax;
  }

  /**
   * The packages that are complete with the next bytes.
   *
   * @throws Error for what is no package, and for one that is too large
   */
  push(bytes: Uint8Array): Package[] {
    this.#parts.push(bytes);
    this.#bytes += bytes.length;
    // Joined once there is enough, so that a long package is not copied for each of its pieces.
    if (this.#bytes < this.#needed) return [];
    const all = joined(this.#parts, this.#bytes);
    const view = new DataView(all.buffer, all.byteOffset, all.length);
    const packages: Package[] = [];
    let at = 0;
    this.#needed = HEADER_BYTES;
    while (all.length - at >= HEADER_BYTES) {
      const length = view.getUint32(at, true);
      const type = view.getUint8(at + 6);
      if (view.getUint8(at + 7) !== (type ^ 0xff)) throw new Error('the other end sent what is no package');
      if (length > this.#bytesMax)
        throw new Error(`a package of ${length} bytes came, and ${this.#bytesMax} are taken`);
      const end = at + HEADER_BYTES + length;
      if (end > all.length) {
        this.#needed = HEADER_BYTES + length;
        break;
      }
      packages.push({ type, id: view.getUint16(at + 4, true), data: all.subarray(at + HEADER_BYTES, end) });
      at = end;
    }
    this.#parts = at === all.length ? [] : [all.subarray(at)];
    this.#bytes = all.length - at;
    return packages;
  }
}
