import { spawnSync } from 'node:child_process';
import { expect, test } from '@jest/globals';

test('V8 knows the flags that a node sets: it would print an error into the log for another one', () => {
  const program = `import { compileSooner } from '${new URL('./tiering.js', import.meta.url).href}'; compileSooner();`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
  });
  expect([status, stdout, stderr]).toEqual([0, '', '']);
});
