/**
 * How much of the log of a collection is kept for those who follow its changes, as a part of the root scope: see `feed/` in the package
 * `node`, whose nodes each keep it by themselves.
 *
 *   effect := 54 collection:varint keep        how much is kept from now on
 *   keep   := bytes:varint seconds:varint      0 and 0: no more than the node needs itself
 *
 * Record: FEED (id of the collection) holds `keep`; there is none where nothing more is kept.
 */
import { ByteReader, ByteWriter } from '../bytes.js';
import type { Dirty } from '../state/dirty.js';
import { effect, effectsOn } from '../state/effect.js';
import type { GroupPart } from '../state/parts/part.js';
import { RecordKind } from '../state/records.js';
import { one } from '../state/tally.js';

/** The part of the log that is kept: changes that are neither older, nor have more bytes behind them. */
export interface FeedKeep {
  readonly bytes: number;
  readonly seconds: number;
}

export const KEEP_NOTHING: FeedKeep = { bytes: 0, seconds: 0 };

export class FeedKeeping implements GroupPart {
  readonly effects = effectsOn(this, FeedKeepEffect);
  readonly kinds = [RecordKind.FEED];
  private readonly byCollection = new Map<number, FeedKeep>();

  constructor(private readonly dirty: Dirty) {}

  /** The collections that have a setting, with these. */
  get all(): ReadonlyMap<number, FeedKeep> {
    return this.byCollection;
  }

  of(collection: number): FeedKeep {
    return this.byCollection.get(collection) ?? KEEP_NOTHING;
  }

  set(collection: number, keep: FeedKeep): void {
    if (keep.bytes === 0) {
      if (this.byCollection.delete(collection)) this.dirty.put(RecordKind.FEED, collection, 0, null);
      return;
    }
    this.byCollection.set(collection, keep);
    const out = new ByteWriter();
    writeKeep(out, keep);
    this.dirty.put(RecordKind.FEED, collection, 0, out.take());
  }

  load(_kind: RecordKind, id: number, _part: number, value: Uint8Array): void {
    this.byCollection.set(id, readKeep(new ByteReader(value)));
  }

  clear(): void {
    this.byCollection.clear();
  }

  /** Settings are no data that would be in the way of a restore: they go with their collections. */
  contents(): string | null {
    return null;
  }
}

export const FeedKeepEffect = {
  SET: effect<FeedKeeping, [collection: number, keep: FeedKeep]>({
    code: 0x54,
    write: (out, collection, keep) => {
      out.varint(collection);
      writeKeep(out, keep);
    },
    read: (input) => [input.varint(), readKeep(input)],
    apply: (keeping, collection, keep) => keeping.set(collection, keep),
    inverse: (keeping, collection) => {
      const old = keeping.of(collection);
      return () => keeping.set(collection, old);
    },
    cost: () => NS_PER_UNDO,
    counts: one('settings'),
  }),
};

/** How long it takes to take a setting back, in nanoseconds. */
const NS_PER_UNDO = 2000;

function writeKeep(out: ByteWriter, { bytes, seconds }: FeedKeep): void {
  out.varint(bytes);
  out.varint(seconds);
}

function readKeep(input: ByteReader): FeedKeep {
  return { bytes: input.varint(), seconds: input.varint() };
}
