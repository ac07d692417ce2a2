/**
 * Counts the casts (`x as Type`, not `as const`) in the code of the node that ships. A cast says what the compiler can't see, and
 * belongs at a door: where bytes, messages between threads or what others wrote become typed. The number that is known, in
 * `casts.json`, may only go down: whoever takes a cast away lowers it (`node scripts/check-casts.mjs --write`), nobody raises it.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const LIMITS = fileURLToPath(new URL('casts.json', import.meta.url));
const FOLDER = join(ROOT, 'packages/node/src');

/** Comments, strings, names in imports and exports: what only looks like a cast. */
const OTHER =
  /\/\/.*|\/\*[\s\S]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|^(?:import|export)\s+(?:type\s+)?[{*][^;]*;/gm;
const CAST = /\bas\s+(?!const\b)/g;

function isProduct(path) {
  return path.endsWith('.ts') && !path.endsWith('.test.ts') && !/(^|\/)testing(\/|\.ts$)/.test(path);
}

function counted() {
  const counts = {};
  const paths = readdirSync(FOLDER, { recursive: true }).map((path) => join(FOLDER, String(path)));
  for (const path of paths.sort()) {
    if (!isProduct(path)) continue;
    const count = readFileSync(path, 'utf8').replace(OTHER, '').match(CAST)?.length ?? 0;
    if (count > 0) counts[relative(ROOT, path)] = count;
  }
  return counts;
}

const counts = Object.entries(counted());
const count = counts.reduce((total, [, each]) => total + each, 0);
const { node: known } = JSON.parse(readFileSync(LIMITS, 'utf8'));
if (process.argv.includes('--list')) for (const [path, each] of counts) console.log(`${each} ${path}`);
if (count > known) {
  console.error(
    `packages/node has ${count} casts, and ${known} are known: parse what comes in instead (--list tells where)`,
  );
  process.exitCode = 1;
} else if (count < known && process.argv.includes('--write')) {
  writeFileSync(LIMITS, `${JSON.stringify({ node: count }, null, 2)}\n`);
} else if (count < known) {
  console.error(
    `packages/node has ${count} casts, fewer than ${known}: node scripts/check-casts.mjs --write`,
  );
  process.exitCode = 1;
}
