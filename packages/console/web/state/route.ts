/**
 * The place in the console. It stands in the fragment of the address, so that nothing of it reaches a log of the server:
 * `#/c/stuff/data/12?page=3`.
 */
import { signal } from '@preact/signals';

export interface Route {
  /** Decoded parts of the path; empty for the first page. */
  readonly path: readonly string[];
  readonly options: URLSearchParams;
}

export const route = signal<Route>(parseRoute(location.hash));

addEventListener('hashchange', () => {
  route.value = parseRoute(location.hash);
});

export function parseRoute(hash: string): Route {
  const [path = '', options = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s);
  const parts = path.split('/').filter((part) => part !== '');
  return { path: parts.map(decoded), options: new URLSearchParams(options) };
}

/** The address of a place, for links. */
export function linkTo(
  path: readonly (string | bigint)[],
  options: Readonly<Record<string, string>> = {},
): string {
  const query = new URLSearchParams(options).toString();
  return `#/${path.map((part) => encodeURIComponent(String(part))).join('/')}${query === '' ? '' : `?${query}`}`;
}

export function goTo(path: readonly (string | bigint)[], options?: Readonly<Record<string, string>>): void {
  location.hash = linkTo(path, options);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
