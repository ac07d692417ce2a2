/**
 * Writes `case-folding.generated.ts` from the table of Unicode: `node generate-case-folding.mjs CaseFolding.txt`.
 * Indexes that were made with one version of the table keep to it, so another version is another flag of an index.
 */
import { readFileSync, writeFileSync } from 'node:fs';

const [path = ''] = process.argv.slice(2);
const source = readFileSync(path, 'utf8');
const [, version] = /^# CaseFolding-(\d+\.\d+)/.exec(source) ?? [];

/** Runs of characters, the same number apart, that fold to what is the same number above them. */
const runs = [];
for (const [, from, to] of source.matchAll(/^([0-9A-F]+); [CS]; ([0-9A-F]+);/gm)) {
  const code = Number.parseInt(from, 16);
  const delta = Number.parseInt(to, 16) - code;
  const run = runs.at(-1);
  if (run?.delta === delta && run.count === 1 && code - run.first <= 2) {
    run.step = code - run.first;
    run.count = 2;
  } else if (run?.delta === delta && code === run.first + run.step * run.count) run.count += 1;
  else runs.push({ first: code, count: 1, step: 1, delta });
}

writeFileSync(
  new URL('case-folding.generated.ts', import.meta.url),
  `// Written by generate-case-folding.mjs from CaseFolding.txt of Unicode ${version}. Do not edit.
export const CASE_FOLDING: readonly (readonly [first: number, count: number, step: number, delta: number])[] = [
${runs.map(({ first, count, step, delta }) => `  [${first}, ${count}, ${step}, ${delta}],`).join('\n')}
];
`,
);
