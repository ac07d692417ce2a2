/**
 * The engine thread's end of the line to the consensus thread. Commands of one turn of the event loop travel in one message.
 * Proposals that could not be written yet wait for the write under way, and behind it for clients that were answered by
 * it and ask again: a message and a write cost as much as many changes. Calls of other nodes and answers to them do not
 * wait, and do not take along what does. The progress of states does not take it along either: only limits depend on it.
 */
import { assert } from '../base/assert.js';
import type { Clock } from '../base/clock.js';
import { Pacer } from './pacer.js';
import { Packing, type Parcel, packCommand, unpackEvents } from './parcel.js';
import type { Command, Consensus, Event } from './protocol.js';
import { Signals } from './signals.js';

/** The engine thread's end of a channel. Messages that come by it go to `Bridge.receive`. */
export interface BridgePort {
  readonly post: (parcel: Parcel<Command>, given: readonly ArrayBuffer[]) => void;
  /** A message that has come and was not received; undefined for none. */
  readonly poll: () => Parcel<Event> | undefined;
  readonly close: () => void;
}

export interface BridgeOptions {
  readonly port: BridgePort;
  /** The memory of `Signals`. */
  readonly signals: SharedArrayBuffer;
  readonly clock: Pick<Clock, 'now' | 'after'>;
  /** Calls back at the end of this turn of the event loop. */
  readonly soon: (work: () => void) => void;
}

/** Time that proposals wait at most for clients that ask again, in milliseconds: enough for some hundred of them. */
const EXPECT_MS = 4;

/** Bytes of proposals that may be held back. */
const HELD_BYTES_MAX = 256 * 1024;

export class Bridge implements Consensus {
  onEvent: (event: Event) => void = () => {};
  private readonly signals: Signals;
  private readonly packing = new Packing<Command>();
  private readonly calls = new Packing<Command>();
  /** Payloads that are proposed in `packing`, and whether it holds something besides that must not wait. */
  private proposals = 0;
  private isUrgent = false;
  /** True if a look at what is to be sent comes at the end of this turn of the event loop. */
  private planned = false;
  private readonly pacer: Pacer;

  constructor(private readonly options: BridgeOptions) {
    this.signals = new Signals(options.signals);
    this.pacer = new Pacer(options.clock, EXPECT_MS, () => this.planLook());
  }

  send(command: Command): void {
    const { kind } = command;
    const isCall = kind === 'call' || kind === 'return';
    packCommand(isCall ? this.calls : this.packing, command);
    if (kind === 'propose') this.proposals += command.payloads.length;
    else if (!isCall && kind !== 'applied') this.isUrgent = true;
    this.planLook();
  }

  sendReady(): void {
    if (this.waits()) this.flushCalls();
    else this.flush();
  }

  /** A message of the consensus thread. */
  receive(parcel: Parcel<Event>): void {
    const answered = answeredBy(parcel);
    const waits = answered > 0 && this.pacer.expect(answered, this.proposals);
    // Commands that need not wait go first, so that they are written while the events are handled.
    if (!waits) this.flush();
    unpackEvents(parcel, (event) => this.onEvent(event));
  }

  /**
   * Blocks until `done` holds or the time is up, handling events meanwhile. For a node that has nothing else
   * to do: waking up this way is faster than by the event loop.
   */
  waitFor(done: () => boolean, ms: number): void {
    this.flush();
    const { clock, port } = this.options;
    const end = clock.now() + ms;
    while (!done()) {
      const { rings } = this.signals;
      const parcel = port.poll();
      if (parcel !== undefined) {
        this.receive(parcel);
        continue;
      }
      const left = end - clock.now();
      if (left <= 0) return;
      this.signals.waitForRing(rings, left);
    }
  }

  close(): void {
    this.pacer.close();
    this.options.port.close();
  }

  private planLook(): void {
    if (this.planned) return;
    this.planned = true;
    this.options.soon(() => {
      this.planned = false;
      this.sendReady();
    });
  }

  /** True if what is to be sent waits for more, or for the write under way. */
  private waits(): boolean {
    if (this.isUrgent || this.proposals === 0 || this.packing.bytes >= HELD_BYTES_MAX) return false;
    return this.pacer.holds(this.proposals) || this.signals.hold();
  }

  private flush(): void {
    const { packing, signals, calls } = this;
    if (packing.isEmpty) {
      this.flushCalls();
      return;
    }
    this.pacer.end();
    if (this.proposals > 0) signals.proposed();
    signals.release();
    this.proposals = 0;
    this.isUrgent = false;
    const { parcel, given } = packing.take();
    if (calls.isEmpty) {
      this.options.port.post(parcel, given);
    } else {
      const before = calls.take();
      this.options.port.post({ ...parcel, before: before.parcel }, [...before.given, ...given]);
    }
  }

  private flushCalls(): void {
    assert(this.packing.isEmpty || this.proposals > 0, 'only proposals are held back');
    if (this.calls.isEmpty) return;
    const { parcel, given } = this.calls.take();
    this.options.port.post(parcel, given);
  }
}

/** Changes of this node's own that events of a message tell as committed. */
function answeredBy({ objects }: Parcel<Event>): number {
  let count = 0;
  for (const event of objects) if (event.kind === 'committed') count += event.count;
  return count;
}
