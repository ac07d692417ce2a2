import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

/**
 * Starts a program that has none of the files open which this process has: LevelDB opens its own such that every program would get
 * them, could write to them, and would keep them on the disk when they are removed. Where there is no `/proc` it gets them.
 */
export function startProgram(
  command: string,
  args: readonly string[],
  options: SpawnOptions & { readonly stdio: readonly ('pipe' | 'ignore')[] },
): ChildProcess {
  const files = new Set(inheritedFiles());
  const nothing = openSync('/dev/null', 'r');
  try {
    const { length } = options.stdio;
    const others = Array.from({ length: Math.max(length, ...[...files].map((file) => file + 1)) - length });
    const stdio = [...options.stdio, ...others.map((_, i) => (files.has(length + i) ? nothing : 'ignore'))];
    return spawn(command, args, { ...options, stdio });
  } finally {
    closeSync(nothing);
  }
}

function inheritedFiles(): number[] {
  try {
    return readdirSync('/proc/self/fd').map(Number).filter(isInherited);
  } catch {
    return [];
  }
}

/** True if a descriptor is one of a file, and not closed where a program takes the place of this one. */
function isInherited(descriptor: number): boolean {
  try {
    if (!readlinkSync(`/proc/self/fd/${descriptor}`).startsWith('/')) return false;
    const [, flags = ''] =
      /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1')) ?? [];
    return (Number.parseInt(flags, 8) & CLOSED) === 0;
  } catch {
    // It was closed meanwhile.
    return false;
  }
}

/** The flag O_CLOEXEC in proc(5), the same for all processors that Node.js has builds for. */
const CLOSED = 0o2000000;
