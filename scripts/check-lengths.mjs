/**
 * Checks that a file of more than 450 lines tells why it is long, in the comment at its head: `Long because: ...`. Tests, and files
 * that a program wrote, may be as long as they are. The reason goes when the file is well below that again.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const LINES_MAX = 450;
/** Up to so many lines less, a reason may stay: files become a little shorter and longer all the time. */
const SLACK = 50;
const REASON = /^(?:\/\/.*\n)*\/\*\*(?:(?!\*\/)[\s\S])*?\n \* Long because: \S.{15,}/;
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
  const hasReason = REASON.test(text);
  checked += 1;
  if (lines > LINES_MAX && !hasReason) {
    console.error(
      `${path} has ${lines} lines, and ${LINES_MAX} may be without a reason: divide it along its concerns, or write ` +
        '"Long because: ..." into the comment at its head',
    );
    process.exitCode = 1;
  } else if (lines <= LINES_MAX - SLACK && hasReason) {
    console.error(`${path} has ${lines} lines: "Long because" at its head is not true any more`);
    process.exitCode = 1;
  }
}
// A check that finds nothing to look at would never fail.
if (checked < 500) {
  console.error(`only ${checked} files of code were found`);
  process.exitCode = 1;
}
