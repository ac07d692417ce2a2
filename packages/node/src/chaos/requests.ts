/** Requests of chaos clients over HTTP, and what is known of a change when they fail. */
import { Agent, type IncomingMessage, request } from 'node:http';
import type { Outcome } from '../simulation/history.js';

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

export interface Question {
  readonly scope: string;
  readonly code: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Response {
  readonly outcome: Outcome;
  readonly value: unknown;
  /** Log index that the answer reflects; 0 when it is not told. */
  readonly index: number;
  /** The status; 0 when there was no answer. */
  readonly status: number;
  /** The node that answered; empty when it is not told. */
  readonly node: string;
  /** What went wrong, with the status; empty when nothing did. */
  readonly error: string;
}

/** Longer than a node lets a request wait. */
const TIMEOUT_MS = 8000;
/** Nodes close idle connections after ten seconds. */
const IDLE_MS = 4000;

export class Requests {
  private readonly agent = new Agent({ keepAlive: true, timeout: IDLE_MS });
  authorization: string;

  constructor(authorization: string) {
    this.authorization = authorization;
  }

  close(): void {
    this.agent.destroy();
  }

  /** Asks a node. It never throws, and has an answer in the end. */
  async ask({ host, port }: Endpoint, { scope, code, headers }: Question): Promise<Response> {
    const body = JSON.stringify({ type: 'query', code });
    try {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const message = await new Promise<IncomingMessage>((resolve, reject) => {
        const sent = request({
          method: 'POST',
          host,
          port,
          path: scope,
          agent: this.agent,
          signal,
          headers: {
            'Content-Type': 'application/json',
            'Content-Length': Buffer.byteLength(body),
            Authorization: this.authorization,
            ...headers,
          },
        });
        sent.on('error', reject);
        sent.on('response', resolve);
        sent.end(body);
      });
      const parts: Buffer[] = [];
      for await (const part of message) parts.push(part as Buffer);
      return responseOf(message, Buffer.concat(parts).toString('utf8'));
    } catch (error) {
      const { code: cause, message } = error as NodeJS.ErrnoException;
      // Only who never had a connection knows that nothing was carried out.
      const outcome = cause === 'ECONNREFUSED' || cause === 'EHOSTUNREACH' ? 'failed' : 'unknown';
      return { outcome, value: null, index: 0, status: 0, node: '', error: cause ?? message };
    }
  }
}

function responseOf({ statusCode: status = 0, headers }: IncomingMessage, text: string): Response {
  const index = Number(headers['althing-index'] ?? 0);
  const node = String(headers['althing-node'] ?? '');
  if (status === 200) return { outcome: 'ok', value: JSON.parse(text), index, status, node, error: '' };
  // 504 says that the outcome is not known, and so does 502 of a balancer; any other refusal, that there was no effect.
  const outcome = status === 504 || status === 502 || status === 0 ? 'unknown' : 'failed';
  return { outcome, value: null, index: 0, status, node, error: `${status} ${messageOf(text)}` };
}

function messageOf(text: string): string {
  try {
    const { error } = JSON.parse(text) as { readonly error?: { readonly message?: string } };
    return error?.message ?? text;
  } catch {
    return text.slice(0, 200);
  }
}
