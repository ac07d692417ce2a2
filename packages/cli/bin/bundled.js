import { statSync } from 'node:fs';

/** The code of the command line, in as few files as can be. */
export const BUNDLE = new URL('../bundle/index.js', import.meta.url);

const PACKAGES = ['raft-ts', 'language', 'regex', 'datetime', 'engine', 'storage', 'node', 'client', 'cli'];

/** Whether there is a bundle that was made after the last build of every package. Where nothing is built, nothing is newer. */
export function isBundleCurrent() {
  const madeAt = timeOf(BUNDLE);
  return (
    madeAt !== undefined &&
    PACKAGES.every((name) => {
      const builtAt = timeOf(new URL(`../../${name}/dist/.tsbuildinfo`, import.meta.url));
      return builtAt === undefined || builtAt <= madeAt;
    })
  );
}

function timeOf(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs;
}
