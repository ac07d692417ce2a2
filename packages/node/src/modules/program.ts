/** The program of a module: only files inside of its folder, which nobody else may write to. */
import { constants } from 'node:fs';
import { access, lstat, open, readFile, realpath, stat } from 'node:fs/promises';
import { join, posix, sep } from 'node:path';
import { ManifestError, type ModuleInfo, type ModuleManifest, parseManifest } from '@althing/engine';
import { messageOf } from '../base/error-text.js';

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly folder: string;
}

/** The program of a module as it was found on this node. */
export interface Found {
  /** Path of the file to start, below the folder of all modules; null for no folder. */
  readonly file: string | null;
  readonly manifest: ModuleManifest | null;
  /** Or why it can't be started, in words. */
  readonly program: Program | string;
}

export const NOT_INSTALLED = 'module not installed';

/** Bytes of a manifest at most. */
const MANIFEST_BYTES_MAX = 1024 * 1024;

/**
 * Looks for the program of a module.
 *
 * @param modules folder of all modules
 * @param python path of the interpreter
 */
export async function findProgram(modules: string, module: ModuleInfo, python: string): Promise<Found> {
  const folder = join(modules, module.folder);
  const found = await lstat(folder).catch(() => null);
  if (found === null) return { file: null, manifest: null, program: NOT_INSTALLED };
  let file = posix.join(module.folder, module.source);
  let manifest: ModuleManifest | null = null;
  const failed = (why: string): Found => ({ file, manifest, program: why });
  if (!found.isDirectory()) return failed('the folder of the module is no folder');
  if ((found.mode & OTHERS_WRITE) !== 0)
    return failed('others may write to the folder of the module: remove that permission');
  try {
    let { source } = module;
    if (posix.basename(source) === 'module.json') {
      manifest = await readManifest(await inside(folder, source));
      source = posix.join(posix.dirname(source), manifest.main);
      file = posix.join(module.folder, source);
    }
    const path = await inside(folder, source);
    if (source.endsWith('.py')) return { file, manifest, program: { command: python, args: [path], folder } };
    await access(path, constants.X_OK);
    if (!(await isExecutable(path))) return failed('the file can not be executed');
    return { file, manifest, program: { command: path, args: [], folder } };
  } catch (error) {
    return failed(reasonOf(error));
  }
}

/** Permission bit of everybody who is neither owner nor of the group. */
const OTHERS_WRITE = 0o002;

/** True if the system itself can start a file: what it does not know it would hand to a shell. */
async function isExecutable(path: string): Promise<boolean> {
  if (process.platform !== 'linux') return true;
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4);
    const head = buffer.subarray(0, bytesRead).toString('latin1');
    return head.startsWith('#!') || head === '\x7fELF';
  } finally {
    await file.close();
  }
}

/** A reason, in words, for which a module can't be started. */
export class Unfit extends Error {}

/** The path of a regular file in a folder, with all links resolved. */
async function inside(folder: string, path: string): Promise<string> {
  const root = await realpath(folder);
  const real = await realpath(join(folder, path));
  if (!real.startsWith(root + sep)) throw new Unfit('the file lies outside of the folder of the module');
  if (!(await stat(real)).isFile()) throw new Unfit('the source is no regular file');
  return real;
}

async function readManifest(path: string): Promise<ModuleManifest> {
  if ((await stat(path)).size > MANIFEST_BYTES_MAX) throw new Unfit('invalid module.json: it is too large');
  try {
    return parseManifest(await readFile(path, 'utf8'), `${process.platform}/${architecture()}`);
  } catch (error) {
    if (error instanceof ManifestError) throw new Unfit(`invalid module.json: ${error.message}`);
    throw error;
  }
}

/** As `node_info` calls it. */
export function architecture(): string {
  return process.arch === 'x64' ? 'amd64' : process.arch === 'ia32' ? '386' : process.arch;
}

/** Why something could not be started, in words. */
export function reasonOf(error: unknown): string {
  if (error instanceof Unfit) return error.message;
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'no such file';
  if (code === 'EACCES' || code === 'EPERM') return 'permission denied';
  if (code === 'ENOEXEC') return 'the file can not be executed';
  return `it could not be started: ${messageOf(error)}`;
}
