/**
 * Files that a node serves to browsers beside its API: a table that is handed in, of which the node knows nothing but this. A request
 * for one needs no credentials and reads nothing of the state.
 */
import type { Headers } from './reply-headers.js';

export interface StaticFile {
  /** Below the base of its site; empty for the page itself. */
  readonly path: string;
  readonly type: string;
  /** With its quotes. */
  readonly etag: string;
  /** Further headers of each answer, `Cache-Control` among them. */
  readonly headers: Headers;
  readonly plain: Uint8Array;
  /** The same, compressed. */
  readonly gzip: Uint8Array;
  readonly br: Uint8Array;
}

export interface StaticSite {
  /** A path with slashes on both sides, which no scope begins with. */
  readonly base: string;
  /** Paths from which a browser that navigates is sent to the base. */
  readonly entrances: readonly string[];
  readonly files: readonly StaticFile[];
}

/** The headers of a request that matter here. */
export interface StaticRequest {
  readonly accept: string;
  readonly acceptEncoding: string;
  readonly ifNoneMatch: string;
}

/** The answer to a request, but for what all answers have. */
export interface StaticAnswer {
  readonly status: string;
  readonly type: string;
  readonly headers: Headers;
  /** An answer to HEAD has its length alone. */
  readonly body: Uint8Array;
}

const EMPTY = new Uint8Array();
const GONE: StaticAnswer = {
  status: '404 Not Found',
  type: 'text/plain',
  headers: [['Cache-Control', 'no-cache']],
  body: EMPTY,
};

export class StaticFiles {
  private readonly base: string;
  private readonly entrances: ReadonlySet<string>;
  private readonly files = new Map<string, StaticFile>();

  constructor({ base, entrances, files }: StaticSite) {
    this.base = base;
    this.entrances = new Set(entrances);
    for (const file of files) this.files.set(base + file.path, file);
  }

  /** The answer to GET and HEAD of a path; null when it is not of this site. */
  answer(path: string, request: StaticRequest): StaticAnswer | null {
    const file = this.files.get(path);
    if (file !== undefined) return answerWith(file, request);
    // A page of another version asks for files of its own.
    if (path.startsWith(this.base)) return GONE;
    const isEntrance = this.entrances.has(path) && /\btext\/html\b/i.test(request.accept);
    if (!isEntrance && path !== this.base.slice(0, -1)) return null;
    // Relative, so that it holds behind a proxy that serves the node below a path of its own.
    const headers = [['Location', this.base.slice(1)] as const, ['Cache-Control', 'no-cache'] as const];
    return { status: '302 Found', type: 'text/plain', headers, body: EMPTY };
  }
}

function answerWith(file: StaticFile, { acceptEncoding, ifNoneMatch }: StaticRequest): StaticAnswer {
  const { type, etag } = file;
  const headers: Headers = [['ETag', etag], ['Vary', 'Accept-Encoding'], ...file.headers];
  if (isKnown(etag, ifNoneMatch)) return { status: '304 Not Modified', type, headers, body: EMPTY };
  const accepts = (encoding: string): boolean =>
    new RegExp(`(?:^|,)\\s*${encoding}\\s*(?:;\\s*q=(?:0\\.0*[1-9]|1)[\\d.]*\\s*)?(?:,|$)`, 'i').test(
      acceptEncoding,
    );
  const encoding = accepts('br') ? 'br' : accepts('gzip') ? 'gzip' : null;
  if (encoding === null) return { status: '200 OK', type, headers, body: file.plain };
  return {
    status: '200 OK',
    type,
    headers: [...headers, ['Content-Encoding', encoding]],
    body: file[encoding],
  };
}

/** True if a list of `If-None-Match` has the tag. A proxy that compresses makes a tag a weak one. */
function isKnown(etag: string, list: string): boolean {
  return list.split(',').some((each) => each.trim().replace(/^W\//, '') === etag || each.trim() === '*');
}
