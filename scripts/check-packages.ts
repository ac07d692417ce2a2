/**
 * The rules of how packages hang together: who may import whom, that a package is entered through its door only, and that
 * a manifest names exactly what the code needs. `docs/architecture.md` tells why.
 */

/** A package as it lies on disk. Paths are relative to the package's folder, with `/`. */
export interface Package {
  readonly name: string;
  readonly dependencies: readonly string[];
  readonly devDependencies: readonly string[];
  /** Names of the packages that its TypeScript project refers to. */
  readonly references: readonly string[];
  readonly files: readonly SourceFile[];
}

export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** Imports allowed to a package beside its own files and the packages of others that its manifest names. */
interface Rule {
  /** Packages of ours. */
  readonly packages: readonly string[];
  /** Packages of ours that only its tests, and what they need, may import beside those. */
  readonly forTests?: readonly string[];
  /** Modules of Node.js; undefined for all. A package that does no I/O lists the few that do none either. */
  readonly builtIns?: readonly string[];
  /**
   * True if it is packed as a bundle that holds the packages of ours that it imports. Its manifest then names them for
   * development, and as its own dependencies what all of them need of others.
   */
  readonly isBundled?: boolean;
  /** Doors of packages of ours beside their main ones that it may use. */
  readonly doors?: readonly string[];
  /** True if nothing of it runs in production. */
  readonly isForDevelopment?: boolean;
}

/** Helpers that the tests of a node share with all that play with nodes. */
const TESTING: readonly string[] = ['@althing/node/testing', '@althing/node/testing/needs'];

/** The tools of the project, in `scripts/`. They are a package here too, though it has no manifest but the root's. */
export const SCRIPTS = 'scripts';

/** The whole table. A package that is not in it may not be. */
export const RULES: Readonly<Record<string, Rule>> = {
  'raft-ts': { packages: [], builtIns: [] },
  '@althing/language': { packages: [], builtIns: [] },
  '@althing/regex': { packages: [], builtIns: [] },
  '@althing/datetime': { packages: [], builtIns: [] },
  '@althing/engine': {
    packages: ['@althing/language', '@althing/regex', '@althing/datetime'],
    builtIns: ['node:buffer', 'node:crypto', 'node:zlib'],
  },
  '@althing/storage': { packages: [], forTests: ['raft-ts'], doors: ['raft-ts/testing'] },
  '@althing/node': {
    packages: ['raft-ts', '@althing/language', '@althing/engine', '@althing/storage'],
    forTests: ['@althing/client'],
  },
  '@althing/client': { packages: [] },
  '@althing/cli': {
    packages: ['@althing/client', '@althing/console', '@althing/language', '@althing/node'],
    doors: ['@althing/client/changes', '@althing/node/testing/needs', '@althing/node/testing/secrets'],
    isBundled: true,
  },
  // Its page is packed into files by the build: nothing that it imports is needed to run.
  '@althing/console': { packages: ['@althing/client', '@althing/language'] },
  // Nobody imports it: it is in no list. It alone sees the parts of a node, and the bugs that can be planted in Raft and the stores.
  '@althing/verification': {
    packages: ['raft-ts', '@althing/engine', '@althing/storage', '@althing/node', '@althing/client'],
    doors: [
      'raft-ts/testing',
      '@althing/storage/testing',
      '@althing/client/changes',
      '@althing/client/parts',
      '@althing/node/parts',
      ...TESTING,
    ],
    isForDevelopment: true,
  },
  [SCRIPTS]: { packages: ['@althing/node'], doors: TESTING },
};

/** Packages in the root's manifest that commands run, the compiler reads, or an example is tested with. */
const TOOLS: readonly string[] = ['@biomejs/biome', '@types/node', 'jest', 'node-sqlite3-wasm', 'typescript'];

/**
 * Problems of the packages, one line each.
 *
 * @param shared what the root's manifest offers to the tests and tools of all packages
 */
export function packageProblems(packages: readonly Package[], shared: readonly string[]): string[] {
  const ours = new Set(packages.map(({ name }) => name));
  const imported = new Set(
    packages.flatMap(({ files }) => files.flatMap(({ text }) => importsOf(text).map(packageOf))),
  );
  return [
    ...packages.flatMap((item) => [
      ...item.files.flatMap((file) => importProblems(item, file, ours)),
      ...manifestProblems(item, packages, shared),
    ]),
    ...shared
      .filter((other) => !imported.has(other) && !TOOLS.includes(other))
      .map((other) => `the root's devDependency ${other} is not imported`),
  ];
}

/** The modules that a text imports or exports from, statically or dynamically. */
export function importsOf(text: string): string[] {
  const code = text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  const found = [
    ...code.matchAll(/^\s*(?:import|export)\b[^'";]*?\bfrom\s*['"]([^'"]+)['"]/gm),
    ...code.matchAll(/^\s*import\s*['"]([^'"]+)['"]/gm),
    // Behind a quote it is code of the language, which has a function of that name.
    ...code.matchAll(/(?<!['"`])\bimport\(\s*['"]([^'"]+)['"]\s*\)/g),
  ];
  return found.map((match) => match[1] ?? '');
}

/** Folders with nothing that runs in production, at any depth. */
const DEVELOPMENT_FOLDERS: ReadonlySet<string> = new Set([
  'bad-input',
  'bench',
  'example',
  'exploration',
  'generator',
  'testing',
  // The page of the console, which the build packs into files.
  'web',
]);

/** True if a file is not part of what runs in production: tests, what only they need, and tools. */
export function isDevelopmentFile(path: string): boolean {
  return (
    /(\.(test|contract)|(^|\/)testing)\.[mc]?[jt]s$/.test(path) ||
    path.split('/').some((part) => DEVELOPMENT_FOLDERS.has(part)) ||
    // Tools beside the code that they write.
    /^src\/.*\.mjs$/.test(path)
  );
}

function importProblems({ name, files }: Package, file: SourceFile, ours: ReadonlySet<string>): string[] {
  const rule = RULES[name];
  if (rule === undefined) return files[0] === file ? [`${name}: no rule says what it may import`] : [];
  const problems: string[] = [];
  const complain = (what: string): number => problems.push(`${name}/${file.path}: ${what}`);
  for (const module of importsOf(file.text)) {
    if (module.startsWith('.')) {
      if (leaves(file.path, module)) complain(`'${module}' reaches out of the package`);
      else if (isForTests(file.path, module)) complain(`'${module}' is for tests only`);
    } else if (module.startsWith('node:')) {
      if (isDevelopmentFile(file.path) || rule.builtIns === undefined || rule.builtIns.includes(module))
        continue;
      complain(`'${module}' is not for this package, which does no I/O`);
    } else {
      const other = packageOf(module);
      // An example says what its reader would write.
      if (!ours.has(other) || (module === name && file.path.startsWith('example/'))) continue;
      if (other !== module && !rule.doors?.includes(module))
        complain(`'${module}' reaches into ${other}; its only door is '${other}'`);
      if (other === name) complain(`'${module}' is the package itself`);
      else if (
        !rule.packages.includes(other) &&
        !(isDevelopmentFile(file.path) && rule.forTests?.includes(other))
      )
        complain(`must not import ${other}`);
    }
  }
  return problems;
}

/** The packages that a package imports, ours and others'. */
function usedBy(item: Package): { production: Set<string>; development: Set<string> } {
  const used = { production: new Set<string>(), development: new Set<string>() };
  for (const { path, text } of item.files) {
    const isForDevelopment = RULES[item.name]?.isForDevelopment === true || isDevelopmentFile(path);
    const kind = isForDevelopment ? used.development : used.production;
    for (const module of importsOf(text)) {
      const other = packageOf(module);
      if (!module.startsWith('.') && !module.startsWith('node:') && other !== item.name) kind.add(other);
    }
  }
  return used;
}

/** Dependencies of a bundle of a package: of ours nothing but for development, of others what all that is in it needs. */
function usedByBundle(item: Package, packages: readonly Package[]): ReturnType<typeof usedBy> {
  const { production, development } = usedBy(item);
  for (const name of production) {
    const other = packages.find((each) => each.name === name);
    if (other === undefined) continue;
    for (const each of usedBy(other).production) production.add(each);
  }
  for (const { name } of packages) {
    if (!production.delete(name)) continue;
    if (usedBy(item).production.has(name)) development.add(name);
  }
  return { production, development };
}

function manifestProblems(item: Package, packages: readonly Package[], shared: readonly string[]): string[] {
  const { name, dependencies, devDependencies, references } = item;
  const ours = new Set(packages.map((each) => each.name));
  const used = RULES[name]?.isBundled === true ? usedByBundle(item, packages) : usedBy(item);
  const problems: string[] = [];
  const needOurs = [...used.production, ...used.development].filter((other) => ours.has(other));
  for (const other of new Set([...needOurs, ...references])) {
    if (!references.includes(other)) problems.push(`${name}: tsconfig.json lacks a reference to ${other}`);
    else if (!needOurs.includes(other))
      problems.push(`${name}: tsconfig.json refers to ${other}, which is not imported`);
  }
  if (name === SCRIPTS) {
    const wanted = [...used.production, ...used.development].filter((other) => !ours.has(other));
    return [...problems, ...wanted.filter((other) => !shared.includes(other)).map(lacking(name))];
  }
  for (const other of used.production) {
    if (!dependencies.includes(other)) problems.push(`${name}: package.json lacks the dependency ${other}`);
  }
  const forTests = [...devDependencies, ...dependencies, ...shared];
  problems.push(...[...used.development].filter((other) => !forTests.includes(other)).map(lacking(name)));
  for (const other of dependencies) {
    if (!used.production.has(other))
      problems.push(`${name}: the dependency ${other} is not imported by what runs in production`);
  }
  for (const other of devDependencies) {
    if (!used.development.has(other)) problems.push(`${name}: the devDependency ${other} is not imported`);
  }
  return problems;
}

function lacking(name: string): (other: string) => string {
  return (other) => `${name}: no package.json names ${other} for development`;
}

/** `@a/b/c` and `a/b` without what stands behind the package's name. */
function packageOf(module: string): string {
  return module
    .split('/')
    .slice(0, module.startsWith('@') ? 2 : 1)
    .join('/');
}

function leaves(path: string, module: string): boolean {
  let depth = path.split('/').length - 1;
  for (const part of module.split('/')) {
    if (part === '..') depth--;
    else if (part !== '.') depth++;
    if (depth < 0) return true;
  }
  return false;
}

function isForTests(path: string, module: string): boolean {
  return (
    !isDevelopmentFile(path) && isDevelopmentFile(module.replace(/\.js$/, '.ts').replace(/^(\.\.?\/)+/, ''))
  );
}

/** A place where a text names something that is only so on one machine. */
const MACHINE = [
  { what: 'a path of one machine', pattern: /(?<![\w.@:/-])\/(?:work|root|home|tmp|Users)\/[\w.-]/ },
  {
    what: 'the address of a registry',
    pattern: /\bregistry\.[a-z0-9-]+\.[a-z]|\/\/[^/\s"']*(?:npmjs|yarnpkg|artifactory|verdaccio|nexus)\b/,
  },
  { what: 'credentials of a registry', pattern: /_auth(?:Token)?\s*=/ },
] as const;

/** Names in a tracked file that exist on one machine only: line by line. */
export function machineProblems({ path, text }: SourceFile): string[] {
  const lines = text.split('\n');
  return MACHINE.flatMap(({ what, pattern }) =>
    lines.flatMap((line, i) => (pattern.test(line) ? [`${path}:${i + 1}: names ${what}`] : [])),
  );
}

/** References of a page (Markdown) that could be broken: files of the project, and scripts of the root's manifest. */
export function pageReferences({ path, text }: SourceFile): PageReferences {
  const folder = path.split('/').slice(0, -1);
  const links = [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map((match) => match[1] ?? '');
  const quoted = [...text.matchAll(/`([\w.-]+\/[\w./-]*[\w-])`/g)].map((match) => match[1] ?? '');
  const named = quoted.flatMap((name) => {
    if (/^(packages|scripts|docs|deploy)\//.test(name)) return [name];
    return /^(raft-ts|language|engine|storage|node|client|cli|verification)\/(src|generator|bench)\//.test(
      name,
    )
      ? [`packages/${name}`]
      : [];
  });
  return {
    files: [
      ...links.filter((link) => !/^[a-z]+:/.test(link)).map((link) => joined(folder, link)),
      ...named.filter((name) => !name.includes('/dist')),
    ],
    endings: quoted.filter((name) => /\.(ts|tsx|mjs)$/.test(name)),
    scripts: [...text.matchAll(/\bnpm run ([a-z-]+)/g)].map((match) => match[1] ?? ''),
  };
}

interface PageReferences {
  readonly files: string[];
  /** Ends of the paths of files of code. */
  readonly endings: string[];
  readonly scripts: string[];
}

function joined(folder: readonly string[], link: string): string {
  const parts = [...folder];
  for (const part of link.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.' && part !== '') parts.push(part);
  }
  return parts.join('/');
}

/**
 * Gaps of a lockfile: packages that it knows by name only, so that `npm ci` would ask the registry what they are, and
 * packages without a hash, binaries for machines of other kinds included.
 */
export function lockfileProblems(lock: unknown): string[] {
  const packages = isRecord(lock) && isRecord(lock.packages) ? lock.packages : {};
  const known = new Set(Object.keys(packages).map((path) => path.replace(/^.*node_modules\//, '')));
  return Object.entries(packages).flatMap(([path, entry]) => {
    if (!isRecord(entry)) return [];
    const optional = isRecord(entry.optionalDependencies) ? entry.optionalDependencies : {};
    const missing = Object.keys(optional).filter((name) => !known.has(name));
    const problems = missing.map((name) => `package-lock.json: ${path} may need ${name}, which has no entry`);
    const isOurs = !path.includes('node_modules/') || entry.link === true;
    const isHashed = typeof entry.integrity === 'string' && entry.integrity.startsWith('sha512-');
    if (!isOurs && !isHashed) problems.push(`package-lock.json: ${path} has no integrity`);
    return problems;
  });
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
