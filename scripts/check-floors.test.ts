import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { FLOORS, floorProblems } from './check-floors.js';
import { isDevelopmentFile, type SourceFile } from './check-packages.js';

const source = fileURLToPath(new URL('../../packages/node/src/', import.meta.url));

describe('the package node', () => {
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(ts|md)$/.test(path))
    .map((path): SourceFile => ({ path, text: readFileSync(`${source}${path}`, 'utf8') }));

  test('has floors: nothing points upwards, no folders import each other, each has a page', () => {
    expect(files.length).toBeGreaterThan(100);
    expect(floorProblems(files)).toEqual([]);
  });

  test('has a folder for every floor', () => {
    const folders = files.filter(({ path }) => path.includes('/') && !isDevelopmentFile(path));
    const found = new Set(folders.map(({ path }) => path.split('/')[0]));
    expect(Object.keys(FLOORS).filter((floor) => !found.has(floor))).toEqual([]);
  });
});

describe('the walks of the page', () => {
  const project = fileURLToPath(new URL('../../', import.meta.url));
  const page = readFileSync(`${project}docs/architecture.md`, 'utf8');
  const walks = (/^### Three walks\n([\s\S]*?)^## /m.exec(page)?.[1] ?? '')
    .split(/^(?=1\. )/m)
    .slice(1)
    .map((text) => Array.from(text.matchAll(/^\d+\. `([^`]+)`/gm), ([, folder = '']) => folder));

  test('lead through folders that there are, none twice', () => {
    expect(walks.map(({ length }) => length)).toEqual([10, 10, 10]);
    for (const walk of walks) {
      expect(new Set(walk).size).toBe(walk.length);
      const found = walk.filter((name) =>
        ['packages/node/src/', 'packages/'].some((above) => existsSync(`${project}${above}${name}`)),
      );
      expect(found).toEqual(walk);
    }
  });
});

describe('the rules', () => {
  const floors = { low: [], left: ['low'], right: ['low'], top: ['left', 'right', 'low'] };

  /** A folder with its page and one file. */
  function folder(name: string, text: string): SourceFile[] {
    return [
      { path: `${name}/README.md`, text: `# ${name}\n\nThread: engine. Tests.\n` },
      { path: `${name}/a.ts`, text },
    ];
  }

  const said = (...files: readonly SourceFile[]): string[] => floorProblems(files, floors);

  test('a folder imports from floors below', () => {
    expect(said(...folder('top', "import { x } from '../left/a.js';"))).toEqual([]);
    expect(said(...folder('left', "import { x } from '../low/b/a.js';"))).toEqual([]);
    expect(said(...folder('left/deep', "import { x } from '../../low/a.js';"))).toEqual([]);
  });

  test('not from those above or beside it, not even a type', () => {
    expect(said(...folder('low', "import type { X } from '../top/a.js';"))).toEqual([
      'low/a.ts: imports top/a.js, and top is not below low',
    ]);
    expect(said(...folder('left', "export * from '../right/a.js';"))).toEqual([
      'left/a.ts: imports right/a.js, and right is not below left',
    ]);
  });

  test('a file that lies in no folder imports all, and is imported by none', () => {
    expect(said({ path: 'main.ts', text: "import { x } from './left/a.js';" })).toEqual([]);
    expect(said(...folder('top', "import { x } from '../main.js';"))).toEqual([
      'top/a.ts: imports main.js, which is above every floor',
    ]);
  });

  test('the folders of one floor import each other in no circle', () => {
    const a = folder('left/a', "import { x } from '../b/a.js';");
    const b = folder('left/b', "import { x } from '../c/a.js';");
    expect(said(...a, ...b, ...folder('left/c', ''))).toEqual([]);
    expect(said(...a, ...b, ...folder('left/c', "import { x } from '../a/a.js';"))).toEqual([
      'these import each other in a circle: left/a, left/b, left/c',
    ]);
    expect(
      said(...folder('left', "import { x } from './a/a.js';"), ...folder('left/a', "import '../a.js';")),
    ).toEqual(['these import each other in a circle: left, left/a']);
  });

  test('tests may import what they like', () => {
    const file = { path: 'low/a.test.ts', text: "import { x } from '../top/a.js';" };
    expect(said(...folder('low', ''), file)).toEqual([]);
  });

  test('a folder without a floor is refused', () => {
    expect(said(...folder('cellar', ''))).toEqual(['cellar: stands on no floor']);
  });

  test('a folder has a page that begins with its name, its thread and what it is for', () => {
    const file = { path: 'low/a.ts', text: '' };
    expect(said(file)).toEqual(['low: no README.md tells what it is for']);
    const problem = [
      'low/README.md: begins otherwise than "# low", an empty line, "Thread: ..." and what it is for',
    ];
    const page = (text: string): SourceFile => ({ path: 'low/README.md', text });
    expect(said(file, page('# low\n\nThread: both. Numbers.\n'))).toEqual([]);
    expect(said(file, page('# high\n\nThread: both. Numbers.\n'))).toEqual(problem);
    expect(said(file, page('# low\n\nNumbers.\n'))).toEqual(problem);
  });
});
