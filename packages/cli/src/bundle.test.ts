import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';

test('the bundle holds the program of each thread that its code starts', () => {
  const bundle = new URL('../bundle/', import.meta.url);
  const files = readdirSync(bundle, { withFileTypes: true }).filter((entry) => entry.isFile());
  const programs = files.flatMap(({ name }) => {
    const code = readFileSync(new URL(name, bundle), 'utf8');
    return [...code.matchAll(/new URL\("\.\/([\w.-]+)", import\.meta\.url\)/g)].map(
      ([, program = '']) => program,
    );
  });
  expect(programs.sort()).toEqual(['level-read-ahead-thread.js', 'reader-thread.js', 'worker.js']);
  for (const program of programs) expect(existsSync(new URL(program, bundle))).toBe(true);
});
