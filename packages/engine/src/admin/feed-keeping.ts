/**
 * The part of the log of a collection that is kept for those who follow its changes, as a part of the root scope: see `feed/` in the package
 * `node`, whose nodes each keep it by themselves.
 *
 *   effect := 54 collection:varint keep        how much is kept from now on
 *   keep   := bytes:varint seconds:varint      0 and 0: no more than the node needs itself
 *
 * Record: FEED (id of the collection) holds `keep`; there is none where nothing more is kept.
 */
import type { ByteReader, ByteWriter } from '../bytes.js';
import type { Dirty } from '../state/dirty.js';
import { type Format, setEffect, ValuesById } from '../state/parts/values-by-id.js';
import { RecordKind } from '../state/records.js';
import { one } from '../state/tally.js';

/** The part of the log that is kept: changes that are neither older, nor have more bytes behind them. */
export interface FeedKeep {
  readonly bytes: number;
  readonly seconds: number;
}

export const KEEP_NOTHING: FeedKeep = { bytes: 0, seconds: 0 };

export class FeedKeeping extends ValuesById<FeedKeep> {
  constructor(dirty: Dirty) {
    super(dirty, RecordKind.FEED, KEEP, FeedKeepEffect);
  }

  of(collection: number): FeedKeep {
    return this.all.get(collection) ?? KEEP_NOTHING;
  }

  override set(collection: number, keep: FeedKeep | undefined): void {
    super.set(collection, keep?.bytes === 0 ? undefined : keep);
  }
}

const KEEP: Format<FeedKeep> = { write: writeKeep, read: readKeep };

export const FeedKeepEffect = {
  SET: setEffect(KEEP, { code: 0x54, cost: () => NS_PER_UNDO, counts: one('settings') }),
};

/** Nanoseconds that it takes to take a setting back. */
const NS_PER_UNDO = 2000;

function writeKeep(out: ByteWriter, { bytes, seconds }: FeedKeep): void {
  out.varint(bytes);
  out.varint(seconds);
}

function readKeep(input: ByteReader): FeedKeep {
  return { bytes: input.varint(), seconds: input.varint() };
}
