/** Tells the seed of the random tests, and how a run that failed is played again. */
export default class SeedReporter {
  onRunStart() {
    console.error(`Random tests: ALTHING_TEST_SEED=${process.env.ALTHING_TEST_SEED}`);
  }

  onRunComplete(_contexts, { numFailedTests, numFailedTestSuites }) {
    if (numFailedTests + numFailedTestSuites === 0) return;
    console.error(
      `\nRandom tests do the same again with ALTHING_TEST_SEED=${process.env.ALTHING_TEST_SEED} npm test -- FILE`,
    );
  }
}
