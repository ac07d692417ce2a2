/** Jest runs the compiled tests: the build is the only place where TypeScript is translated. */
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/packages', '<rootDir>/scripts'],
  testMatch: ['**/dist/**/*.test.js'],
  transform: {},
  testTimeout: 30_000,
  // Half of the processor would stand still on a machine with two.
  maxWorkers: '100%',
};
