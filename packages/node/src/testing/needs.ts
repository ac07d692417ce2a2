/** Tests that need more of the machine than Node.js: root, a file system of their own, a tool. */
import { describe, test } from '@jest/globals';

/**
 * True if tests are left out that need something which is not here. A gate that runs as root can have
 * everything: there they run, and fail for want of it.
 *
 * @param what the tests are about, for the notice that they are left out
 * @param problem what is missing; null for nothing
 */
export function isLeftOut(what: string, problem: string | null): boolean {
  if (problem === null || (process.env.CI === 'true' && process.getuid?.() === 0)) return false;
  console.warn(`The tests of ${what} are skipped: ${problem}`);
  return true;
}

/** `test`, or what skips it: see {@link isLeftOut}. */
export function testThatNeeds(what: string, problem: string | null): typeof test | typeof test.skip {
  return isLeftOut(what, problem) ? test.skip : test;
}

/** `describe`, or what skips it: see {@link isLeftOut}. */
export function describeThatNeeds(
  what: string,
  problem: string | null,
): typeof describe | typeof describe.skip {
  return isLeftOut(what, problem) ? describe.skip : describe;
}
