import { existsSync, statSync } from 'node:fs';

/** The code of the command line, in as few files as can be. */
export const BUNDLE = new URL('../bundle/index.js', import.meta.url);

const PACKAGES = [
  'raft-ts',
  'language',
  'regex',
  'datetime',
  'engine',
  'storage',
  'node',
  'client',
  'console',
  'cli',
];

/** Written behind all files of the console. */
const CONSOLE = 'console/dist/files/index.json';

/** Says what goes into the bundle. */
const GENERATOR = 'cli/generator/bundle.mjs';

/** Whether there is a bundle that was made after the last build of every package. Where nothing is built, nothing is newer. */
export function isBundleCurrent() {
  const madeAt = timeOf(BUNDLE);
  return (
    madeAt !== undefined &&
    [...PACKAGES.map((name) => `${name}/dist/.tsbuildinfo`), CONSOLE, GENERATOR].every((made) => {
      const builtAt = timeOf(new URL(`../../${made}`, import.meta.url));
      return builtAt === undefined || builtAt <= madeAt;
    })
  );
}

/** The programs of the command line; ends the process where nothing is built. */
export async function loadPrograms() {
  const entry = new URL('../dist/index.js', import.meta.url);
  const server = new URL('../../node/dist/index.js', import.meta.url);
  const usesBundle = isBundleCurrent();
  if (!usesBundle && !(existsSync(entry) && existsSync(server))) {
    console.error('althing: not built yet; run "npm run build" in the folder of the project');
    process.exit(1);
  }
  return import(usesBundle ? BUNDLE.href : entry.href);
}

function timeOf(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs;
}
