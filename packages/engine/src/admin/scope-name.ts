import { type QueryError, valueError } from '../error.js';
import { NAME } from '../schema/name.js';

/** A scope as it is written: which kind, and which node or collection. */
export type ScopeName =
  | { readonly kind: 'thingsdb' }
  /** Its number or its name; null: the node that the client talks to. */
  | { readonly kind: 'node'; readonly id: number | string | null }
  | { readonly kind: 'collection'; readonly name: string };

/** The name of a node, which is a host name or an IP address. */
const NODE_NAME = /^[A-Za-z0-9_:][A-Za-z0-9_.:-]{0,254}$/;

/** Numbers of nodes that a scope can name. */
export const NODE_NUMBER_MAX = 63;

/**
 * Reads a scope as functions take it: in the notation of the language (`@thingsdb`, `/t`, `@node:1`, `@node:NAME`, `/n`, `@:stuff`,
 * `//stuff`, ...: the marker `@` goes with the separator `:`, the marker `/` with `/`, and words may be shortened), in
 * any spelling that a URL path has, and `.node` also without a slash.
 *
 * @throws QueryError value_err
 */
export function parseScope(text: string): ScopeName {
  const scope = inNotation(text) ?? parseScopePath(text.startsWith('.') ? `/${text}` : text);
  if (scope === null) throw invalidScope(text);
  return scope;
}

const ROOT_WORDS = new Set(['t', 'thingsdb', '@t', '@thingsdb']);
const NODE_WORDS = new Set(['n', 'node', '.node', '@n', '@node']);

/**
 * The scope that a URL path names; null when it names none. Besides the spellings of the language with `/` there are
 * those with `@` behind the slash (`/@t`, `/@:stuff`, `/@collection:stuff`), `/.node`, and a bare `/stuff`, which is the
 * collection `stuff` unless it spells root or node.
 */
export function parseScopePath(path: string): ScopeName | null {
  if (!path.startsWith('/')) return null;
  const rest = path.slice(1);
  if (ROOT_WORDS.has(rest)) return { kind: 'thingsdb' };
  if (NODE_WORDS.has(rest)) return { kind: 'node', id: null };
  if (rest.startsWith('@')) return inNotation(rest);
  if (rest.startsWith('.node/')) return inNotation(`/${rest.slice(1)}`);
  if (rest.includes('/')) return inNotation(path);
  // Longer prefixes of the words, such as /th and /nod, are names of collections here.
  return inNotation(`//${rest}`);
}

/** A scope in the notation of the language; null for what is none. */
function inNotation(text: string): ScopeName | null {
  const marker = text[0];
  if (marker !== '@' && marker !== '/') return null;
  const separator = marker === '@' ? ':' : '/';
  const at = text.indexOf(separator, 1);
  return at < 0 ? scopeOf(text.slice(1), null) : scopeOf(text.slice(1, at), text.slice(at + 1));
}

function scopeOf(word: string, rest: string | null): ScopeName | null {
  if (rest === null) {
    if (isPrefix(word, 'thingsdb')) return { kind: 'thingsdb' };
    return isPrefix(word, 'node') ? { kind: 'node', id: null } : null;
  }
  if (word === '' || isPrefix(word, 'collection')) {
    return NAME.test(rest) ? { kind: 'collection', name: rest } : null;
  }
  if (!isPrefix(word, 'node')) return null;
  if (rest === '') return { kind: 'node', id: null };
  if (/^[0-9]+$/.test(rest))
    return Number(rest) <= NODE_NUMBER_MAX ? { kind: 'node', id: Number(rest) } : null;
  return NODE_NAME.test(rest) ? { kind: 'node', id: rest } : null;
}

function isPrefix(word: string, whole: string): boolean {
  return word !== '' && whole.startsWith(word);
}

/** The value_err for a text that is no scope. A name alone is taken for that of a collection, and so is one behind a single slash. */
export function invalidScope(text: string): QueryError {
  const shown = JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}...` : text);
  const [, name = 'NAME'] = /^\/?([A-Za-z_][A-Za-z0-9_]{0,59})$/.exec(text) ?? [];
  return valueError(
    `${shown} is no scope: write //${name} for a collection, /t for @thingsdb, /n for this node`,
  );
}
