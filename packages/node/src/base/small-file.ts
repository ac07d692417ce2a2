/**
 * Small files of the data folder, which are written as a whole. One that must not be mistaken begins with a head:
 *
 *   file := magic[8] check[8] body        check: the first 8 bytes of the SHA-256 of the body
 */
import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const CHECK_BYTES = 8;

/**
 * Makes or replaces a file that only the user of the process may read: it is durable when this returns, and what a crash interrupts leaves
 * the old one, and perhaps one with `.tmp` behind its name.
 */
export function replaceFile(folder: string, name: string, content: string | Uint8Array): void {
  const temporary = join(folder, `${name}.tmp`);
  rmSync(temporary, { force: true });
  writeFileSync(temporary, content, { flag: 'wx', flush: true, mode: 0o600 });
  renameSync(temporary, join(folder, name));
  const entry = openSync(folder, 'r');
  try {
    fsyncSync(entry);
  } finally {
    closeSync(entry);
  }
}

/** A body behind its head. */
export function sealed(magic: string, body: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(magic, 'latin1'), checkOf(body), body]);
}

/**
 * The body of a file.
 *
 * @throws the error that `damaged` makes, for a file that is not what `sealed` gave
 */
export function unsealed(magic: string, file: Uint8Array, damaged: (why: string) => Error): Buffer {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  const body = bytes.subarray(magic.length + CHECK_BYTES);
  if (bytes.toString('latin1', 0, magic.length) !== magic) throw damaged('it does not begin like one');
  if (!checkOf(body).equals(bytes.subarray(magic.length, magic.length + CHECK_BYTES)))
    throw damaged('its checksum is wrong');
  return body;
}

function checkOf(body: Uint8Array): Buffer {
  return createHash('sha256').update(body).digest().subarray(0, CHECK_BYTES);
}
