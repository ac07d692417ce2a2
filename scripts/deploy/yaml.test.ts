import { readdirSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { filesIn, parseYaml, project, textOf, yamlOf } from './files.js';

const paths = [
  ...readdirSync(project).filter((name) => /\.ya?ml$/.test(name)),
  ...filesIn('deploy').filter((path) => /\.ya?ml$/.test(path)),
];
/** Templates of Helm are no YAML before they are rendered. */
const isTemplate = (path: string): boolean => path.includes('/templates/');

test('there are files to look at', () => {
  expect(paths).toEqual(expect.arrayContaining(['docker-compose.yml', 'deploy/helm/althing/values.yaml']));
});

describe.each(paths)('%s', (path) => {
  const text = textOf(path);

  test('is written as YAML files are', () => {
    const lines = text.split('\n');
    const flawed = (flaw: RegExp): string[] => lines.filter((line) => flaw.test(line));
    expect(flawed(/\t/)).toEqual([]);
    expect(flawed(/\s$/)).toEqual([]);
    expect(text).toMatch(/[^\n]\n$/);
  });

  if (!isTemplate(path)) {
    test('is parsed without a warning, and has no key twice', () => {
      expect(yamlOf(path)).not.toEqual([]);
    });
  }
});

test('a key that comes twice is found, also below a merged one', () => {
  expect(() => parseYaml('a: 1\na: 2\n', 'x')).toThrow('x: Map keys must be unique');
  expect(() => parseYaml('a: &a {b: 1}\nc:\n  <<: *a\n  d: 1\n  d: 2\n', 'x')).toThrow('unique');
});
