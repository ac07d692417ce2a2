/** A request and its answer over HTTP: what both transports for it, that of Node.js and that of browsers, have in common. */
import type { ChangeOutcome, CodeCall, CodePlace, ErrorOrigin } from '../errors/query-errors.js';
import type { Attempt, Failure, Program, Reply } from '../request/attempt.js';
import { authorizationOf } from '../request/login.js';
import { plainMap } from '../values/from-wire.js';
import { pack, type Writable } from '../wire/exact.js';
import { decodeMessagePack } from '../wire/msgpack.js';
import { isWireList, isWireMap, type WireValue } from '../wire/value.js';

export const CONTENT_TYPE = 'application/msgpack';

/** `{type: "query", code, vars?}` or `{type: "run", name, args?}`; of a session what it says. */
export function httpBody({ kind, text, values }: Program): Uint8Array {
  if (kind === 'session') return pack(values);
  const isQuery = kind === 'query';
  const body = new Map<string, Writable>([
    ['type', kind],
    [isQuery ? 'code' : 'name', text],
  ]);
  if (values !== null) body.set(isQuery ? 'vars' : 'args', values);
  return pack(body);
}

/** The headers of an attempt, but for its length. */
export function httpHeaders(attempt: Attempt): Record<string, string> {
  const { credentials, request, idempotencyKey, consistency, minIndex, readOnly, dryRun, headers } = attempt;
  const all: Record<string, string> = { ...headers, 'Content-Type': CONTENT_TYPE };
  if (credentials !== null) all.Authorization = authorizationOf(credentials);
  if (request !== null) all['Althing-Request'] = request;
  if (idempotencyKey !== null) all['Idempotency-Key'] = idempotencyKey;
  if (readOnly) all['Althing-Read-Only'] = 'true';
  if (dryRun) all['Althing-Dry-Run'] = `${dryRun}`;
  if (consistency) all.Consistency = consistency;
  if (minIndex > 0) all['Althing-Min-Index'] = `${minIndex}`;
  return all;
}

/** The path of a request at a node, whose URL may have a path in front of the scopes. */
export function httpPath(url: URL, path: string): string {
  return url.pathname === '/' ? path : url.pathname.replace(/\/+$/, '') + path;
}

/** @param header reads a header of the answer by its name in lower case */
export function httpReply(status: number, header: (name: string) => string | null, body: Uint8Array): Reply {
  return {
    status,
    body,
    failure: status === 200 ? null : failureIn(body),
    index: Number(header('althing-index') ?? 0) || 0,
    retryAfterMs: retryAfterOf(header('retry-after')),
    closes: header('connection') === 'close',
    node: header('althing-node'),
    requestId: header('x-request-id'),
    timing: header('server-timing'),
  };
}

/** Seconds, or a date (RFC 9110, section 10.2.3). A day at most: what asks for more is no node. */
function retryAfterOf(text: string | null): number | null {
  if (text === null) return null;
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? null : Math.min(Math.max(0, ms), 86_400_000);
}

/** Reads `{error: {code, name, message, outcome, at?, in?, calls?, detail?}}`. */
function failureIn(body: Uint8Array): Failure | 'malformed' {
  const error = decoded(body)?.get('error');
  if (!isWireMap(error)) return 'malformed';
  const code = error.get('code');
  if (typeof code !== 'bigint') return 'malformed';
  return {
    code: Number(code),
    name: textOf(error.get('name')) || undefined,
    message: textOf(error.get('message')),
    outcome: outcomeOf(error.get('outcome')),
    ...originIn(error),
  };
}

/** The outcome that an error tells; `unknown` where it tells none. */
export function outcomeOf(value: WireValue | undefined): ChangeOutcome {
  return value === 'none' || value === 'made' ? value : 'unknown';
}

/** Reads `at`, `in`, `calls` and `detail` of an error. */
export function originIn(error: ReadonlyMap<string, WireValue>): ErrorOrigin {
  const calls = error.get('calls');
  const detail = error.get('detail');
  return {
    ...placeIn(error, error.get('at')),
    calls: isWireList(calls) ? calls.filter(isWireMap).map((call) => placeIn(call, call)) : [],
    detail: isWireMap(detail) ? plainMap(detail, 'auto') : null,
  };
}

function placeIn(map: ReadonlyMap<string, WireValue>, at: WireValue | undefined): CodeCall {
  return { at: placeOf(at), procedure: textOf(map.get('in')) || null };
}

function placeOf(at: WireValue | undefined): CodePlace | null {
  if (!isWireMap(at)) return null;
  const numberAt = (key: string): number => Number(at.get(key) ?? 0);
  return {
    line: numberAt('line'),
    column: numberAt('column'),
    offset: numberAt('offset'),
    length: numberAt('length'),
  };
}

function decoded(body: Uint8Array): ReadonlyMap<string, WireValue> | undefined {
  try {
    const value = decodeMessagePack(body);
    return isWireMap(value) ? value : undefined;
  } catch {
    // A proxy in front answered, not a node: the caller judges by the status.
    return undefined;
  }
}

function textOf(value: WireValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
