/**
 * fast-check as the tests get it (`moduleNameMapper` of `jest.config.js`): every property is tested from the seed of all
 * random tests, and so many times its usual runs, as `random-tests.mjs` says.
 */
import fc from 'fast-check/lib/fast-check.js';

const seed = Number(process.env.ALTHING_TEST_SEED);
const factor = Number(process.env.ALTHING_TEST_RUNS_FACTOR);
/** The runs of fast-check unless somebody sets another number. */
const RUNS = 100;

fc.configureGlobal({ seed, numRuns: Math.ceil(RUNS * factor) });

// The settings of a property go before those for all.
const scaled = ({ numRuns = RUNS, ...options }) => ({ ...options, numRuns: Math.ceil(numRuns * factor) });
const assert = (property, options = {}) => fc.assert(property, scaled(options));

export default factor === 1 ? fc : { ...fc, assert };
