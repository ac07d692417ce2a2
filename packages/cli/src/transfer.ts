/**
 * Long streams from and to a node: a backup, and a restore.
 */
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Connection, QueryFailed } from './connection.js';
import { ConnectionError, connectionError, errorIn, partsOf, readBody } from './http.js';

/**
 * Asks for a stream.
 *
 * @param signal ends it
 * @throws {QueryFailed} with what the node has to say
 * @throws {ConnectionError} also while it is read; a stream that ends too early is not noticed here
 */
export async function receive(
  connection: Connection,
  path: string,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const request = begin(connection, path, { 'Content-Length': 0 }, signal);
  const response = await answered(request, connection, () => request.end());
  if (response.statusCode !== 200) throw await failure(response);
  return read(response, connection);
}

/**
 * Sends a stream, and waits for what the node makes of it.
 *
 * @throws {QueryFailed} with what the node has to say
 * @throws {ConnectionError}
 */
export async function send(
  connection: Connection,
  path: string,
  size: number,
  source: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  const headers = { 'Content-Type': 'application/octet-stream', 'Content-Length': size };
  const request = begin(connection, path, headers, signal);
  const response = await answered(request, connection, () => {
    // What is wrong with the connection is told by the request itself; what is wrong with the source, here.
    pipeline(Readable.from(source), request).catch((error: Error) => request.destroy(error));
  });
  try {
    if (response.statusCode !== 200) throw await failure(response);
    await readBody(response);
  } finally {
    // The node may have answered before it had everything.
    request.destroy();
  }
}

function begin(
  connection: Connection,
  path: string,
  headers: Readonly<Record<string, string | number>>,
  signal: AbortSignal,
): ClientRequest {
  const { url, tls, authorization, timeoutMs } = connection;
  const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)({
    method: 'POST',
    hostname: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port,
    path: `${url.pathname.replace(/\/+$/, '')}${path}`,
    agent: false,
    ...tls,
    headers: { ...headers, Authorization: authorization },
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
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const bytes of response) yield bytes;
  } catch (error) {
    if (partsOf(error).code === 'ECONNRESET')
      throw new ConnectionError(`${connection.url.origin} stopped in the middle: its log tells why`);
    throw explained(error, connection);
  }
}

async function failure(response: IncomingMessage): Promise<QueryFailed> {
  const answer = { status: response.statusCode ?? 0, body: await readBody(response) };
  const { name, code, message, exitCode } = errorIn(answer, 'json');
  return new QueryFailed(`${name}${code === undefined ? '' : ` (${code})`}: ${message}`, exitCode);
}

/** Nothing came or went for too long. */
class SilenceError extends Error {}

function explained(error: unknown, { url, timeoutMs }: Connection): Error {
  if (error instanceof SilenceError)
    return new ConnectionError(`nothing came from ${url.origin} for ${timeoutMs} ms (--timeout)`);
  if (partsOf(error).name === 'AbortError') return new ConnectionError('interrupted');
  return connectionError(error, { url, timeoutMs });
}
