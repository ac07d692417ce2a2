import { Float } from '../value/scalars.js';
import type { Plain } from './harness.js';

/** Decodes what the engine packed; unlike the reader for requests it takes things with their ids. */
export function decodeResult(packed: Uint8Array): Plain {
  const data = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
  let position = 0;
  const take = (size: number): number => {
    position += size;
    return position - size;
  };
  const slice = (size: number): Buffer => data.subarray(take(size), position);
  const uint = (size: number): number => data.readUIntBE(take(size), size);
  const safe = (int: bigint): number | bigint => (BigInt.asIntN(54, int) === int ? Number(int) : int);
  const list = (count: number): Plain => Array.from({ length: count }, value);
  const thing = (count: number): Plain =>
    Object.fromEntries(Array.from({ length: count }, () => [String(value()), value()]));

  function value(): Plain {
    const code = uint(1);
    if (code < 0x80) return code;
    if (code >= 0xe0) return code - 0x100;
    if (code < 0x90) return thing(code & 0x0f);
    if (code < 0xa0) return list(code & 0x0f);
    if (code < 0xc0) return slice(code & 0x1f).toString();
    const size = 1 << (code & 3);
    if (code === 0xc0) return null;
    if (code === 0xc2 || code === 0xc3) return code === 0xc3;
    if (code >= 0xc4 && code <= 0xc6) return Uint8Array.from(slice(uint(1 << (code - 0xc4))));
    if (code === 0xca) return new Float(data.readFloatBE(take(4)));
    if (code === 0xcb) return new Float(data.readDoubleBE(take(8)));
    if (code === 0xcf) return safe(data.readBigUInt64BE(take(8)));
    if (code === 0xd3) return safe(data.readBigInt64BE(take(8)));
    if (code >= 0xcc && code <= 0xce) return uint(size);
    if (code >= 0xd0 && code <= 0xd2) return data.readIntBE(take(size), size);
    if (code >= 0xd9 && code <= 0xdb) return slice(uint(1 << (code - 0xd9))).toString();
    if (code === 0xdc || code === 0xdd) return list(uint(code === 0xdc ? 2 : 4));
    if (code === 0xde || code === 0xdf) return thing(uint(code === 0xde ? 2 : 4));
    throw new Error(`the engine never packs the code ${code}`);
  }

  const decoded = value();
  if (position !== data.length) throw new Error(`${data.length - position} bytes behind the result`);
  return decoded;
}
