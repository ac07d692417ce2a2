import {
  ChangeReader,
  CollectionGroup,
  type FeedChange,
  type Former,
  presentThing,
  SchemaView,
  typeIdOf,
  WholeReplacedError,
} from '@althing/engine';
import type { Clock } from '../base/clock.js';
import type { FeedPosition } from '../between/feed-position.js';
import type { CommittedEntry, LogPart } from '../between/protocol.js';
import { decodeEntry } from '../groups/entry.js';
import type { GroupSession } from '../groups/group-session.js';
import type { LogReads } from './log-reads.js';
import { FeedParcel, type LabelledChange, type Present } from './parcel.js';
import { type Subscriber, UnconfirmedError } from './subscriber.js';

export interface CollectionFeedOptions {
  readonly session: GroupSession;
  readonly reads: Pick<LogReads, 'read'>;
  readonly clock: Pick<Clock, 'after'>;
  readonly userName: (id: number) => string | undefined;
  readonly mayRead: (userId: number) => boolean;
  readonly onDefect: (error: unknown) => void;
}

/** Milliseconds between two reads of the end of the log: each costs as much as telling some changes. */
const READ_MS = 5;

/** The end of what was read: all that lies before is known, with the definitions there. */
interface Tail {
  position: FeedPosition;
  readonly view: SchemaView;
}

/** A definition that a change replaced. */
interface FormerAt {
  readonly index: number;
  readonly former: Former;
}

/**
 * The feed of one collection, which is there while somebody follows it. The end of the log is read once for all who stand there; who stands
 * before it reads by itself until it is there. The definitions at any place of the log are those at its end, taken back along it.
 */
export class CollectionFeed {
  private readonly reader = new ChangeReader();
  private tail: Tail | null = null;
  private isSeekingTail = false;
  private isReading = false;
  /** Ends the pause behind a read; null where there is none. */
  private endPause: (() => void) | null = null;
  /** Definitions that were replaced behind `knownFrom`, in the order of the log. */
  private formers: FormerAt[] = [];
  private knownFrom = 0;
  private isScanning = false;
  /** At the end of the log. */
  private readonly live = new Set<Subscriber>();
  /** Before it. */
  private readonly behind = new Set<Subscriber>();

  constructor(private readonly options: CollectionFeedOptions) {}

  /** The number of followers, and of those that stand before the end of the log. */
  get counts(): { readonly all: number; readonly behind: number } {
    return { all: this.live.size + this.behind.size, behind: this.behind.size };
  }

  /** Entries of the log behind the one that is farthest behind. */
  get lag(): number {
    const { appliedIndex } = this.options.session;
    let lag = 0;
    for (const { position } of [...this.live, ...this.behind])
      lag = Math.max(lag, appliedIndex - position.index);
    return lag;
  }

  /** Takes one more, which stands anywhere. */
  add(subscriber: Subscriber): void {
    this.behind.add(subscriber);
    subscriber.beat();
    this.consider();
  }

  remove(subscriber: Subscriber): void {
    this.live.delete(subscriber);
    this.behind.delete(subscriber);
  }

  /** The backlog of a subscriber was sent. */
  drained(subscriber: Subscriber): void {
    if (this.behind.has(subscriber)) this.goOn(subscriber);
  }

  /** Goes on, as far as something is to be read: more may be committed, or the state can be read again. */
  consider(): void {
    if (this.tail === null) this.seekTail();
    else {
      this.readTail(this.tail).catch(this.options.onDefect);
      for (const subscriber of this.behind) this.goOn(subscriber);
    }
  }

  /** Tells all where they stand, and tries again what could not be had. */
  beat(): void {
    for (const subscriber of [...this.live, ...this.behind]) if (this.mayGoOn(subscriber)) subscriber.beat();
    this.consider();
  }

  /** Does nothing any more: nobody follows. */
  close(): void {
    this.endPause?.();
  }

  /** Ends it for all. */
  end(end: Parameters<Subscriber['end']>[0]): void {
    for (const subscriber of [...this.live, ...this.behind]) subscriber.end(end);
    this.live.clear();
    this.behind.clear();
  }

  /** Finds the place in the log of the definitions as they are. */
  private seekTail(): void {
    const { session } = this.options;
    const { group } = session;
    if (this.isSeekingTail || !session.readable || !(group instanceof CollectionGroup)) return;
    this.isSeekingTail = true;
    // The state may hold what is not committed: the definitions are of the place behind that, or of none.
    const view = new SchemaView(group.store.schema);
    session.mark(
      ({ index, hash }) => {
        this.isSeekingTail = false;
        this.tail = { position: { index, hash }, view };
        this.knownFrom = index;
        this.consider();
      },
      () => {
        this.isSeekingTail = false;
      },
    );
  }

  /** Reads what is committed behind the end. */
  private async readTail(tail: Tail): Promise<void> {
    if (this.isReading || this.endPause !== null || this.isAtEnd(tail) || this.counts.all === 0) return;
    this.isReading = true;
    try {
      const { id, appliedIndex } = this.options.session;
      const part = await this.options.reads.read(id, tail.position.index, appliedIndex);
      // The state may have been shut meanwhile, where a part tells no types: `consider` comes when it can be read again.
      if (part === null || !this.options.session.readable) return;
      if (!follows(part, tail.position)) this.loseTail(tail.position.index, part.oldest);
      // The state may be ahead of what the log of this node holds for good.
      else if (part.last.index === tail.position.index) return;
      else {
        this.takePart(tail, part);
        // The next read follows at once where this one had no room for all.
        if (part.last.index >= appliedIndex) this.pause();
      }
    } finally {
      this.isReading = false;
    }
    this.consider();
  }

  private pause(): void {
    this.endPause = this.options.clock.after(READ_MS, () => {
      this.endPause = null;
      this.consider();
    });
  }

  private takePart(tail: Tail, part: LogPart): void {
    for (const entry of part.entries) {
      const parcel = this.parcelOf(entry, tail.view, (former) =>
        this.formers.push({ index: entry.index, former }),
      );
      if (parcel === null) {
        this.loseTail(entry.index - 1, entry);
        return;
      }
      tail.position = parcel.at;
      for (const subscriber of this.live) {
        if (!this.mayGoOn(subscriber)) continue;
        subscriber.take(parcel);
        if (!subscriber.isFull) continue;
        this.live.delete(subscriber);
        this.behind.add(subscriber);
      }
    }
    tail.position = part.last;
    for (const subscriber of this.live) subscriber.passTo(tail.position);
  }

  /** True if nothing is committed behind what was read. */
  private isAtEnd(tail: Tail): boolean {
    return tail.position.index >= this.options.session.appliedIndex;
  }

  /** Lets one that stands before the end read on. */
  private goOn(subscriber: Subscriber): void {
    const { tail } = this;
    if (tail === null || subscriber.isReading || subscriber.isFull || subscriber.ended) return;
    const { index, hash } = subscriber.position;
    // This node lacks what it has seen already: it will come, or another history has more.
    if (index > tail.position.index) return;
    if (index === tail.position.index) {
      if (hash !== tail.position.hash) this.lose(subscriber, tail.position);
      else this.join(subscriber);
    } else if (index < this.knownFrom) this.scan(index).catch(this.options.onDefect);
    else {
      this.readBehind(subscriber, tail).catch((error: unknown) => {
        subscriber.end({ kind: 'leaving' });
        this.options.onDefect(error);
      });
    }
  }

  private join(subscriber: Subscriber): void {
    this.behind.delete(subscriber);
    this.live.add(subscriber);
    subscriber.view = null;
  }

  private async readBehind(subscriber: Subscriber, tail: Tail): Promise<void> {
    subscriber.isReading = true;
    try {
      const { session, reads } = this.options;
      const { index } = subscriber.position;
      const part = await reads.read(session.id, index, tail.position.index);
      if (part === null || subscriber.ended || !session.readable) return;
      if (!follows(part, subscriber.position)) {
        this.lose(subscriber, part.oldest);
        return;
      }
      subscriber.view ??= this.viewAt(index, tail);
      for (const entry of part.entries) {
        const parcel = this.parcelOf(entry, subscriber.view, () => {});
        if (parcel === null) {
          this.lose(subscriber, entry);
          return;
        }
        if (!this.mayGoOn(subscriber)) return;
        subscriber.take(parcel);
      }
      if (part.last.index === index) return;
      subscriber.passTo(part.last);
    } finally {
      subscriber.isReading = false;
    }
    if (this.behind.has(subscriber)) this.goOn(subscriber);
  }

  /** Finds the definitions that were replaced behind an index, as far as they are not known. */
  private async scan(from: number): Promise<void> {
    const { tail } = this;
    if (this.isScanning || tail === null) return;
    this.isScanning = true;
    try {
      const scratch = tail.view.copy();
      const found: FormerAt[] = [];
      for (let at = from; at < this.knownFrom; ) {
        const part = await this.options.reads.read(this.options.session.id, at, this.knownFrom);
        if (part === null) return;
        if (part.before === null) {
          this.loseUpTo(at, part.oldest);
          return;
        }
        for (const entry of part.entries) {
          const formers = this.formersOf(entry, scratch);
          if (formers === null) {
            this.loseUpTo(entry.index - 1, entry);
            return;
          }
          for (const former of formers) found.push({ index: entry.index, former });
        }
        if (part.last.index === at) return;
        at = part.last.index;
      }
      this.formers = [...found, ...this.formers];
      this.knownFrom = from;
    } finally {
      this.isScanning = false;
    }
    for (const subscriber of this.behind) this.goOn(subscriber);
  }

  /** The definitions at a place of the log, which are known from there on. */
  private viewAt(index: number, tail: Tail): SchemaView {
    const view = tail.view.copy();
    for (const { former } of this.formers.filter((one) => one.index > index).toReversed())
      view.goBack(former);
    return view;
  }

  /** The end can't be read on: who stands there or before it is lost, and for who stands beyond it is sought anew. */
  private loseTail(index: number, oldest: FeedPosition): void {
    this.tail = null;
    for (const subscriber of this.live) this.lose(subscriber, oldest);
    this.loseUpTo(index, oldest);
  }

  private loseUpTo(index: number, oldest: FeedPosition): void {
    for (const subscriber of this.behind)
      if (subscriber.position.index <= index) this.lose(subscriber, oldest);
  }

  private lose(subscriber: Subscriber, { index, hash }: FeedPosition): void {
    subscriber.end({ kind: 'lost', oldest: { index, hash } });
  }

  /** True if a subscriber may hear more. */
  private mayGoOn(subscriber: Subscriber): boolean {
    const { userId, isLoggedIn } = subscriber.follower;
    if (this.options.mayRead(userId) && isLoggedIn?.() !== false) return true;
    subscriber.end({ kind: 'forbidden' });
    return false;
  }

  private formersOf({ payload }: CommittedEntry, scratch: SchemaView): readonly Former[] | null {
    try {
      return this.reader.formers(decodeEntry(payload).effects, scratch);
    } catch (error) {
      if (error instanceof WholeReplacedError) return null;
      throw error;
    }
  }

  private readonly present: Present = {
    thing: (id) => {
      const { group, readable } = this.options.session;
      const change = readable && group instanceof CollectionGroup ? presentThing(group, id) : null;
      if (change?.op !== 'thing' || !(group instanceof CollectionGroup)) return null;
      return { change, type: change.type === null ? null : group.store.schema.typeLabel(change.type) };
    },
    confirmed: () =>
      new Promise((resolve, reject) => {
        const { session } = this.options;
        const lost = (): void => reject(new UnconfirmedError());
        if (session.readable) session.mark(() => resolve(), lost);
        else lost();
      }),
  };

  /** The parcel of an entry; null where its steps are not known. */
  private parcelOf(
    { index, hash, payload }: CommittedEntry,
    view: SchemaView,
    noteFormer: (former: Former) => void,
  ): FeedParcel | null {
    const { head, effects } = decodeEntry(payload);
    const labels = new Labels(this.options.session.group);
    const changes: LabelledChange[] = [];
    try {
      const formers = this.reader.read(effects, view, (change) => {
        changes.push({ change, type: labels.nameFor(change, view) });
      });
      for (const former of formers) noteFormer(former);
    } catch (error) {
      if (error instanceof WholeReplacedError) return null;
      throw error;
    }
    const userId = head.key?.user ?? head.client?.user;
    const user = userId === undefined ? null : (this.options.userName(userId) ?? null);
    return new FeedParcel({ index, hash }, { time: head.time, user }, changes, view, this.present);
  }
}

/** True if a part of the log goes on where a position stands. */
export function follows({ before }: LogPart, { hash }: FeedPosition): boolean {
  return before !== null && before.hash === hash;
}

/** The types of the things of one change: as the change says, or else as they are now. */
class Labels {
  private readonly known = new Map<number, number | null | undefined>();

  constructor(private readonly group: GroupSession['group']) {}

  nameFor(change: FeedChange, view: SchemaView): string | null | undefined {
    if (!('id' in change) || change.op === 'type_def') return null;
    if (change.op === 'new' || change.op === 'type') this.known.set(change.id, change.type);
    const type = this.typeOf(change.id);
    return type === null || type === undefined ? type : (view.typeDef(type)?.name ?? null);
  }

  private typeOf(id: number): number | null | undefined {
    if (!this.known.has(id)) {
      const type = this.group instanceof CollectionGroup ? typeIdOf(this.group, id) : undefined;
      this.known.set(id, type);
    }
    return this.known.get(id);
  }
}
