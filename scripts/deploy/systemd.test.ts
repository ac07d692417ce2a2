import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '@althing/node';
import { expect, test } from '@jest/globals';
import { firstOf, textOf } from './files.js';

const unit = textOf('deploy/systemd/althing.service');

test('the unit is accepted by systemd', () => {
  const folder = mkdtempSync(join(tmpdir(), 'althing-deploy-'));
  try {
    // It asks for programs that are there.
    const path = join(folder, 'althing.service');
    writeFileSync(path, unit.replace('/usr/local/bin/althing', '/bin/true'));
    const result = firstOf([['systemd-analyze', 'verify', path]]);
    if (result !== undefined) expect([result.code, result.output]).toEqual([0, '']);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('the unit has settings that exist, time enough to drain, and starts nothing again in vain', () => {
  const field = (key: string): string => new RegExp(`^${key}=(.*)$`, 'm').exec(unit)?.[1] ?? '';
  const environment = Object.fromEntries(
    [...field('Environment').matchAll(/(SERVICE_\w+)=(\S+)/g)].map(([, name, value]) => [name, value ?? '']),
  );
  const { config, warnings } = loadConfig({ environment, readFile: () => '' });
  expect(warnings).toEqual([]);
  for (const path of [config.storagePath, config.backupPath]) {
    expect(path.startsWith(`${field('ReadWritePaths')}/`)).toBe(true);
  }
  expect(Number.parseInt(field('TimeoutStopSec'), 10) * 1000).toBeGreaterThan(config.shutdownTimeoutMs);
  expect([field('Restart'), field('RestartPreventExitStatus')]).toEqual(['on-failure', '2 3 4']);
});
