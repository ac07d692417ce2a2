import { type QueryError, valueError } from '../error.js';

/** A scope as it is written: which kind, and which node or collection. */
export type ScopeName =
  | { readonly kind: 'thingsdb' }
  | { readonly kind: 'node' /** null: the node that the client talks to */; readonly id: number | null }
  | { readonly kind: 'collection'; readonly name: string };

export const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,254}$/;

/** Numbers of nodes that a scope can name. */
export const NODE_NUMBER_MAX = 63;

/**
 * Reads a scope in the notation of the language: `@thingsdb`, `/t`, `@node:1`, `/n`, `@:stuff`, `//stuff`, ... The
 * marker `@` goes with the separator `:`, the marker `/` with `/`; words may be shortened.
 *
 * @throws QueryError value_err
 */
export function parseScope(text: string): ScopeName {
  const marker = text[0];
  if (marker === '@' || marker === '/') {
    const separator = marker === '@' ? ':' : '/';
    const at = text.indexOf(separator, 1);
    const word = at < 0 ? text.slice(1) : text.slice(1, at);
    const rest = at < 0 ? null : text.slice(at + 1);
    const scope = scopeOf(word, rest);
    if (scope !== null) return scope;
  }
  throw invalidScope(text);
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
  return /^[0-9]+$/.test(rest) && Number(rest) <= NODE_NUMBER_MAX ? { kind: 'node', id: Number(rest) } : null;
}

function isPrefix(word: string, whole: string): boolean {
  return word !== '' && whole.startsWith(word);
}

function invalidScope(text: string): QueryError {
  const shown = JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}...` : text);
  return valueError(
    `${shown} is no scope: write //NAME for a collection, /t for @thingsdb, /n for this node`,
  );
}
