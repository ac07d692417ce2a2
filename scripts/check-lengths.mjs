/** Checks that no file has more than 450 lines. Tests, and files that a program wrote, may be as long as they are. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const LINES_MAX = 450;
const CODE = /\.(?:tsx?|mjs)$/;
const EXEMPT = /\.test\.ts$|\.generated\.ts$|(?:^|\/)(?:dist|node_modules|bundle)\//;

function sources() {
  const packages = readdirSync(join(ROOT, 'packages')).flatMap((name) =>
    readdirSync(join(ROOT, 'packages', name))
      .filter((folder) => ['src', 'generator', 'web'].includes(folder))
      .map((folder) => join(ROOT, 'packages', name, folder)),
  );
  return [...packages, join(ROOT, 'scripts'), join(ROOT, 'deploy')].flatMap((folder) =>
    readdirSync(folder, { recursive: true })
      .map((path) => relative(ROOT, join(folder, String(path))))
      .filter((path) => CODE.test(path) && !EXEMPT.test(path)),
  );
}

let checked = 0;
for (const path of sources().sort()) {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const lines = text.split('\n').length - 1;
  checked += 1;
  if (lines > LINES_MAX) {
    console.error(`${path} has ${lines} lines, and ${LINES_MAX} are allowed: divide it along its concerns`);
    process.exitCode = 1;
  }
}
// A check that finds nothing to look at would never fail.
if (checked < 500) {
  console.error(`only ${checked} files of code were found`);
  process.exitCode = 1;
}
