import type { Clock } from '../../base/clock.js';
import type { ByteBudget } from '../limits/byte-budget.js';
import type { NativeCounts } from './native-counts.js';
import { EVENT_ID, HEADER_BYTES } from './package.js';
import type { Wire } from './wire.js';

/**
 * Milliseconds that events wait behind the answer to a JOIN. Clients register a room in one thread when they have the answer, and drop
 * its events when another thread reads them before that.
 */
export const EVENTS_DELAY_MS = 30;

/** Answers from this size on count against the memory of all until they are sent. */
const LONG_ANSWER = 64 * 1024;

export interface OutgoingHost {
  readonly counts: NativeCounts;
  readonly clock: Pick<Clock, 'now' | 'after'>;
  readonly gate: { readonly memory: Pick<ByteBudget, 'tryTake' | 'give'> };
}

interface Held {
  readonly type: number;
  readonly id: number;
  readonly data: Uint8Array | null;
  /** Time by the clock, in milliseconds; never earlier than that of the one before. */
  readonly releaseAt: number;
}

/**
 * Packages on their way to one client, in order. Behind the answer to a JOIN events are held for a moment, and with them the answers to
 * requests that brought events, and the answers behind those.
 */
export class Outgoing {
  private held: Held[] = [];
  private heldBytes = 0;
  /** Until when events are held. */
  private holdsUntil = 0;
  /** True if an event was held since the present request began, or an answer is. */
  private holdsAnswers = false;
  private cancelTimer: (() => void) | null = null;
  /** Bytes of long answers, which count against the memory of all until they are sent. */
  private lent = 0;

  /** @param released called when what was held has been sent */
  constructor(
    private readonly wire: Wire,
    private readonly host: OutgoingHost,
    private readonly released: () => void,
  ) {}

  /** Bytes that wait to be sent. */
  get unsent(): number {
    return this.wire.unsent + this.heldBytes;
  }

  /**
   * A request begins: its answer stands behind the events from here on.
   *
   * @param isLeave whether it stands behind those before, too: what a client leaves it must have been told of
   */
  requestBegins(isLeave = false): void {
    this.holdsAnswers = this.held.length > 0 && (isLeave || this.held.some(({ id }) => id !== EVENT_ID));
  }

  /** Sends the answer to the present request. */
  answer(type: number, id: number, data: Uint8Array | null): void {
    if (this.holdsAnswers && this.held.length > 0) this.hold(type, id, data);
    else this.transmit(type, id, data);
  }

  event(type: number, data: Uint8Array): void {
    if (this.held.length === 0 && (this.holdsUntil === 0 || this.host.clock.now() >= this.holdsUntil)) {
      this.transmit(type, EVENT_ID, data);
      return;
    }
    this.holdsAnswers = true;
    this.hold(type, EVENT_ID, data);
  }

  /** Sends a package without regard to order. */
  transmit(type: number, id: number, data: Uint8Array | null): void {
    const { counts } = this.host;
    counts.bytes.sent += bytesOf(data);
    if (id === EVENT_ID) counts.told(type);
    this.wire.send(type, id, data);
  }

  /** The answer to a JOIN was sent. */
  holdEvents(): void {
    this.holdsUntil = this.host.clock.now() + EVENTS_DELAY_MS;
  }

  /** Sends what is held now: the connection ends. */
  flush(): void {
    this.release(Number.POSITIVE_INFINITY);
  }

  /** Drops what is held. */
  close(): void {
    this.cancelTimer?.();
    this.cancelTimer = null;
    this.held = [];
    this.heldBytes = 0;
    this.host.gate.memory.give(this.lent);
    this.lent = 0;
  }

  /** Counts the memory of an answer, if it is long; false when there is none. */
  tryLend(bytes: number): boolean {
    if (bytes < LONG_ANSWER) return true;
    if (!this.host.gate.memory.tryTake(bytes)) return false;
    this.lent += bytes;
    return true;
  }

  /** Gives back the memory of answers, once all were sent. */
  giveBack(): void {
    if (this.lent === 0 || this.unsent > 0) return;
    this.host.gate.memory.give(this.lent);
    this.lent = 0;
  }

  private hold(type: number, id: number, data: Uint8Array | null): void {
    const releaseAt = Math.max(this.holdsUntil, this.held.at(-1)?.releaseAt ?? 0);
    this.held.push({ type, id, data, releaseAt });
    this.heldBytes += bytesOf(data);
    if (this.cancelTimer === null) this.startTimer(releaseAt);
  }

  private startTimer(releaseAt: number): void {
    this.cancelTimer = this.host.clock.after(
      Math.max(0, Math.ceil(releaseAt - this.host.clock.now())),
      () => {
        this.cancelTimer = null;
        this.release(this.host.clock.now());
        this.released();
      },
    );
  }

  private release(now: number): void {
    const count = this.held.findIndex(({ releaseAt }) => releaseAt > now);
    for (const { type, id, data } of this.held.splice(0, count < 0 ? this.held.length : count)) {
      this.heldBytes -= bytesOf(data);
      this.transmit(type, id, data);
    }
    const next = this.held[0];
    if (next !== undefined && this.cancelTimer === null) this.startTimer(next.releaseAt);
  }
}

function bytesOf(data: Uint8Array | null): number {
  return HEADER_BYTES + (data === null ? 0 : data.length);
}
