/** A connection between two nodes as a stream of frames. */
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { encodeFrame, FRAME_BYTES_MAX, FrameError, FrameReader } from './frame.js';
import { GreetingFormatError } from './greeting-format.js';

/** Pause before the operating system asks whether the other side is still there, in milliseconds. */
const KEEP_ALIVE_MS = 10_000;

/** Time for the last bytes to leave when a connection is ended, in milliseconds. */
const END_MS = 500;

/** Label of what the two sides of a TLS connection derive from it and nobody else can know. */
const EXPORTER_LABEL = 'EXPORTER-althing-peers';

export class Channel {
  onFrame: (kind: number, payload: Buffer) => void = () => {};
  /** Called with pieces of large frames; while it is null they are frames as others. */
  set onPart(onPart: ((parts: readonly Buffer[]) => void) | null) {
    this.reader.onPart = onPart;
  }

  /** Any bytes came. */
  onBytes: () => void = () => {};
  /** Called once: the connection is gone. The error tells why, if it was not just closed. */
  onEnd: (error: Error | null) => void = () => {};
  private readonly reader = new FrameReader((kind, payload) => this.onFrame(kind, payload));
  private checks = false;
  private ended = false;

  constructor(
    readonly socket: Socket,
    /** The address of the other side, for people. */
    readonly address: string,
  ) {
    socket.setNoDelay(true);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    socket.on('data', (chunk: Buffer) => this.read(chunk));
    socket.on('end', () => this.finish(null));
    socket.on('error', (error) => this.finish(error));
    socket.on('close', () => this.finish(null));
  }

  get isEncrypted(): boolean {
    return this.socket instanceof TLSSocket;
  }

  get isOpen(): boolean {
    return !this.ended;
  }

  /** Bytes that are unique to the connection and the same on both sides; empty without TLS. */
  get binding(): Uint8Array {
    if (!(this.socket instanceof TLSSocket)) return new Uint8Array(0);
    return this.socket.exportKeyingMaterial(32, EXPORTER_LABEL, Buffer.alloc(0));
  }

  /** True if frames have checks. */
  get isChecked(): boolean {
    return this.checks;
  }

  /** The other side has proved who it is: large frames are allowed. */
  trust(): void {
    this.checks = !this.isEncrypted;
    this.reader.bytesMax = FRAME_BYTES_MAX;
    this.reader.isChecked = this.checks;
  }

  send(kind: number, payload: Uint8Array): void {
    if (!this.ended) this.socket.write(encodeFrame(kind, payload, this.checks));
  }

  /** Closes at once; what waits is not sent. `onEnd` is not called. */
  destroy(): void {
    this.ended = true;
    this.reader.stop();
    this.socket.destroy();
  }

  /** Closes when everything was sent. `onEnd` is not called. */
  end(): void {
    if (this.ended) return;
    this.ended = true;
    this.reader.stop();
    const timer = setTimeout(() => this.socket.destroy(), END_MS);
    this.socket.once('close', () => clearTimeout(timer));
    this.socket.end(() => this.socket.destroySoon());
    this.socket.resume();
  }

  private read(chunk: Buffer): void {
    if (this.ended) return;
    this.onBytes();
    try {
      this.reader.push(chunk);
    } catch (error) {
      if (!(error instanceof FrameError) && !(error instanceof GreetingFormatError)) throw error;
      this.finish(error);
    }
  }

  private finish(error: Error | null): void {
    if (this.ended) return;
    this.destroy();
    this.onEnd(error);
  }
}
