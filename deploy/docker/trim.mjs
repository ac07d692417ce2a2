/**
 * Takes out of an installation what does not run: native files of other platforms and other Node.js versions, sources of
 * native code, types, source maps, tests and pages of what it needs; and of Althing all but the bundle. The installation
 * must have production dependencies only.
 *
 *   node trim.mjs FOLDER [PLATFORM ARCH MODULES]     e.g. node trim.mjs /app linux arm64 127; without, what runs this
 */
import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const [root, ...target] = process.argv.slice(2);
if (root === undefined || ![0, 3].includes(target.length) || !existsSync(join(root, 'node_modules'))) {
  console.error('usage: trim.mjs FOLDER [PLATFORM ARCH MODULES], a folder with node_modules');
  process.exit(2);
}

const { platform: here, arch: ours, versions } = process;
const [platform = here, arch = ours, modules = versions.modules] = target;
const packages = join(root, 'packages');
const dependencies = join(root, 'node_modules');

for (const name of ['.bin', '.package-lock.json']) remove(join(dependencies, name));
trimUws(join(dependencies, 'uWebSockets.js'));
trimClassicLevel(join(dependencies, 'classic-level'));
trimChecksums(join(dependencies, '@node-rs'));
trimOwn();
for (const folder of foldersOfDependencies()) trimDependency(folder);
removeFiles(dependencies, (name) => /\.(?:[cm]?ts|map)$/.test(name));
removeEmptyFolders(dependencies);

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

/** One package for each platform, which may be missing: checksums take longer then. */
function trimChecksums(folder) {
  if (!existsSync(folder)) return;
  const wanted = `crc32-${platform}-${arch}`;
  for (const name of readdirSync(folder)) {
    const isWanted = name === 'crc32' || name === wanted || name === `${wanted}-gnu`;
    if (!isWanted) remove(join(folder, name));
  }
}

/** Of Althing stays what is bundled and what starts it: all that its packages have is in the bundle. */
function trimOwn() {
  const program = join(packages, 'cli');
  if (!existsSync(join(program, 'bundle'))) throw new Error(`${program}: there is no bundle`);
  for (const name of readdirSync(packages)) if (name !== 'cli') remove(join(packages, name));
  for (const name of readdirSync(program)) {
    if (!['package.json', 'bin', 'bundle'].includes(name)) remove(join(program, name));
  }
  for (const path of foldersOfDependencies()) if (!existsSync(path)) remove(path);
  remove(join(dependencies, '@althing'));
}

/** Also links, whether they lead anywhere or not. */
function foldersOfDependencies() {
  return readdirSync(dependencies).flatMap((name) =>
    name.startsWith('@')
      ? readdirSync(join(dependencies, name)).map((each) => join(dependencies, name, each))
      : [join(dependencies, name)],
  );
}

/** What a package has beside its code: licences stay. */
function trimDependency(folder) {
  for (const name of ['.github', '.husky', 'benchmarks', 'docs', 'examples', 'fixtures', 'test', 'tests']) {
    remove(join(folder, name));
  }
  for (const name of readdirSync(folder)) {
    if (/\.md$/.test(name) && !/^licen[cs]e/i.test(name)) remove(join(folder, name));
  }
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

/** npm leaves the folder of a scope behind when it takes the last package out of it. */
function removeEmptyFolders(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) removeEmptyFolders(join(folder, entry.name));
  }
  if (readdirSync(folder).length === 0) rmdirSync(folder);
}

function remove(path) {
  rmSync(path, { recursive: true, force: true });
}
