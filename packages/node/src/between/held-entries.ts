import type { Clock } from '../base/clock.js';
import type { Command, Event } from './protocol.js';

/** Entries that another node's clients made go to the engine thread at most this often, in milliseconds. */
const HOLD_MS = 4;

/** How long after it asked for something the engine thread may wait for entries, in milliseconds. */
const ASKED_MS = 100;

/** Bytes of entries that wait at most. */
const HELD_BYTES_MAX = 64 * 1024;

/**
 * Whether committed entries go to the engine thread at once, or a moment later with those that follow. While changes
 * stream in, to wake that thread for each of them would cost a follower more than to take them. Nobody waits for them there: reads and
 * changes that clients ask a follower for go through the consensus thread first, and as long as such were asked for a
 * moment ago nothing is held. All events stay in their order, so any other one takes along what is held.
 */
export class HeldEntries {
  private readonly clock: Pick<Clock, 'now' | 'after'>;
  private readonly release: () => void;
  /** When entries last went, and when something was last asked for. */
  private sentAt = Number.NEGATIVE_INFINITY;
  private askedAt = Number.NEGATIVE_INFINITY;
  /** Whether entries are to go, and how many bytes of them. */
  private isWaiting = false;
  private bytes = 0;
  /** Whether a look is due that comes by itself. */
  private isTimed = false;

  /** @param release is called when what is held is to go */
  constructor(clock: Pick<Clock, 'now' | 'after'>, release: () => void) {
    this.clock = clock;
    this.release = release;
  }

  /** A command came from the engine thread. */
  commanded({ kind }: Pick<Command, 'kind'>): void {
    if (kind !== 'applied' && kind !== 'checkpointed' && kind !== 'propose') this.askedAt = this.clock.now();
  }

  /** Whether an event, which was just put behind the others, need not go now. */
  holds(event: Event): boolean {
    if (event.kind !== 'entries') return false;
    this.isWaiting = true;
    for (const { payload } of event.entries) this.bytes += payload.length;
    const { left } = this;
    if (left <= 0 || this.bytes >= HELD_BYTES_MAX || this.clock.now() - this.askedAt < ASKED_MS) return false;
    this.comeBack(left);
    return true;
  }

  /** All events have gone. */
  sent(): void {
    if (!this.isWaiting) return;
    this.isWaiting = false;
    this.bytes = 0;
    this.sentAt = this.clock.now();
  }

  /** Milliseconds until entries may go again. */
  private get left(): number {
    return this.sentAt + HOLD_MS - this.clock.now();
  }

  private comeBack(ms: number): void {
    if (this.isTimed) return;
    this.isTimed = true;
    this.clock.after(ms, () => {
      this.isTimed = false;
      if (!this.isWaiting) return;
      // They may have gone since, with another event.
      const { left } = this;
      if (left > 0) this.comeBack(left);
      else this.release();
    });
  }
}
