/**
 * Packages of the native protocol:
 *
 *   package := length:u32 id:u16 type:u8 check:u8 data     ; numbers little endian
 *   length  := bytes of data
 *   id      := chosen by the client, echoed in the answer; 65535 in events
 *   check   := type XOR 0xff
 *   data    := one MessagePack value, or nothing
 */

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
export function encodePackage(type: number, id: number, data: Uint8Array = new Uint8Array()): Buffer {
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + data.length);
  bytes.writeUInt32LE(data.length, 0);
  bytes.writeUInt16LE(id, 4);
  bytes[6] = type;
  bytes[7] = type ^ 0xff;
  bytes.set(data, HEADER_BYTES);
  return bytes;
}

/** Takes packages out of bytes that come in pieces of any size. */
export class PackageDecoder {
  private rest: Buffer = Buffer.alloc(0);

  /**
   * The packages that are complete with the next bytes.
   *
   * @throws Error for what is no package
   */
  push(bytes: Uint8Array): Package[] {
    const all = this.rest.length === 0 ? Buffer.from(bytes) : Buffer.concat([this.rest, bytes]);
    const packages: Package[] = [];
    let at = 0;
    while (all.length - at >= HEADER_BYTES) {
      const length = all.readUInt32LE(at);
      const type = all[at + 6] ?? 0;
      if (all[at + 7] !== (type ^ 0xff)) throw new Error('the other end sent what is no package');
      const end = at + HEADER_BYTES + length;
      if (end > all.length) break;
      packages.push({ type, id: all.readUInt16LE(at + 4), data: all.subarray(at + HEADER_BYTES, end) });
      at = end;
    }
    this.rest = all.subarray(at);
    return packages;
  }
}
