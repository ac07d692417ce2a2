/**
 * Removes what the compiler made of files that are gone: it leaves that where it is, and a test that was moved would run twice.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const packages = readdirSync(join(root, 'packages')).map((name) => join(root, 'packages', name));
const consolePackage = join(root, 'packages/console');
const projects = [
  ...packages.map((folder) => ({ source: join(folder, 'src'), target: join(folder, 'dist') })),
  { source: join(consolePackage, 'web'), target: join(consolePackage, 'dist/web') },
  { source: join(root, 'scripts'), target: join(root, 'scripts/dist') },
];

for (const { source, target } of projects) {
  if (!existsSync(target)) continue;
  for (const entry of readdirSync(target, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath ?? entry.path, entry.name);
    // Files that the console's build wrote, and its page, which is a project of its own.
    if (['files', 'web'].some((folder) => path.startsWith(`${join(target, folder)}/`))) continue;
    const name = relative(target, path).replace(/(?:\.d\.ts|\.js)(?:\.map)?$/, '');
    if (!entry.isFile() || name === relative(target, path)) continue;
    if (!['ts', 'tsx'].some((extension) => existsSync(join(source, `${name}.${extension}`)))) rmSync(path);
  }
}
