/** README says what `npx althing` can do where there is no checkout: a registry on this machine has a package of that name. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { textOf } from './deploy/files.js';

test('`npx --no-install althing` runs nothing that is not installed', async () => {
  expect(textOf('README.md')).toContain(
    '`npx --no-install althing` asks, too, but runs nothing that is not installed',
  );
  const asked: string[] = [];
  const registry = createServer(({ url = '' }, answer) => {
    asked.push(url);
    const dist = { tarball: `http://${address()}/althing.tgz`, integrity: 'sha512-AA==' };
    const version = { name: 'althing', version: '9.9.9', bin: 'althing.js', dist };
    answer.setHeader('Content-Type', 'application/json');
    answer.end(
      JSON.stringify({ name: 'althing', 'dist-tags': { latest: '9.9.9' }, versions: { '9.9.9': version } }),
    );
  });
  await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve));
  const folder = mkdtempSync(join(tmpdir(), 'althing-npx-'));
  try {
    const environment = { PATH: process.env.PATH ?? '', HOME: folder, npm_config_update_notifier: 'false' };
    const options = { cwd: folder, env: { ...environment, npm_config_registry: `http://${address()}/` } };
    const failed = await new Promise<string>((resolve) => {
      execFile('npx', ['--no-install', 'althing', '--version'], options, (error, output, errors) =>
        resolve(error === null ? `ran: ${output}` : errors),
      );
    });
    expect(failed).toMatch(/missing packages|canceled/);
    expect(asked).toContain('/althing');
    expect(asked.filter((path) => path.endsWith('.tgz'))).toEqual([]);
  } finally {
    registry.closeAllConnections();
    registry.close();
    rmSync(folder, { recursive: true, force: true });
  }

  function address(): string {
    const at = registry.address();
    return `127.0.0.1:${typeof at === 'object' && at !== null ? at.port : 0}`;
  }
});
