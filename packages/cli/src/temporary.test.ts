import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { inTemporaryFolder } from './temporary.js';

test('a temporary folder is there for the work alone, also when it fails', async () => {
  let folder = '';
  const failing = inTemporaryFolder(async (path) => {
    folder = path;
    writeFileSync(join(path, 'file'), 'x');
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(folder.startsWith(join(tmpdir(), `althing-${process.pid}-`))).toBe(true);
  expect(existsSync(folder)).toBe(false);
});

test('the folder of a command that was killed goes with the next one, and that of one that runs stays', async () => {
  const gone = spawnSync(process.execPath, ['-e', '0']).pid;
  const [left, running, other] = [`${gone}-AbCd12`, `${process.pid}-AbCd12`, `${gone}-test`].map((name) =>
    join(tmpdir(), `althing-${name}`),
  ) as [string, string, string];
  for (const folder of [left, running, other]) mkdirSync(folder);
  try {
    await inTemporaryFolder(async () => {});
    expect([left, running, other].filter(existsSync)).toEqual([running, other]);
  } finally {
    for (const folder of [left, running, other]) rmSync(folder, { recursive: true, force: true });
  }
});
