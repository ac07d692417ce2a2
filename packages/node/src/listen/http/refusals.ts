/** The answers of the API to requests that are not run. */
import {
  authError,
  badDataError,
  ErrorCode,
  forbiddenError,
  lookupError,
  nodeError,
  QueryError,
  quotaError,
} from '@althing/engine';
import type { ChangeOutcome } from '../../groups/request.js';
import type { Exchange } from './exchange.js';
import type { Headers } from './reply-headers.js';

/** The answer to a request that can't be run, where its error does not say it. */
export interface Refusal {
  /** The status line; default: that of the error and the outcome. */
  readonly status?: string;
  readonly headers?: Headers;
  /** True if the connection ends with it. */
  readonly close?: boolean;
  /** The outcome of its changes; `none` by default. */
  readonly outcome?: ChangeOutcome;
}

/** Answers a request that can't be run. */
export type Refuse = (exchange: Exchange, error: QueryError, answer?: Refusal) => void;

export const UNAUTHORIZED = authError(
  'no credentials, or wrong ones: log in with a user and a password, or with a token (Authorization: Bearer KEY)',
);
export const AUTHENTICATE: Headers = [['WWW-Authenticate', 'Bearer realm="althing", Basic realm="althing"']];
export const NO_CERTIFICATE = forbiddenError(
  'this node talks to clients with a certificate only (tls_api_client_ca_file)',
);
export const UNSURE = nodeError(
  'this node does not know the credentials, and can not reach a majority of the nodes to ask: try again',
);
export const TOO_MANY_LOGINS = quotaError('too many failed logins: try again later');
export const QUEUE_FULL = quotaError('too many requests wait for their answer (request_queue_limit)');
export const BODIES_FULL = nodeError(
  'request bodies that are still coming take too much memory (request_memory_limit_mb): try again',
);
export const LEAVING = nodeError('the node is shutting down: connect to another one, or try again later');
export const TOO_MANY_STRANGERS = nodeError(
  'too many connections have not logged in yet: try again in a moment',
);
/** The refusal of dry runs of all but queries and procedures. */
export const NO_DRY_RUN = badDataError('only queries and procedures have dry runs');

export const NOT_POST = badDataError('the API takes POST requests only');
export const METHOD_STATUS = '405 Method Not Allowed';
export const ALLOW: Headers = [['Allow', 'POST']];
export const OTHER_HOST = forbiddenError(
  'this node is not known by the name in the header Host: add it to http_allowed_hosts',
);
export const FOREIGN_ORIGIN = forbiddenError(
  'web pages of this origin may not send requests: add it to http_allowed_origins',
);
export const INTERNAL = new QueryError(ErrorCode.INTERNAL, 'internal error; see the log of the node');
export const UNSUPPORTED = badDataError(
  'Content-Type must be application/json or application/msgpack, uncompressed and in UTF-8',
);
export const UNKNOWN_PATH = lookupError(
  'the path is no scope: use //NAME for a collection, /t for @thingsdb, /n for this node',
);

/** @param max bytes that a body may have */
export function bodyTooLarge(max: number): QueryError {
  return quotaError(`the request body is larger than request_size_limit (${max} bytes)`);
}

/** @param ms time in which a body must have come */
export function bodyTooLate(ms: number): QueryError {
  return badDataError(`the request body did not come within ${ms} ms (body_timeout_ms)`);
}

/** The answer to credentials that are none, or wrong. */
export const LOG_IN: Refusal = { status: '401 Unauthorized', headers: AUTHENTICATE };

export const TOO_MANY_REQUESTS: Refusal = { status: '429 Too Many Requests' };

/** Answers that end the connection, since its body can't be read to the end. */
export const TOO_LARGE: Refusal = { status: '413 Content Too Large', close: true };
export const TOO_LATE: Refusal = { status: '408 Request Timeout', close: true };
export const CLOSING: Refusal = { close: true };
