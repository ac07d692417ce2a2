import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { CHANGELOG, foldersOf, LOCKFILE, MANIFEST, mentions, released, TEXTS, versionOf } from './release.js';

const project = fileURLToPath(new URL('../../../', import.meta.url));
const program = fileURLToPath(new URL('main.js', import.meta.url));
const textOf = (path: string, root = project): string => readFileSync(join(root, path), 'utf8');
const manifests = [MANIFEST, ...foldersOf(textOf(MANIFEST)).map((folder) => `${folder}/${MANIFEST}`)];
const present = versionOf(textOf(MANIFEST));

describe('this project', () => {
  test('has one version', () => {
    expect(manifests.map((path) => [path, versionOf(textOf(path))])).toEqual(
      manifests.map((path) => [path, present]),
    );
  });

  test('names it only where a release changes it', () => {
    const tracked = execFileSync(
      'git',
      ['ls-files', '-z', 'deploy', 'docs', 'examples', '*.md', 'Dockerfile', '*.yml', '.ci'],
      {
        cwd: project,
        encoding: 'utf8',
      },
    );
    const naming = tracked.split('\0').filter((path) => path !== '' && mentions(present).test(textOf(path)));
    expect(naming.filter((path) => path !== CHANGELOG).sort()).toEqual([...TEXTS].sort());
  });
});

describe('a release', () => {
  let folder: string;
  const release = (...args: string[]) =>
    spawnSync(process.execPath, [program, ...args], { cwd: folder, encoding: 'utf8' });

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'althing-release-'));
    for (const path of [...manifests, LOCKFILE, CHANGELOG, ...TEXTS]) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      cpSync(join(project, path), join(folder, path));
    }
  });

  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  test.each([
    [[], 'usage'],
    [['1.2'], '"1.2" is no version'],
    [['v1.2.3'], 'is no version'],
    [['1.2.3', '--now'], 'usage'],
    [['0.0.9'], `the version is ${present}; 0.0.9 is not above it`],
    [[present], 'is not above it'],
  ])('a release of %j is refused', (args, words) => {
    const { status, stderr } = release(...args);
    expect([status, stderr]).toEqual([2, expect.stringContaining(words)]);
    expect(textOf(MANIFEST, folder)).toBe(textOf(MANIFEST));
  });

  test('moves all packages, the lockfile, images, pages and the changelog', () => {
    const version = '789.10.11';
    expect(release(version)).toMatchObject({ status: 0, stderr: '' });
    for (const path of manifests) {
      // Nothing but versions changes, in the form that npm has.
      expect(textOf(path, folder).replaceAll(version, present)).toBe(textOf(path));
      expect(versionOf(textOf(path, folder))).toBe(version);
    }
    const cli = JSON.parse(textOf(`packages/cli/${MANIFEST}`, folder));
    expect(cli.devDependencies['@althing/node']).toBe(version);
    const lock = JSON.parse(textOf(LOCKFILE, folder));
    expect([lock.version, lock.packages[''].version, lock.packages['packages/cli'].version]).toEqual([
      version,
      version,
      version,
    ]);
    expect(lock.packages['packages/cli'].devDependencies['@althing/node']).toBe(version);
    expect(textOf(LOCKFILE, folder).replaceAll(version, present)).toBe(textOf(LOCKFILE));
    for (const path of TEXTS) {
      expect([path, textOf(path, folder).match(mentions(present))]).toEqual([path, null]);
      expect(textOf(path, folder).replaceAll(version, present)).toBe(textOf(path));
    }
    expect(textOf(CHANGELOG, folder)).toMatch(/^## Unreleased\n\n## 789\.10\.11 \(\d{4}-\d\d-\d\d\)\n/m);
  });

  test('a release that work begins on has its version everywhere, and no heading in the changelog; then it can be released', () => {
    const files = [
      { path: MANIFEST, text: '{"name": "a", "version": "1.0.0"}' },
      { path: CHANGELOG, text: '# Changelog\n\n## Unreleased\n\n- New.\n' },
    ];
    const [manifest, changelog] = released(files, '1.1.0-dev', '2026-01-02').map(({ text }) => text);
    expect(versionOf(manifest ?? '')).toBe('1.1.0-dev');
    expect(changelog).toBe(files[1]?.text);
    const begun = files.map((file, i) => ({ ...file, text: [manifest, changelog][i] ?? '' }));
    expect(() => released(begun, '1.0.9', '2026-01-02')).toThrow('not above it');
    expect(released(begun, '1.1.0', '2026-01-02')[1]?.text).toContain('## 1.1.0 (2026-01-02)');
  });

  test('a release that the changelog says nothing of is refused', () => {
    const empty = [
      { path: MANIFEST, text: '{"name": "a", "version": "1.0.0"}' },
      { path: CHANGELOG, text: '# Changelog\n\n## Unreleased\n\n## 1.0.0 (2026-01-01)\n\n- Began.\n' },
    ];
    expect(() => released(empty, '1.1.0', '2026-01-02')).toThrow('tells nothing');
  });
});
