import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { ENGINE_FLOORS, engineFloorProblems } from './check-engine-floors.js';
import type { SourceFile } from './check-packages.js';

const source = fileURLToPath(new URL('../../packages/engine/src/', import.meta.url));

describe('the package engine', () => {
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path): SourceFile => ({ path, text: readFileSync(`${source}${path}`, 'utf8') }));

  test('has floors: nothing points upwards, and no files import each other in a circle', () => {
    expect(files.length).toBeGreaterThan(100);
    expect(engineFloorProblems(files)).toEqual([]);
  });

  test('has a folder for every floor', () => {
    const found = new Set(files.map(({ path }) => path.split('/')[0]));
    expect(Object.keys(ENGINE_FLOORS).filter((floor) => !found.has(floor))).toEqual([]);
  });
});

describe('the rules', () => {
  const floors = { low: { below: [], types: ['top/b'] }, top: { below: ['low'] } };
  const said = (...files: readonly [path: string, text: string][]): string[] =>
    engineFloorProblems(
      files.map(([path, text]) => ({ path, text })),
      floors,
    );

  test('a folder imports what lies below it', () => {
    expect(said(['top/a.ts', "import { x } from '../low/a.js';"])).toEqual([]);
    expect(said(['low/a.ts', "import { x } from '../top/a.js';"])).toEqual([
      'low/a: imports top/a, which is not below low',
    ]);
    expect(said(['low/deep/a.ts', "import {\n  x,\n  type Y,\n} from '../../top/b.js';"])).toEqual([
      'low/deep/a: imports top/b, which is not below low',
    ]);
  });

  test('types from above are listed', () => {
    expect(said(['low/a.ts', "import type { X } from '../top/b.js';"])).toEqual([]);
    expect(said(['low/a.ts', "import { type X, type Y } from '../top/b.js';"])).toEqual([]);
    expect(said(['low/a.ts', "import type { X } from '../top/a.js';"])).toEqual([
      'low/a: imports types of top/a, which is not below low',
    ]);
  });

  test('a file that lies in no folder is the ground, or puts all together', () => {
    expect(said(['low/a.ts', "import { x } from '../error.js';"])).toEqual([]);
    expect(said(['engine.ts', "import { x } from './top/a.js';"])).toEqual([]);
    expect(said(['top/a.ts', "import { x } from '../engine.js';"])).toEqual([
      'top/a: imports engine, which is not below top',
    ]);
    expect(said(['error.ts', "import { x } from './low/a.js';"])).toEqual([
      'error: imports low/a, and is below all folders',
    ]);
  });

  test('files that import each other in a circle are found, unless only types go round', () => {
    const a: [string, string] = ['low/a.ts', "import { b } from './b.js';"];
    const b: [string, string] = ['low/b.ts', "import { c } from './c.js';"];
    expect(said(a, b, ['low/c.ts', "export { a } from './a.js';"])).toEqual([
      'these import each other in a circle: low/a, low/b, low/c',
    ]);
    expect(said(a, b, ['low/c.ts', "import type { A } from './a.js';"])).toEqual([]);
  });

  test('a folder without a floor is refused; tests import what they like', () => {
    expect(said(['cellar/a.ts', "import { x } from './b.js';"])).toEqual([
      'cellar/a: cellar stands on no floor',
    ]);
    expect(said(['low/a.test.ts', "import { x } from '../top/a.js';"])).toEqual([]);
  });
});
