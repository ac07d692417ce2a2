/**
 * The engine thread's end of the line to the consensus thread. Commands of one turn of the event loop travel
 * in one message, and proposals that could not be written yet wait for the write under way, so that each
 * costs less.
 */
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { type EventParcel, unpackEvents } from './event-parcel.js';
import { ParcelPacker } from './parcel.js';
import type { Command, Consensus, Event } from './protocol.js';
import { Signals } from './signals.js';

/** The parts of the worker's start besides its options. */
export interface BridgePorts {
  readonly port: MessagePort;
  /** Of `Signals`. */
  readonly signals: SharedArrayBuffer;
}

/** Bytes of proposals that may be held back. */
const HELD_BYTES_MAX = 256 * 1024;

export class Bridge implements Consensus {
  onEvent: (event: Event) => void = () => {};
  private readonly port: MessagePort;
  private readonly signals: Signals;
  private readonly packer = new ParcelPacker();
  private planned = false;

  constructor({ port, signals }: BridgePorts) {
    this.port = port;
    this.signals = new Signals(signals);
    port.on('message', (parcel: EventParcel) => this.receive(parcel));
  }

  send(command: Command): void {
    this.packer.add(command);
    if (this.planned) return;
    this.planned = true;
    setImmediate(() => {
      this.planned = false;
      if (!this.holds()) this.flush();
    });
  }

  /**
   * Blocks until `done` holds or the time is up, handling events meanwhile. For a node that has nothing else
   * to do: waking up this way is faster than by the event loop.
   */
  waitFor(done: () => boolean, ms: number): void {
    this.flush();
    const end = performance.now() + ms;
    while (!done()) {
      const { rings } = this.signals;
      const message = receiveMessageOnPort(this.port) as { message: EventParcel } | undefined;
      if (message !== undefined) {
        this.receive(message.message);
        continue;
      }
      const left = end - performance.now();
      if (left <= 0) return;
      this.signals.waitForRing(rings, left);
    }
  }

  close(): void {
    this.port.close();
  }

  /** Whether what is to be sent waits for the write under way. */
  private holds(): boolean {
    const { packer } = this;
    return packer.isProposals && packer.bytes < HELD_BYTES_MAX && this.signals.hold();
  }

  private flush(): void {
    if (this.packer.isEmpty) return;
    this.signals.release();
    const parcel = this.packer.take();
    this.port.postMessage(parcel, parcel.data.length > 0 ? [parcel.data.buffer] : []);
  }

  private receive(parcel: EventParcel): void {
    // First, so that it is written while the events are handled.
    this.flush();
    unpackEvents(parcel, (event) => this.onEvent(event));
  }
}
