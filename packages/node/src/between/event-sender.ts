import { Packing, type Parcel, packEvent, unpackCommands } from './parcel.js';
import type { Command, Event } from './protocol.js';
import { Signals } from './signals.js';

export interface EventSenderOptions {
  readonly post: (parcel: Parcel<Event>, given: readonly ArrayBuffer[]) => void;
  /** The memory of `Signals`. */
  readonly signals: SharedArrayBuffer;
}

/** The consensus thread's end of the line to the engine thread. Events of one turn of the event loop travel in one message. */
export class EventSender {
  private readonly signals: Signals;
  private readonly packing = new Packing<Event>();
  private planned = false;
  /** True if the engine thread is there: events wait for it. */
  private isOpen = false;
  private beforeFlush = (): void => {};

  constructor(private readonly options: EventSenderOptions) {
    this.signals = new Signals(options.signals);
  }

  /**
   * The engine thread is there.
   *
   * @param beforeFlush is called before events are sent
   */
  open(beforeFlush = (): void => {}): void {
    this.beforeFlush = beforeFlush;
    this.isOpen = true;
    if (!this.packing.isEmpty) this.flush();
  }

  emit(event: Event): void {
    packEvent(this.packing, event);
    this.planFlush();
  }

  /** Hands a message of the engine thread to `handle`, command by command. */
  receive(parcel: Parcel<Command>, handle: (command: Command) => void): void {
    let isProposal = false;
    unpackCommands(parcel, (command) => {
      if (command.kind === 'propose') isProposal = true;
      handle(command);
    });
    if (isProposal && this.signals.taken()) this.planFlush();
  }

  /** A write of the log begins. */
  writing(): void {
    this.signals.writing();
  }

  /**
   * A write of the log is done. The engine thread may send what it holds back: it does so when a message comes, be it an
   * empty one.
   *
   * @param more whether another one is under way
   */
  written(more: boolean): void {
    if (this.signals.written(more)) this.planFlush();
  }

  private planFlush(): void {
    if (this.planned || !this.isOpen) return;
    this.planned = true;
    queueMicrotask(() => this.flush());
  }

  private flush(): void {
    this.planned = false;
    this.beforeFlush();
    const { parcel, given } = this.packing.take();
    this.options.post(parcel, given);
    this.signals.ring();
  }
}
