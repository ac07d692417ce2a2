/**
 * Plants bugs: makes a copy of the compiled stores in which the lines of `mutants.ts` are changed, and loads
 * it. The stores themselves know nothing of it.
 *
 * Only modules that hold a bug, or import one that does, are copied. The others are shared with the sound
 * package, so that an error of a copy is the one that everybody knows.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { LogStore } from '../log/log-store.js';
import { StateStore } from '../state/state-store.js';
import { type Edit, STORAGE_MUTANTS, type StorageMutant } from './mutants.js';

/** The classes of both stores, sound or not. */
export type StoreClasses = {
  readonly LogStore: Pick<typeof LogStore, 'open'>;
  readonly StateStore: Pick<typeof StateStore, 'open'>;
};

/** The stores as they are. */
export const SOUND_STORES: StoreClasses = { LogStore, StateStore };

/** Loads stores with planted bugs, each set of bugs once. */
export class StoragePlanter {
  private readonly loaded = new Map<string, Promise<StoreClasses>>();

  /**
   * Stores with these bugs; the sound ones without any. Throws if the code that a bug replaces is not there.
   */
  plant(bugs: ReadonlySet<StorageMutant>): Promise<StoreClasses> {
    if (bugs.size === 0) return Promise.resolve(SOUND_STORES);
    const name = [...bugs].sort().join();
    let stores = this.loaded.get(name);
    if (stores === undefined) {
      stores = loadStores([...bugs].flatMap((bug) => STORAGE_MUTANTS[bug].edits));
      this.loaded.set(name, stores);
    }
    return stores;
  }
}

const HOME = new URL('../', import.meta.url);
const FOLDERS = ['', 'disk/', 'kv/', 'log/', 'state/'];
const LOG_STORE = 'log/log-store';
const STATE_STORE = 'state/state-store';
const IMPORT = /\bfrom '(\.\.?\/[\w./-]+)\.js'/g;

async function loadStores(edits: readonly Edit[]): Promise<StoreClasses> {
  const sources = plantedSources(edits);
  const folder = mkdtempSync(join(tmpdir(), 'storage-planted-'));
  try {
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    for (const [name, text] of sources) {
      const file = join(folder, `${name}.js`);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
    const load = <T>(name: string): Promise<T> => {
      const home = sources.has(name) ? pathToFileURL(`${folder}/`) : HOME;
      return import(new URL(`${name}.js`, home).href);
    };
    const log = await load<Pick<StoreClasses, 'LogStore'>>(LOG_STORE);
    const state = await load<Pick<StoreClasses, 'StateStore'>>(STATE_STORE);
    return { LogStore: log.LogStore, StateStore: state.StateStore };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * The changed modules, and those that import them, by their names; their other imports lead to the sound
 * package.
 */
export function plantedSources(edits: readonly Edit[]): ReadonlyMap<string, string> {
  const sources = soundSources();
  for (const edit of edits) sources.set(edit.file, edited(sources.get(edit.file) ?? '', edit));
  const copied = importersOf(new Set(edits.map(({ file }) => file)), sources);
  return new Map(
    [...copied].map((name) => {
      const text = (sources.get(name) ?? '').replace(IMPORT, (sound, path: string) => {
        const other = importedBy(name, path);
        return copied.has(other) ? sound : `from '${new URL(`${other}.js`, HOME).href}'`;
      });
      return [name, text];
    }),
  );
}

function soundSources(): Map<string, string> {
  const names = FOLDERS.flatMap((folder) =>
    readdirSync(fileURLToPath(new URL(folder, HOME)))
      .filter((name) => /^[\w-]+\.js$/.test(name))
      .map((name) => `${folder}${name.slice(0, -3)}`),
  );
  return new Map(names.map((name) => [name, readFileSync(new URL(`${name}.js`, HOME), 'utf8')]));
}

function edited(source: string, { file, code, bug }: Edit): string {
  const parts = source.split(code);
  if (parts.length === 2) return parts.join(bug);
  throw new Error(`${file}.js holds ${parts.length - 1} times what a planted bug replaces once: ${code}`);
}

/** The name of a module that the module `name` imports by a path. */
function importedBy(name: string, path: string): string {
  return posix.join(posix.dirname(name), path);
}

/**
 * These modules, and all that import one of them, however indirectly, but for the door of the package: a
 * store needs no door.
 */
function importersOf(names: ReadonlySet<string>, sources: ReadonlyMap<string, string>): ReadonlySet<string> {
  const found = new Set(names);
  for (let before = 0; before < found.size; ) {
    before = found.size;
    for (const [name, source] of sources) {
      if (name === 'index') continue;
      const imported = [...source.matchAll(IMPORT)].map(([, path]) => importedBy(name, path ?? ''));
      if (imported.some((other) => found.has(other))) found.add(name);
    }
  }
  return found;
}
