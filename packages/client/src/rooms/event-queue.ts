/** The events of one iteration: those that came and were not read yet, and the reader that waits for the next. */
import type { RoomEvent } from '../api/database.js';

type Result = IteratorResult<RoomEvent, undefined>;

interface Reader {
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

export class EventQueue {
  readonly #max: number;
  readonly #readers: Reader[] = [];
  #events: RoomEvent[] = [];
  #end: { readonly error: unknown } | 'ended' | null = null;

  /** @param max events that wait; more become a `gap` */
  constructor(max: number) {
    this.#max = max;
  }

  push(event: RoomEvent): void {
    if (this.#end !== null) return;
    const reader = this.#readers.shift();
    if (reader !== undefined) {
      reader.resolve({ value: event, done: false });
      return;
    }
    if (event.kind === 'gap' && this.#events.at(-1)?.kind === 'gap') return;
    if (this.#events.length >= this.#max) this.#events = [{ kind: 'gap' }];
    this.#events.push(event);
  }

  /** No more events come; those that wait can still be read. */
  end(): void {
    this.#finish('ended');
  }

  /** As `end`, and then the iteration fails. */
  fail(error: unknown): void {
    this.#finish({ error });
  }

  /** Drops what waits. */
  clear(): void {
    this.#events = [];
  }

  next(): Promise<Result> {
    const event = this.#events.shift();
    if (event !== undefined) return Promise.resolve({ value: event, done: false });
    if (this.#end === null) return new Promise((resolve, reject) => this.#readers.push({ resolve, reject }));
    if (this.#end === 'ended') return Promise.resolve(DONE);
    const { error } = this.#end;
    this.#end = 'ended';
    return Promise.reject(error);
  }

  #finish(end: { readonly error: unknown } | 'ended'): void {
    if (this.#end !== null) return;
    const [first, ...others] = this.#readers.splice(0);
    if (end === 'ended' || first === undefined) this.#end = end;
    else {
      this.#end = 'ended';
      first.reject(end.error);
    }
    if (end === 'ended') first?.resolve(DONE);
    for (const reader of others) reader.resolve(DONE);
  }
}

const DONE: Result = { value: undefined, done: true };
