import { availableParallelism } from 'node:os';
import { randomTests } from './scripts/random-tests.mjs';

// Tests read them from the environment, which the processes that run them inherit.
Object.assign(process.env, randomTests(process.env));

/** Jest runs the compiled tests: the build is the only place where TypeScript is translated. */
const tests = {
  testEnvironment: '<rootDir>/scripts/jest-environment.mjs',
  roots: ['<rootDir>/packages', '<rootDir>/scripts'],
  testMatch: ['**/dist/**/*.test.js'],
  transform: {},
  moduleNameMapper: {
    '^fast-check$': '<rootDir>/scripts/fast-check.mjs',
    // Itself, for that file.
    '^fast-check/lib/(.*)$': '<rootDir>/node_modules/fast-check/lib/$1',
  },
};

export default {
  projects: [
    { ...tests, testPathIgnorePatterns: ['/node_modules/', '/packages/node/'] },
    {
      ...tests,
      displayName: 'node',
      testMatch: ['**/packages/node/dist/**/*.test.js'],
      testEnvironment: '<rootDir>/scripts/leak-environment.mjs',
    },
    // The tests of functions once more, with everything out of memory between two parts of a query: whoever goes over instances, members
    // or items must bring them into memory, and what goes on later must be held there. Functions of values alone touch nothing of that kind.
    {
      ...tests,
      displayName: 'evicted',
      testMatch: ['**/engine/dist/functions/*.test.js'],
      testPathIgnorePatterns: [
        '/node_modules/',
        '/(?:backups|bytes|conversion|core|datetime|from-thingsdb-page|help|import-user|math|mpdata|node|number|random|range|regex|session-requests|str|users|whitelists)\\.test\\.js$',
      ],
      setupFiles: ['<rootDir>/scripts/evict.mjs'],
    },
  ],
  // For what hangs: a test that takes 10 s alone has to pass on a machine with ten times as much to do.
  testTimeout: 180_000 * Math.max(1, Number(process.env.ALTHING_TEST_RUNS_FACTOR)),
  // A process that ran tests gives back a heap of some hundred megabytes at its end: on a busy machine that takes a second.
  workerGracefulExitTimeout: 30_000,
  // Each file leaves some 10 MB of modules behind, which later garbage collections go over: a process that has run for long takes twice the time.
  workerIdleMemoryLimit: '250MB',
  // Tests of nodes wait much of their time, for elections and processes: with a worker for each core some of the cores would stand still.
  maxWorkers: Math.ceil(availableParallelism() * 1.5),
  reporters: ['default', '<rootDir>/scripts/seed-reporter.mjs'],
};
