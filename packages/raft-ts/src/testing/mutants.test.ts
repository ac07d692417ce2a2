/** Every planted bug is found: by a script that was written for it, and many also by random runs. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { RaftAssertionError } from '../assert.js';
import { RaftNode } from '../node.js';
import { Violation } from './checker.js';
import { MUTANT_NAMES, MUTANTS, type Mutant } from './mutants.js';
import { Planter, type RaftNodeClass } from './plant.js';
import { runSeed } from './randomrun.js';
import { runScript } from './scenario.js';

/** The script that shows each bug. */
const SCRIPTS: Readonly<Record<Mutant, string>> = {
  send_before_sync: 'persist-vote-before-answer',
  vote_not_persisted: 'restart-remembers-vote',
  vote_twice_after_restart: 'restart-remembers-vote',
  commit_old_term_by_count: 'figure-8',
  no_noop: 'noop-commits-old-term',
  read_without_quorum: 'quiesce-stale-leader-read',
  question_confirms_alone: 'read-index-question-too-few',
  read_id_reused: 'read-index-fresh-id',
  pending_read_survives_term_change: 'read-index-leader-change',
  lease_over_pause: 'lease-reads',
  append_overwrites_committed: 'delayed-append',
  no_truncation_on_conflict: 'divergent-tail',
  conflict_hint_off_by_one: 'joint-three-to-three-others',
  ack_without_term: 'async-append-aba',
  commit_beyond_last: 'commit-not-beyond-confirmed',
  learner_counted: 'learner-does-not-count',
  joint_quorum_by_one_half: 'joint-both-halves',
  two_changes_in_flight: 'change-single-rule',
  change_before_own_term_commit: 'change-single-rule',
  change_commit_not_durable: 'removal-of-the-other-half',
  removed_node_votes: 'removed-member-disturbs-nobody',
  removed_leader_keeps_leading: 'removed-leader',
  snapshot_without_configuration: 'new-member-gets-the-membership',
  gap_after_snapshot: 'snapshot-slow-follower',
  older_snapshot_over_newer: 'snapshot-not-needed',
  compaction_without_snapshot: 'snapshot-slow-follower',
  lost_tail_not_noticed: 'lost-tail',
  transfer_with_proposals: 'transfer-lagging-target',
  backpressure_off: 'overload-quota',
  quiesced_read_unconfirmed: 'quiesce-stale-leader-read',
  silence_without_quorum: 'quiesce-without-a-quorum',
  sleeps_through_return: 'quiesce-without-a-member',
  silent_learner_promoted: 'learner-promotion-silent',
};

/** Scripts for the other places of bugs that stand in two. */
const MORE_SCRIPTS: readonly (readonly [Mutant, string])[] = [
  ['read_id_reused', 'read-index-follower-fresh-id'],
  ['commit_beyond_last', 'read-index-few-are-asked'],
  ['commit_beyond_last', 'malformed-messages'],
];

/** Bugs that random runs find within a few seeds; `seeds` is how many are tried. */
const FOUND_AT_RANDOM: readonly (readonly [Mutant, number])[] = [
  ['send_before_sync', 5],
  ['vote_not_persisted', 5],
  ['vote_twice_after_restart', 15],
  ['append_overwrites_committed', 40],
  ['no_truncation_on_conflict', 40],
  ['learner_counted', 40],
  ['pending_read_survives_term_change', 80],
  ['removed_leader_keeps_leading', 80],
  ['snapshot_without_configuration', 60],
  ['gap_after_snapshot', 60],
  ['older_snapshot_over_newer', 150],
  ['backpressure_off', 40],
];

const planter = new Planter();

describe('planted bugs', () => {
  test('stand in a copy of the core, each set of them in one', async () => {
    expect(await planter.plant(new Set())).toBe(RaftNode);
    const copy = await planter.plant(new Set(['no_noop', 'commit_old_term_by_count']));
    expect(copy).not.toBe(RaftNode);
    expect(await planter.plant(new Set(['commit_old_term_by_count', 'no_noop']))).toBe(copy);
  });

  test('have places that are there, and once', () => {
    for (const { edits } of Object.values(MUTANTS)) {
      for (const edit of edits) expect(planter.sources([edit]).get(edit.file)).toContain(edit.bug);
    }
    const gone = { file: 'node', code: 'a line of another day', bug: '' };
    expect(() => planter.sources([gone])).toThrow('node.js holds 0 times');
    expect(() => planter.sources([{ ...gone, code: 'this.core' }])).toThrow(/node.js holds \d+ times/);
  });

  test('each has a description and a script', () => {
    expect(Object.keys(SCRIPTS).sort()).toEqual([...MUTANT_NAMES].sort());
    for (const name of MUTANT_NAMES) expect(MUTANTS[name].what.length).toBeGreaterThan(10);
  });

  test.each([...MUTANT_NAMES.map((name) => [name, SCRIPTS[name]] as const), ...MORE_SCRIPTS])(
    '%s is found by %s',
    async (name, script) => {
      const nodeClass = await planter.plant(new Set([name]));
      const text = readFileSync(new URL(`../../scenarios/${script}.txt`, import.meta.url), 'utf8');
      expect(() => expect(runScript(text, nodeClass)).toBe(text)).toThrow();
    },
  );

  test.each(FOUND_AT_RANDOM)('%s is found within %d random runs', async (name, seeds) => {
    expect(firstFinding(await planter.plant(new Set([name])), seeds)).not.toBeNull();
  });
});

/** The first seed that shows the bug, and how. */
function firstFinding(nodeClass: RaftNodeClass, seeds: number): string | null {
  for (let seed = 1; seed <= seeds; seed += 1) {
    try {
      runSeed(800, { seed, nodeClass });
    } catch (error) {
      if (error instanceof Violation || error instanceof RaftAssertionError)
        return `${seed}: ${error.message}`;
      throw error;
    }
  }
  return null;
}
