/**
 * The packages between a node and the process of a module, on standard input and output:
 *
 *   package := length:u32le id:u16le type:u8 check:u8 data     check: type XOR 255; length: of data
 *   type    := 40 configuration (a value)      | 41 configured           | 42 configuration refused
 *            | 50 request (a map)              | 51 answer (a value)     | 52 error ([code, text])
 *
 * Packages follow each other without gaps. Requests and their answers have the same id; the other ids mean nothing.
 */

export const PackageType = { CONF: 64, CONF_OK: 65, CONF_ERR: 66, REQ: 80, RES: 81, ERR: 82 } as const;

const HEADER_BYTES = 8;

export interface Package {
  readonly id: number;
  readonly type: number;
  readonly data: Buffer;
}

/** A package in one piece: libraries expect to read it so. */
export function encodePackage(type: number, id: number, data: Uint8Array): Buffer {
  const out = Buffer.allocUnsafeSlow(HEADER_BYTES + data.length);
  out.writeUInt32LE(data.length, 0);
  out.writeUInt16LE(id, 4);
  out[6] = type;
  out[7] = type ^ 0xff;
  out.set(data, HEADER_BYTES);
  return out;
}

/** The bytes that came are no package. */
export class PackageError extends Error {}

/** Takes packages out of what comes in pieces of any size. */
export class PackageReader {
  /** Bytes that came and are no whole package yet. */
  private pieces: Buffer[] = [];
  private size = 0;
  /** Bytes that make the next step possible: a header, or a whole package. */
  private needed = HEADER_BYTES;

  /** @param bytesMax data of one package at most */
  constructor(private readonly bytesMax: number) {}

  /**
   * Takes bytes, and hands over each package that they complete.
   *
   * @throws PackageError after which nothing more can be read
   */
  take(bytes: Buffer, each: (message: Package) => void): void {
    this.pieces.push(bytes);
    this.size += bytes.length;
    if (this.size < this.needed) return;
    const all = this.pieces.length === 1 ? bytes : Buffer.concat(this.pieces);
    let at = 0;
    this.needed = HEADER_BYTES;
    while (all.length - at >= HEADER_BYTES) {
      const start = at + HEADER_BYTES;
      const end = start + lengthIn(all.subarray(at, start), this.bytesMax);
      if (all.length < end) {
        this.needed = end - at;
        break;
      }
      // A copy, since a large piece must not be held by a small answer.
      each({
        id: all.readUInt16LE(at + 4),
        type: all.readUInt8(at + 6),
        data: Buffer.from(all.subarray(start, end)),
      });
      at = end;
    }
    this.pieces = at === all.length ? [] : [all.subarray(at)];
    this.size = all.length - at;
  }
}

function lengthIn(header: Buffer, bytesMax: number): number {
  if ((header.readUInt8(6) ^ 0xff) !== header.readUInt8(7)) throw new PackageError('the check byte is wrong');
  const length = header.readUInt32LE(0);
  if (length > bytesMax)
    throw new PackageError(`a package of ${length} bytes is announced; ${bytesMax} are allowed`);
  return length;
}
