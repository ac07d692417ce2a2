import type { SchemaView } from '@althing/engine';
import { type FeedPosition, positionText } from '../between/feed-position.js';
import { aliveLine, type FeedFilter, type FeedParcel, type LineBody } from './parcel.js';

/** The end of a feed for one follower. */
export type FeedEnd =
  /** Changes behind its position are not to be had, and never will be. `oldest` is where the log begins now. */
  | { readonly kind: 'lost'; readonly oldest: FeedPosition }
  /** It may not read the collection any more, or there is no such collection. */
  | { readonly kind: 'forbidden' }
  /** The node ends feeds: others have them. */
  | { readonly kind: 'leaving' };

/** The way to a follower. */
export interface FeedSink {
  /** Sends lines; resolves when more may be sent, rejects when there is nobody any more. */
  send(lines: readonly FeedLine[]): Promise<void>;
  /** It was told all that was there when it began to follow. Said once. */
  caughtUp(): void;
  ended(end: FeedEnd): void;
}

export interface FeedLine extends LineBody {
  /** The position behind it. */
  readonly at: string;
  /** True if it says nothing but the position. */
  readonly isAlive: boolean;
}

/** Lines about a state that was taken back: they are not sent, and a follower that comes back is told of the present one. */
export class UnconfirmedError extends Error {}

/** Characters that may wait for a follower; behind that it reads the log by itself, when it took them. */
const WAITING_MAX = 1024 * 1024;

/** The one who follows. */
export interface Follower {
  readonly userId: number;
  readonly isLoggedIn: (() => boolean) | undefined;
}

/** One who follows a collection. */
export class Subscriber {
  /** Where it stands; what lies before was sent, or waits here. */
  position: FeedPosition;
  /** The definitions at its position, while it reads the log by itself. */
  view: SchemaView | null = null;
  isReading = false;
  private waiting: FeedLine[] = [];
  private waitingSize = 0;
  /** The promise for which what waits has to wait. */
  private ready: Promise<void> | null = null;
  private isSending = false;
  private isCaughtUp = false;
  private isOver = false;

  /**
   * @param goal index up to which the collection stands when it begins to follow
   * @param sent called with lines that were taken, and their characters
   * @param drained called when all that waited was sent
   * @param gone called when it is there no more; null: its client left
   */
  constructor(
    readonly follower: Follower,
    readonly filter: FeedFilter,
    since: FeedPosition,
    private readonly goal: number,
    private readonly sink: FeedSink,
    private readonly events: {
      readonly sent: (lines: number, characters: number) => void;
      readonly drained: () => void;
      readonly gone: (end: FeedEnd | null) => void;
    },
  ) {
    this.position = since;
  }

  get ended(): boolean {
    return this.isOver;
  }

  /** True if it takes less than there is. */
  get isFull(): boolean {
    return this.waitingSize > WAITING_MAX;
  }

  take(parcel: FeedParcel): void {
    this.position = parcel.at;
    const line = parcel.line(this.filter);
    const confirmed = parcel.confirmed(this.filter);
    if (confirmed !== null) {
      const { ready } = this;
      this.ready = ready === null ? confirmed : ready.then(() => confirmed);
      this.ready.catch(() => {});
    }
    if (line !== null) this.queue(line, false);
  }

  /** Tells it where it stands, unless something waits to be sent. */
  beat(): void {
    if (!this.isSending) this.queue(aliveLine(this.position, this.filter.isPacked), true);
  }

  /** Takes note that it was told of all up to here. */
  passTo(position: FeedPosition): void {
    this.position = position;
    this.considerGoal();
  }

  /** Tells it no more. */
  end(end: FeedEnd | null): void {
    if (this.isOver) return;
    this.isOver = true;
    this.waiting = [];
    this.events.gone(end);
    if (end !== null) this.sink.ended(end);
  }

  private considerGoal(): void {
    if (this.isCaughtUp || this.isSending || this.isOver || this.position.index < this.goal) return;
    this.isCaughtUp = true;
    this.sink.caughtUp();
  }

  private queue({ json, packed }: LineBody, isAlive: boolean): void {
    if (this.isOver) return;
    this.waiting.push({ at: positionText(this.position), json, packed, isAlive });
    this.waitingSize += packed?.length ?? json.length;
    this.send();
  }

  private send(): void {
    if (this.isSending || this.isOver || this.waiting.length === 0) return;
    const lines = this.waiting;
    const size = this.waitingSize;
    const { ready } = this;
    this.waiting = [];
    this.ready = null;
    this.isSending = true;
    const sent = ready === null ? this.sink.send(lines) : ready.then(() => this.sink.send(lines));
    sent.then(
      () => {
        this.isSending = false;
        this.waitingSize -= size;
        this.events.sent(lines.length, size);
        this.send();
        if (this.isSending) return;
        this.considerGoal();
        this.events.drained();
      },
      (error: unknown) => this.end(error instanceof UnconfirmedError ? { kind: 'leaving' } : null),
    );
  }
}
