/**
 * The engine thread's end of the line to the consensus thread. Commands of one turn of the event loop travel in one
 * message. A doorbell in shared memory lets the engine thread wait for an event without turning its loop.
 */
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { type EventParcel, unpackEvents } from './event-parcel.js';
import { ParcelPacker } from './parcel.js';
import type { Command, Consensus, Event } from './protocol.js';

/** What the worker gets at its start, besides its options. */
export interface BridgePorts {
  readonly port: MessagePort;
  /** One Int32 that rises with every message of the worker. */
  readonly doorbell: SharedArrayBuffer;
}

export class Bridge implements Consensus {
  onEvent: (event: Event) => void = () => {};
  private readonly port: MessagePort;
  private readonly doorbell: Int32Array;
  private readonly packer = new ParcelPacker();
  private planned = false;

  constructor({ port, doorbell }: BridgePorts) {
    this.port = port;
    this.doorbell = new Int32Array(doorbell);
    port.on('message', (parcel: EventParcel) => this.receive(parcel));
  }

  send(command: Command): void {
    this.packer.add(command);
    if (this.planned) return;
    this.planned = true;
    setImmediate(() => this.flush());
  }

  /**
   * Blocks until `done` holds or the time is up, handling events meanwhile. For a node that has nothing else to do:
   * waking up this way is faster than by the event loop.
   */
  waitFor(done: () => boolean, ms: number): void {
    this.flush();
    const end = performance.now() + ms;
    while (!done()) {
      const rings = Atomics.load(this.doorbell, 0);
      const message = receiveMessageOnPort(this.port) as { message: EventParcel } | undefined;
      if (message !== undefined) {
        this.receive(message.message);
        continue;
      }
      const left = end - performance.now();
      if (left <= 0) return;
      Atomics.wait(this.doorbell, 0, rings, left);
    }
  }

  close(): void {
    this.port.close();
  }

  private flush(): void {
    this.planned = false;
    if (this.packer.isEmpty) return;
    const parcel = this.packer.take();
    this.port.postMessage(parcel, parcel.data.length > 0 ? [parcel.data.buffer] : []);
  }

  private receive(parcel: EventParcel): void {
    unpackEvents(parcel, (event) => this.onEvent(event));
  }
}
