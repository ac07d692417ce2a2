/** The events that come into a group on this node from its log, in order: where one waits, all wait that are behind it. */
import type { Preparation } from '@althing/engine';
import type { CommittedEntry, Event } from '../between/protocol.js';
import { decodeEntry } from './entry.js';
import type { Replica } from './replica.js';

type Entries = Extract<Event, { readonly kind: 'entries' }>;

export interface IntakePorts {
  /** Brings into memory what an entry is about, a slice at a time. */
  readonly preparation: Preparation;
  /** Calls back in the next turn of the event loop. */
  readonly soon: (work: () => void) => void;
  /** Called with an error of what goes on in a turn of its own: the state may have a part of an entry. */
  readonly failed: (error: unknown) => void;
  /** Called with an event that was kept. */
  readonly handle: (event: Event) => void;
  /** Called with the time of each change that was applied, in the order of the log. */
  readonly noteTime: (time: number) => void;
  /** The state stands where some entries end. */
  readonly taken: (index: number) => void;
  /** Entries are delayed, or take long, or do not any more. */
  readonly delayChanged: () => void;
}

/** Whoever depends on entries with a long one is better off with the leader, though that may be in the midst of a long run. */
export type Delay = 'short' | 'long';

/** Slices from which on entries take long: tens of milliseconds, if nothing else runs between them. */
const LONG_SLICES = 16;

/**
 * Applies entries of another leader: at once where what they are about is in memory, else when it is, which is brought there while others
 * have their turns. Keeps events meanwhile, and while the session stands still.
 */
export class Intake {
  private pauses = 0;
  private kept: Event[] = [];
  /** The entries that are delayed. */
  private steps: Iterator<void, void> | null = null;
  /** The slices that they took so far. */
  private slices = 0;
  /** The last of them that was applied since the state was said to stand anywhere. */
  private reached: CommittedEntry | null = null;
  private isScheduled = false;

  constructor(
    private readonly replica: Replica,
    private readonly ports: IntakePorts,
  ) {}

  /** True while nothing may touch the state. */
  get isPaused(): boolean {
    return this.pauses > 0;
  }

  /** True if entries wait for what they are about: the state stands before them. */
  get isDelayed(): boolean {
    return this.steps !== null;
  }

  /** Null if no entries wait. */
  get delay(): Delay | null {
    if (!this.isDelayed) return null;
    return this.slices >= LONG_SLICES ? 'long' : 'short';
  }

  /** True if an event is kept until it may be handled. */
  keeps(event: Event): boolean {
    const isKept = this.isPaused || (this.isDelayed && event.kind !== 'read');
    if (isKept) this.kept.push(event);
    return isKept;
  }

  pause(): void {
    this.pauses += 1;
  }

  /** @returns whether `pause` was not called more often */
  endPause(): boolean {
    this.pauses -= 1;
    return !this.isPaused;
  }

  /** Goes on with what is delayed, or kept. Events may end that again: what is behind them waits on. */
  goOn(): void {
    if (this.isDelayed) this.schedule();
    else for (const event of this.kept.splice(0)) this.ports.handle(event);
  }

  take(entries: Entries): void {
    const steps = this.applying(entries);
    if (steps.next().done === true) return;
    this.steps = steps;
    this.slices = 1;
    this.stand();
    this.ports.delayChanged();
    this.schedule();
  }

  /** Gives up everything that waits. */
  abandon(): void {
    this.steps = null;
    this.kept = [];
  }

  private *applying({ entries, last, membership }: Entries): Generator<void, void, undefined> {
    const { replica, ports } = this;
    for (const entry of entries) {
      const change = decodeEntry(entry.payload);
      const slices = ports.preparation.of(replica.group, change.effects);
      if (slices !== null) yield* slices;
      replica.apply(entry, change);
      ports.noteTime(change.head.time);
      this.reached = entry;
    }
    this.reached = null;
    replica.moveTo(last);
    // A watcher that looks at the state here takes the membership with it.
    if (membership !== undefined) replica.noteMembership(membership);
    replica.watch.arrived(last.index);
    ports.taken(last.index);
  }

  private schedule(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    this.ports.soon(() => {
      this.isScheduled = false;
      if (this.isPaused) return;
      try {
        this.step();
      } catch (error) {
        // Nothing may touch the state any more, and it stays delayed: no checkpoint begins.
        this.pause();
        this.ports.failed(error);
      }
    });
  }

  private step(): void {
    if (this.steps?.next().done === true) {
      this.steps = null;
      this.ports.delayChanged();
    } else {
      this.stand();
      this.slices += 1;
      if (this.slices === LONG_SLICES) this.ports.delayChanged();
    }
    this.goOn();
  }

  /** Whoever looks at the state before the rest is applied finds it where it is. */
  private stand(): void {
    if (this.reached !== null) this.replica.moveTo(this.reached);
    this.reached = null;
  }
}
