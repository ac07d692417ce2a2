/**
 * Packages of the native protocol:
 *
 *   package := length:u32 id:u16 type:u8 check:u8 data     ; numbers little endian
 *   length  := bytes of data, at most 2^30
 *   id      := chosen by the client, and echoed in the answer; 65535 in events
 *   check   := type XOR 0xff
 *   data    := one MessagePack value, or nothing
 */

export const HEADER_BYTES = 8;

/** Bytes of data at most; a header that says more is no header. */
export const LENGTH_MAX = 2 ** 30;

/** The id of packages that answer nothing. */
export const EVENT_ID = 0xffff;

export const PackageType = {
  NODE_STATUS: 0,
  WARN: 5,
  ROOM_JOIN: 6,
  ROOM_LEAVE: 7,
  ROOM_EMIT: 8,
  ROOM_DELETE: 9,
  CHANGES_EVENT: 10,
  CHANGES_END: 11,
  PONG: 16,
  OK: 17,
  DATA: 18,
  ERROR: 19,
  PING: 32,
  AUTH: 33,
  QUERY: 34,
  /** Features of old that clients may still ask for: they are told OK. */
  WATCH: 35,
  UNWATCH: 36,
  RUN: 37,
  JOIN: 38,
  LEAVE: 39,
  EMIT: 40,
  EMIT_PEER: 41,
  CHANGES: 45,
} as const;

/** Writes a header to a place in a buffer that has room for it. */
export function writeHeader(out: Buffer, at: number, type: number, id: number, length: number): void {
  out[at] = length;
  out[at + 1] = length >>> 8;
  out[at + 2] = length >>> 16;
  out[at + 3] = length >>> 24;
  out[at + 4] = id;
  out[at + 5] = id >>> 8;
  out[at + 6] = type;
  out[at + 7] = type ^ 0xff;
}

export interface Header {
  readonly type: number;
  readonly id: number;
  readonly length: number;
}

/** The header at a place in a buffer; null when it is none. */
export function readHeader(bytes: Buffer, at = 0): Header | null {
  const length = bytes.readUInt32LE(at);
  const type = bytes.readUInt8(at + 6);
  if (length > LENGTH_MAX || bytes[at + 7] !== (type ^ 0xff)) return null;
  return { type, id: bytes.readUInt16LE(at + 4), length };
}

/** True if a type of package is carried out in its turn. Others are answered at once, or passed over. */
export function isRequest(type: number): boolean {
  return (
    type === PackageType.AUTH ||
    type === PackageType.QUERY ||
    type === PackageType.RUN ||
    type === PackageType.CHANGES ||
    (type >= PackageType.JOIN && type <= PackageType.EMIT_PEER)
  );
}
