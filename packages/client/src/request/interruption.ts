/** The ways in which a call ends before its time: its signal, its client, its deadline. Whatever a call waits for, it waits for it here. */
import type { Clock } from './surroundings.js';

export type Interrupted =
  | { readonly kind: 'aborted'; readonly reason: unknown }
  | { readonly kind: 'closed' };

export class Interruption {
  readonly deadline: number;
  readonly #clock: Clock;
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort = (): void => this.interrupt({ kind: 'aborted', reason: this.#signal?.reason });
  #interrupted: Interrupted | null = null;
  #wake: (() => void) | null = null;

  constructor(clock: Clock, timeoutMs: number, signal: AbortSignal | undefined) {
    this.#clock = clock;
    this.deadline = clock.now() + timeoutMs;
    this.#signal = signal;
    if (signal?.aborted === true) this.#onAbort();
    else signal?.addEventListener('abort', this.#onAbort);
  }

  get interrupted(): Interrupted | null {
    return this.#interrupted;
  }

  /** Milliseconds until the deadline; 0 or less when it has passed. */
  get leftMs(): number {
    return this.deadline - this.#clock.now();
  }

  interrupt(why: Interrupted): void {
    this.#interrupted ??= why;
    this.#wake?.();
  }

  /**
   * Waits for something to be done, and no longer than until the call is interrupted.
   *
   * @param begin begins it; calls `done` when it is done; returns what gives it up
   * @returns whether it was done
   */
  wait(begin: (done: () => void) => () => void): Promise<boolean> {
    return new Promise((resolve) => {
      let isSettled = false;
      let giveUp: () => void = () => {};
      const settle = (isDone: boolean): void => {
        if (isSettled) return;
        isSettled = true;
        this.#wake = null;
        if (!isDone) giveUp();
        resolve(isDone);
      };
      giveUp = begin(() => settle(true));
      if (isSettled) return;
      this.#wake = () => settle(false);
      if (this.#interrupted !== null) settle(false);
    });
  }

  /** As `wait`, and no longer than until the deadline. */
  async waitInTime(begin: (done: () => void) => () => void): Promise<boolean> {
    let callOff: () => void = () => {};
    const isDone = await this.wait((done) => {
      const giveUp = begin(done);
      callOff = this.#clock.after(Math.max(0, this.leftMs), () => this.#wake?.());
      return giveUp;
    });
    callOff();
    return isDone;
  }

  async pause(ms: number): Promise<void> {
    if (ms > 0) await this.wait((done) => this.#clock.after(Math.min(ms, Math.max(0, this.leftMs)), done));
  }

  /** Waits for a promise; its outcome counts in time only. */
  async inTime<T>(work: Promise<T>): Promise<{ readonly value: T } | null> {
    const isDone = await this.waitInTime((done) => {
      work.then(done, done);
      return () => {};
    });
    return isDone ? { value: await work } : null;
  }

  /** The call has ended. */
  end(): void {
    this.#signal?.removeEventListener('abort', this.#onAbort);
    this.#wake = null;
  }
}
