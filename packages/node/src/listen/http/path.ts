import { parseScopePath, type ScopeName } from '@althing/engine';

/** The target of a request. */
export type Path =
  | { readonly kind: 'scope'; readonly scope: ScopeName }
  /** A backup, or the restore of one. */
  | { readonly kind: 'transfer'; readonly transfer: Transfer }
  /** The welcome page. */
  | { readonly kind: 'root' }
  /** No path at all, or one whose percent-encoding can't be decoded. */
  | { readonly kind: 'malformed' }
  | { readonly kind: 'unknown' };

/** Transfers: the requests that are not to a scope. */
export type Transfer = 'backup' | 'restore';

const TRANSFERS: ReadonlyMap<string, Transfer> = new Map([
  ['/@backup', 'backup'],
  ['/@restore', 'restore'],
]);

/**
 * The target of a URL path: a scope in one of the spellings of `parseScopePath`, a backup or a restore
 * (`/@backup` and `/@restore` are no scopes), or the welcome page. Percent-encoding is decoded exactly once.
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
  const transfer = TRANSFERS.get(decoded);
  if (transfer !== undefined) return { kind: 'transfer', transfer };
  const scope = parseScopePath(decoded);
  return scope === null ? { kind: 'unknown' } : { kind: 'scope', scope };
}
