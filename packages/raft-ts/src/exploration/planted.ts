/** Planted bugs that an exploration finds, and small bounds within which each shows. */
import type { Mutant } from '../testing/mutants.js';
import { type Bounds, DEFAULT_BOUNDS } from './bounds.js';

/** Bounds by the planted bug; what is not said is as by default, with a message more. */
export const PLANTED: ReadonlyMap<Mutant, Bounds> = new Map([
  within('send_before_sync', { terms: 1 }),
  within('vote_not_persisted', { terms: 1 }),
  within('vote_twice_after_restart', { terms: 1, entries: 0, crashes: 1 }),
  within('commit_old_term_by_count', { terms: 3, entries: 0, messages: 2, writes: 0, batch: 1 }),
  within('no_noop', { terms: 1 }),
  within('read_without_quorum', { entries: 0, reads: 1, writes: 0 }),
  within('append_overwrites_committed', { terms: 1, entries: 2, repeats: 1 }),
  within('no_truncation_on_conflict', { writes: 0 }),
  within('ack_without_term', { entries: 0, messages: 2, beats: 1 }),
  within('commit_beyond_last', { beats: 1, writes: 0 }),
  within('removed_node_votes', { entries: 0, changes: ['-1'], writes: 0 }),
  within('removed_leader_keeps_leading', { terms: 1, entries: 0, changes: ['-1'], writes: 0 }),
  within('snapshot_without_configuration', { terms: 1, entries: 0, changes: ['+3'], beats: 2, writes: 0 }),
  within('gap_after_snapshot', { terms: 1, entries: 0, changes: ['+3'], beats: 2, writes: 0 }),
]);

function within(name: Mutant, bounds: Partial<Bounds>): readonly [Mutant, Bounds] {
  return [name, { ...DEFAULT_BOUNDS, messages: 3, ...bounds }];
}
