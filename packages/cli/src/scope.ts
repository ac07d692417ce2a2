/**
 * A scope as people write it, and its path over HTTP.
 */

/**
 * The path of a scope: `@thingsdb` is `/thingsdb`, `@:stuff` is `//stuff`, `@node:1` is `/node/1`, `@node:NAME` is `/node/NAME`; what begins with `/`
 * stays; a bare name is a collection. Whether there is such a scope is for the node to say.
 */
export function scopePath(scope: string): string {
  return encodePath(spelled(scope));
}

function spelled(scope: string): string {
  if (scope.startsWith('/')) return scope;
  if (scope.startsWith('@')) return `/${scope.slice(1).replace(':', '/')}`;
  return scope.startsWith('.') ? `/${scope}` : `//${scope}`;
}

/** Percent-encodes what a request line can't carry; `/`, `:` and `@` stay. */
function encodePath(path: string): string {
  return encodeURIComponent(path).replace(/%(2F|3A|40)/g, decodeURIComponent);
}
