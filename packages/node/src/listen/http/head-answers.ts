/** Answers to requests by their head alone: whatever the body says, and it is the last on its connection. */
import type { HttpResponse } from 'uWebSockets.js';
import type { QueryError } from '@althing/engine';
import { type AnswerBuffer, LONG_BYTES } from './answer-buffer.js';
import { write, writeHead, writeLater } from './exchange.js';
import { BODIES_FULL } from './refusals.js';
import { errorBody, formatOf, type Heads, statusOf } from './reply.js';
import type { Headers } from './reply-headers.js';
import type { RequestHeaders } from './request-headers.js';
import { corsOf, PREFLIGHT } from './sites.js';
import type { StaticAnswer } from './static-site.js';

/** Answers HEAD. A response to it has no body: its reader would take one for the next response. */
export function failBare(
  res: HttpResponse,
  heads: Heads,
  { id }: RequestHeaders,
  status: string,
  headers: Headers,
): void {
  writeHead(res, status, heads.of('json', id), headers);
  res.endWithoutBody(0, true);
}

/** Tells a browser what a page of a listed origin may send. */
export function preflight(res: HttpResponse, heads: Heads, { id, origin }: RequestHeaders): void {
  writeHead(res, '204 No Content', heads.of('json', id) + corsOf(origin ?? ''), PREFLIGHT);
  res.endWithoutBody(0, true);
}

/** Answers a request whatever its body says, and ends the connection. */
export function answerLast(res: HttpResponse, work: () => void): void {
  let closed = false;
  res.onAborted(() => {
    closed = true;
  });
  writeLater(res, () => closed, work);
}

/** Sends a file for browsers; to HEAD what would come with it. */
export function sendFile(
  res: HttpResponse,
  heads: Heads,
  buffer: AnswerBuffer,
  { id }: RequestHeaders,
  method: string,
  { status, type, headers, body }: StaticAnswer,
): void {
  if (method === 'HEAD' || status.startsWith('304')) {
    writeHead(res, status, heads.ofType(type, id), headers);
    // Nothing more is read from the connection, though the client closes it: no body comes that would end it.
    res.endWithoutBody(body.length, true);
  } else if (body.length < LONG_BYTES || buffer.lend(body.length))
    write(res, status, heads.ofType(type, id), body, headers, true);
  else write(res, statusOf(BODIES_FULL), heads.of('json', id), errorBody(BODIES_FULL, 'json'), [], true);
}

/** Says why a request is refused. */
export function fail(
  res: HttpResponse,
  heads: Heads,
  { id, contentType }: RequestHeaders,
  error: QueryError,
  status: string,
  headers: Headers,
  cors: string,
): void {
  const format = formatOf(contentType) ?? 'json';
  write(res, status, heads.of(format, id) + cors, errorBody(error, format), headers, true);
}
