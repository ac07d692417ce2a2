/**
 * Plants bugs: makes a copy of compiled modules in which some lines are changed, and loads it. The package itself knows
 * nothing of it.
 *
 * Only modules that hold a bug, or import one that does, are copied. The others are shared with the sound package, so that
 * an error of a copy is the one that everybody knows.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** One place of a bug. */
export interface Edit {
  /** The compiled file, in the folder of the modules, without its extension. */
  readonly file: string;
  /** The sound code, which stands in one place only. */
  readonly code: string;
  /** The code of the bug. */
  readonly bug: string;
}

export interface PlantedBug {
  readonly what: string;
  readonly edits: readonly Edit[];
}

/** The compiled modules that bugs are planted in. */
export interface Modules<Parts> {
  /** The folder that they lie in. */
  readonly home: URL;
  /** The folders in it that count, each with a slash at its end; an empty text for the folder itself. */
  readonly folders: readonly string[];
  /** The parts of the sound package that callers want. */
  readonly sound: Parts;
  /** Gets the same of a copy, whose modules it imports by their addresses. */
  readonly load: (address: (name: string) => string) => Promise<Parts>;
}

/** Loads parts of a package with planted bugs, each set of bugs once. */
export class ModulePlanter<Bug extends string, Parts> {
  private readonly loaded = new Map<string, Promise<Parts>>();

  constructor(
    private readonly bugs: Readonly<Record<Bug, PlantedBug>>,
    private readonly modules: Modules<Parts>,
  ) {}

  /**
   * The parts with these bugs; the sound ones without any.
   *
   * @throws Error if the code that a bug replaces is not there
   */
  plant(bugs: ReadonlySet<Bug>): Promise<Parts> {
    if (bugs.size === 0) return Promise.resolve(this.modules.sound);
    const name = [...bugs].sort().join();
    let parts = this.loaded.get(name);
    if (parts === undefined) {
      parts = this.load([...bugs].flatMap((bug) => this.bugs[bug].edits));
      this.loaded.set(name, parts);
    }
    return parts;
  }

  /**
   * The changed modules, and those that import them, by their names; their other imports lead to the sound package.
   *
   * @throws Error if the code that an edit replaces is not there
   */
  sources(edits: readonly Edit[]): ReadonlyMap<string, string> {
    const { home } = this.modules;
    const sources = this.soundSources();
    for (const edit of edits) sources.set(edit.file, edited(sources.get(edit.file) ?? '', edit));
    const copied = importersOf(new Set(edits.map(({ file }) => file)), sources);
    return new Map(
      [...copied].map((name) => {
        const text = (sources.get(name) ?? '').replace(IMPORT, (sound, path: string) => {
          const other = importedBy(name, path);
          return copied.has(other) ? sound : `from '${new URL(`${other}.js`, home).href}'`;
        });
        return [name, text];
      }),
    );
  }

  private async load(edits: readonly Edit[]): Promise<Parts> {
    const { home, load } = this.modules;
    const sources = this.sources(edits);
    const folder = mkdtempSync(join(tmpdir(), 'planted-'));
    try {
      writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
      for (const [name, text] of sources) {
        const file = join(folder, `${name}.js`);
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, text);
      }
      const copy = pathToFileURL(`${folder}/`);
      return await load((name) => new URL(`${name}.js`, sources.has(name) ? copy : home).href);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  private soundSources(): Map<string, string> {
    const { home, folders } = this.modules;
    const names = folders.flatMap((folder) =>
      readdirSync(fileURLToPath(new URL(folder, home)))
        .filter((name) => /^[\w-]+\.js$/.test(name))
        .map((name) => `${folder}${name.slice(0, -3)}`),
    );
    return new Map(names.map((name) => [name, readFileSync(new URL(`${name}.js`, home), 'utf8')]));
  }
}

const IMPORT = /\bfrom '(\.\.?\/[\w./-]+)\.js'/g;

function edited(source: string, { file, code, bug }: Edit): string {
  const parts = source.split(code);
  if (parts.length === 2) return parts.join(bug);
  throw new Error(`${file}.js holds ${parts.length - 1} times what a planted bug replaces once: ${code}`);
}

/** The name of a module that the module `name` imports by a path. */
function importedBy(name: string, path: string): string {
  return posix.join(posix.dirname(name), path);
}

/** These modules, and all that import one of them, however indirectly, but for the door of the package. */
function importersOf(names: ReadonlySet<string>, sources: ReadonlyMap<string, string>): ReadonlySet<string> {
  const found = new Set(names);
  for (let before = 0; before < found.size; ) {
    before = found.size;
    for (const [name, source] of sources) {
      const imported = [...source.matchAll(IMPORT)].map(([, path]) => importedBy(name, path ?? ''));
      if (name !== 'index' && imported.some((other) => found.has(other))) found.add(name);
    }
  }
  return found;
}
