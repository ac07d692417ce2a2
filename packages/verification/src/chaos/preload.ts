/** Small libraries in C that are loaded into a node's process, in order to disturb what it gets from the system. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A library that maps a file of 64-bit integers into its process, and does at once what they say. */
export interface LibrarySource {
  readonly name: string;
  /** The environment variable with the path of that file. */
  readonly variable: string;
  readonly code: string;
  /** The number of integers, which are zeros at first. */
  readonly cells: number;
}

/** Why there can be no such libraries here, whatever the compiler says. */
export const PRELOAD_PROBLEM = process.platform === 'linux' ? null : 'only Linux loads such libraries';

/** A compiled library, and a file of integers for each node. */
export class PreloadedLibrary {
  private readonly library: string;

  /**
   * @param folder for the library, its source and the files
   * @param nodes how many there are
   * @throws {Error} when there is no C compiler
   */
  constructor(
    private readonly folder: string,
    private readonly source: LibrarySource,
    nodes: number,
  ) {
    const code = join(folder, `${source.name}.c`);
    this.library = join(folder, `${source.name}.so`);
    writeFileSync(code, source.code);
    execFileSync('cc', ['-O2', '-shared', '-fPIC', '-o', this.library, code, '-ldl'], { stdio: 'pipe' });
    for (let place = 0; place < nodes; place++) writeFileSync(this.fileOf(place), this.bytesOf([]));
  }

  /** Sets the integers of the node at a place. */
  set(place: number, values: readonly number[]): void {
    // In place: another file would not be the one that is mapped.
    writeFileSync(this.fileOf(place), this.bytesOf(values), { flag: 'r+' });
  }

  /** The environment of the node at a place, which loads libraries. */
  static environment(libraries: readonly PreloadedLibrary[], place: number): Record<string, string> {
    const variables = libraries.map((each) => [each.source.variable, each.fileOf(place)] as const);
    const files = libraries.map(({ library }) => library).join(':');
    return Object.fromEntries([['LD_PRELOAD', files], ...variables]);
  }

  private fileOf(place: number): string {
    return join(this.folder, `${this.source.name}${place}`);
  }

  private bytesOf(values: readonly number[]): Buffer {
    const bytes = Buffer.alloc(8 * this.source.cells);
    for (const [at, value] of values.entries()) bytes.writeBigInt64LE(BigInt(value), 8 * at);
    return bytes;
  }
}
