/**
 * The rules of how the folders of the package `engine` hang together: value, schema, state, admin, run, functions, calls, each of
 * which imports what lies below it, and pack beside run. `docs/architecture.md` draws them.
 *
 * Only imports that are there when the program runs count: an import of types alone is gone by then. A value knows the type of its type, and
 * that is declared above it; such imports are listed here too.
 */
import { isDevelopmentFile, type SourceFile } from './check-packages.js';

interface Floor {
  /** Folders below it. */
  readonly below: readonly string[];
  /** Folders and files beside and above it of which it knows types. */
  readonly types?: readonly string[];
}

/** Imports allowed to the files of each folder of `packages/engine/src`. A folder that is not here may not be. */
export const ENGINE_FLOORS: Readonly<Record<string, Floor>> = {
  value: { below: [], types: ['schema', 'run/unit'] },
  schema: { below: ['value'] },
  state: { below: ['value', 'schema'] },
  admin: { below: ['value', 'schema', 'state'] },
  pack: { below: ['value', 'schema', 'state', 'admin'] },
  run: { below: ['value', 'schema', 'state', 'admin'], types: ['pack'] },
  thingsdb: { below: ['value', 'schema', 'state', 'admin', 'pack'] },
  functions: { below: ['value', 'schema', 'state', 'admin', 'pack', 'run', 'thingsdb'] },
  calls: { below: ['value', 'schema', 'state', 'admin', 'pack', 'run', 'functions'] },
};

/** Files below all folders, for everybody. Others that lie in no folder put all together, and are imported by none. */
const GROUND: readonly string[] = [
  'bytes',
  'environment',
  'error',
  'get-or-insert',
  'node-view',
  'sharded-map',
  'user-shares',
];

/**
 * Breaches of the floors, one line each.
 *
 * @param files all of the package's, by their path in its folder `src`; tests and what only they need count for nothing
 */
export function engineFloorProblems(
  files: readonly SourceFile[],
  floors: Readonly<Record<string, Floor>> = ENGINE_FLOORS,
): string[] {
  const links = files
    .filter(({ path }) => path.endsWith('.ts') && !isDevelopmentFile(path))
    .flatMap(({ path, text }) => linksOf(path.replace(/\.ts$/, ''), text));
  return [...links.flatMap((link) => linkProblem(link, floors)), ...circleProblems(links)];
}

interface Link {
  /** Files, without knowing how they end. */
  readonly from: string;
  readonly to: string;
  /** True if nothing of it is left when the program runs. */
  readonly isType: boolean;
}

function linksOf(from: string, text: string): Link[] {
  const statements = text.matchAll(
    /^(?:import|export)\s+(type\s+)?([^'";]*?)\s*(?:from\s*)?'(\.[^']*)\.js';/gm,
  );
  return Array.from(statements, ([, type, names = '', module = '']) => {
    const listed = /^\{([^}]*)\}$/.exec(names)?.[1]?.split(',') ?? [];
    const all = listed.map((name) => name.trim()).filter((name) => name !== '');
    const isType = type !== undefined || (all.length > 0 && all.every((name) => name.startsWith('type ')));
    return { from, to: joined(from, module), isType };
  });
}

function linkProblem({ from, to, isType }: Link, floors: Readonly<Record<string, Floor>>): string[] {
  const [upper, lower] = [floorOf(from), floorOf(to)];
  if (upper === '') {
    return GROUND.includes(from) && lower !== '' && !isType
      ? [`${from}: imports ${to}, and is below all folders`]
      : [];
  }
  const floor = floors[upper];
  if (floor === undefined) return [`${from}: ${upper} stands on no floor`];
  if (upper === lower || GROUND.includes(to) || floor.below.includes(lower)) return [];
  if (isType && (floor.types ?? []).some((known) => known === lower || known === to)) return [];
  return [`${from}: imports ${isType ? 'types of ' : ''}${to}, which is not below ${upper}`];
}

/** Files that import each other in a circle: which of them is complete first would be decided by who imports them. */
function circleProblems(links: readonly Link[]): string[] {
  const below = new Map<string, string[]>();
  for (const { from, to, isType } of links) {
    if (!isType) below.set(from, [...(below.get(from) ?? []), to]);
  }
  const done = new Set<string>();
  const problems: string[] = [];
  const visit = (file: string, path: readonly string[]): void => {
    const at = path.indexOf(file);
    if (at >= 0) problems.push(`these import each other in a circle: ${path.slice(at).join(', ')}`);
    if (at >= 0 || done.has(file)) return;
    for (const next of below.get(file) ?? []) visit(next, [...path, file]);
    done.add(file);
  };
  for (const file of [...below.keys()].sort()) visit(file, []);
  return problems;
}

function floorOf(file: string): string {
  return file.includes('/') ? (file.split('/')[0] ?? '') : '';
}

function joined(from: string, module: string): string {
  const parts = from.split('/').slice(0, -1);
  for (const part of module.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.') parts.push(part);
  }
  return parts.join('/');
}
