import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { nextEpoch } from './epoch.js';

describe('the epoch of a start', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'althing-epoch-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test('follows the clock', () => {
    expect(nextEpoch(folder, 1000.5)).toBe(1000);
    expect(nextEpoch(folder, 2000)).toBe(2000);
  });

  test('rises although the clock stands still or goes back', () => {
    expect(nextEpoch(folder, 5000)).toBe(5000);
    expect(nextEpoch(folder, 5000)).toBe(5001);
    expect(nextEpoch(folder, 100)).toBe(5002);
  });

  test('follows the clock when the file is spoilt', () => {
    writeFileSync(join(folder, 'epoch'), 'spoilt');
    expect(nextEpoch(folder, 7000)).toBe(7000);
    expect(nextEpoch(folder, 6000)).toBe(7001);
  });
});
