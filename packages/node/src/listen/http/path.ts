import { parseScopePath, type ScopeName } from '@althing/engine';
import type { ImportedTasks } from '../../backup/import-run.js';

/** The target of a request. */
export type Path =
  | { readonly kind: 'scope'; readonly scope: ScopeName }
  /** A backup, or the restore of one. */
  | ({ readonly kind: 'transfer' } & Transfer)
  /** The sessions of the user: see `session-door.ts`. */
  | { readonly kind: 'session' }
  /** The changes of a collection: see `feed-door.ts`. */
  | { readonly kind: 'changes'; readonly collection: string }
  /** The welcome page. */
  | { readonly kind: 'root' }
  /** No path at all, or one whose percent-encoding can't be decoded. */
  | { readonly kind: 'malformed' }
  | { readonly kind: 'unknown' };

/** Transfers: the requests that are not to a scope. */
export type Transfer =
  | { readonly transfer: 'backup' | 'restore' }
  | { readonly transfer: 'export'; readonly collection: string }
  | {
      readonly transfer: 'import';
      readonly collection: string;
      readonly tasks: ImportedTasks;
      /** The digest of the file, for going on with its import. */
      readonly digest: string | null;
    };

/** The transfer that a path names; null when it names none. */
function transferOf(path: string): Transfer | null {
  if (path === '/@backup') return { transfer: 'backup' };
  if (path === '/@restore') return { transfer: 'restore' };
  const [, transfer, name = '', option, digest = null] =
    /^\/@(export|import)\/([^/]*)(?:\/(import_tasks|owned_tasks))?(?:\/([0-9a-f]{64}))?$/.exec(path) ?? [];
  const scope = parseScopePath(`//${name}`);
  if (scope?.kind !== 'collection') return null;
  const { name: collection } = scope;
  if (transfer === 'import') return { transfer, collection, tasks: tasksOf(option), digest };
  return transfer === 'export' && option === undefined && digest === null ? { transfer, collection } : null;
}

function tasksOf(option: string | undefined): ImportedTasks {
  if (option === undefined) return 'none';
  return option === 'import_tasks' ? 'of importer' : 'of owners';
}

/** Paths that are remembered at most, and how long one of them may be. */
const REMEMBERED_MAX = 1000;
const REMEMBERED_LENGTH_MAX = 256;

/** Reads paths, and remembers those of scopes: clients ask the same few again and again. */
export class Paths {
  private readonly known = new Map<string, Path>();
  private lastText = '';
  private last: Path = { kind: 'malformed' };

  /** As `parsePath`. */
  parse(path: string): Path {
    if (path === this.lastText) return this.last;
    let parsed = this.known.get(path);
    if (parsed === undefined) {
      parsed = parsePath(path);
      if (parsed.kind !== 'scope' || path.length > REMEMBERED_LENGTH_MAX) return parsed;
      if (this.known.size >= REMEMBERED_MAX) this.known.clear();
      this.known.set(path, parsed);
    }
    this.lastText = path;
    this.last = parsed;
    return parsed;
  }
}

/**
 * The target of a URL path: a scope in one of the spellings of `parseScopePath`, a backup, a restore,
 * an export or an import, changes, sessions (`/@backup`, `/@restore`, `/@session`, `/@changes/NAME`, `/@export/NAME`, `/@import/NAME`, and the latter with `/import_tasks` or `/owned_tasks` and a digest, are no scopes), or the welcome page. Percent-encoding is decoded exactly once.
 */
export function parsePath(path: string): Path {
  if (path === '/') return { kind: 'root' };
  if (!path.startsWith('/')) return { kind: 'malformed' };
  let decoded = path;
  if (path.includes('%')) {
    try {
      decoded = decodeURIComponent(path);
    } catch {
      return { kind: 'malformed' };
    }
  }
  if (decoded === '/@session') return { kind: 'session' };
  const followed = /^\/@changes\/([^/]*)$/.exec(decoded)?.[1];
  const collection = followed === undefined ? null : parseScopePath(`//${followed}`);
  if (collection?.kind === 'collection') return { kind: 'changes', collection: collection.name };
  const transfer = transferOf(decoded);
  if (transfer !== null) return { kind: 'transfer', ...transfer };
  const scope = parseScopePath(decoded);
  return scope === null ? { kind: 'unknown' } : { kind: 'scope', scope };
}
