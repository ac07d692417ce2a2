import { type FeedKeep, KEEP_NOTHING } from '../admin/feed-keeping.js';
import { CHANGES_ROOT, type Entry, func } from '../run/builtin.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { collectionOf, nameOrId } from './collections.js';
import { knownOptions } from './known-options.js';

/** Megabytes and seconds of the log of a collection that can be kept at most: a terabyte, and a year. */
const KEEP_MB_MAX = 1_048_576;
const KEEP_S_MAX = 31_536_000;

const MIB = 1024 * 1024;

/** Functions for the feed of a collection: how much of its log is kept. */
export const FEED: readonly Entry[] = [
  func('set_feed', {
    doc: 'Keeps more of the log of a collection for those who follow its changes: {keep_mb: megabytes, keep_s: seconds}, whichever is less. Nil keeps what the node needs itself.',
    changes: CHANGES_ROOT,
    params: [nameOrId(), p.any('keep')],
    run: (rt, which, given) => {
      const collection = collectionOf(rt.root, which);
      rt.editor.setFeed(collection, keepOf(rt, given));
      return null;
    },
  }),
];

function keepOf(rt: Runtime, given: Value): FeedKeep {
  if (given === null) return KEEP_NOTHING;
  if (!(given instanceof Thing))
    throw p.wrongType(given, { function: 'set_feed', position: 2 }, 'keep', 'a thing or nil');
  const values = knownOptions(rt, 'set_feed', given, ['keep_mb', 'keep_s']);
  const place = { function: 'set_feed', position: 2 };
  const megabytes = p.intBetween('keep_mb', 1, KEEP_MB_MAX).accept(values.get('keep_mb') ?? null, place);
  const seconds = p.intBetween('keep_s', 1, KEEP_S_MAX).accept(values.get('keep_s') ?? KEEP_S_MAX, place);
  return { bytes: Number(megabytes) * MIB, seconds: Number(seconds) };
}
