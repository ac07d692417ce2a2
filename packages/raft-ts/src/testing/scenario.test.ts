/**
 * Runs every script in `scenarios/`. `UPDATE_SCENARIOS=1` writes what came out into the scripts instead of
 * comparing.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { runScript } from './scenario.js';

const FOLDER = new URL('../../scenarios/', import.meta.url);
const UPDATES = process.env.UPDATE_SCENARIOS === '1';

describe('scenario scripts', () => {
  const names = readdirSync(FOLDER).filter((name) => name.endsWith('.txt'));

  test('there are at least as many as there are rules', () => {
    expect(names.length).toBeGreaterThanOrEqual(35);
  });

  test.each(names)('%s', (name) => {
    const file = new URL(name, FOLDER);
    const text = readFileSync(file, 'utf8');
    const result = runScript(text);
    if (UPDATES) writeFileSync(file, result);
    else expect(result).toBe(text);
  });
});
