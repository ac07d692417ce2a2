/**
 * Counts the starts of a node, so that what it names in one is never taken for what it names in another.
 *
 *   epoch := 20 decimal digits
 *
 * The clock gives the number, but never one that was used before. The file is overwritten in place, since that needs no
 * room on a full disk; if a crash or a lack of room spoils it, the clock alone has to do.
 */
import { closeSync, constants, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The number of this start: larger than that of any before.
 *
 * @param folder the data folder
 * @param now wall clock in milliseconds
 */
export function nextEpoch(folder: string, now: number): number {
  const file = openSync(join(folder, 'epoch'), constants.O_RDWR | constants.O_CREAT, 0o600);
  try {
    const bytes = Buffer.alloc(DIGITS);
    const size = readSync(file, bytes, 0, DIGITS, 0);
    const stored = Number(bytes.toString('latin1', 0, size));
    const epoch = Math.max(Math.floor(now), Number.isSafeInteger(stored) ? stored + 1 : 1);
    writeDurably(file, String(epoch).padStart(DIGITS, '0'));
    return epoch;
  } finally {
    closeSync(file);
  }
}

const DIGITS = 20;

function writeDurably(file: number, text: string): void {
  try {
    writeSync(file, text, 0, 'latin1');
    fsyncSync(file);
  } catch (error) {
    if (!isDiskFull(error)) throw error;
  }
}

function isDiskFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
}
