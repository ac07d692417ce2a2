/** Small libraries in C that are loaded into a node's process, in order to disturb what it gets from the system. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A library for a node's process, and what it needs to know. */
export interface Preload {
  readonly library: string;
  readonly variables: Readonly<Record<string, string>>;
}

/** Why there can be no such libraries here, whatever the compiler says. */
export const PRELOAD_PROBLEM = process.platform === 'linux' ? null : 'only Linux loads such libraries';

/**
 * Compiles a library, with its source beside it.
 *
 * @returns the file
 * @throws {Error} when there is no C compiler
 */
export function buildLibrary(folder: string, name: string, code: string): string {
  const source = join(folder, `${name}.c`);
  const library = join(folder, `${name}.so`);
  writeFileSync(source, code);
  execFileSync('cc', ['-O2', '-shared', '-fPIC', '-o', library, source, '-ldl'], { stdio: 'pipe' });
  return library;
}

/** The environment of a process that loads libraries. */
export function preloadEnvironment(preloads: readonly Preload[]): Record<string, string> {
  if (preloads.length === 0) return {};
  const variables = preloads.map(({ variables }) => variables);
  return Object.assign({ LD_PRELOAD: preloads.map(({ library }) => library).join(':') }, ...variables);
}

/** A file that is mapped into processes, so that what is written to it holds there at once. */
export class SharedCells {
  /** @param cells how many 64-bit integers it holds, zeros at first */
  constructor(
    readonly path: string,
    private readonly cells: number,
  ) {
    writeFileSync(path, Buffer.alloc(8 * cells));
  }

  set(values: readonly number[]): void {
    const bytes = Buffer.alloc(8 * this.cells);
    for (const [at, value] of values.entries()) bytes.writeBigInt64LE(BigInt(value), 8 * at);
    // In place: another file would not be the one that is mapped.
    writeFileSync(this.path, bytes, { flag: 'r+' });
  }
}
