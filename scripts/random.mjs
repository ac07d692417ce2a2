/**
 * The random tests at seeds that nobody chose, one after the other, until one fails.
 *
 *   npm run random [-- --for 10m] [PATTERN...]     without a time one seed; PATTERN: part of the path of a test
 *
 * Exit code 1 when a test failed; Jest says at which seed.
 */
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { SEED_MAX } from './tree-seed.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values, positionals } = parseArgs({
  options: { for: { type: 'string', default: '0s' } },
  allowPositionals: true,
});
const time = /^(\d{1,6})(s|m|h)$/.exec(values.for);
if (time === null) {
  console.error('npm run random [-- --for 60s|10m|1h] [PATTERN...]: the random tests at seeds of their own');
  process.exit(2);
}
const files = randomTestFiles().filter(
  (file) => positionals.length === 0 || positionals.some((part) => file.includes(part)),
);
if (files.length === 0) {
  console.error(`no random test has ${positionals.join(' or ')} in its path; is it built?`);
  process.exit(2);
}

const endsAt = performance.now() + Number(time[1]) * { s: 1_000, m: 60_000, h: 3_600_000 }[time[2]];
do {
  const seed = randomInt(1, SEED_MAX + 1);
  const jest = ['--experimental-vm-modules', '--no-warnings', 'node_modules/jest/bin/jest.js'];
  const { status } = spawnSync(process.execPath, [...jest, '--runTestsByPath', ...files], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ALTHING_TEST_SEED: String(seed) },
  });
  if (status !== 0) process.exit(1);
} while (performance.now() < endsAt);

/** Compiled tests that draw from the seed, themselves or by fast-check. */
function randomTestFiles() {
  return ['packages', 'scripts']
    .flatMap((folder) =>
      readdirSync(`${root}${folder}`, { recursive: true }).map((name) => `${folder}/${name}`),
    )
    .filter((name) => /\/dist\/.*\.test\.js$/.test(name) && !name.includes('node_modules'))
    .filter((name) => /'fast-check'|ALTHING_TEST_SEED/.test(readFileSync(`${root}${name}`, 'utf8')));
}
