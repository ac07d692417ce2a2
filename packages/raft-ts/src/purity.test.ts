/**
 * The core is deterministic because there is nothing in it that could not be: no clock, no chance, no
 * waiting, no I/O.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';

const FOLDER = new URL('../src/', import.meta.url);
const files = readdirSync(FOLDER).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));

const FORBIDDEN: readonly RegExp[] = [
  /\bDate\b/,
  /\bMath\.random\b/,
  /\bperformance\b/,
  /\bprocess\./,
  /\bset(Timeout|Interval|Immediate)\b/,
  /\bqueueMicrotask\b/,
  /\b(async|await)\b/,
  /\bPromise\b/,
  /\bconsole\./,
  /\bWeak(Map|Set|Ref)\b/,
  /\blocaleCompare\b/,
  /\bIntl\b/,
  // State of the module itself.
  /^(export )?let /m,
];

describe('purity', () => {
  test.each(files)('%s', (name) => {
    const text = readFileSync(new URL(name, FOLDER), 'utf8');
    // Comments may speak of anything.
    const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
    for (const pattern of FORBIDDEN) expect([name, pattern.exec(code)?.[0]]).toEqual([name, undefined]);
    for (const [, from] of code.matchAll(/from '([^']+)'/g)) expect(from).toMatch(/^\.\/[a-z]+\.js$/);
    expect(text.split('\n').length).toBeLessThan(600);
  });
});

describe('the core', () => {
  test.each(files)('%s knows nothing of planted bugs', (name) => {
    expect(readFileSync(new URL(name, FOLDER), 'utf8')).not.toMatch(/mutant|planted|\bbugs?\b/i);
  });
});
