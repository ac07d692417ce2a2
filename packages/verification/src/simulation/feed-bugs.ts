/** Planted bugs of feeds of changes, put between a node and those who follow. */
import type { EngineSide, FeedLine, FeedSink } from '@althing/node/parts';
import type { NodeMutant } from './node-mutant-names.js';

/** Lines of a turn that a slow follower is told by a node that drops the others. */
const LINES_MAX = 2;

/** @param hashAt the chain hash of an entry of a collection, as far as the log of the node has it */
export function plantInFeeds(
  feeds: EngineSide['feeds'],
  on: ReadonlySet<NodeMutant>,
  hashAt: (collection: string, index: number) => number | undefined,
): void {
  const follow = feeds.follow.bind(feeds);
  if (on.has('feed_skips_at_switch') || on.has('feed_drops_for_slow'))
    feeds.follow = (request, sink) => follow(request, new FaultySink(sink, on));
  else if (on.has('position_without_hash')) {
    feeds.follow = (request, sink) => {
      const { since, collection } = request;
      const hash = since === null ? undefined : hashAt(collection, since.index);
      return follow(
        since === null || hash === undefined ? request : { ...request, since: { ...since, hash } },
        sink,
      );
    };
  }
}

class FaultySink implements FeedSink {
  private skips: 'not yet' | 'next' | 'no more' = 'not yet';

  constructor(
    private readonly sink: FeedSink,
    private readonly on: ReadonlySet<NodeMutant>,
  ) {}

  send(lines: readonly FeedLine[]): Promise<void> {
    const kept = this.on.has('feed_drops_for_slow') ? lines.slice(0, LINES_MAX) : lines;
    return this.sink.send(kept.filter((line) => !this.isSkipped(line)));
  }

  caughtUp(): void {
    if (this.skips === 'not yet') this.skips = 'next';
    this.sink.caughtUp();
  }

  ended(end: Parameters<FeedSink['ended']>[0]): void {
    this.sink.ended(end);
  }

  private isSkipped({ isAlive }: FeedLine): boolean {
    if (isAlive || this.skips !== 'next' || !this.on.has('feed_skips_at_switch')) return false;
    this.skips = 'no more';
    return true;
  }
}
