import type { MessagePort } from 'node:worker_threads';
import { systemClock } from '../../base/clock.js';
import { packEvents } from '../../between/event-parcel.js';
import { HeldEntries } from '../../between/held-entries.js';
import { buffersOf } from '../../between/parcel.js';
import type { Command, Event } from '../../between/protocol.js';
import type { Signals } from '../../between/signals.js';

/** First message of the worker: it is up, or why not. */
export type WorkerStart =
  | { readonly kind: 'started'; readonly statusPort: number }
  | {
      readonly kind: 'failed';
      readonly message: string;
      readonly exitCode: number;
      /** Whether it might come up if there were more room on the disk. */
      readonly diskFull: boolean;
    };

/**
 * The consensus thread's end of the line to the engine thread. Events of one turn of the event loop travel in
 * one message.
 */
export class EventSender {
  readonly port: MessagePort;
  private readonly signals: Signals;
  private events: Event[] = [];
  private readonly entries = new HeldEntries(systemClock, () => this.planFlush());
  private planned = false;
  /** Whether the first message is out: events wait for it. */
  private announced = false;
  private beforeFlush = (): void => {};

  constructor(port: MessagePort, signals: Signals) {
    this.port = port;
    this.signals = signals;
  }

  /** @param beforeFlush is called before events are sent */
  announce(message: WorkerStart, beforeFlush = (): void => {}): void {
    this.beforeFlush = beforeFlush;
    this.port.postMessage(message);
    this.signals.ring();
    this.announced = true;
    if (this.events.length > 0) this.flush();
  }

  emit(event: Event): void {
    this.events.push(event);
    if (!this.entries.holds(event)) this.planFlush();
  }

  /** A command came from the engine thread. */
  commanded(command: Command): void {
    this.entries.commanded(command);
  }

  writing(): void {
    this.signals.writing();
  }

  /** What the engine thread proposed has been handled. */
  taken(): void {
    if (this.signals.taken()) this.planFlush();
  }

  /** The engine thread may send what it holds back: it does so when a message comes, be it an empty one. */
  written(more: boolean): void {
    if (this.signals.written(more)) this.planFlush();
  }

  /** Says `stopped` as the last thing. */
  end(): void {
    this.emit({ kind: 'stopped' });
    setImmediate(() => this.port.close());
  }

  private planFlush(): void {
    if (this.planned || !this.announced) return;
    this.planned = true;
    queueMicrotask(() => this.flush());
  }

  private flush(): void {
    this.planned = false;
    this.beforeFlush();
    const parcel = packEvents(this.events);
    const { events, data } = parcel;
    this.events = [];
    this.entries.sent();
    this.port.postMessage(data === undefined ? { events } : { events, data }, buffersOf(parcel));
    this.signals.ring();
  }
}
