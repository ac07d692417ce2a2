import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

const SEED = Number(process.env.ALTHING_TEST_SEED);
const MODULE = new URL('../random-tests.mjs', import.meta.url).href;
const TREE_SEED = fileURLToPath(new URL('../tree-seed.mjs', import.meta.url));

/** The environment that the tests would get, or the error about the setting. */
function settingsOf(environment: Record<string, string>): unknown {
  const code = `import { randomTests } from '${MODULE}'; console.log(JSON.stringify(randomTests(process.env)))`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    encoding: 'utf8',
    env: environment,
  });
  return stdout === '' ? (/^Error: (.*)$/m.exec(stderr)?.[1] ?? stderr) : JSON.parse(stdout);
}

describe('the seed of all random tests', () => {
  test('is that of properties', () => {
    expect(SEED).toBeGreaterThan(0);
    expect(fc.readConfigureGlobal().seed).toBe(SEED);
    const fails = fc.property(fc.nat(), () => false);
    expect(() => fc.assert(fails)).toThrow(`seed: ${SEED},`);
    expect(() => fc.assert(fails, { numRuns: 5 })).toThrow(`seed: ${SEED},`);
  });

  test('is what it is set to, and otherwise that of the tree, which the gate takes, too', () => {
    const { stdout } = spawnSync(process.execPath, [TREE_SEED], { encoding: 'utf8' });
    expect(settingsOf({ ALTHING_TEST_SEED: '2147483647', ALTHING_TEST_RUNS_FACTOR: '2.5' })).toEqual({
      ALTHING_TEST_SEED: '2147483647',
      ALTHING_TEST_RUNS_FACTOR: '2.5',
    });
    expect(settingsOf({ PATH: process.env.PATH ?? '' })).toEqual({
      ALTHING_TEST_SEED: stdout.trim(),
      ALTHING_TEST_RUNS_FACTOR: '1',
    });
    expect(stdout).toMatch(/^[1-9]\d{0,9}\n$/);
  });

  test.each(['0', '2147483648', '-1', '1.5', 'x', ''])('is refused when it is no such number: %j', (seed) => {
    expect(settingsOf({ ALTHING_TEST_SEED: seed })).toMatch(
      /^ALTHING_TEST_SEED=.*: a whole number from 1 to/,
    );
  });
});

test('a property is run so many times its usual runs', () => {
  const factor = Number(process.env.ALTHING_TEST_RUNS_FACTOR);
  let runs = 0;
  const counts = fc.property(fc.nat(), () => {
    runs += 1;
  });
  fc.assert(counts, { numRuns: 10 });
  expect(runs).toBe(Math.ceil(10 * factor));
});
