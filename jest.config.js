/** Jest runs the compiled tests: the build is the only place where TypeScript is translated. */
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/packages', '<rootDir>/scripts'],
  testMatch: ['**/dist/**/*.test.js'],
  transform: {},
  testTimeout: 30_000,
};
