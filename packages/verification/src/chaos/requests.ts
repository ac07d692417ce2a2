/**
 * Requests of chaos clients over HTTP, and what is known of a change when they fail. They are made without `@althing/client`, which hides
 * what is judged here: the status, headers and outcome of each single answer. `library.ts` plays with the library.
 */
import { Agent } from 'node:http';
import { exchange, type HttpAnswer } from '../harness/exchange.js';
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
  /** True if something was made, though there is no answer. */
  readonly isMade?: boolean;
  readonly value: unknown;
  /** Log index that the answer reflects; 0 when it is not told. */
  readonly index: number;
  /** The status; 0 when there was no answer. */
  readonly status: number;
  /** The node that answered; empty when it is not told. */
  readonly node: string;
  /** The error, with the status; empty when there was none. */
  readonly error: string;
  /** A statement of the answer that it may not make, whatever happened; undefined when it is in order. */
  readonly flaw?: string;
}

/** Longer than a node lets a request wait. */
const TIMEOUT_MS = 8000;
/** Nodes close idle connections after ten seconds. */
const IDLE_MS = 4000;

export class Requests {
  private readonly agent = new Agent({ keepAlive: true, timeout: IDLE_MS });

  constructor(public authorization: string) {}

  close(): void {
    this.agent.destroy();
  }

  /** Asks a node. It never throws, and has an answer in the end. */
  async ask({ host, port }: Endpoint, { scope, code, headers }: Question): Promise<Response> {
    const body = JSON.stringify({ type: 'query', code });
    try {
      const answer = await exchange(
        {
          method: 'POST',
          host,
          port,
          path: scope,
          agent: this.agent,
          signal: AbortSignal.timeout(TIMEOUT_MS),
          headers: {
            'Content-Type': 'application/json',
            'Content-Length': Buffer.byteLength(body),
            Authorization: this.authorization,
            ...headers,
          },
        },
        body,
      );
      return responseOf(answer);
    } catch (error) {
      const { code: cause, message } = error as NodeJS.ErrnoException;
      // Only who never had a connection knows that nothing was carried out.
      const outcome = cause === 'ECONNREFUSED' || cause === 'EHOSTUNREACH' ? 'failed' : 'unknown';
      return { outcome, value: null, index: 0, status: 0, node: '', error: cause ?? message };
    }
  }
}

function responseOf({ status, headers, content }: HttpAnswer): Response {
  const text = content.toString();
  const index = Number(headers['althing-index'] ?? 0);
  const node = String(headers['althing-node'] ?? '');
  if (status === 200) return { outcome: 'ok', value: JSON.parse(text), index, status, node, error: '' };
  const { message, told } = errorIn(text);
  const error = `${status} ${told ?? ''} ${message}`;
  const flaw = flawOf(status, told, headers['retry-after'] !== undefined, node !== '');
  const outcome = outcomeOf(status, told);
  const isMade = told === 'made';
  const answer = { outcome, value: null, index: 0, status, node, error, ...(isMade ? { isMade } : {}) };
  return flaw === null ? answer : { ...answer, flaw: `${flaw}: ${error}` };
}

/**
 * The outcome after an answer that is no value. A change that was made without an answer counts as unknown: it took effect at
 * some time. Where a balancer answers and says nothing of it, the status tells.
 */
function outcomeOf(status: number, told: string | undefined): Outcome {
  if (status === 503 || told === 'none') return 'failed';
  if (told === 'unknown' || told === 'made') return 'unknown';
  return status === 504 || status === 502 || status === 0 ? 'unknown' : 'failed';
}

/** The flaw of an answer as such; null when there is none. */
function flawOf(
  status: number,
  told: string | undefined,
  retries: boolean,
  isOfNode: boolean,
): string | null {
  if (isOfNode && told === undefined) return 'an error does not say what became of the changes';
  if (status === 503 && told !== undefined && told !== 'none')
    return '503 does not mean that nothing happened';
  if (told === 'unknown' && status !== 504 && status !== 502)
    return 'what nobody knows has another status than 504';
  if (told !== undefined && told !== 'none' && retries)
    return 'Retry-After, though something may have happened';
  return null;
}

function errorIn(text: string): { readonly message: string; readonly told: string | undefined } {
  try {
    const { error } = JSON.parse(text) as {
      readonly error?: { readonly message?: string; readonly outcome?: string };
    };
    return { message: error?.message ?? text, told: error?.outcome };
  } catch {
    return { message: text.slice(0, 200), told: undefined };
  }
}
