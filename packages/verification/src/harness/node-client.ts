/**
 * Sends requests to a node over HTTP and takes its answers exactly. It is none of `@althing/client`, which repeats requests, takes
 * MessagePack alone, and hands over values: here each request is sent once, in either format, and the bytes of its answer are judged.
 */
import { Agent } from 'node:http';
import {
  decodeMessagePack,
  encodeMessagePack,
  isWireMap,
  parseJson,
  showValue,
  stringifyJson,
  type WireValue,
} from '@althing/client';
import { messageOf } from '@althing/storage';
import { exchange } from './exchange.js';

export type Format = 'msgpack' | 'json';

/** As whom to send a request. */
export type Credentials =
  | { readonly token: string }
  | { readonly basic: readonly [user: string, password: string] };

/** The first user of a node. */
export const ADMIN: Credentials = { basic: ['admin', 'pass'] };

export type Outcome =
  | { readonly kind: 'value'; readonly value: WireValue }
  | { readonly kind: 'error'; readonly code: number; readonly message: string }
  /** No answer that a node may give: a broken connection, a timeout, bytes that are no value. */
  | { readonly kind: 'broken'; readonly why: string };

/** The media type of a format. */
export const contentTypes = { msgpack: 'application/msgpack', json: 'application/json' };

export class NodeClient {
  readonly #url: URL;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 2 });

  constructor(
    url: string,
    private readonly format: Format,
    private readonly timeoutMs: number,
  ) {
    this.#url = new URL(url);
  }

  close(): void {
    this.#agent.destroy();
  }

  /** Sends one request and waits for its outcome. It never throws. */
  async send(scope: string, as: Credentials, body: WireValue): Promise<Outcome> {
    try {
      const encoded = this.format === 'json' ? Buffer.from(stringifyJson(body)) : encodeMessagePack(body);
      const { status, content } = await exchange(
        {
          method: 'POST',
          host: this.#url.hostname,
          port: this.#url.port,
          path: scopePath(scope),
          agent: this.#agent,
          headers: {
            'Content-Type': contentTypes[this.format],
            'Content-Length': encoded.length,
            Authorization: authorization(as),
          },
          signal: AbortSignal.timeout(this.timeoutMs),
        },
        encoded,
      );
      if (status === 200) return this.#value(content);
      return this.#error(status, content);
    } catch (error) {
      return { kind: 'broken', why: messageOf(error) };
    }
  }

  #value(content: Buffer): Outcome {
    const value = this.#decoded(content);
    if (this.format === 'msgpack' && !encodeMessagePack(value).equals(content)) {
      return { kind: 'broken', why: `not in the shortest form: ${content.toString('hex').slice(0, 200)}` };
    }
    return { kind: 'value', value };
  }

  #error(status: number, content: Buffer): Outcome {
    if (status === 401) return { kind: 'error', code: -56, message: '' };
    const body = this.#decoded(content);
    const error = isWireMap(body) ? body.get('error') : undefined;
    const code = isWireMap(error) ? error.get('code') : undefined;
    const message = isWireMap(error) ? error.get('message') : undefined;
    if (typeof code !== 'bigint' || typeof message !== 'string') {
      return { kind: 'broken', why: `status ${status} with a body that is no error: ${showValue(body)}` };
    }
    return { kind: 'error', code: Number(code), message };
  }

  #decoded(content: Buffer): WireValue {
    return this.format === 'json' ? parseJson(content.toString('utf8')) : decodeMessagePack(content);
  }
}

/** The path of a scope: `@t` is `/t`, `@:stuff` is `//stuff`. */
export function scopePath(scope: string): string {
  const spelled = scope.startsWith('@') ? `/${scope.slice(1).replaceAll(':', '/')}` : scope;
  return encodeURI(spelled);
}

/** The value of the header that carries credentials. */
export function authorization(as: Credentials): string {
  if ('token' in as) return `Bearer ${as.token}`;
  return `Basic ${Buffer.from(as.basic.join(':')).toString('base64')}`;
}
