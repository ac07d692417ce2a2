/**
 * The load generator: some connections, each with one request under way at a time. It has to cost much less per request than
 * any server, so it goes around streams on the way in (one buffer per connection) and around everything else on both.
 */
import { connect, type Socket } from 'node:net';
import { ResponseReader } from './response.js';

export interface LoadOptions {
  /** The connections are shared out among these. */
  readonly ports: readonly number[];
  /** Whole requests, head and body, which are sent in turns; at least one. */
  readonly requests: readonly Buffer[];
  readonly connections: number;
}

/** Figures between two moments. */
export interface LoadResult {
  /** Answers with status 200. */
  readonly answers: number;
  /** Answers with another status, broken connections. */
  readonly errors: number;
  readonly elapsedMs: number;
  /** Times of answers with status 200, in milliseconds. */
  readonly times: readonly number[];
  readonly lastError: string | undefined;
}

const readBufferSize = 64 * 1024;
/** After that many errors the load stops: it measures nothing. */
const errorsMax = 1000;

export class Load {
  readonly #connections = new Set<Connection>();
  #times: number[] = [];
  #errors = 0;
  #lastError: string | undefined;
  #since = 0;
  #isStopped = false;
  #next = 0;

  constructor(private readonly options: LoadOptions) {
    const { ports, connections } = options;
    for (let i = 0; i < connections; i++) this.#open(ports[i % ports.length]!);
  }

  /** Forgets what was counted so far. */
  reset(): void {
    this.#times = [];
    this.#errors = 0;
    this.#since = performance.now();
  }

  /** Figures since the last `reset`. */
  result(): LoadResult {
    return {
      answers: this.#times.length,
      errors: this.#errors,
      elapsedMs: performance.now() - this.#since,
      times: this.#times,
      lastError: this.#lastError,
    };
  }

  stop(): void {
    this.#isStopped = true;
    for (const connection of this.#connections) connection.close();
  }

  #open(port: number): void {
    const connection = new Connection(port, () => this.#request(), {
      answered: (status, ms) => {
        if (status === 200) this.#times.push(ms);
        else this.#fail(`status ${status}`);
      },
      broken: (why) => {
        this.#connections.delete(connection);
        if (this.#isStopped) return;
        this.#fail(why);
        if (this.#errors < errorsMax) setImmediate(() => this.#isStopped || this.#open(port));
      },
    });
    this.#connections.add(connection);
  }

  #request(): Buffer {
    const { requests } = this.options;
    const request = requests[this.#next++ % requests.length];
    if (request === undefined) throw new Error('there is no request to send');
    return request;
  }

  #fail(why: string): void {
    this.#errors++;
    this.#lastError = why;
    if (this.#errors >= errorsMax) this.stop();
  }
}

interface Listener {
  answered(status: number, ms: number): void;
  /** Called once; the connection is of no use any more. */
  broken(why: string): void;
}

class Connection {
  readonly #socket: Socket;
  readonly #request: () => Buffer;
  readonly #reader = new ResponseReader();
  #sentAt = 0;
  #isOpen = true;

  constructor(
    port: number,
    request: () => Buffer,
    private readonly listener: Listener,
  ) {
    this.#request = request;
    this.#socket = connect({
      host: '127.0.0.1',
      port,
      noDelay: true,
      onread: {
        buffer: Buffer.allocUnsafe(readBufferSize),
        callback: (size, buffer) => this.#take(Buffer.from(buffer.buffer, buffer.byteOffset, size)),
      },
    });
    this.#socket.on('connect', () => this.#send());
    this.#socket.on('error', (error) => this.#break(error.message));
    this.#socket.on('close', () => this.#break('the server closed the connection'));
  }

  close(): void {
    this.#isOpen = false;
    this.#socket.destroy();
  }

  #send(): void {
    this.#sentAt = performance.now();
    this.#socket.write(this.#request());
  }

  #take(chunk: Buffer): boolean {
    try {
      if (!this.#reader.take(chunk)) return true;
    } catch (error) {
      this.#break(error instanceof Error ? error.message : String(error));
      return false;
    }
    this.listener.answered(this.#reader.status, performance.now() - this.#sentAt);
    if (this.#isOpen) this.#send();
    return true;
  }

  #break(why: string): void {
    if (!this.#isOpen) return;
    this.close();
    this.listener.broken(why);
  }
}
