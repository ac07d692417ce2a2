/**
 * Gets this package ready for `npm pack`, which runs it: the tarball is a whole Althing, which `npm install -g` puts into place
 * without a registry, a compiler or a build. It holds the bundle, and in `node_modules` the packages of others that
 * the bundle imports, at the versions that were tested, with native files for every platform that Althing runs on.
 */
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import './bundle.mjs';
import { isBundleCurrent } from '../bin/bundled.js';
import { checkUws } from './check-uws.mjs';

/** Native interfaces of Node.js 20 and 22, and the platforms, as `uWebSockets.js` and `classic-level` call them. */
const MODULES = [115, 127];
const PLATFORMS = ['linux_x64', 'linux_arm64', 'darwin_x64', 'darwin_arm64'];
const PREBUILDS = ['linux-x64', 'linux-arm64', 'darwin-x64+arm64'];

/** The same of `@node-rs/crc32`, of which npm installs the binary of the platform that it runs on. Without one checksums take longer. */
const CHECKSUMS = ['linux-x64-gnu', 'linux-arm64-gnu', 'darwin-x64', 'darwin-arm64'];

/** Files that packages have beside their code. Licences stay. */
const FOLDERS = [
  '.github',
  '.husky',
  'benchmarks',
  'docs',
  'examples',
  'fixtures',
  'node_modules',
  'test',
  'tests',
];
const SOURCES = ['binding.cc', 'binding.gyp', 'deps'];

const home = fileURLToPath(new URL('..', import.meta.url));
const project = join(home, '../..');
const installed = join(project, 'node_modules');
const packed = join(home, 'node_modules');

if (!isBundleCurrent()) throw new Error('the bundle is older than the build: run "npm run build"');
copyFileSync(join(project, 'LICENSE'), join(home, 'LICENSE'));
for (const name of needed()) put(name);

/** The packages that the manifest names, and all that these need. */
function needed() {
  const names = new Set(Object.keys(manifestOf(home).dependencies));
  for (const name of names) {
    const folder = join(installed, name);
    if (existsSync(join(folder, 'node_modules'))) {
      throw new Error(`${name} has dependencies of its own versions, which this does not pack`);
    }
    for (const other of Object.keys(manifestOf(folder).dependencies ?? {})) names.add(other);
  }
  return names;
}

/** Each package comes whole: others may be running from here. */
function put(name) {
  const source = join(installed, name);
  const target = join(packed, name);
  const coming = join(packed, '.coming', name);
  const going = join(packed, '.going', name);
  for (const folder of [coming, going]) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(dirname(folder), { recursive: true });
  }
  mkdirSync(dirname(target), { recursive: true });
  cpSync(source, coming, { recursive: true, filter: (path) => isNeeded(relative(source, path)) });
  // A dependency that a package can do without does not come along; npm would ask a registry for it.
  const { optionalDependencies: _, ...manifest } = manifestOf(coming);
  // npm packs of a package only what its manifest lists.
  if (name === '@node-rs/crc32') manifest.files.push(...addChecksums(coming));
  writeFileSync(join(coming, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  insistOnNatives(name, coming);
  if (existsSync(target)) renameSync(target, going);
  renameSync(coming, target);
  rmSync(going, { recursive: true, force: true });
}

/** True if a file or folder of a package is needed to run it. */
function isNeeded(path) {
  if (path === '') return true;
  const name = basename(path);
  if (!path.includes(sep)) {
    if (FOLDERS.includes(name) || SOURCES.includes(name)) return false;
    if (/\.md$/.test(name) && !/^licen[cs]e/i.test(name)) return false;
  }
  if (dirname(path) === 'prebuilds') return PREBUILDS.includes(name);
  if (name.endsWith('.node'))
    return name.startsWith('uws_') ? natives().includes(name) : !name.includes('musl');
  return !/\.(?:[cm]?ts|map)$/.test(name);
}

function natives() {
  return PLATFORMS.flatMap((platform) => MODULES.map((modules) => `uws_${platform}_${modules}.node`));
}

/** The binaries that are installed, where the package looks first; gives their names. */
function addChecksums(folder) {
  return CHECKSUMS.flatMap((platform) => {
    const file = `crc32.${platform}.node`;
    const source = join(installed, `@node-rs/crc32-${platform}`, file);
    if (!existsSync(source)) return [];
    copyFileSync(source, join(folder, file));
    return [file];
  });
}

function insistOnNatives(name, folder) {
  const wanted = {
    'uWebSockets.js': natives().map((file) => `dist/bin/${file}`),
    'classic-level': PREBUILDS.map((platform) => `prebuilds/${platform}`),
  };
  for (const path of wanted[name] ?? []) {
    if (!existsSync(join(folder, path))) throw new Error(`${name} lacks ${path}`);
  }
  if (name === 'uWebSockets.js') checkUws(join(folder, 'dist/bin'), () => true);
}

function manifestOf(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}
