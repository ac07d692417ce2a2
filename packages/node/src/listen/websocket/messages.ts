import type { Bytes } from '../limits/byte-budget.js';
import type { Header } from '../native/package.js';
import { PackageReader, type PackageSink, type Taking } from '../native/package-reader.js';
import { FrameReader, type FrameSink } from './frames.js';

/** The side of the connection that says something about it. */
export interface MessageControl {
  pong(payload: Buffer): void;
  closed(payload: Buffer): void;
}

/**
 * Takes packages out of the messages of a WebSocket: each holds exactly one, in frames of any size. A package is
 * handed on when its message is complete, so one with something behind it has no effect.
 */
export class MessageReader extends FrameReader {
  private readonly message: PackageInMessage;

  constructor(sink: PackageSink, control: MessageControl) {
    const message = new PackageInMessage(sink, control);
    super(message);
    this.message = message;
  }

  /** Gives memory back. */
  end(): void {
    this.message.end();
  }
}

class PackageInMessage implements PackageSink, FrameSink {
  private readonly packages = new PackageReader(this);
  private hasHeader = false;
  /** Hands the package of the message on; null before it is complete. */
  private handOn: (() => void) | null = null;

  constructor(
    private readonly sink: PackageSink,
    private readonly control: MessageControl,
  ) {}

  get memory(): Bytes {
    return this.sink.memory;
  }

  begins(header: Header): Taking {
    if (this.hasHeader) return 'end';
    this.hasHeader = true;
    return this.sink.begins(header);
  }

  take(header: Header, data: Buffer): void {
    this.handOn = () => this.sink.take(header, data);
  }

  skipped(header: Header): void {
    this.handOn = () => this.sink.skipped(header);
  }

  full(header: Header): void {
    this.sink.full(header);
  }

  data(bytes: Buffer): boolean {
    // Nothing may stand behind the package, not even the beginning of another one.
    return (
      this.handOn === null && this.packages.push(bytes) && !(this.handOn !== null && this.packages.isWithin)
    );
  }

  messageEnded(): boolean {
    const { handOn } = this;
    this.handOn = null;
    this.hasHeader = false;
    if (handOn === null) return false;
    handOn();
    return true;
  }

  ping(payload: Buffer): void {
    this.control.pong(payload);
  }

  closed(payload: Buffer): void {
    this.control.closed(payload);
  }

  end(): void {
    this.packages.end();
  }
}

/** Takes the package out of a message that has come as a whole. */
export class MessagePackage {
  private readonly inside: PackageInMessage;

  constructor(sink: PackageSink) {
    this.inside = new PackageInMessage(sink, { pong: () => {}, closed: () => {} });
  }

  /** @returns false when there is something else in it, or no more are wanted */
  take(message: Buffer): boolean {
    return this.inside.data(message) && this.inside.messageEnded();
  }

  /** Gives memory back. */
  end(): void {
    this.inside.end();
  }
}
