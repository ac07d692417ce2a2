/** Requests over HTTP in browsers. */
import type { Attempt, AttemptEnd, Program, Sent, Transport } from '../request/attempt.js';
import type { Clock } from '../request/surroundings.js';
import type { ScopeName } from '../scope.js';
import { joined } from '../wire/joined.js';
import { httpBody, httpHeaders, httpPath, httpReply } from './http-message.js';

export class FetchTransport implements Transport {
  readonly #clock: Clock;
  readonly #answerBytesMax: number;

  constructor(clock: Clock, answerBytesMax: number) {
    this.#clock = clock;
    this.#answerBytesMax = answerBytesMax;
  }

  bodyOf(_scope: ScopeName, program: Program): Uint8Array {
    return httpBody(program);
  }

  send(attempt: Attempt): Sent {
    const controller = new AbortController();
    const callOff = this.#clock.after(attempt.timeoutMs, () => controller.abort());
    const end = this.#exchange(attempt, controller).finally(callOff);
    return { end, cancel: () => controller.abort() };
  }

  close(): void {
    // Browsers keep connections by themselves.
  }

  async #exchange(attempt: Attempt, { signal }: AbortController): Promise<AttemptEnd> {
    const { node, scope, body, method } = attempt;
    try {
      const request = {
        method,
        headers: httpHeaders(attempt),
        body: new Uint8Array(body),
        cache: 'no-store',
        // Otherwise a 401 makes the browser ask for a password by itself.
        credentials: 'omit',
        redirect: 'error',
        signal,
      } as const;
      const response = await fetch(node.url.origin + httpPath(node.url, scope.path), request);
      const bytes = await this.#read(response);
      if (bytes === null) return { kind: 'too_large', bytesMax: this.#answerBytesMax };
      const reply = httpReply(response.status, (name) => response.headers.get(name), bytes);
      return { kind: 'answered', reply };
    } catch (error) {
      // A browser does not tell whether anything was sent.
      return { kind: 'lost', error, wasReused: false };
    }
  }

  /** Null for an answer that is too large. */
  async #read(response: Response): Promise<Uint8Array | null> {
    if (response.body === null) return new Uint8Array();
    const parts: Uint8Array[] = [];
    let bytes = 0;
    for (const reader = response.body.getReader(); ; ) {
      const { done, value } = await reader.read();
      if (done) break;
      bytes += value.length;
      if (bytes > this.#answerBytesMax) {
        await reader.cancel();
        return null;
      }
      parts.push(value);
    }
    return joined(parts, bytes);
  }
}
