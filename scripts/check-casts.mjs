/**
 * Counts the casts (`x as Type`, not `as const`) in the code of node and engine that ships. A cast says what the compiler can't see, and
 * belongs at a door: where bytes, messages between threads or what others wrote become typed. The number that is known, in
 * `casts.json`, may only go down: whoever takes a cast away lowers it (`node scripts/check-casts.mjs --write`), nobody raises it.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const LIMITS = fileURLToPath(new URL('casts.json', import.meta.url));
/** The packages whose casts are counted. */
const PACKAGES = ['node', 'engine'];

/** Comments, strings, names in imports and exports: what only looks like a cast. */
const OTHER =
  /\/\/.*|\/\*[\s\S]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|^(?:import|export)\s+(?:type\s+)?[{*][^;]*;/gm;
const CAST = /\bas\s+(?!const\b)/g;

function isProduct(path) {
  return path.endsWith('.ts') && !path.endsWith('.test.ts') && !/(^|\/)testing(\/|\.ts$)/.test(path);
}

function counted(name) {
  const counts = {};
  const folder = join(ROOT, 'packages', name, 'src');
  const paths = readdirSync(folder, { recursive: true }).map((path) => join(folder, String(path)));
  for (const path of paths.sort()) {
    if (!isProduct(path)) continue;
    const count = readFileSync(path, 'utf8').replace(OTHER, '').match(CAST)?.length ?? 0;
    if (count > 0) counts[relative(ROOT, path)] = count;
  }
  return counts;
}

const known = JSON.parse(readFileSync(LIMITS, 'utf8'));
const now = {};
for (const name of PACKAGES) {
  const counts = Object.entries(counted(name));
  const count = counts.reduce((total, [, each]) => total + each, 0);
  now[name] = count;
  if (process.argv.includes('--list')) for (const [path, each] of counts) console.log(`${each} ${path}`);
  if (count > known[name]) {
    console.error(
      `packages/${name} has ${count} casts, and ${known[name]} are known: parse what comes in instead (--list tells where)`,
    );
    process.exitCode = 1;
  } else if (count < known[name] && !process.argv.includes('--write')) {
    console.error(
      `packages/${name} has ${count} casts, fewer than ${known[name]}: node scripts/check-casts.mjs --write`,
    );
    process.exitCode = 1;
  }
}
if (process.argv.includes('--write') && process.exitCode !== 1) {
  writeFileSync(LIMITS, `${JSON.stringify(now, null, 2)}\n`);
}
