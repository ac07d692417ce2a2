/**
 * The engine thread's end of the line to the consensus thread. Commands of one turn of the event loop travel
 * in one message. Proposals that could not be written yet wait for the write under way, and behind it for
 * what comes at once: a message and a write cost as much as many changes. Calls of other nodes and answers to
 * them do not wait, and do not take along what does.
 */
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { type EventParcel, unpackEvents } from './event-parcel.js';
import { GATHER_MS, Gathering } from './gathering.js';
import { buffersOf, type Parcel, ParcelPacker, postedOf } from './parcel.js';
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
  /** For calls and returns. */
  private readonly calls = new ParcelPacker();
  /** Whether a look at what is to be sent comes at the end of this turn of the event loop. */
  private planned = false;
  private readonly gathering = new Gathering();
  /** Ends the gathering. */
  private readonly timer: NodeJS.Timeout;

  constructor({ port, signals }: BridgePorts) {
    this.port = port;
    this.signals = new Signals(signals);
    this.timer = setTimeout(() => this.gathered(), GATHER_MS).unref();
    port.on('message', (parcel: EventParcel) => this.receive(parcel));
  }

  send(command: Command): void {
    const isCall = command.kind === 'call' || command.kind === 'return';
    (isCall ? this.calls : this.packer).add(command);
    this.planLook();
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
    clearTimeout(this.timer);
    this.port.close();
  }

  private planLook(): void {
    if (this.planned) return;
    this.planned = true;
    setImmediate(() => {
      this.planned = false;
      if (this.waits()) this.flushCalls();
      else this.flush();
    });
  }

  /** Whether what is to be sent waits for more, or for the write under way. */
  private waits(): boolean {
    const { packer, gathering, signals } = this;
    if (!packer.isProposals || packer.bytes >= HELD_BYTES_MAX) return false;
    return gathering.goesOn(packer.proposals) || signals.hold();
  }

  private gathered(): void {
    this.gathering.end(this.packer.proposals);
    if (!this.packer.isEmpty) this.planLook();
  }

  private flush(): void {
    const { packer, signals, calls } = this;
    if (packer.isEmpty) {
      this.flushCalls();
      return;
    }
    this.gathering.stop();
    if (packer.proposals > 0) signals.proposed();
    signals.release();
    this.post(packer.take(), calls.isEmpty ? null : calls.take());
  }

  private flushCalls(): void {
    if (!this.calls.isEmpty) this.post(this.calls.take(), null);
  }

  private post(parcel: Parcel, calls: Parcel | null): void {
    if (calls === null) {
      this.port.postMessage(postedOf(parcel), buffersOf(parcel));
      return;
    }
    const posted = { ...postedOf(parcel), before: postedOf(calls) };
    this.port.postMessage(posted, [...buffersOf(calls), ...buffersOf(parcel)]);
  }

  private receive(parcel: EventParcel): void {
    const { gathering, packer } = this;
    const answered = answeredBy(parcel);
    if (answered > 0 && gathering.begin(answered, packer.proposals)) this.timer.refresh();
    // What does not wait for more goes first, so that it is written while the events are handled.
    if (!gathering.isOn) this.flush();
    unpackEvents(parcel, (event) => this.onEvent(event));
  }
}

/** Changes that events of a message tell as committed, of this node's own. */
function answeredBy({ events }: EventParcel): number {
  let count = 0;
  for (const event of events) if (event.kind === 'committed') count += event.count;
  return count;
}
