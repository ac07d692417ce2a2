/** Scopes as people write them, over HTTP and in the native protocol. */

/** Where a query runs. */
export interface ScopeName {
  /** As the native protocol and messages write it: `@thingsdb`, `@node`, `@node:2`, `@:stuff`. */
  readonly text: string;
  /** The path over HTTP, percent-encoded. */
  readonly path: string;
  /** The name of the collection; null for a scope that is none. */
  readonly collection: string | null;
  /** True if the scope is that of a node, where names of requests mean nothing. */
  readonly isNode: boolean;
}

export function rootScope(): ScopeName {
  return { text: '@thingsdb', path: '/thingsdb', collection: null, isNode: false };
}

export function collectionScope(name: string): ScopeName {
  return { text: `@:${name}`, path: encoded(`//${name}`), collection: name, isNode: false };
}

/** @param node its number or name; undefined for the node that is asked */
export function nodeScope(node?: number | string): ScopeName {
  if (node === undefined) return { text: '@node', path: '/node', collection: null, isNode: true };
  return { text: `@node:${node}`, path: encoded(`/node/${node}`), collection: null, isNode: true };
}

/**
 * A scope in any spelling: `@thingsdb`, `@:stuff`, `//stuff`, `@node:1`, `/n`; a bare name is a collection. Whether there is such a
 * scope is for the node to say.
 */
export function scopeOf(text: string): ScopeName {
  const spelled = spellingOf(text);
  const isNode = NODE_PATH.test(spelled);
  const [, name, bare] = COLLECTION_PATH.exec(spelled) ?? [];
  const isBare = bare !== undefined && !isNode && !ROOT_PATH.test(spelled);
  return { text, path: encoded(spelled), collection: name ?? (isBare ? bare : null), isNode };
}

function spellingOf(scope: string): string {
  if (scope.startsWith('/')) return scope;
  return scope.startsWith('@') || scope.startsWith('.') ? `/${scope}` : `//${scope}`;
}

const COLLECTION_PATH = /^\/(?:(?:\/|@:|@?c[a-z]*[/:])([^/:]+)|([^/:@.]+))$/;
const ROOT_PATH = /^\/(?:t|thingsdb)$/;

/** `node` may be shortened where something says that it is no name of a collection. */
const NODE_PATH = /^\/(?:n|node|\.node(?:\/.*)?|@n(?:o(?:de?)?)?(?::.*)?|n(?:o(?:de?)?)?\/.*)$/s;

/** Percent-encodes what a request line can't carry; `/`, `:` and `@` stay. */
function encoded(path: string): string {
  return encodeURIComponent(path).replace(/%(2F|3A|40)/g, decodeURIComponent);
}
