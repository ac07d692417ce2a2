import type { Clock } from '../base/clock.js';
import { Pacer } from './pacer.js';
import { Packing, type Parcel, packEvent, unpackCommands } from './parcel.js';
import type { Command, Event } from './protocol.js';
import { Signals } from './signals.js';

export interface EventSenderOptions {
  readonly post: (parcel: Parcel<Event>, given: readonly ArrayBuffer[]) => void;
  /** Of `Signals`. */
  readonly signals: SharedArrayBuffer;
  readonly clock: Pick<Clock, 'now' | 'after'>;
}

/** Entries that another node's clients made go to the engine thread at most this often, in milliseconds. */
const ENTRIES_MS = 4;

/** Time that the engine thread may wait for entries after it asked for something, in milliseconds. */
const ASKED_MS = 100;

/** Bytes of entries that wait at most. */
const HELD_BYTES_MAX = 64 * 1024;

/**
 * The consensus thread's end of the line to the engine thread. Events of one turn of the event loop travel in one message.
 *
 * Committed entries may wait a moment for those that follow. While changes stream in, to wake the engine thread for each of
 * them would cost a follower more than to take them. Nobody waits for them there: reads and changes that clients ask a
 * follower for go through the consensus thread first, and as long as such were asked for a moment ago nothing is held. All
 * events stay in their order, so any other one takes along what is held.
 */
export class EventSender {
  private readonly signals: Signals;
  private readonly packing = new Packing<Event>();
  private readonly pacer: Pacer;
  /** When the engine thread last asked for something. */
  private askedAt = Number.NEGATIVE_INFINITY;
  private hasEntries = false;
  private planned = false;
  /** True if the engine thread is there: events wait for it. */
  private isOpen = false;
  private beforeFlush = (): void => {};

  constructor(private readonly options: EventSenderOptions) {
    this.signals = new Signals(options.signals);
    this.pacer = new Pacer(options.clock, ENTRIES_MS, () => this.planFlush());
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
    if (event.kind === 'entries') {
      this.hasEntries = true;
      if (this.holdsEntries()) return;
    }
    this.planFlush();
  }

  /** Hands a message of the engine thread to `handle`, command by command. */
  receive(parcel: Parcel<Command>, handle: (command: Command) => void): void {
    let isProposal = false;
    unpackCommands(parcel, (command) => {
      const { kind } = command;
      if (kind === 'propose') isProposal = true;
      else if (kind !== 'applied' && kind !== 'checkpointed') this.askedAt = this.options.clock.now();
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

  private holdsEntries(): boolean {
    if (this.packing.bytes >= HELD_BYTES_MAX) return false;
    return this.options.clock.now() - this.askedAt >= ASKED_MS && this.pacer.holds();
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
    if (this.hasEntries) this.pacer.pause();
    this.hasEntries = false;
    this.options.post(parcel, given);
    this.signals.ring();
  }
}
