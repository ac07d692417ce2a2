/**
 * Gives all packages, images and pages the next version:
 *
 *     npm run release -- 1.2.3         releases it
 *     npm run release -- 1.3.0-dev     begins the work on the next one
 *
 * It writes files and nothing else: look at them, commit, and tag the commit.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BEGUN, CHANGELOG, foldersOf, LOCKFILE, MANIFEST, ReleaseError, released, TEXTS } from './release.js';

/** Exit code of wrong usage. */
const USAGE = 2;

try {
  const [version, ...rest] = process.argv.slice(2);
  if (version === undefined || rest.length > 0) throw new ReleaseError('usage: npm run release -- 1.2.3');
  // npm runs it in the folder of the project.
  const root = process.cwd();
  const textOf = (path: string): string => readFileSync(join(root, path), 'utf8');
  const manifests = [MANIFEST, ...foldersOf(textOf(MANIFEST)).map((folder) => `${folder}/${MANIFEST}`)];
  const files = [...manifests, LOCKFILE, CHANGELOG, ...TEXTS].map((path) => ({ path, text: textOf(path) }));
  const date = new Date().toISOString().slice(0, 10);
  for (const { path, text } of released(files, version, date)) writeFileSync(join(root, path), text);
  const tag = version.endsWith(BEGUN) ? '' : `, and tag the commit v${version}`;
  console.log(`${files.length} files name version ${version} now. Look at them, commit${tag}.`);
} catch (error) {
  if (!(error instanceof ReleaseError)) throw error;
  console.error(error.message);
  process.exitCode = USAGE;
}
