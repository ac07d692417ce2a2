/** The way from a thread that has the door to one that has log and peers, for the shape `split`. */
import type { MessagePort } from 'node:worker_threads';
import { countOf, Gatherer, type Part, tellParts } from './gatherer.js';
import type { Done, Replica } from './replica.js';

type Question =
  | { readonly kind: 'write'; readonly entries: Uint8Array<ArrayBuffer>; readonly count: number }
  | { readonly kind: 'read' };

interface Answer {
  readonly kind: 'write' | 'read';
  readonly index: number;
}

/** A replica that is in another thread. */
export class PortReplica implements Replica {
  readonly #port: Pick<MessagePort, 'postMessage'>;
  readonly #gatherer = new Gatherer(() => this.#turn());
  readonly #writes: (readonly Part[])[] = [];
  readonly #reads: (readonly Done[])[] = [];

  constructor(port: Pick<MessagePort, 'postMessage'>) {
    this.#port = port;
  }

  write(entries: Uint8Array, count: number, done: Done): void {
    this.#gatherer.write(entries, count, done);
  }

  read(done: Done): void {
    this.#gatherer.read(done);
  }

  /** Takes what the other thread says; it answers in the order of questions. */
  take({ kind, index }: Answer): void {
    if (kind === 'write') tellParts(this.#writes.shift() ?? [], index);
    else for (const done of this.#reads.shift() ?? []) done(index);
  }

  #turn(): void {
    const reads = this.#gatherer.takeReads();
    if (reads.length > 0) {
      this.#reads.push(reads);
      this.#post({ kind: 'read' });
    }
    const parts = this.#gatherer.takeParts();
    if (parts.length === 0) return;
    this.#writes.push(parts);
    const entries = new Uint8Array(parts.reduce((total, part) => total + part.entries.length, 0));
    let at = 0;
    for (const part of parts) {
      entries.set(part.entries, at);
      at += part.entries.length;
    }
    this.#post({ kind: 'write', entries, count: countOf(parts) });
  }

  #post(question: Question): void {
    this.#port.postMessage(question, question.kind === 'write' ? [question.entries.buffer] : []);
  }
}

/** Has a replica answer what the other thread asks. */
export function serve(port: MessagePort, replica: Replica): void {
  port.on('message', (question: Question) => {
    const { kind } = question;
    const done = (index: number): void => port.postMessage({ kind, index } satisfies Answer);
    if (kind === 'write') replica.write(question.entries, question.count, done);
    else replica.read(done);
  });
}
