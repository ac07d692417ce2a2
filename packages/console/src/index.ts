/** The web console as a table of files, for whoever serves it. The build made them: see `generator/`. */
import { readFileSync } from 'node:fs';

/** A file of the console, in all forms in which it goes to a browser. */
export interface ConsoleFile {
  /** Relative to the console's address; empty for the page. */
  readonly path: string;
  readonly type: string;
  /** With its quotes. */
  readonly etag: string;
  /** Headers of each answer, in pairs. */
  readonly headers: readonly (readonly [string, string])[];
  readonly plain: Uint8Array;
  readonly gzip: Uint8Array;
  readonly br: Uint8Array;
}

/** `production`: the page begins read-only. `read_only`: it can't be switched to changes. */
export type ConsoleMode = 'on' | 'production' | 'read_only';

/** A line of the index that the build writes. */
interface Entry {
  readonly path: string;
  readonly file: string;
  readonly type: string;
  readonly etag: string;
  /** The one mode that has the file; null for all. */
  readonly mode: ConsoleMode | null;
}

const FILES = new URL('files/', import.meta.url);

/**
 * The policy of a page: it loads its own files, and speaks to the node that it came from. Whatever text a collection holds, none of it becomes
 * a script, a style or an address of somebody else.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types console',
].join('; ');

const SAFETY = [
  ['Content-Security-Policy', POLICY],
  ['Referrer-Policy', 'no-referrer'],
  ['Cross-Origin-Opener-Policy', 'same-origin'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
] as const;

/** Files whose names change with their content are kept for good; the page is asked for again each time. */
const KEPT = ['Cache-Control', 'public, max-age=31536000, immutable'] as const;
const ASKED_FOR = ['Cache-Control', 'no-cache'] as const;

/**
 * All files of the console.
 *
 * @throws Error when the console was not built
 */
export function consoleFiles(mode: ConsoleMode): ConsoleFile[] {
  const bytes = (name: string): Uint8Array => readFileSync(new URL(name, FILES));
  return entries()
    .filter((entry) => entry.mode === null || entry.mode === mode)
    .map(({ path, file, type, etag }) => ({
      path,
      type,
      etag,
      headers: [path === '' ? ASKED_FOR : KEPT, ...SAFETY],
      plain: bytes(file),
      gzip: bytes(`${file}.gz`),
      br: bytes(`${file}.br`),
    }));
}

function entries(): Entry[] {
  const index: unknown = JSON.parse(readFileSync(new URL('index.json', FILES), 'utf8'));
  if (!Array.isArray(index) || !index.every(isEntry))
    throw new Error(`${FILES.pathname}index.json is no index`);
  return index;
}

function isEntry(value: unknown): value is Entry {
  const isRecord = typeof value === 'object' && value !== null;
  return (
    isRecord && 'path' in value && 'file' in value && 'type' in value && 'etag' in value && 'mode' in value
  );
}
