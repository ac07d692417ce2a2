/**
 * The pages for which a browser may ask. A page of anybody can make a browser send requests to this machine, by a name
 * of its own that it lets point there (then `Host` is that name), or from its own place (then `Origin` is
 * that place, or `Sec-Fetch-Site` says that there is one: browsers leave `Origin` out of a GET whose answer the page may not read).
 */
import { isIP } from 'node:net';
import { isLoopback } from '../../config/address.js';
import type { Config } from '../../config/index.js';

export interface SitesOptions {
  /** Address that the API is bound to. */
  readonly bindAddress: string;
  readonly nodeName: string;
  /** Names and addresses that the API may be called by; `*`: any. */
  readonly allowedHosts: readonly string[];
  /** Origins of pages that may use the API, as `https://app.example.com`. */
  readonly allowedOrigins: readonly string[];
}

/** The settings of a node about sites, for all its ports for clients. */
export function sitesOptionsOf(
  config: Pick<Config, 'bindClientAddr' | 'nodeName' | 'httpAllowedHosts' | 'httpAllowedOrigins'>,
): SitesOptions {
  return {
    bindAddress: config.bindClientAddr,
    nodeName: config.nodeName,
    allowedHosts: config.httpAllowedHosts,
    allowedOrigins: config.httpAllowedOrigins,
  };
}

/**
 * True if the status port answers a request. It has no credentials, so names are checked on loopback alone, where pages could point
 * theirs; an address is no name, and orchestrators ask by that, or without any.
 *
 * @param host the header `Host`; undefined for none
 */
export function servesStatus(
  sites: Sites,
  { bindAddress }: Pick<SitesOptions, 'bindAddress'>,
  host: string | undefined,
): boolean {
  if (host === undefined || !isLoopback(bindAddress)) return true;
  return isIP(host.replace(/:\d{1,5}$/, '').replace(/^\[(.*)\]$/, '$1')) !== 0 || sites.serves(host);
}

/** The relation of an `Origin` to this node: its own, listed, or foreign. */
export type OriginKind = 'own' | 'listed' | 'foreign';

export class Sites {
  /** Null: any host is served. */
  private readonly hosts: ReadonlySet<string> | null;
  private readonly origins: ReadonlySet<string>;
  /** The header that was found good last: most clients send the same. */
  private lastHost: string | null = null;

  constructor({ bindAddress, nodeName, allowedHosts, allowedOrigins }: SitesOptions) {
    // Beyond loopback there is no telling by which names a node is known, unless somebody says so.
    const isOpen = allowedHosts.includes('*') || (allowedHosts.length === 0 && !isLoopback(bindAddress));
    this.hosts = isOpen ? null : new Set([nodeName, ...allowedHosts].map(plainHost));
    this.origins = new Set(allowedOrigins);
  }

  /** True if requests are served that are for a host, as the header of that name says it. */
  serves(host: string): boolean {
    if (this.hosts === null || host === this.lastHost) return true;
    const name = hostOf(host);
    if (name === null || !(isLoopback(name) || this.hosts.has(name))) return false;
    this.lastHost = host;
    return true;
  }

  /** @param host of the request: a page that came from there may send requests there */
  kindOf(origin: string, host: string): OriginKind {
    if (this.origins.has(origin)) return 'listed';
    const [, scheme, place = ''] = /^(https?):\/\/([^/?#@]+)$/.exec(origin) ?? [];
    if (scheme === undefined) return 'foreign';
    // A browser leaves the port out that the scheme has anyway; a proxy may add it.
    const port = scheme === 'https' ? ':443' : ':80';
    return withoutPort(place, port) === withoutPort(host, port) ? 'own' : 'foreign';
  }
}

/** Headers that let a page of a listed origin read an answer. They follow another header: see `Heads`. */
export function corsOf(origin: string): string {
  return `\r\nAccess-Control-Allow-Origin: ${origin}\r\nVary: Origin\r\nAccess-Control-Expose-Headers: ${EXPOSED}`;
}

/** Headers of the answer to a browser that asks whether a page may send a request. */
export const PREFLIGHT: readonly (readonly [string, string])[] = [
  ['Access-Control-Allow-Methods', 'POST, DELETE'],
  [
    'Access-Control-Allow-Headers',
    'Authorization, Content-Type, Consistency, Idempotency-Key, X-Request-Id, Althing-Dry-Run, Althing-Min-Index, Althing-Read-Only, Althing-Request, Althing-Timing',
  ],
  ['Access-Control-Max-Age', '600'],
];

const EXPOSED =
  'Althing-Consistency, Althing-Index, Althing-Node, Althing-Snapshot-Age, Retry-After, Server-Timing, X-Request-Id';

/** The name or address in a `Host` header; null when it is malformed. */
function hostOf(header: string): string | null {
  const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9_.-]+))(?::\d{1,5})?$/.exec(header);
  const name = match?.[1] ?? match?.[2];
  return name === undefined ? null : plainHost(name);
}

function plainHost(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

function withoutPort(host: string, port: string): string {
  const plain = host.toLowerCase();
  return plain.endsWith(port) ? plain.slice(0, -port.length) : plain;
}
