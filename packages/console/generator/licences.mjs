import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/**
 * The licence texts of all packages of others that went into a bundle.
 *
 * @param {{inputs: Record<string, unknown>}} metafile of esbuild
 * @throws {Error} when a package has none
 */
export function licences({ inputs }) {
  const folders = new Set();
  for (const path of Object.keys(inputs)) {
    const [, folder] = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(resolve(path)) ?? [];
    if (folder !== undefined) folders.add(folder);
  }
  const texts = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const file = ['LICENSE', 'LICENSE.md', 'license', 'LICENCE'].find((each) =>
      existsSync(join(folder, each)),
    );
    if (file === undefined) throw new Error(`${name} has no licence text`);
    return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
  });
  return `The console of Althing is made with these packages:\n\n${texts.join(`\n${'-'.repeat(72)}\n\n`)}`;
}
