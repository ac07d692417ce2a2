/**
 * A world for tests of commands: what they print is collected, and searched for secrets; what they read and the signals come from the
 * test.
 */
import type { Server } from 'node:net';
import { PassThrough, Readable, Writable } from 'node:stream';
import { Secrets } from '@althing/node/testing/secrets';
import type { Io } from './io.js';

export class FakeIo implements Io {
  readonly stdin: PassThrough & { isTTY?: boolean; setRawMode?(raw: boolean): unknown };
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly #secrets: Secrets;
  readonly #parts = { stdout: '', stderr: '' };
  readonly #listeners = new Set<(signal: NodeJS.Signals) => void>();
  readonly #reloads = new Set<() => void>();
  readonly #rawWaiters: { raw: boolean; resolve: () => void }[] = [];
  #raw: boolean | undefined;

  constructor(
    readonly environment: Readonly<Record<string, string | undefined>> = {},
    input?: string,
  ) {
    this.#secrets = new Secrets(environment);
    this.stdin = new PassThrough();
    if (input !== undefined) Readable.from([Buffer.from(input)]).pipe(this.stdin);
    this.stdout = this.#collect('stdout');
    this.stderr = this.#collect('stderr');
  }

  /** @throws {Error} when a secret of the environment was printed */
  get output(): string {
    this.#secrets.search(this.#parts.stdout);
    return this.#parts.stdout;
  }

  /** @throws {Error} as `output` */
  get errors(): string {
    this.#secrets.search(this.#parts.stderr);
    return this.#parts.stderr;
  }

  /** Makes the standard input a terminal. */
  terminal(): void {
    this.stdin.isTTY = true;
    this.stdin.setRawMode = (raw) => {
      this.#raw = raw;
      for (const waiter of this.#rawWaiters) if (waiter.raw === raw) waiter.resolve();
    };
  }

  /** Waits until the terminal was switched to raw mode, or back. */
  rawMode(raw: boolean): Promise<void> {
    return new Promise((resolve) => {
      if (this.#raw === raw) resolve();
      else this.#rawWaiters.push({ raw, resolve });
    });
  }

  readonly hidden: string[] = [];

  hideVariables(names: readonly string[]): boolean {
    this.hidden.push(...names);
    return true;
  }

  onStopSignal(callback: (signal: NodeJS.Signals) => void): () => void {
    this.#listeners.add(callback);
    return () => this.#listeners.delete(callback);
  }

  onReloadSignal(callback: () => void): () => void {
    this.#reloads.add(callback);
    return () => this.#reloads.delete(callback);
  }

  reload(): void {
    for (const callback of this.#reloads) callback();
  }

  /** The number of those that wait for a signal. */
  get listening(): number {
    return this.#listeners.size + this.#reloads.size;
  }

  signal(signal: NodeJS.Signals): void {
    for (const listener of this.#listeners) listener(signal);
  }

  #collect(name: 'stdout' | 'stderr'): Writable {
    return new Writable({
      write: (part, _, done) => {
        this.#parts[name] += String(part);
        done();
      },
    });
  }
}

/** The port that a server listens on. */
export function portOf(server: Server): number {
  const address = server.address();
  if (typeof address !== 'object' || address === null)
    throw new Error('the server does not listen on a port');
  return address.port;
}
