/**
 * The version of Althing, wherever the project names it. All packages have one version, which moves as a whole: in the
 * manifests and in what they say of each other, in the lockfile, in the names of images, and in the changelog.
 */
import { isRecord } from '../check-packages.js';

/** A file's path in the project, with `/`, and its text. */
export interface TextFile {
  readonly path: string;
  readonly text: string;
}

/** A version that can't be released, or a file that is not as it has to be. */
export class ReleaseError extends Error {}

/** Files beside manifests, lockfile and changelog that name the version, in one of the forms of {@link mentions}. */
export const TEXTS: readonly string[] = [
  'Dockerfile',
  'docker-compose.yml',
  'docker-compose.tls.yml',
  'deploy/helm/althing/Chart.yaml',
  'deploy/kubernetes/base/kustomization.yaml',
  'deploy/kubernetes/components/backup/kustomization.yaml',
  'docs/docker.md',
  'docs/kubernetes.md',
  'docs/shell.md',
  'examples/copy/package.json',
  'examples/typescript/package.json',
  'packages/raft-ts/README.md',
];

export const MANIFEST = 'package.json';
export const LOCKFILE = 'package-lock.json';
export const CHANGELOG = 'CHANGELOG.md';

/** The version that a manifest names. */
export function versionOf(manifest: string): string {
  const { version } = recordOf(JSON.parse(manifest), MANIFEST);
  if (typeof version !== 'string') throw new ReleaseError(`${MANIFEST} names no version`);
  return version;
}

/** The folders of the packages, from the root's manifest. */
export function foldersOf(manifest: string): string[] {
  const { workspaces } = recordOf(JSON.parse(manifest), MANIFEST);
  if (!Array.isArray(workspaces)) throw new ReleaseError(`${MANIFEST} names no workspaces`);
  return workspaces.map(String);
}

/** All places where a text names a version of Althing: `[before, version, after]`. */
export function mentions(version: string): RegExp {
  const exact = version.replaceAll('.', '\\.');
  const before = [
    'althing[:-]',
    '^Althing ',
    'raft-ts-',
    '"@althing/client": "',
    'ARG VERSION=',
    'newTag: "?',
    '^version: "?',
    '^appVersion: "?',
  ].join('|');
  return new RegExp(`(${before})(${exact})(?![\\w-])`, 'gm');
}

/**
 * Gives the files as they are once a version is released, or once work on it begins: then it ends with `-dev`, and the changelog stays.
 *
 * @param files all manifests, the lockfile, the changelog, and {@link TEXTS}
 * @param date  the day of the release, as 2026-01-31
 * @throws {ReleaseError} when the version is none, is not above the present one, or the changelog tells nothing of it
 */
export function released(files: readonly TextFile[], version: string, date: string): TextFile[] {
  const root = files.find(({ path }) => path === MANIFEST);
  if (root === undefined) throw new ReleaseError(`there is no ${MANIFEST}`);
  const present = versionOf(root.text);
  if (compare(version, present) <= 0)
    throw new ReleaseError(`the version is ${present}; ${version} is not above it`);
  const ours = new Set(
    files
      .filter(({ path }) => path.endsWith(MANIFEST))
      .map(({ text }) => String(recordOf(JSON.parse(text)).name)),
  );
  return files.map(({ path, text }) => {
    if (path === LOCKFILE) return { path, text: lockfile(text, version, ours) };
    if (path === CHANGELOG)
      return { path, text: version.endsWith(BEGUN) ? text : changelog(text, version, date) };
    if (path.endsWith(MANIFEST))
      return { path, text: json(moved(recordOf(JSON.parse(text), path), version, ours)) };
    const next = text.replaceAll(mentions(present), `$1${version}`);
    if (next === text) throw new ReleaseError(`${path} does not name version ${present}`);
    return { path, text: next };
  });
}

/** A manifest, or what the lockfile has of one, with the version as its own and as that of every package of ours. */
function moved(manifest: Readonly<Record<string, unknown>>, version: string, ours: ReadonlySet<string>) {
  return Object.fromEntries(
    Object.entries(manifest).map(([key, value]) => {
      if (key === 'version') return [key, version];
      if (!/^(?:dev|peer|optional)?dependencies$/i.test(key) || !isRecord(value)) return [key, value];
      const pinned = Object.entries(value).map(([name, range]) => [name, ours.has(name) ? version : range]);
      return [key, Object.fromEntries(pinned)];
    }),
  );
}

function lockfile(text: string, version: string, ours: ReadonlySet<string>): string {
  const lock = recordOf(JSON.parse(text), LOCKFILE);
  const packages = recordOf(lock.packages, LOCKFILE);
  const entries = Object.entries(packages).map(([path, entry]) => {
    const isOurs = !path.includes('node_modules/');
    return [path, isOurs ? moved(recordOf(entry, LOCKFILE), version, ours) : entry];
  });
  return json({ ...lock, version, packages: Object.fromEntries(entries) });
}

/** Gives unreleased changes the version as their heading, below an empty section for later ones. */
function changelog(text: string, version: string, date: string): string {
  const match = /^## Unreleased\n([\s\S]*?)(?=^## |(?![\s\S]))/m.exec(text);
  if (match === null) throw new ReleaseError(`${CHANGELOG} has no section "## Unreleased"`);
  if (match[1]?.trim() === '') throw new ReleaseError(`${CHANGELOG} tells nothing under "## Unreleased"`);
  const heading = '## Unreleased\n';
  return text.replace(heading, () => `${heading}\n## ${version} (${date})\n`);
}

/** The end of the version that main has between the last release and the next one. */
export const BEGUN = '-dev';

/** Below, equal or above zero as the first version is below, equal or above the second. */
function compare(first: string, second: string): number {
  const [a, b] = [numbersOf(first), numbersOf(second)];
  for (let i = 0; i < 4; i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function numbersOf(version: string): number[] {
  if (!/^(?:0|[1-9]\d{0,5})(?:\.(?:0|[1-9]\d{0,5})){2}(?:-dev)?$/.test(version)) {
    throw new ReleaseError(`${JSON.stringify(version)} is no version; write it like 1.2.3`);
  }
  return [...version.replace(BEGUN, '').split('.').map(Number), version.endsWith(BEGUN) ? 0 : 1];
}

function recordOf(value: unknown, path = MANIFEST): Readonly<Record<string, unknown>> {
  if (!isRecord(value)) throw new ReleaseError(`${path} is no JSON object`);
  return value;
}

/** As npm writes it. */
function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
