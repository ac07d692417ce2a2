import { parseScopePath, type ScopeName } from '@althing/engine';

/** The target of a request. */
export type Path =
  | { readonly kind: 'scope'; readonly scope: ScopeName }
  /** A backup, or the restore of one. */
  | ({ readonly kind: 'transfer' } & Transfer)
  /** The welcome page. */
  | { readonly kind: 'root' }
  /** No path at all, or one whose percent-encoding can't be decoded. */
  | { readonly kind: 'malformed' }
  | { readonly kind: 'unknown' };

/** Transfers: the requests that are not to a scope. */
export type Transfer =
  | { readonly transfer: 'backup' | 'restore' }
  | { readonly transfer: 'export' | 'import'; readonly collection: string };

/** The transfer that a path names; null when it names none. */
function transferOf(path: string): Transfer | null {
  if (path === '/@backup') return { transfer: 'backup' };
  if (path === '/@restore') return { transfer: 'restore' };
  for (const transfer of ['export', 'import'] as const) {
    const start = `/@${transfer}/`;
    if (!path.startsWith(start)) continue;
    const scope = parseScopePath(`//${path.slice(start.length)}`);
    return scope?.kind === 'collection' ? { transfer, collection: scope.name } : null;
  }
  return null;
}

/**
 * The target of a URL path: a scope in one of the spellings of `parseScopePath`, a backup, a restore,
 * an export or an import (`/@backup`, `/@restore`, `/@export/NAME` and `/@import/NAME` are no scopes), or the welcome page. Percent-encoding is decoded exactly once.
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
  const transfer = transferOf(decoded);
  if (transfer !== null) return { kind: 'transfer', ...transfer };
  const scope = parseScopePath(decoded);
  return scope === null ? { kind: 'unknown' } : { kind: 'scope', scope };
}
