/**
 * One request to a node over HTTP, and what can go wrong on the way.
 */
import { randomUUID } from 'node:crypto';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { type RequestOptions as HttpsOptions, request as httpsRequest } from 'node:https';
import { decodeMessagePack, isWireMap, parseJson, type WireValue } from '@althing/client';
import { Exit, exitOf } from './exit-codes.js';

export type Format = 'json' | 'msgpack';

/** What requests over https show and trust: contents of PEM files. */
export interface ClientTls {
  /** Authorities of nodes, in place of those that Node.js knows. */
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

export interface Exchange {
  /** Where the node is: http or https, with an optional path in front of the scopes. */
  readonly url: URL;
  readonly tls: ClientTls;
  /** The scope's path, encoded, beginning with `/`. */
  readonly path: string;
  readonly authorization: string | undefined;
  readonly format: Format;
  readonly body: Uint8Array;
  readonly timeoutMs: number;
  /** The name under which a request may be sent again; a new one by default. */
  readonly idempotencyKey?: string;
}

export interface Answer {
  readonly status: number;
  readonly body: Buffer;
}

/** Largest answer that is read. */
const answerSizeMax = 1024 ** 3;

/** The node could not be reached, or did not answer as one. The message says what to check. */
export class ConnectionError extends Error {
  readonly exitCode: Exit;

  /** @param exitCode `Exit.Unavailable` when nothing can have been carried out */
  constructor(message: string, exitCode: Exit = Exit.Unknown) {
    super(message);
    this.name = 'ConnectionError';
    this.exitCode = exitCode;
  }
}

/**
 * Sends one POST and reads the whole answer.
 *
 * @throws {ConnectionError}
 */
export function exchange(wanted: Exchange): Promise<Answer> {
  const request = wanted.url.protocol === 'https:' ? httpsRequest : httpRequest;
  const contentType = wanted.format === 'json' ? 'application/json' : 'application/msgpack';
  const options: HttpsOptions = {
    method: 'POST',
    hostname: wanted.url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: wanted.url.port,
    path: `${wanted.url.pathname.replace(/\/+$/, '')}${wanted.path}`,
    agent: false,
    ...wanted.tls,
    headers: {
      'Content-Type': contentType,
      'Content-Length': wanted.body.length,
      // A balancer may send it again to another node when one dies.
      'Idempotency-Key': wanted.idempotencyKey ?? randomUUID(),
      ...(wanted.authorization === undefined ? {} : { Authorization: wanted.authorization }),
    },
    signal: AbortSignal.timeout(wanted.timeoutMs),
  };
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => reject(connectionError(error, wanted));
    const sent = request(options, (response) => {
      readBody(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), fail);
    });
    sent.on('error', fail);
    sent.end(wanted.body);
  });
}

/** An error that a node answered with. */
export interface NodeError {
  readonly code: bigint | undefined;
  readonly name: string;
  readonly message: string;
  /** What the error says of the changes; undefined when it says nothing. */
  readonly outcome: string | undefined;
  readonly exitCode: Exit;
}

/** Reads the error in an answer whose status is not 200; also what a proxy in front may have sent. */
export function errorIn(answer: Answer, format: Format): NodeError {
  const value = valueIn(answer.body, format);
  const error = isWireMap(value) ? value.get('error') : undefined;
  if (isWireMap(error)) {
    const code = error.get('code');
    if (typeof code === 'bigint') {
      const name = error.get('name');
      const message = error.get('message');
      const told = error.get('outcome');
      const outcome = typeof told === 'string' ? told : undefined;
      return {
        outcome,
        exitCode: exitOf(answer.status, outcome),
        code,
        name: typeof name === 'string' ? name : 'error',
        message: typeof message === 'string' ? message : '',
      };
    }
  }
  const [line = ''] = answer.body.subarray(0, 1000).toString('utf8').trim().split('\n');
  return {
    code: undefined,
    name: `HTTP ${answer.status}`,
    message: line.slice(0, 200),
    outcome: undefined,
    exitCode: exitOf(answer.status, undefined),
  };
}

function valueIn(body: Buffer, format: Format): WireValue | undefined {
  try {
    return format === 'json' ? parseJson(body.toString('utf8')) : decodeMessagePack(body);
  } catch {
    // Not from a node: the caller shows the text itself.
    return undefined;
  }
}

/** The whole of an answer. */
export async function readBody(response: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of response) {
    size += part.length;
    if (size > answerSizeMax) throw new Error(`the answer has more than ${answerSizeMax} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** What to check after an error of a connection. */
export function connectionError(
  error: unknown,
  wanted: Pick<Exchange, 'url' | 'timeoutMs'>,
): ConnectionError {
  const where = wanted.url.origin;
  const { code, name, message, syscall } = partsOf(error);
  // As long as there is no connection, nothing can have been sent.
  const exitCode = syscall === 'connect' || syscall === 'getaddrinfo' ? Exit.Unavailable : Exit.Unknown;
  switch (true) {
    case code === 'ECONNREFUSED':
      return new ConnectionError(
        `nothing listens at ${where}: is the node running, and is this its bind_client_addr and http_api_port? (--url)`,
        exitCode,
      );
    case code === 'ENOTFOUND' || code === 'EAI_AGAIN':
      return new ConnectionError(`the name ${wanted.url.hostname} can't be resolved: check --url`, exitCode);
    case code === 'EHOSTUNREACH' || code === 'ENETUNREACH' || code === 'ETIMEDOUT':
      return new ConnectionError(
        `${where} can't be reached (${code}): check --url, the network and firewalls`,
        exitCode,
      );
    case name === 'AbortError' || name === 'TimeoutError' || code === 'ABORT_ERR':
      return new ConnectionError(
        `no answer from ${where} within ${wanted.timeoutMs} ms; a change may have been made all the same (--timeout)`,
      );
    case code === 'ECONNRESET' || code === 'EPIPE':
      return new ConnectionError(
        `${where} closed the connection without an answer; a change may have been made all the same`,
      );
    case code.startsWith('HPE_'):
      return new ConnectionError(`${where} does not speak HTTP: check the port, and http or https, in --url`);
    case code === 'EPROTO' ||
      code.startsWith('ERR_SSL') ||
      code.includes('CERT') ||
      /SIGNED|SIGNATURE/.test(code):
      return new ConnectionError(
        `no TLS connection to ${where}: ${message}: check http or https in --url, and the certificates (--tls-ca-file, --tls-cert-file)`,
        Exit.Unavailable,
      );
    default:
      return new ConnectionError(`${where}: ${message}`, exitCode);
  }
}

/** What an error of Node.js tells. */
export function partsOf(error: unknown): { code: string; name: string; message: string; syscall: string } {
  if (typeof error !== 'object' || error === null) {
    return { code: '', name: '', message: String(error), syscall: '' };
  }
  return {
    code: 'code' in error ? String(error.code) : '',
    name: 'name' in error ? String(error.name) : '',
    message: 'message' in error ? String(error.message) : '',
    syscall: 'syscall' in error ? String(error.syscall) : '',
  };
}
