/** The response of uWebSockets.js to a request, as far as a node uses it; see its documentation. */
import type { HttpResponse } from 'uWebSockets.js';

type Used =
  | 'onData'
  | 'onAborted'
  | 'onWritable'
  | 'writeStatus'
  | 'writeHeader'
  | 'end'
  | 'tryEnd'
  | 'cork'
  | 'pause'
  | 'resume'
  | 'close'
  | 'getRemoteAddressAsText';

export class ThreadResponse implements Record<Used, unknown> {
  private status = '200 OK';
  private isEnded = false;
  private take: (chunk: ArrayBuffer, isLast: boolean) => void = () => {};
  private aborted: () => void = () => {};

  constructor(
    private isDeaf: () => boolean,
    /** Called once, with the status. */
    private readonly answered: (status: string, body: string) => void,
  ) {}

  /** A piece of the body has come. */
  receive(piece: Uint8Array, isLast: boolean): void {
    const { buffer, byteOffset, length } = piece;
    if (!this.isEnded) this.take(buffer.slice(byteOffset, byteOffset + length) as ArrayBuffer, isLast);
  }

  onData(take: Parameters<HttpResponse['onData']>[0]): void {
    this.take = take;
  }

  onAborted(work: () => void): void {
    this.aborted = work;
  }

  /** A client that takes nothing never does. */
  onWritable(): void {}

  writeStatus(status: string): void {
    this.status = status;
  }

  writeHeader(): void {}

  end(body: string | Uint8Array): void {
    if (this.isEnded) return;
    this.isEnded = true;
    const { status } = this;
    this.answered(status, status.startsWith('200') ? '' : Buffer.from(body).toString('latin1'));
  }

  tryEnd(body: Uint8Array): [boolean, boolean] {
    if (this.isDeaf()) return [false, false];
    this.end(body);
    return [true, true];
  }

  cork(work: () => void): void {
    work();
  }

  pause(): void {}

  resume(): void {}

  close(): void {
    if (this.isEnded) return;
    this.isEnded = true;
    this.aborted();
    this.answered('closed', 'the node ended the connection');
  }

  getRemoteAddressAsText(): ArrayBuffer {
    return ADDRESS;
  }
}

const ADDRESS = new TextEncoder().encode('192.0.2.1').buffer as ArrayBuffer;
