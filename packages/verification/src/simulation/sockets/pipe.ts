/**
 * A simulated connection from a client to a node. What is sent comes in order, in pieces that are cut anywhere, and late; a client that
 * does not read lets the node keep what is beyond a window; and it is closed in order, or lost.
 */
import { Duplex } from 'node:stream';
import type { Draw } from '../random.js';
import type { Scheduler } from '../scheduler.js';
import type { Thread } from '../thread.js';

/** The end of a connection, as its client sees it: in order, or not. */
export type PipeEnd = 'end' | 'reset';

export interface PipeOptions {
  readonly scheduler: Scheduler;
  /** The thread of the node which reads. */
  readonly thread: Thread;
  readonly draw: Draw;
  /** Mean time of a piece on its way, in milliseconds. */
  readonly delayMs: number;
  /** Bytes that the node gets rid of while the client does not read. */
  readonly windowBytes: number;
  readonly address: string;
  readonly received: (bytes: Uint8Array) => void;
  readonly ended: (how: PipeEnd) => void;
}

/** Pieces that are cut, of a hundred that are sent. */
const CUT_PERCENT = 40;

/** A piece of what travels: bytes, or the end. */
type Piece = Uint8Array | PipeEnd;

/** Pieces on their way in one direction: none overtakes another. */
class Track {
  private pieces: Piece[] = [];
  private lastTime = 0;
  private isCut = false;

  /** @param sender the clock of who sends */
  constructor(
    private readonly options: Pick<PipeOptions, 'draw' | 'delayMs'>,
    private readonly sender: { readonly now: number },
    private readonly plan: (time: number, work: () => void) => void,
    private readonly arrive: (piece: Piece) => void,
  ) {}

  get isEmpty(): boolean {
    return this.pieces.length === 0;
  }

  send(piece: Piece): void {
    const { draw, delayMs } = this.options;
    if (this.isCut) return;
    if (typeof piece !== 'string' && piece.length > 1 && draw.int(0, 99) < CUT_PERCENT) {
      const at = draw.int(1, piece.length - 1);
      this.send(piece.subarray(0, at));
      this.send(piece.subarray(at));
      return;
    }
    this.pieces.push(piece);
    this.lastTime = Math.max(this.lastTime, this.sender.now + draw.exponential(delayMs));
    this.plan(this.lastTime, () => {
      const next = this.pieces.shift();
      if (next !== undefined) this.arrive(next);
    });
  }

  /** Loses all that is on its way, and what comes behind it. */
  cut(): void {
    this.isCut = true;
    this.pieces = [];
  }
}

export class Pipe {
  readonly nodeEnd: NodeEnd;
  private readonly toNode: Track;
  private readonly toClient: Track;
  /** Bytes that came while the client did not read. */
  private unread: Uint8Array[] = [];
  /** Bytes that left the node and were not read by the client. */
  private unreadBytes = 0;
  private isReading = true;
  private isNodeAlive = true;
  private hasEnded = false;

  constructor(private readonly options: PipeOptions) {
    const { scheduler, thread, address } = options;
    this.nodeEnd = new NodeEnd(address, {
      hasRoom: () => this.hasEnded || this.unreadBytes < options.windowBytes,
      send: (bytes) => {
        if (!this.isNodeAlive) return;
        this.unreadBytes += bytes.length;
        this.toClient.send(bytes);
      },
      end: (how) => {
        if (this.isNodeAlive) this.toClient.send(how);
      },
    });
    this.toNode = new Track(
      options,
      scheduler,
      (time, work) => thread.at(time, work),
      (piece) => this.nodeEnd.arrive(piece),
    );
    this.toClient = new Track(
      options,
      thread,
      (time, work) => scheduler.at(time, work),
      (piece) => this.arrive(piece),
    );
  }

  /** True if nothing is on its way, and nothing waits. */
  get isQuiet(): boolean {
    if (this.hasEnded) return true;
    return this.toNode.isEmpty && this.toClient.isEmpty && this.unreadBytes === 0;
  }

  send(bytes: Uint8Array): void {
    if (!this.hasEnded) this.toNode.send(bytes);
  }

  /** The client reads nothing more, until `flow`. */
  hold(): void {
    this.isReading = false;
  }

  flow(): void {
    this.isReading = true;
    const { unread } = this;
    this.unread = [];
    for (const bytes of unread) this.read(bytes);
  }

  /** The client closes it in order; it hears nothing any more. */
  close(): void {
    this.hasEnded = true;
    this.toNode.send('end');
    this.toClient.cut();
    this.unreadBytes = 0;
    this.wakeNode();
  }

  /**
   * It is lost, with what is on its way.
   *
   * @param noticedMs after which the node notices
   */
  sever(noticedMs: number): void {
    const { scheduler, thread } = this.options;
    this.toNode.cut();
    this.toClient.cut();
    thread.at(scheduler.now + noticedMs, () => this.nodeEnd.destroy(new Error('the connection is lost')));
    this.end('reset');
  }

  /** The process of the node has ended: what it sent still comes. */
  nodeEnded(): void {
    if (!this.isNodeAlive) return;
    this.isNodeAlive = false;
    this.toNode.cut();
    this.toClient.send('reset');
  }

  private arrive(piece: Piece): void {
    if (typeof piece === 'string') this.end(piece);
    else if (this.isReading) this.read(piece);
    else this.unread.push(piece);
  }

  private read(bytes: Uint8Array): void {
    this.unreadBytes -= bytes.length;
    this.options.received(bytes);
    this.wakeNode();
  }

  private wakeNode(): void {
    if (this.nodeEnd.isWaiting) this.options.thread.after(0, () => this.nodeEnd.goOn());
  }

  private end(how: PipeEnd): void {
    if (this.hasEnded) return;
    // Bytes that came before are read before the end is noticed.
    this.flow();
    if (this.hasEnded) return;
    this.hasEnded = true;
    if (how === 'end') this.toNode.send('end');
    this.options.ended(how);
  }
}

interface NodeEndOptions {
  /** True if the system takes something more. */
  readonly hasRoom: () => boolean;
  readonly send: (bytes: Uint8Array) => void;
  readonly end: (how: PipeEnd) => void;
}

/** The end that the node has, which it uses as it does a socket. */
export class NodeEnd extends Duplex {
  readonly remoteAddress: string;
  /** Bytes that the system took. */
  private taken = 0;
  private waiting: { readonly bytes: Uint8Array; readonly done: () => void } | null = null;
  private isFinished = false;

  constructor(
    address: string,
    private readonly line: NodeEndOptions,
  ) {
    super({ allowHalfOpen: false });
    this.remoteAddress = address;
    // It may be lost before anybody looks at it.
    this.on('error', () => {});
  }

  /** As a socket counts: with what waits to be taken. */
  get bytesWritten(): number {
    return this.taken + this.writableLength;
  }

  get isWaiting(): boolean {
    return this.waiting !== null;
  }

  /** Something of the client came. */
  arrive(piece: Piece): void {
    if (this.destroyed) return;
    if (piece === 'reset') this.destroy(new Error('the connection is lost'));
    else this.push(piece === 'end' ? null : Buffer.from(piece));
  }

  /** There may be room again. */
  goOn(): void {
    const { waiting, line } = this;
    if (waiting === null || !line.hasRoom()) return;
    this.waiting = null;
    this.pass(waiting.bytes, waiting.done);
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (this.line.hasRoom()) this.pass(chunk, done);
    else this.waiting = { bytes: chunk, done };
  }

  override _final(done: () => void): void {
    this.isFinished = true;
    this.line.end('end');
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    if (!this.isFinished) this.line.end('reset');
    done(error);
  }

  private pass(bytes: Uint8Array, done: () => void): void {
    this.taken += bytes.length;
    this.line.send(bytes);
    done();
  }
}
