/**
 * Secrets leave the environment of a node once it has read them. What a process began with stays in its memory, where other
 * processes of the same user read it (`/proc/PID/environ`): a module of the node is such a process.
 */
import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';

/**
 * Takes variables out of the environment of this process, also as others see it.
 *
 * @returns false where that can not be had for one that was there: not on Linux, or `/proc` is not what it is elsewhere
 */
export function hideVariables(names: readonly string[]): boolean {
  const present = names.filter((name) => process.env[name] !== undefined);
  if (present.length === 0) return true;
  // First of all from the table that points to them.
  for (const name of present) delete process.env[name];
  try {
    overwrite(present);
    const seen = readFileSync('/proc/self/environ', 'latin1').split('\0');
    return !seen.some((entry) => present.some((name) => entry.startsWith(`${name}=`)));
  } catch {
    return false;
  }
}

/** Overwrites the texts of variables where the kernel has put them: see proc(5), `env_start` and `env_end` of `/proc/PID/stat`. */
function overwrite(names: readonly string[]): void {
  const stat = readFileSync('/proc/self/stat', 'latin1');
  // The second field is the name of the program in parentheses, which may hold anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [start, end] = [Number(fields[ENV_START]), Number(fields[ENV_START + 1])];
  if (!(start > 0 && end > start && end - start <= ENVIRONMENT_BYTES_MAX)) throw new Error('no environment');
  const memory = openSync('/proc/self/mem', 'r+');
  try {
    const bytes = Buffer.alloc(end - start);
    const read = readSync(memory, bytes, 0, bytes.length, start);
    for (let at = 0; at < read; ) {
      const zero = bytes.indexOf(0, at);
      const next = zero === -1 ? read : zero;
      const entry = bytes.toString('latin1', at, next);
      if (names.some((name) => entry.startsWith(`${name}=`)))
        writeSync(memory, Buffer.alloc(next - at), 0, next - at, start + at);
      at = next + 1;
    }
  } finally {
    closeSync(memory);
  }
}

/** Place of the field 50 among those behind the second. */
const ENV_START = 50 - 3;

/** More than Linux gives to the environment and the arguments of a process. */
const ENVIRONMENT_BYTES_MAX = 16 * 1024 * 1024;
