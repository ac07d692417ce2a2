import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import {
  importsOf,
  isDevelopmentFile,
  isRecord,
  lockfileProblems,
  machineProblems,
  type Package,
  packageProblems,
  pageReferences,
  RULES,
  SCRIPTS,
  type SourceFile,
} from './check-packages.js';

const root = fileURLToPath(new URL('../../', import.meta.url));

describe('this project', () => {
  test('imports only what it may, and its manifests name exactly that', () => {
    expect(packageProblems(projectPackages(), sharedTools())).toEqual([]);
  });

  test('has a rule for every package, and every package is a workspace', () => {
    const folders = readdirSync(join(root, 'packages')).filter((name) =>
      existsSync(join(root, 'packages', name, 'package.json')),
    );
    const { workspaces } = manifestOf('.');
    expect([...(workspaces as string[])].sort()).toEqual(folders.map((name) => `packages/${name}`).sort());
  });

  test('opens of a node to verification exactly what that uses', () => {
    const door = textOf('packages/node/src/parts.ts').flatMap(({ text }) =>
      namesIn(text, /export[^{]*\{([^}]*)\} from/g),
    );
    const used = trackedFiles()
      .filter((path) => path.startsWith('packages/verification/') && path.endsWith('.ts'))
      .flatMap((path) => textOf(path))
      .flatMap(({ text }) => namesIn(text, /import[^{;]*\{([^}]*)\} from '@althing\/node\/parts'/g));
    expect([...new Set(door)].sort()).toEqual([...new Set(used)].sort());
  });

  test('names no machine and no registry in a tracked file', () => {
    const texts = trackedFiles().flatMap((path) => textOf(path));
    expect(texts.length).toBeGreaterThan(100);
    expect(texts.flatMap((file) => machineProblems(file))).toEqual([]);
  });

  test('has pages whose links, file names and commands exist', () => {
    const scripts = keysOf(manifestOf('.').scripts);
    const tracked = trackedFiles();
    const pages = tracked.filter((path) => path.endsWith('.md'));
    const isThere = (ending: string): boolean => tracked.some((path) => `/${path}`.endsWith(`/${ending}`));
    const stale = pages
      .flatMap((path) => textOf(path))
      .flatMap((page) => {
        const { files, endings, scripts: commands } = pageReferences(page);
        return [
          ...files.filter((file) => !existsSync(join(root, file))).map((file) => `${page.path}: ${file}`),
          ...endings.filter((ending) => !isThere(ending)).map((ending) => `${page.path}: ${ending}`),
          ...commands
            .filter((name) => !scripts.includes(name))
            .map((name) => `${page.path}: npm run ${name}`),
        ];
      });
    expect(stale).toEqual([]);
  });

  test('has a lockfile that is complete', () => {
    expect(lockfileProblems(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')))).toEqual([]);
  });
});

describe('the rules', () => {
  const language: Package = {
    name: '@althing/language',
    dependencies: [],
    devDependencies: [],
    references: [],
    files: [],
  };
  const storage: Package = { ...language, name: '@althing/storage' };
  const engine: Package = { ...language, name: '@althing/engine' };

  /** Errors about an engine with one file. */
  function said(path: string, text: string, rest: Partial<Package> = {}, shared: string[] = []): string[] {
    return packageProblems([language, storage, { ...engine, ...rest, files: [{ path, text }] }], shared);
  }

  test('a package imports what the table allows', () => {
    const rest = { dependencies: ['@althing/language'], references: ['@althing/language'] };
    expect(said('src/a.ts', "import { parse } from '@althing/language';", rest)).toEqual([]);
  });

  test('a package must not import another one', () => {
    const rest = { dependencies: ['@althing/storage'], references: ['@althing/storage'] };
    const expected = ['@althing/engine/src/a.ts: must not import @althing/storage'];
    expect(said('src/a.ts', "import { open } from '@althing/storage';", rest)).toEqual(expected);
    expect(said('src/a.ts', "import type {\n  Open,\n} from '@althing/storage';", rest)).toEqual(expected);
    expect(said('src/a.ts', "export * from '@althing/storage';", rest)).toEqual(expected);
    const dynamic = ['const m = await import', "('@althing/storage');"].join('');
    expect(said('src/a.ts', dynamic, rest)).toEqual(expected);
  });

  test('not even in a test', () => {
    const rest = { dependencies: ['@althing/storage'], references: ['@althing/storage'] };
    expect(said('src/a.test.ts', "import { open } from '@althing/storage';", rest)).toContain(
      '@althing/engine/src/a.test.ts: must not import @althing/storage',
    );
  });

  test('a test may import what the table has for tests', () => {
    const client: Package = { ...language, name: '@althing/client' };
    const node: Package = { ...language, name: '@althing/node', references: ['@althing/client'] };
    const told = (path: string): string[] => {
      const files = [{ path, text: "import { WireError } from '@althing/client';" }];
      return packageProblems([client, { ...node, files }], ['@althing/client']);
    };
    expect(told('src/a.test.ts')).not.toContain(
      '@althing/node/src/a.test.ts: must not import @althing/client',
    );
    expect(told('src/a.ts')).toContain('@althing/node/src/a.ts: must not import @althing/client');
  });

  test("another package's inside is closed", () => {
    const rest = { dependencies: ['@althing/language'], references: ['@althing/language'] };
    expect(said('src/a.ts', "import { x } from '@althing/language/dist/ast.js';", rest)).toEqual([
      "@althing/engine/src/a.ts: '@althing/language/dist/ast.js' reaches into @althing/language; its only door is '@althing/language'",
    ]);
    expect(said('src/a.ts', "import { x } from '../../language/src/ast.js';")).toEqual([
      "@althing/engine/src/a.ts: '../../language/src/ast.js' reaches out of the package",
    ]);
    expect(said('src/b/a.ts', "import { x } from '../c/d.js';")).toEqual([]);
  });

  test('further doors are for those who have them in the table', () => {
    const raft: Package = { ...language, name: 'raft-ts' };
    const saidOf = (name: string): string[] => {
      const files = [{ path: 'src/a.test.ts', text: "import { Planter } from 'raft-ts/testing';" }];
      const item = { ...language, name, devDependencies: ['raft-ts'], references: ['raft-ts'], files };
      return packageProblems([raft, item], []);
    };
    expect(saidOf('@althing/verification')).toEqual([]);
    expect(saidOf('@althing/node')).toEqual([
      "@althing/node/src/a.test.ts: 'raft-ts/testing' reaches into raft-ts; its only door is 'raft-ts'",
    ]);
  });

  test('a package that nothing runs in production names all that it imports for development', () => {
    const files = [{ path: 'src/chaos/a.ts', text: "import { parse } from '@althing/engine';" }];
    const item = { ...language, name: '@althing/verification', references: ['@althing/engine'], files };
    expect(packageProblems([engine, { ...item, devDependencies: ['@althing/engine'] }], [])).toEqual([]);
    expect(packageProblems([engine, item], [])).toEqual([
      '@althing/verification: no package.json names @althing/engine for development',
    ]);
  });

  test('nobody imports what plays with nodes', () => {
    const verification: Package = { ...language, name: '@althing/verification' };
    for (const name of Object.keys(RULES)) {
      if (name === verification.name) continue;
      const files = [{ path: 'src/a.test.ts', text: "import { x } from '@althing/verification';" }];
      expect(packageProblems([verification, { ...language, name, files }], [])).toContain(
        `${name}/src/a.test.ts: must not import @althing/verification`,
      );
    }
  });

  test('only an example of a package may name the package itself', () => {
    const text = "import { run } from '@althing/engine';";
    expect(said('example/a.mjs', text)).toEqual([]);
    expect(said('src/a.ts', text)).toContain(
      "@althing/engine/src/a.ts: '@althing/engine' is the package itself",
    );
  });

  test('production code imports nothing that is for tests', () => {
    expect(said('src/a.ts', "import { x } from './testing/harness.js';")).toEqual([
      "@althing/engine/src/a.ts: './testing/harness.js' is for tests only",
    ]);
    expect(said('src/a.test.ts', "import { x } from './testing/harness.js';")).toEqual([]);
  });

  test('a package that does no I/O has few modules of Node.js, its tests have all', () => {
    expect(said('src/a.ts', "import { readFileSync } from 'node:fs';")).toEqual([
      "@althing/engine/src/a.ts: 'node:fs' is not for this package, which does no I/O",
    ]);
    expect(said('src/a.test.ts', "import { readFileSync } from 'node:fs';")).toEqual([]);
  });

  test('a manifest names what is imported', () => {
    expect(said('src/a.ts', "import { x } from 'left-pad';")).toEqual([
      '@althing/engine: package.json lacks the dependency left-pad',
    ]);
    expect(said('src/a.test.ts', "import { x } from 'left-pad';")).toEqual([
      '@althing/engine: no package.json names left-pad for development',
    ]);
    expect(said('src/a.test.ts', "import { x } from 'left-pad';", {}, ['left-pad'])).toEqual([]);
  });

  test('a manifest names nothing else', () => {
    expect(said('src/a.ts', '', { dependencies: ['left-pad'] })).toEqual([
      '@althing/engine: the dependency left-pad is not imported by what runs in production',
    ]);
    expect(said('src/a.ts', '', { devDependencies: ['left-pad'] })).toEqual([
      '@althing/engine: the devDependency left-pad is not imported',
    ]);
    expect(said('src/a.ts', '', {}, ['jest', 'left-pad'])).toEqual([
      "the root's devDependency left-pad is not imported",
    ]);
    expect(said('src/a.ts', '', { references: ['@althing/language'] })).toEqual([
      '@althing/engine: tsconfig.json refers to @althing/language, which is not imported',
    ]);
  });

  test('a bundle names what all that is in it needs, and ours for development', () => {
    const node: Package = {
      ...language,
      name: '@althing/node',
      dependencies: ['pino'],
      files: [{ path: 'src/a.ts', text: "import { pino } from 'pino';" }],
    };
    const cli: Package = {
      ...language,
      name: '@althing/cli',
      dependencies: ['commander', 'pino'],
      devDependencies: ['@althing/node'],
      references: ['@althing/node'],
      files: [
        {
          path: 'src/a.ts',
          text: "import { Command } from 'commander';\nimport { x } from '@althing/node';",
        },
      ],
    };
    expect(packageProblems([node, cli], [])).toEqual([]);
    expect(packageProblems([node, { ...cli, dependencies: ['commander', '@althing/node'] }], [])).toEqual([
      '@althing/cli: package.json lacks the dependency pino',
      '@althing/cli: the dependency @althing/node is not imported by what runs in production',
    ]);
    expect(packageProblems([node, { ...cli, devDependencies: [] }], [])).toEqual([
      '@althing/cli: no package.json names @althing/node for development',
    ]);
  });

  test('a package without a rule is refused', () => {
    const stranger: Package = { ...language, name: 'stranger', files: [{ path: 'src/index.ts', text: '' }] };
    expect(packageProblems([stranger], [])).toEqual(['stranger: no rule says what it may import']);
  });

  test('code of the language imports nothing', () => {
    expect(importsOf(`run('import("x")'); run("import('y')");`)).toEqual([]);
  });

  test('comments and texts import nothing', () => {
    expect(importsOf("// import 'a'\n/* import 'b' */\nconst text = 'import me from there';")).toEqual([]);
    expect(importsOf("import 'a';\nimport * as b from 'b';\nexport { c } from './c.js';")).toEqual([
      'b',
      './c.js',
      'a',
    ]);
  });

  test('files of development', () => {
    expect(isDevelopmentFile('src/list.test.ts')).toBe(true);
    expect(isDevelopmentFile('src/disk/disk.contract.ts')).toBe(true);
    expect(isDevelopmentFile('src/testing/harness.ts')).toBe(true);
    expect(isDevelopmentFile('generator/main.mjs')).toBe(true);
    expect(isDevelopmentFile('src/functions/list.ts')).toBe(false);
    expect(isDevelopmentFile('bin/althing.js')).toBe(false);
  });

  test('names of one machine are noticed', () => {
    const slash = '/';
    const found = (text: string): string[] => machineProblems({ path: 'a.md', text });
    expect(found(`see\n${slash}home/me/data`)).toEqual(['a.md:2: names a path of one machine']);
    expect(found(`"${slash}root/.npmrc"`)).toEqual(['a.md:1: names a path of one machine']);
    expect(found(`"resolved": "https://${'registry'}.example.com/a.tgz"`)).toEqual([
      'a.md:1: names the address of a registry',
    ]);
    expect(found('POST /t, packages/work/a.ts, http://127.0.0.1/root/x, ./tmp/x')).toEqual([]);
  });

  test('links, paths and scripts of a page are what it refers to', () => {
    const text =
      'See [a](../b.md#c), [d](https://e.f/g.md), [h](i/), `engine/src/j.ts`, `docs/k.md`, `l/m`, `o/p.ts`: `npm run n`.';
    expect(pageReferences({ path: 'docs/x.md', text })).toEqual({
      files: ['b.md', 'docs/i', 'packages/engine/src/j.ts', 'docs/k.md'],
      endings: ['engine/src/j.ts', 'o/p.ts'],
      scripts: ['n'],
    });
  });

  test('a lockfile knows all that may be needed', () => {
    const entry = { version: '1.0.0', integrity: 'sha512-AAAA' };
    const main = { ...entry, optionalDependencies: { b: '1.0.0', '@c/d': '1.0.0' } };
    expect(
      lockfileProblems({ packages: { 'node_modules/a': main, 'node_modules/a/node_modules/b': entry } }),
    ).toEqual(['package-lock.json: node_modules/a may need @c/d, which has no entry']);
  });

  test('every package of the lockfile has a hash', () => {
    const problem = ['package-lock.json: node_modules/a has no integrity'];
    const said = (entry: object): string[] => lockfileProblems({ packages: { 'node_modules/a': entry } });
    expect(said({ integrity: 'sha512-AAAA' })).toEqual([]);
    expect(said({ link: true })).toEqual([]);
    expect(said({})).toEqual(problem);
    expect(said({ integrity: 'sha1-AAAA' })).toEqual(problem);
    expect(said({ dev: true, optional: true, os: ['darwin'], cpu: ['arm64'] })).toEqual(problem);
  });
});

/** All packages, and the scripts, as they lie here. */
function projectPackages(): Package[] {
  const folders = manifestOf('.').workspaces as string[];
  return [...folders, SCRIPTS].map((folder): Package => {
    const manifest = folder === SCRIPTS ? {} : manifestOf(folder);
    return {
      name: folder === SCRIPTS ? SCRIPTS : String(manifest.name),
      dependencies: keysOf(manifest.dependencies),
      devDependencies: keysOf(manifest.devDependencies),
      references: referencesOf(folder),
      files: trackedFiles()
        .filter((path) => path.startsWith(`${folder}/`) && /\.(tsx?|mts|mjs|js)$/.test(path))
        .flatMap((path) => textOf(path))
        .map(({ path, text }) => ({ path: path.slice(folder.length + 1), text })),
    };
  });
}

function referencesOf(folder: string): string[] {
  const { references } = jsonOf(join(folder, 'tsconfig.json'));
  return ((references ?? []) as { path: string }[]).map(({ path }) =>
    String(manifestOf(join(folder, path)).name),
  );
}

/** The names between the braces of all places that a pattern finds. */
function namesIn(text: string, pattern: RegExp): string[] {
  const lists = [...text.matchAll(pattern)].map((match) => match[1] ?? '');
  const names = lists.join(',').split(',');
  return names
    .map((name) =>
      name
        .trim()
        .replace(/^type /, '')
        .replace(/ as .*/, ''),
    )
    .filter((name) => name !== '');
}

/** Packages that tests and tools of all packages may use. */
function sharedTools(): string[] {
  return keysOf(manifestOf('.').devDependencies);
}

let tracked: readonly string[] | undefined;

/** Files that belong to the project: tracked, or new and not ignored. */
function trackedFiles(): readonly string[] {
  tracked ??= execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  })
    .split('\0')
    .filter((path) => path !== '');
  return tracked;
}

/** The file as text; nothing when it is gone, a link to a folder, or no text. */
function textOf(path: string): SourceFile[] {
  const full = join(root, path);
  if (!existsSync(full) || !statSync(full).isFile()) return [];
  const text = readFileSync(full, 'utf8');
  return text.includes('\0') ? [] : [{ path, text }];
}

function manifestOf(folder: string): Readonly<Record<string, unknown>> {
  return jsonOf(join(folder, 'package.json'));
}

function jsonOf(path: string): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(readFileSync(join(root, path), 'utf8'));
  if (!isRecord(value)) throw new Error(`${path} is no JSON object`);
  return value;
}

function keysOf(value: unknown): string[] {
  return isRecord(value) ? Object.keys(value) : [];
}
