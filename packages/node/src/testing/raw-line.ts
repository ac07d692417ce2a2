import { connect, type NetConnectOpts, type Socket } from 'node:net';
import { within } from './until.js';

/** A connection of the native protocol on which a test sends exactly the bytes that it wants. */
export class RawLine {
  private bytes: Buffer = Buffer.alloc(0);
  private hasEnded = false;
  private wake: () => void = () => {};

  static open(place: NetConnectOpts): Promise<RawLine> {
    return new Promise((resolve, reject) => {
      const socket = connect(place);
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        socket.setNoDelay(true);
        resolve(new RawLine(socket));
      });
    });
  }

  private constructor(private readonly socket: Socket) {
    socket.on('data', (data) => {
      this.bytes = Buffer.concat([this.bytes, data]);
      this.wake();
    });
    // A reset is one way for the other side to close.
    socket.on('error', () => {});
    socket.on('close', () => {
      this.hasEnded = true;
      this.wake();
    });
  }

  sendBytes(bytes: Uint8Array): void {
    this.socket.write(bytes);
  }

  /** @param hex digits and blanks */
  sendHex(hex: string): void {
    this.sendBytes(Buffer.from(hex.replaceAll(' ', ''), 'hex'));
  }

  send(type: number, id: number, data: Uint8Array): void {
    const head = Buffer.alloc(8);
    head.writeUInt32LE(data.length, 0);
    head.writeUInt16LE(id, 4);
    head[6] = type;
    head[7] = type ^ 0xff;
    this.sendBytes(Buffer.concat([head, data]));
  }

  /** The next package that came, in hexadecimal digits; fails when the connection ends instead. */
  async next(): Promise<string> {
    await within(
      this.when(() => this.bytes.length >= 8 && this.bytes.length >= 8 + this.bytes.readUInt32LE(0)),
      'the next package',
    );
    const length = this.bytes.length < 8 ? 0 : 8 + this.bytes.readUInt32LE(0);
    if (length === 0 || this.bytes.length < length) throw new Error('the connection has ended');
    const taken = this.bytes.subarray(0, length).toString('hex');
    this.bytes = this.bytes.subarray(length);
    return taken;
  }

  /** Waits until so many bytes came, or the connection ended, and gives them. */
  async take(count: number): Promise<Buffer> {
    await within(
      this.when(() => this.bytes.length >= count),
      `${count} bytes`,
    );
    const taken = this.bytes.subarray(0, count);
    this.bytes = this.bytes.subarray(taken.length);
    return taken;
  }

  /** Waits for the end of the connection; gives what came before and was not taken, in hexadecimal digits. */
  async ended(): Promise<string> {
    await within(
      this.when(() => false),
      'the end of the connection',
    );
    return this.bytes.toString('hex');
  }

  /** Reads no more until `resume`. */
  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  close(): void {
    this.socket.destroy();
  }

  private async when(condition: () => boolean): Promise<void> {
    while (!condition() && !this.hasEnded) {
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }
}
