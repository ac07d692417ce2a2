import { parseScope, QueryError, type ScopeName } from '@althing/engine';

/** What a request line asks for. */
export type Path =
  | { readonly kind: 'scope'; readonly scope: ScopeName }
  /** A backup, or the restore of one. */
  | { readonly kind: 'transfer'; readonly transfer: Transfer }
  /** The welcome page. */
  | { readonly kind: 'root' }
  /** No path at all, or one whose percent-encoding can't be decoded. */
  | { readonly kind: 'malformed' }
  | { readonly kind: 'unknown' };

/** What goes over the API that is no request to a scope. */
export type Transfer = 'backup' | 'restore';

const TRANSFERS: ReadonlyMap<string, Transfer> = new Map([
  ['/@backup', 'backup'],
  ['/@restore', 'restore'],
]);

const ROOT_WORDS = new Set(['t', 'thingsdb', '@t', '@thingsdb']);
const NODE_WORDS = new Set(['n', 'node', '.node', '@n', '@node']);

/**
 * The scope that a URL path names. Besides the spellings of the language with `/` (`/t`, `//stuff`, `/c/stuff`,
 * `/node/2`) there are those with `@` behind the slash (`/@t`, `/@:stuff`, `/@collection:stuff`), and a bare `/stuff`
 * is the collection `stuff` unless it spells root or node. `/@backup` and `/@restore` are none. Percent-encoding is decoded
 * exactly once.
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
  const scope = scopeOf(decoded);
  return scope === null ? { kind: 'unknown' } : { kind: 'scope', scope };
}

function scopeOf(path: string): ScopeName | null {
  const rest = path.slice(1);
  if (ROOT_WORDS.has(rest)) return { kind: 'thingsdb' };
  if (NODE_WORDS.has(rest)) return { kind: 'node', id: null };
  if (rest.startsWith('@')) return parsed(rest);
  if (rest.startsWith('.node/')) return parsed(`/${rest.slice(1)}`);
  if (rest.includes('/')) return parsed(path);
  // Longer prefixes of the words, such as /th and /nod, are names of collections here.
  return parsed(`//${rest}`);
}

function parsed(text: string): ScopeName | null {
  try {
    return parseScope(text);
  } catch (error) {
    if (error instanceof QueryError) return null;
    throw error;
  }
}
