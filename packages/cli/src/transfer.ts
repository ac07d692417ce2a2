/**
 * Long streams from and to a node: a backup, an export, a restore, an import. They are no requests of the API, so the client library has
 * no part in them but for its errors.
 */

import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  AbortError,
  type AlthingError,
  type ChangeOutcome,
  ConnectionError,
  isWireMap,
  OutcomeUnknownError,
  ProtocolError,
  parseJson,
  QueryError,
  type WireValue,
} from '@althing/client';
import type { Connection } from './connection.js';
import { messageOf, partOf } from './system-error.js';

/** The answer 410: a node had what was asked for, and has it no more. */
export class GoneError extends Error {}

/** A request for a stream, where it is no POST without a body. */
export interface StreamRequest {
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/**
 * Asks for a stream.
 *
 * @param signal ends it
 * @throws {AlthingError} also while it is read; a stream that ends too early is not noticed here
 * @throws {GoneError} for what the node has no more
 */
export async function receive(
  connection: Connection,
  path: string,
  signal: AbortSignal,
  { method = 'POST', headers = {}, body = '' }: StreamRequest = {},
): Promise<AsyncIterable<Uint8Array>> {
  const node = await reached(connection);
  const length = method === 'GET' ? {} : { 'Content-Length': Buffer.byteLength(body) };
  const request = begin(node, path, { ...headers, ...length }, signal, method);
  const response = await answered(request, node, () => request.end(body));
  if (response.statusCode === 410) throw new GoneError((await readBody(response)).toString('utf8'));
  if (response.statusCode !== 200) throw await failure(response);
  return read(response, node, signal);
}

/**
 * Sends a stream, and waits for what the node makes of it.
 *
 * @returns the answer
 * @throws {AlthingError}
 */
export async function send(
  connection: Connection,
  path: string,
  size: number,
  source: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, WireValue>> {
  const headers = { 'Content-Type': 'application/octet-stream', 'Content-Length': size };
  const node = await reached(connection);
  const request = begin(node, path, headers, signal);
  const response = await answered(request, node, () => {
    // The request itself reports errors of the connection; errors of the source are reported here.
    pipeline(Readable.from(source), request).catch((error: Error) => request.destroy(error));
  });
  try {
    if (response.statusCode !== 200) throw await failure(response);
    const answer = parseJson((await readBody(response)).toString('utf8'));
    return isWireMap(answer) ? answer : new Map();
  } finally {
    // The node may have answered before it had everything.
    request.destroy();
  }
}

/** Milliseconds in which a node has to take a connection, where there is another one. */
const CONNECT_MS = 3000;

/**
 * A connection with the first node of the list alone that can be reached. A source is read once, so this is found out before anything is
 * sent; where none can be reached it is the first one, whose error is told.
 */
async function reached(connection: Connection): Promise<Connection> {
  const { urls } = connection;
  if (urls.length < 2) return connection;
  for (const url of urls) if (await takesConnections(url)) return { ...connection, urls: [url] };
  return connection;
}

function takesConnections({ hostname, port, protocol }: URL): Promise<boolean> {
  return new Promise((resolve) => {
    const host = hostname.replace(/^\[(.*)\]$/, '$1');
    const socket = connect({ host, port: Number(port) || (protocol === 'https:' ? 443 : 80) });
    const end = (isTaken: boolean): void => {
      socket.destroy();
      resolve(isTaken);
    };
    socket.setTimeout(CONNECT_MS, () => end(false));
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
  });
}

/** The node that streams go to and come from. */
function nodeOf({ urls }: Connection): URL {
  const [first] = urls;
  if (first === undefined) throw new Error('a connection without a node');
  return first;
}

function begin(
  connection: Connection,
  path: string,
  headers: Readonly<Record<string, string | number>>,
  signal: AbortSignal,
  method: 'GET' | 'POST' = 'POST',
): ClientRequest {
  const { tls, credentials, timeoutMs, readOnly } = connection;
  const modes = readOnly ? { 'Althing-Read-Only': 'true' } : {};
  const url = nodeOf(connection);
  const authorization =
    'token' in credentials
      ? `Bearer ${credentials.token}`
      : `Basic ${Buffer.from(`${credentials.user}:${credentials.password}`).toString('base64')}`;
  const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)({
    method,
    hostname: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port,
    path: `${url.pathname.replace(/\/+$/, '')}${path}`,
    agent: false,
    ...Object.fromEntries(Object.entries(tls).map(([part, pem]) => [part, Buffer.from(pem)])),
    headers: { ...headers, ...modes, Authorization: authorization },
    signal,
  });
  request.setTimeout(timeoutMs, () => request.destroy(new SilenceError()));
  return request;
}

function answered(
  request: ClientRequest,
  connection: Connection,
  start: () => void,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    // Later errors are those of the response.
    request.on('error', (error) => reject(explained(error, connection)));
    request.on('response', resolve);
    start();
  });
}

async function* read(
  response: IncomingMessage,
  connection: Connection,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const bytes of response) yield bytes;
  } catch (error) {
    // The connection that the signal ended looks like one that the node ended.
    if (signal.aborted) throw interrupted(error);
    if (partOf(error, 'code') === 'ECONNRESET')
      throw new OutcomeUnknownError(
        `${nodeOf(connection).origin} stopped in the middle: its log tells why`,
        null,
      );
    throw explained(error, connection);
  }
}

/** Bytes of an answer at most that is no stream. */
const ANSWER_BYTES_MAX = 1024 ** 2;

async function readBody(response: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of response) {
    size += part.length;
    if (size > ANSWER_BYTES_MAX)
      throw new OutcomeUnknownError('the answer is too long to be one of a node', null);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** The error of an answer. Nodes answer in JSON to a stream that they do not take, or can't give. */
async function failure(response: IncomingMessage): Promise<AlthingError> {
  const status = response.statusCode ?? 0;
  const text = (await readBody(response)).toString('utf8');
  const error = errorIn(text);
  const code = error?.get('code');
  if (error === null || typeof code !== 'bigint') {
    const [line = ''] = text.trim().split('\n');
    return new ProtocolError(`HTTP status ${status}, and no error of a node: ${line.slice(0, 200)}`);
  }
  const name = error.get('name');
  return new QueryError({
    code: Number(code),
    ...(typeof name === 'string' ? { name } : {}),
    message: String(error.get('message') ?? ''),
    outcome: outcomeOf(error.get('outcome'), status),
    at: null,
    procedure: null,
    calls: [],
    detail: null,
    requestId: null,
    node: null,
  });
}

function errorIn(text: string): ReadonlyMap<string, WireValue> | null {
  try {
    const answer = parseJson(text);
    const error = isWireMap(answer) ? answer.get('error') : null;
    return isWireMap(error) ? error : null;
  } catch {
    // A proxy in front answered: the caller shows its text.
    return null;
  }
}

function outcomeOf(told: WireValue | undefined, status: number): ChangeOutcome {
  if (told === 'none' || told === 'made' || told === 'unknown') return told;
  return status === 502 || status === 504 ? 'unknown' : 'none';
}

/** Nothing came or went for too long. */
class SilenceError extends Error {}

function interrupted(error: unknown): AlthingError {
  return new AbortError('interrupted', 'unknown', error);
}

function explained(error: unknown, connection: Connection): AlthingError {
  const { origin } = nodeOf(connection);
  if (error instanceof SilenceError)
    return new OutcomeUnknownError(
      `nothing came from ${origin} for ${connection.timeoutMs} ms (--timeout)`,
      null,
    );
  if (partOf(error, 'name') === 'AbortError') return interrupted(error);
  const syscall = partOf(error, 'syscall');
  const message = messageOf(error);
  // As long as there is no connection, nothing can have been sent.
  const isUnsent =
    syscall === 'connect' || syscall === 'getaddrinfo' || /CERT|SSL|SIGN|EPROTO/.test(partOf(error, 'code'));
  if (isUnsent) return new ConnectionError(`${origin} can't be reached: ${message}`, error);
  return new OutcomeUnknownError(`${origin}: ${message}`, null, error);
}
