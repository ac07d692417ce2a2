/** Requests over HTTP in Node.js, on connections that are kept. */
import {
  type Agent,
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest, type RequestOptions } from 'node:https';
import type { TlsOptions } from '../api/options.js';
import { tlsParts } from '../connect/tls-parts.js';
import type { Attempt, AttemptEnd, Program, Sent, Transport } from '../request/attempt.js';
import type { Clock } from '../request/surroundings.js';
import type { ScopeName } from '../scope.js';
import { httpBody, httpHeaders, httpPath, httpReply } from './http-message.js';

/** Free connections end before the node ends them, which it does after 10 s. */
const IDLE_MS = 8000;

export interface HttpNodeOptions {
  readonly tls: TlsOptions;
  readonly clock: Clock;
  /** Connections to a node at most. */
  readonly connectionsMax: number;
  readonly answerBytesMax: number;
}

export class HttpNodeTransport implements Transport {
  readonly #options: HttpNodeOptions;
  readonly #http: HttpAgent;
  readonly #https: HttpsAgent;

  constructor(options: HttpNodeOptions) {
    this.#options = options;
    const kept = {
      keepAlive: true,
      timeout: IDLE_MS,
      maxSockets: options.connectionsMax,
      scheduling: 'lifo',
    } as const;
    this.#http = new HttpAgent(kept);
    this.#https = new HttpsAgent({ ...kept, ...tlsParts(options.tls) });
  }

  bodyOf(_scope: ScopeName, program: Program): Uint8Array {
    return httpBody(program);
  }

  send(attempt: Attempt): Sent {
    const { clock, answerBytesMax, tls } = this.#options;
    const isTls = attempt.node.url.protocol === 'https:';
    const agent = isTls ? this.#https : this.#http;
    return new Exchange(attempt, isTls, attempt.isFresh ? oneWay(isTls, tls) : agent, clock, answerBytesMax);
  }

  close(): void {
    this.#http.destroy();
    this.#https.destroy();
  }
}

/** For a request that must not go on a connection of the past: a connection of its own, which ends with it. */
function oneWay(isTls: boolean, tls: TlsOptions): Agent {
  return isTls ? new HttpsAgent(tlsParts(tls)) : new HttpAgent();
}

/** One request and its answer. */
class Exchange implements Sent {
  readonly end: Promise<AttemptEnd>;
  readonly #answerBytesMax: number;
  readonly #request: ClientRequest;
  readonly #callOff: () => void;
  #settle: (end: AttemptEnd) => void = () => {};
  #isSettled = false;
  /** True if there was a connection: what is sent may have arrived. */
  #isConnected = false;
  #hasAnswer = false;

  constructor(attempt: Attempt, isTls: boolean, agent: Agent, clock: Clock, answerBytesMax: number) {
    this.#answerBytesMax = answerBytesMax;
    this.end = new Promise((resolve) => {
      this.#settle = resolve;
    });
    const { url, address } = attempt.node;
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
    const headers: Record<string, string> = httpHeaders(attempt);
    headers['Content-Length'] = String(attempt.body.length);
    headers.Host = url.host;
    const options: RequestOptions = {
      method: attempt.method,
      host: address ?? host,
      port: url.port === '' ? (isTls ? 443 : 80) : url.port,
      path: httpPath(url, attempt.scope.path),
      agent,
      headers,
      // A name to check the certificate by; addresses have none.
      ...(isTls && address !== null ? { servername: host } : {}),
    };
    this.#request = isTls ? httpsRequest(options) : httpRequest(options);
    this.#callOff = clock.after(attempt.timeoutMs, () =>
      this.#fail(new Error(`no answer within ${Math.ceil(attempt.timeoutMs)} ms`), false),
    );
    this.#request.once('socket', (socket) => {
      if (this.#request.reusedSocket || (!isTls && !socket.connecting)) this.#isConnected = true;
      else
        socket.once(isTls ? 'secureConnect' : 'connect', () => {
          this.#isConnected = true;
        });
    });
    this.#request.on('error', (error) => this.#fail(error));
    this.#request.once('response', (response) => this.#receive(response));
    this.#request.end(attempt.body);
  }

  cancel(): void {
    this.#fail(new Error('given up'));
  }

  #receive(response: IncomingMessage): void {
    this.#hasAnswer = true;
    const parts: Buffer[] = [];
    let bytes = 0;
    const isTooLong = Number(response.headers['content-length'] ?? 0) > this.#answerBytesMax;
    if (isTooLong) {
      this.#finish({ kind: 'too_large', bytesMax: this.#answerBytesMax });
      return;
    }
    response.on('data', (part: Buffer) => {
      bytes += part.length;
      if (bytes > this.#answerBytesMax) this.#finish({ kind: 'too_large', bytesMax: this.#answerBytesMax });
      else parts.push(part);
    });
    response.on('error', (error) => this.#fail(error));
    response.once('end', () => {
      const [first = Buffer.alloc(0)] = parts;
      const body = parts.length === 1 ? first : Buffer.concat(parts, bytes);
      const header = (name: string): string | null => {
        const value = response.headers[name];
        return typeof value === 'string' ? value : null;
      };
      if (response.complete)
        this.#finish({ kind: 'answered', reply: httpReply(response.statusCode ?? 0, header, body) });
      else this.#fail(new Error('the answer was cut off'));
    });
  }

  /** @param hasDied whether the connection did, and not the patience with the node */
  #fail(error: unknown, hasDied = true): void {
    const wasReused = hasDied && this.#request.reusedSocket && !this.#hasAnswer;
    this.#finish(this.#isConnected ? { kind: 'lost', error, wasReused } : { kind: 'unsent', error });
  }

  #finish(end: AttemptEnd): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#callOff();
    if (end.kind !== 'answered') this.#request.destroy();
    this.#settle(end);
  }
}
