/**
 * CRC-32C by the processor's own instructions, where the package has a binary for the platform: three times as fast as JavaScript where
 * there are many bytes. Calls into native code cost more than a short run of bytes is worth.
 *
 * @param bytes all of it is taken
 * @param seed the checksum of what came before
 */
export type NativeCrc32c = (bytes: Uint8Array, seed: number) => number;

/** Undefined where no binary can be loaded, or gives wrong checksums. */
export const nativeCrc32c: NativeCrc32c | undefined = await load();

async function load(): Promise<NativeCrc32c | undefined> {
  try {
    const { crc32c } = await import('@node-rs/crc32');
    return isRight(crc32c) ? crc32c : undefined;
  } catch {
    return undefined;
  }
}

/** Check values of RFC 3720, at once and continued. */
function isRight(crc32c: NativeCrc32c): boolean {
  const digits = Buffer.from('123456789');
  return (
    crc32c(digits, 0) === 0xe3069283 &&
    crc32c(digits.subarray(5), crc32c(digits.subarray(0, 5), 0)) === 0xe3069283 &&
    crc32c(Buffer.alloc(32), 0) === 0x8a9136aa
  );
}
