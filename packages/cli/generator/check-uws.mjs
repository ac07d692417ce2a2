/**
 * Checks that the binaries of uWebSockets.js are those that this version of Althing was tested with. They come in a package that
 * somebody else than their makers publishes, so they are held against hashes of our own; `SECURITY.md` tells where they come from.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** As `sha256sum` writes and checks them. */
const HASHES = new URL('uws-binaries.sha256', import.meta.url);

/**
 * @param {string} folder with the binaries, `dist/bin` of the package
 * @param {(name: string) => boolean} isWanted whether a binary counts
 * @throws {Error} when a binary that counts is unknown, or is another one than it was
 */
export function checkUws(folder, isWanted) {
  const known = new Map(
    readFileSync(HASHES, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => line.split('  ').reverse()),
  );
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.node') && isWanted(file))) {
    const hash = createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex');
    if (hash !== known.get(name))
      throw new Error(
        `${join(folder, name)} is not the binary of uWebSockets.js that Althing was tested with (its SHA-256 is ${hash}): install ` +
          'again with "npm ci"; after an update of the package on purpose, see SECURITY.md',
      );
  }
}

/** The same for what this machine would load, where it is installed. */
export function checkUwsHere(installed) {
  const folder = join(installed, 'uWebSockets.js/dist/bin');
  if (existsSync(folder))
    checkUws(folder, (name) => name.startsWith(`uws_${process.platform}_${process.arch}_`));
}
