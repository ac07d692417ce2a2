import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { noteLeft, setAside, staysAway } from './set-aside.js';

const NOW = Date.parse('2026-01-31T12:00:00Z');
const MINUTE = 60_000;

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'althing-aside-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

describe('data that are set aside', () => {
  test('are kept whole, and leave nothing that a new node could take for its own', async () => {
    for (const name of ['log', 'state', 'lost+found']) mkdirSync(join(folder, name));
    for (const name of ['cluster', 'backups', 'left', 'reserve']) writeFileSync(join(folder, name), name);
    writeFileSync(join(folder, 'log', '1'), 'entries');

    const kept = await setAside(folder, 271828, NOW);

    expect(kept).toBe(join(folder, 'removed', '2026-01-31T12-00-00.000Z-271828'));
    expect(readdirSync(kept, { recursive: true }).sort()).toEqual(
      ['backups', 'cluster', 'left', 'log', 'log/1', 'state'].sort(),
    );
    expect(readdirSync(folder).sort()).toEqual(['lost+found', 'removed', 'reserve']);
  });

  test('do not take the place of others', async () => {
    for (const node of [1, 2]) {
      writeFileSync(join(folder, 'cluster'), String(node));
      await setAside(folder, node, NOW);
    }
    expect(readdirSync(join(folder, 'removed'))).toHaveLength(2);
  });
});

describe('a node that was removed stays away', () => {
  const others = { nodeName: 'a', listenNodePort: 9220, cluster: ['a', 'b'], waitForInvitation: false };
  const config = (more: Partial<typeof others> = {}) => ({ ...others, ...more, storagePath: folder });

  test('a removed node stays away where it would found a cluster of its own', () => {
    expect(staysAway(config(), NOW)).toBeNull();
    expect(staysAway(config({ cluster: ['b'] }), NOW)).toBeNull();
    expect(staysAway(config({ cluster: ['a:9220'] }), NOW)).toContain('a cluster of its own');
    expect(staysAway(config({ cluster: [] }), NOW)).toContain('a cluster of its own');
    expect(staysAway(config({ cluster: [], waitForInvitation: true }), NOW)).toBeNull();
  });

  test('a removed node stays away for ten minutes after it served, unless the clock was put back', () => {
    noteLeft(folder, NOW);
    utimesSync(join(folder, 'left'), NOW / 1000, NOW / 1000);
    expect(staysAway(config(), NOW + 9 * MINUTE)).toContain('until 2026-01-31T12:10:00.000Z');
    expect(staysAway(config(), NOW + 10 * MINUTE)).toBeNull();
    expect(staysAway(config(), NOW - 1)).toBeNull();
  });
});
