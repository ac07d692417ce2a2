/**
 * Plants bugs: makes a copy of the compiled package in which the lines of `mutants.ts` are changed, and loads
 * it. The core itself knows nothing of it.
 *
 * Only modules that hold a bug, or import one that does, are copied. The others are shared with the sound
 * package, so that a `RaftAssertionError` of a copy is the one that everybody knows.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { RaftNode } from '../node.js';
import { type Edit, MUTANTS, type Mutant } from './mutants.js';

/** The class of a core, sound or not. */
export type RaftNodeClass = typeof RaftNode;

/** Loads cores with planted bugs, each set of bugs once. */
export class Planter {
  private readonly loaded = new Map<string, Promise<RaftNodeClass>>();

  /**
   * A core with these bugs; the sound one without any. Throws if the code that a bug replaces is not there.
   */
  plant(bugs: ReadonlySet<Mutant>): Promise<RaftNodeClass> {
    if (bugs.size === 0) return Promise.resolve(RaftNode);
    const name = [...bugs].sort().join();
    let core = this.loaded.get(name);
    if (core === undefined) {
      core = loadCore(editsOf(bugs));
      this.loaded.set(name, core);
    }
    return core;
  }
}

const HOME = new URL('../', import.meta.url);
const DOOR = 'node';
const IMPORT = /\bfrom '\.\/(\w+)\.js'/g;

/** The changed places of a set of bugs. */
function editsOf(bugs: ReadonlySet<Mutant>): readonly Edit[] {
  return [...bugs].flatMap((name): readonly Edit[] => MUTANTS[name].edits);
}

async function loadCore(edits: readonly Edit[]): Promise<RaftNodeClass> {
  const sources = plantedSources(edits);
  const folder = mkdtempSync(join(tmpdir(), 'raft-planted-'));
  try {
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    for (const [name, text] of sources) writeFileSync(join(folder, `${name}.js`), text);
    const copy: { readonly RaftNode: RaftNodeClass } = await import(
      pathToFileURL(join(folder, `${DOOR}.js`)).href
    );
    return copy.RaftNode;
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
      const source = sources.get(name) ?? '';
      const text = source.replace(IMPORT, (sound, other: string) =>
        copied.has(other) ? sound : `from '${new URL(`${other}.js`, HOME).href}'`,
      );
      return [name, text];
    }),
  );
}

function soundSources(): Map<string, string> {
  const names = readdirSync(HOME).filter((name) => /^\w+\.js$/.test(name));
  return new Map(names.map((name) => [name.slice(0, -3), readFileSync(new URL(name, HOME), 'utf8')]));
}

function edited(source: string, { file, code, bug }: Edit): string {
  const parts = source.split(code);
  if (parts.length === 2) return parts.join(bug);
  throw new Error(`${file}.js holds ${parts.length - 1} times what a planted bug replaces once: ${code}`);
}

/** These modules, and all that import one of them, however indirectly. */
function importersOf(names: ReadonlySet<string>, sources: ReadonlyMap<string, string>): ReadonlySet<string> {
  const found = new Set(names);
  for (let before = 0; before < found.size; ) {
    before = found.size;
    for (const [name, source] of sources) {
      if ([...source.matchAll(IMPORT)].some(([, other]) => found.has(other ?? ''))) found.add(name);
    }
  }
  return found;
}
