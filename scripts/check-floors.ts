/**
 * The rules of how the folders of the package `node` hang together: each stands on a floor and imports from floors below
 * alone, the two sides of `between` know nothing of each other, no folders import each other in a circle, and each has a
 * page whose first lines tell what it is for and in which thread it runs. `docs/architecture.md` draws the floors.
 */
import { importsOf, isDevelopmentFile, type SourceFile } from './check-packages.js';

const CONFIG: readonly string[] = ['config'];
const TELEMETRY = [...CONFIG, 'telemetry'];
const BASE = [...TELEMETRY, 'base'];
const BETWEEN = [...BASE, 'between'];
const PEERS = [...BETWEEN, 'peers'];
const CONSENSUS = [...PEERS, 'consensus'];
const CALLS = [...BETWEEN, 'calls'];
const GROUPS = [...CALLS, 'groups'];
const MEMBERS = [...GROUPS, 'members'];
const STATE = [...MEMBERS, 'state'];
const BACKUP = [...STATE, 'backup'];
const REQUESTS = [...BACKUP, 'requests'];
const EVENTS = [...REQUESTS, 'events'];
const FEED = [...EVENTS, 'feed'];
const LISTEN = [...FEED, 'listen'];

/** Imports allowed to the files of each folder of `packages/node/src`, at any depth. A folder that is not here may not be. */
export const FLOORS: Readonly<Record<string, readonly string[]>> = {
  config: [],
  telemetry: CONFIG,
  base: TELEMETRY,
  between: BASE,
  // The consensus thread.
  peers: BETWEEN,
  consensus: PEERS,
  // The engine thread.
  modules: BASE,
  calls: BETWEEN,
  groups: CALLS,
  members: GROUPS,
  state: MEMBERS,
  backup: STATE,
  requests: BACKUP,
  events: REQUESTS,
  feed: GROUPS,
  'engine-side': FEED,
  readers: REQUESTS,
  listen: FEED,
  // Sees both sides.
  operate: [...new Set([...LISTEN, 'engine-side', 'modules', 'readers', ...CONSENSUS])],
};

/** First lines of the page of a folder. */
const PAGE = /^# (\S+)\n\nThread: (?:engine|consensus|both|none)\. \S/;

/**
 * Breaches of the floors, one line each.
 *
 * @param files all of the package's, by their path in its folder `src`; tests, tools and what only they need count for nothing
 * @param floors which folders each may import from
 */
export function floorProblems(
  files: readonly SourceFile[],
  floors: Readonly<Record<string, readonly string[]>> = FLOORS,
): string[] {
  const sources = files.filter(({ path }) => path.endsWith('.ts') && !isDevelopmentFile(path));
  const folders = new Set(sources.map(({ path }) => folderOf(path)).filter((folder) => folder !== ''));
  const links = sources.flatMap(({ path, text }) =>
    importsOf(text)
      .filter((module) => module.startsWith('.'))
      .map((module) => ({ from: path, to: joined(folderOf(path), module) })),
  );
  return [
    ...[...folders].filter((folder) => floors[floorOf(folder)] === undefined).map(noFloor),
    ...links.flatMap((link) => linkProblem(link, floors)),
    ...circleProblems(links),
    ...[...folders].flatMap((folder) => pageProblem(folder, files)),
  ];
}

interface Link {
  /** A file. */
  readonly from: string;
  /** Paths that it imports from, without their endings. */
  readonly to: string;
}

function noFloor(folder: string): string {
  return `${folder}: stands on no floor`;
}

/** Files that lie in no folder put everything together: they may import anything, and nothing may import them. */
function linkProblem({ from, to }: Link, floors: Readonly<Record<string, readonly string[]>>): string[] {
  const [upper, lower] = [floorOf(folderOf(from)), floorOf(folderOf(to))];
  if (upper === '' || upper === lower) return [];
  if (lower === '') return [`${from}: imports ${to}, which is above every floor`];
  const isBelow = floors[upper]?.includes(lower) ?? true;
  return isBelow ? [] : [`${from}: imports ${to}, and ${lower} is not below ${upper}`];
}

/** Circles of folders at any depth. */
function circleProblems(links: readonly Link[]): string[] {
  const below = new Map<string, Set<string>>();
  for (const link of links) {
    const [from, to] = [folderOf(link.from), folderOf(link.to)];
    if (from === to) continue;
    below.set(from, (below.get(from) ?? new Set()).add(to));
  }
  const reaches = (from: string, goal: string, seen: Set<string>): boolean => {
    for (const next of below.get(from) ?? []) {
      if (next === goal) return true;
      if (seen.has(next)) continue;
      seen.add(next);
      if (reaches(next, goal, seen)) return true;
    }
    return false;
  };
  const folders = [...below.keys()].sort().filter((folder) => reaches(folder, folder, new Set()));
  return folders.length === 0 ? [] : [`these import each other in a circle: ${folders.join(', ')}`];
}

function pageProblem(folder: string, files: readonly SourceFile[]): string[] {
  const page = files.find(({ path }) => path === `${folder}/README.md`);
  if (page === undefined) return [`${folder}: no README.md tells what it is for`];
  const named = PAGE.exec(page.text)?.[1];
  return named === folder
    ? []
    : [
        `${folder}/README.md: begins otherwise than "# ${folder}", an empty line, "Thread: ..." and what it is for`,
      ];
}

function folderOf(path: string): string {
  return path.split('/').slice(0, -1).join('/');
}

function floorOf(folder: string): string {
  return folder.split('/')[0] ?? '';
}

function joined(folder: string, module: string): string {
  const parts = folder === '' ? [] : folder.split('/');
  for (const part of module.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.') parts.push(part);
  }
  return parts.join('/');
}
