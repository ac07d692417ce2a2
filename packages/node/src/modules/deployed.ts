/**
 * Deployed code on this node: the file in the folder of its module, and beside it a note that says whose it is, so that it is
 * removed also when the module was deleted while this node was down.
 *
 *   .deployed := JSON {"id": number, "source": text}
 */
import { mkdir, open, readdir, readFile, realpath, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join, posix, sep } from 'node:path';
import { isModulePath, type ModuleInfo } from '@althing/engine';
import { Unfit } from './program.js';

const NOTE_NAME = '.deployed';

/** Writes deployed code, unless it is there already: to another name, which then takes the place of the old. */
export async function writeCode(
  modules: string,
  module: ModuleInfo,
  slices: readonly Uint8Array[],
): Promise<void> {
  const path = join(modules, module.folder, module.source);
  const code = Buffer.concat(slices);
  const there = await readFile(path).catch(() => null);
  if (there?.equals(code) === true) return;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const root = await realpath(join(modules, module.folder));
  const folder = await realpath(dirname(path));
  if (folder !== root && !folder.startsWith(root + sep))
    throw new Unfit('the file lies outside of the folder of the module');
  const { id, source } = module;
  await writeFile(join(root, NOTE_NAME), JSON.stringify({ id, source }), { mode: 0o600 });
  const temporary = `${path}.new`;
  await rm(temporary, { force: true });
  const file = await open(temporary, 'wx', 0o700);
  try {
    await file.writeFile(code);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
}

/** Removes deployed code, and the folders that are empty then. */
export async function removeCode(
  modules: string,
  { folder, source }: Pick<ModuleInfo, 'folder' | 'source'>,
): Promise<void> {
  await rm(join(modules, folder, source), { force: true });
  await rm(join(modules, folder, NOTE_NAME), { force: true });
  for (let path = posix.join(folder, posix.dirname(source)); path !== '.'; path = posix.dirname(path)) {
    try {
      await rmdir(join(modules, path));
    } catch {
      return;
    }
  }
}

/**
 * Removes deployed code whose module is gone.
 *
 * @param isThere whether there is a module of this id
 */
export async function removeLeftovers(modules: string, isThere: (id: number) => boolean): Promise<void> {
  for (const folder of await readdir(modules).catch(() => [])) {
    const note = await readFile(join(modules, folder, NOTE_NAME), 'utf8').catch(() => null);
    const left = note === null ? null : noteOf(note);
    if (left !== null && !isThere(left.id)) await removeCode(modules, { folder, source: left.source });
  }
}

/** Null for what no node wrote. */
function noteOf(text: string): { readonly id: number; readonly source: string } | null {
  let note: unknown;
  try {
    note = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof note !== 'object' || note === null || !('id' in note) || !('source' in note)) return null;
  const { id, source } = note;
  return typeof id === 'number' && typeof source === 'string' && isModulePath(source) ? { id, source } : null;
}
