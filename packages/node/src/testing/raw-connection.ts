import { connect, type Socket } from 'node:net';
import { Answer } from './answer.js';
import { within } from './until.js';

/**
 * A TCP connection on which a test sends exactly the bytes that it wants, and reads responses one by one.
 * Responses are read strictly: with a status line, headers and a Content-Length; only a response that says
 * that the connection ends may end with it.
 */
export class RawConnection {
  private parts: Buffer[] = [];
  private size = 0;
  private ended = false;
  private readonly waiters: (() => void)[] = [];

  static open(port: number, address = '127.0.0.1', localAddress?: string): Promise<RawConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect({
        port,
        host: address,
        ...(localAddress === undefined ? {} : { localAddress }),
      });
      socket.setNoDelay(true);
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new RawConnection(socket));
      });
    });
  }

  private constructor(private readonly socket: Socket) {
    socket.on('data', (data) => {
      this.parts.push(data);
      this.size += data.length;
      this.wake();
    });
    // A reset is one way for the other side to close.
    socket.on('error', () => {});
    socket.on('close', () => {
      this.ended = true;
      this.wake();
    });
    socket.on('end', () => {
      this.ended = true;
      this.wake();
    });
  }

  /** Sends bytes; a string stands for Latin-1. */
  send(data: string | Uint8Array): this {
    this.socket.write(typeof data === 'string' ? Buffer.from(data, 'latin1') : data);
    return this;
  }

  /** Sends bytes and waits until the system took them, or the connection ended. */
  sendAll(data: string | Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      this.socket.once('close', () => resolve());
      this.socket.write(typeof data === 'string' ? Buffer.from(data, 'latin1') : data, () => resolve());
    });
  }

  /** Reads no more until `resume`: the other side can't get rid of what it writes. */
  pause(): this {
    this.socket.pause();
    return this;
  }

  resume(): this {
    this.socket.resume();
    return this;
  }

  /** The next response; null when the connection ends without one. */
  answer(timeoutMs?: number): Promise<Answer | null> {
    return within(this.nextAnswer(), 'a response', timeoutMs);
  }

  /** Everything that comes until the other side closes. */
  async rest(timeoutMs?: number): Promise<string> {
    await this.closed(timeoutMs);
    return this.received.toString('latin1');
  }

  /** Settles when the other side closed the connection. */
  closed(timeoutMs?: number): Promise<void> {
    return within(this.whenEnded(), 'the end of a connection', timeoutMs);
  }

  get isClosed(): boolean {
    return this.ended;
  }

  /** Bytes that came and were not read as a response yet. */
  get unread(): number {
    return this.size;
  }

  /** Sends no more; what the other side has to say can still be read. */
  finish(): void {
    this.socket.end();
  }

  close(): void {
    this.socket.destroy();
  }

  /** Bytes that came and were not read as a response yet, in one piece. */
  private get received(): Buffer {
    const whole = Buffer.concat(this.parts);
    this.parts = [whole];
    return whole;
  }

  private async whenEnded(): Promise<void> {
    while (!this.ended) await this.news();
  }

  private async nextAnswer(): Promise<Answer | null> {
    let head: number;
    while ((head = this.received.indexOf('\r\n\r\n')) < 0) {
      if (this.ended) {
        if (this.received.length === 0) return null;
        throw new Error(
          `the connection ended within a response: ${this.received.toString('latin1').slice(0, 200)}`,
        );
      }
      await this.news();
    }
    const { statusLine, headers } = parseHead(this.received.subarray(0, head).toString('latin1'));
    const length = await this.lengthOf(statusLine, headers, head + 4);
    if (!Number.isSafeInteger(length)) throw new Error(`a response without Content-Length: ${statusLine}`);
    const end = head + 4 + length;
    while (this.size < end) {
      if (this.ended) throw new Error(`the connection ended within the body of a response: ${statusLine}`);
      await this.news();
    }
    const body = Buffer.from(this.received.subarray(head + 4, end));
    this.parts = [this.received.subarray(end)];
    this.size -= end;
    return new Answer(statusLine, headers, body);
  }

  private async lengthOf(statusLine: string, headers: Map<string, string>, start: number): Promise<number> {
    const length = headers.get('content-length');
    if (length !== undefined) return Number(length);
    if (statusLine.startsWith('100 ')) return 0;
    if (headers.get('connection') !== 'close') return Number.NaN;
    await this.whenEnded();
    return this.size - start;
  }

  private news(): Promise<void> {
    return new Promise((resolve) => this.waiters.push(resolve));
  }

  private wake(): void {
    for (const resolve of this.waiters.splice(0)) resolve();
  }
}

function parseHead(text: string): { readonly statusLine: string; readonly headers: Map<string, string> } {
  const [first = '', ...lines] = text.split('\r\n');
  if (!/^HTTP\/1\.1 [1-5]\d\d /.test(first)) throw new Error(`no status line: ${first}`);
  const headers = new Map<string, string>();
  for (const line of lines) {
    const match = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+): (.*)$/.exec(line);
    if (match === null) throw new Error(`no header line: ${line}`);
    const name = (match[1] as string).toLowerCase();
    if (headers.has(name)) throw new Error(`the header ${name} comes twice`);
    headers.set(name, match[2] as string);
  }
  return { statusLine: first.slice('HTTP/1.1 '.length), headers };
}
