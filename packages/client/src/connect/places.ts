/** Addresses of nodes, as `connect` takes them. */
import type { Credentials } from '../api/options.js';

/** The nodes of a list of URLs. */
export interface Places {
  /** Without credentials, query and fragment. */
  readonly urls: readonly URL[];
  /** The user and the password in the first URL that has one; null for none. */
  readonly credentials: Credentials | null;
}

/**
 * Reads URLs, http or https, each with an optional path of a proxy in front of the scopes.
 *
 * @param base what relative ones are relative to; undefined where there is nothing
 * @throws {TypeError} for what is no such URL; the text shows no password
 */
export function placesOf(urls: string | readonly string[], base?: string): Places {
  const texts = typeof urls === 'string' ? urls.split(',') : urls;
  let credentials: Credentials | null = null;
  const all = texts.map((text) => {
    const url = parsed(text.trim(), base);
    if (url.username !== '' || url.password !== '') {
      credentials ??= { user: decodeURIComponent(url.username), password: decodeURIComponent(url.password) };
    }
    const clean = new URL(url.origin + url.pathname);
    return clean;
  });
  if (all.length === 0)
    throw new TypeError('connect() takes the URL of a node at least, like http://127.0.0.1:9210');
  return { urls: all, credentials };
}

function parsed(text: string, base: string | undefined): URL {
  const url = text !== '' && URL.canParse(text, base) ? new URL(text, base) : null;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:') || url.hostname === '') {
    // It may hold a password.
    const shown = text.replace(/\/\/.*@/s, '//***@').slice(0, 80);
    throw new TypeError(`${JSON.stringify(shown)} is no URL of a node; write it like http://127.0.0.1:9210`);
  }
  return url;
}
