/**
 * Takes out of an installation what does not run: native files of other platforms and other Node.js versions, sources of
 * native code, types, source maps, tests. The installation must have production dependencies only.
 *
 *   node trim.mjs FOLDER
 */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const root = process.argv[2];
if (root === undefined || !existsSync(join(root, 'node_modules'))) {
  console.error('usage: trim.mjs FOLDER, a folder with node_modules');
  process.exit(2);
}

const { arch, platform } = process;
const modules = process.versions.modules;

trimUws(join(root, 'node_modules/uWebSockets.js'));
trimClassicLevel(join(root, 'node_modules/classic-level'));
for (const folder of readdirSync(join(root, 'packages'))) trimPackage(join(root, 'packages', folder));
removeFiles(join(root, 'node_modules'), (name) => /\.(?:d\.[cm]?ts|map)$/.test(name));
for (const folder of ['.bin', '.package-lock.json']) remove(join(root, 'node_modules', folder));

/** One file for each platform, architecture and version of the native interface: keeps one, and insists on it. */
function trimUws(folder) {
  const wanted = `uws_${platform}_${arch}_${modules}.node`;
  const natives = filesIn(folder).filter((path) => path.endsWith('.node'));
  const kept = natives.filter((path) => path.endsWith(wanted));
  if (kept.length !== 1) throw new Error(`${folder}: expected one ${wanted}, found ${kept.length}`);
  for (const path of natives) if (!kept.includes(path)) remove(path);
}

function trimClassicLevel(folder) {
  const prebuilds = join(folder, 'prebuilds');
  const wanted = `${platform}-${arch}`;
  if (!existsSync(join(prebuilds, wanted))) throw new Error(`${folder}: no binary for ${wanted}`);
  for (const name of readdirSync(prebuilds)) if (name !== wanted) remove(join(prebuilds, name));
  removeFiles(prebuilds, (name) => name.includes('musl'));
  for (const name of ['deps', 'src', 'binding.cc', 'binding.gyp']) remove(join(folder, name));
}

/** Of a package of ours: the manifest, `bin/`, what is bundled, and `dist/` without tests and types stay. */
function trimPackage(folder) {
  for (const name of readdirSync(folder)) {
    if (!['package.json', 'bin', 'bundle', 'dist', 'node_modules'].includes(name)) remove(join(folder, name));
  }
  removeFiles(join(folder, 'dist'), (name) => /\.test\.js$|\.d\.ts$|\.map$|\.tsbuildinfo$/.test(name));
}

function removeFiles(folder, isUnneeded) {
  for (const path of filesIn(folder)) if (isUnneeded(path)) remove(path);
}

function filesIn(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}

function remove(path) {
  rmSync(path, { recursive: true, force: true });
}
