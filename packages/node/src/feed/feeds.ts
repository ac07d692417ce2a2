import {
  type Engine,
  lookupError,
  missingPrivilege,
  nodeError,
  Privilege,
  quotaError,
  type User,
  UserShares,
} from '@althing/engine';
import { type Clock, pause } from '../base/clock.js';
import { type FeedPosition, positionText } from '../between/feed-position.js';
import { type GroupId, ROOT_GROUP } from '../between/protocol.js';
import type { GroupSession } from '../groups/group-session.js';
import type { FeedFigures } from '../telemetry/engine-metrics.js';
import { CollectionFeed, follows } from './collection-feed.js';
import type { LogReads } from './log-reads.js';
import type { FeedFilter } from './parcel.js';
import { type FeedEnd, type FeedSink, Subscriber } from './subscriber.js';

/** Followers of one node at most. */
export const FOLLOWERS_MAX = 1000;

/** Time between two reports to followers of where they stand, in milliseconds. */
export const BEAT_MS = 5000;

/** A group that has no leader soon has one: how often that is looked for, and how many times, before a follower is refused. */
const PRESENT_EVERY_MS = 100;
const PRESENT_TRIES = 50;

export interface FeedsOptions {
  readonly engine: Pick<Engine, 'root'>;
  readonly session: (group: GroupId) => GroupSession | undefined;
  readonly reads: Pick<LogReads, 'read'>;
  readonly clock: Pick<Clock, 'after' | 'every'>;
  readonly onDefect: (error: unknown) => void;
}

export interface FollowRequest {
  readonly user: User;
  readonly collection: string;
  /** Null: from now on. */
  readonly since: FeedPosition | null;
  readonly filter: FeedFilter;
  /** False from when on the credentials hold no more that it was asked for with; not given where the connection ends with them. */
  readonly isLoggedIn?: () => boolean;
}

/** The feeds of all collections that somebody follows on this node. While nobody does, nothing is read, and nothing costs anything. */
export class Feeds {
  private readonly feeds = new Map<GroupId, CollectionFeed>();
  private readonly places = new UserShares(FOLLOWERS_MAX);
  private stopBeat: (() => void) | null = null;
  private readonly told = { lines: 0, characters: 0 };
  private readonly ended = { lost: 0, forbidden: 0, leaving: 0, left: 0 };

  constructor(private readonly options: FeedsOptions) {}

  /** The number of followers, and of those that read the log by themselves. */
  get counts(): { readonly all: number; readonly behind: number } {
    const counts = { all: 0, behind: 0 };
    for (const feed of this.feeds.values()) {
      counts.all += feed.counts.all;
      counts.behind += feed.counts.behind;
    }
    return counts;
  }

  /** The figures for the metrics. `lag`: entries of the log behind the follower that is farthest behind. */
  get figures(): FeedFigures {
    const lags = Array.from(this.feeds.values(), (feed) => feed.lag);
    return { ...this.counts, ...this.told, lag: Math.max(0, ...lags), ended: this.ended };
  }

  /**
   * Begins to tell a sink what happens in a collection.
   *
   * @returns what ends it
   * @throws QueryError where the collection is not there, or may not be read, or where there are too many followers
   * @throws LostError where what lies behind `since` is not to be had
   */
  async follow(
    { user, collection, since, filter, isLoggedIn }: FollowRequest,
    sink: FeedSink,
  ): Promise<() => void> {
    if (!this.places.admits(user.id)) throw TOO_MANY;
    // Others may come while the beginning is looked for.
    this.places.add(user.id, 1);
    const { session, start } = await this.beginningOf(user, collection, since).catch((error: unknown) => {
      this.places.add(user.id, -1);
      throw error;
    });
    const feed = this.feedOf(session);
    const subscriber: Subscriber = new Subscriber(
      { userId: user.id, isLoggedIn },
      filter,
      start,
      session.appliedIndex,
      sink,
      {
        sent: (lines, characters) => {
          this.told.lines += lines;
          this.told.characters += characters;
        },
        drained: () => feed.drained(subscriber),
        gone: (end) => {
          this.ended[end?.kind ?? 'left'] += 1;
          this.places.add(user.id, -1);
          feed.remove(subscriber);
          this.considerEnd(session.id, feed);
        },
      },
    );
    feed.add(subscriber);
    return () => subscriber.end(null);
  }

  /** Something was committed, or may be read again. */
  sessionChanged(session: GroupSession): void {
    if (this.feeds.size > 0) this.feeds.get(session.id)?.consider();
  }

  deleted(collection: GroupId): void {
    this.feeds.get(collection)?.end({ kind: 'forbidden' });
  }

  /** Ends all: the node stops. */
  leave(): void {
    for (const feed of this.feeds.values()) feed.end({ kind: 'leaving' });
  }

  /** The group of a collection, and the position from which on a follower is told. @throws LostError, QueryError */
  private async beginningOf(
    user: User,
    collection: string,
    since: FeedPosition | null,
  ): Promise<{ readonly session: GroupSession; readonly start: FeedPosition }> {
    const session = await this.sessionOf(user, collection);
    if (since === null) return { session, start: await this.presentOf(session) };
    await this.assertHeld(session, since);
    return { session, start: since };
  }

  /** @throws LostError, QueryError */
  private async assertHeld(session: GroupSession, since: FeedPosition): Promise<void> {
    // A position that this node lacks is in no history that goes on, unless the node is behind.
    if (since.index > session.appliedIndex) {
      const present = await this.presentOf(session);
      if (since.index > present.index) throw new LostError(present);
    }
    const part = await this.options.reads.read(session.id, since.index, since.index);
    if (part === null) throw NOT_READY;
    if (!follows(part, since)) throw new LostError(part.oldest);
  }

  /** The place behind all that was acknowledged before. */
  private async presentOf(session: GroupSession): Promise<FeedPosition> {
    for (let tries = 1; tries <= PRESENT_TRIES; tries++) {
      const position = await newPresentOf(session);
      if (position !== null) return position;
      await pause(this.options.clock, PRESENT_EVERY_MS);
    }
    throw NOT_READY;
  }

  /** The group of a collection. It is refused by no state that lags behind what was acknowledged. @throws QueryError */
  private async sessionOf(user: User, name: string): Promise<GroupSession> {
    try {
      return this.knownSessionOf(user, name);
    } catch (error) {
      const root = this.options.session(ROOT_GROUP);
      if (root === undefined || error === NOT_READY) throw error;
      await this.presentOf(root);
      return this.knownSessionOf(user, name);
    }
  }

  private knownSessionOf(user: User, name: string): GroupSession {
    const { root } = this.options.engine;
    const collection = root.collectionsByName.get(name);
    // Without the privilege nobody learns whether there is such a collection.
    if (collection === undefined || !root.allows(collection.id, user.id, Privilege.QUERY)) {
      const isKnown = collection === undefined && root.allows('thingsdb', user.id, Privilege.QUERY);
      if (isKnown) throw lookupError(`there is no collection '${name}'`);
      throw missingPrivilege(user, Privilege.QUERY, `@:${name}`);
    }
    const session = this.options.session(collection.id);
    if (session === undefined) throw NOT_READY;
    return session;
  }

  private feedOf(session: GroupSession): CollectionFeed {
    const { reads, engine, onDefect, clock } = this.options;
    let feed = this.feeds.get(session.id);
    if (feed === undefined) {
      feed = new CollectionFeed({
        session,
        reads,
        clock,
        userName: (id) => engine.root.users.get(id)?.name,
        mayRead: (userId) => engine.root.isLoading || engine.root.allows(session.id, userId, Privilege.QUERY),
        onDefect,
      });
      this.feeds.set(session.id, feed);
    }
    this.stopBeat ??= clock.every(BEAT_MS, () => {
      for (const one of this.feeds.values()) one.beat();
    });
    return feed;
  }

  private considerEnd(id: GroupId, feed: CollectionFeed): void {
    if (feed.counts.all > 0) return;
    feed.close();
    if (this.feeds.get(id) === feed) this.feeds.delete(id);
    if (this.feeds.size > 0) return;
    this.stopBeat?.();
    this.stopBeat = null;
  }
}

/** The log does not hold what lies behind a position: it was cut, or this is another history. */
export class LostError extends Error {
  constructor(readonly oldest: FeedPosition) {
    super('what follows that position is not held any more, or this is another history');
  }
}

/** The end of a feed as its follower is told. */
export type FeedEnding =
  | { readonly lost: true; readonly oldest: string }
  | { readonly ended: 'forbidden' | 'leaving' };

export function endingOf(end: FeedEnd): FeedEnding {
  return end.kind === 'lost' ? { lost: true, oldest: positionText(end.oldest) } : { ended: end.kind };
}

/** The place behind all that was acknowledged before; null where nobody can tell now. */
function newPresentOf(session: GroupSession): Promise<FeedPosition | null> {
  return new Promise((resolve) => {
    session.readIndex((isKnown) => {
      if (!isKnown) resolve(null);
      else
        session.mark(
          ({ index, hash }) => resolve({ index, hash }),
          () => resolve(null),
        );
    });
  });
}

const NOT_READY = nodeError('this node can not tell the changes of the collection now: try again');

const TOO_MANY = quotaError(
  `a node has at most ${FOLLOWERS_MAX} followers of changes, and a user no more of them than are left to all others: ask another node`,
);
