import { describe, expect, test } from '@jest/globals';
import { judge } from './state-checks.js';

const digest = (text: string): Buffer => Buffer.from(text);

/** The values of nodes 1, 2 and so on: `-` for none. */
function verdictOn(answers: string, members = answers.length): string {
  const given = [...answers].map((text, i) => ({ node: i + 1, digest: text === '-' ? null : digest(text) }));
  const { outcome, minority } = judge(given, members);
  return `${outcome} ${minority.join(' ')}`.trim();
}

describe('states that are compared', () => {
  test.each([
    ['aaa', 'equal'],
    ['aa-', 'incomplete'],
    ['a--', 'incomplete'],
    ['---', 'incomplete'],
    ['aab', 'different 3'],
    ['baa', 'different 1'],
    ['bac', 'different'],
    ['ab', 'different'],
    ['ab-', 'different'],
    ['aabba', 'different 3 4'],
    ['aaab-', 'different 4'],
    ['aab--', 'different'],
  ])('%s: %s', (answers, verdict) => {
    expect(verdictOn(answers)).toBe(verdict);
  });
});
