/**
 * Planted bugs. Each stands behind a name that a test harness may switch on in the configuration, to show that it would
 * notice such a bug; none is ever on in production. The check stands at the exact line that the bug would be in.
 */
export const MUTANTS = {
  send_before_sync: 'votes and acknowledgements leave before what they promise is durable',
  vote_not_persisted: 'the vote is left out of the hard state that is written',
  vote_twice_after_restart: 'a restarted node has forgotten whom it voted for',
  commit_old_term_by_count: 'entries of earlier terms are committed by counting replicas (figure 8)',
  no_noop: 'a new leader appends no entry of its own term',
  read_without_quorum: 'a read index is given without asking a quorum',
  question_confirms_alone: 'the question of a follower confirms the leader where the two are no quorum',
  read_id_reused: 'a repeated round of read confirmation uses the id of the one before',
  pending_read_survives_term_change:
    'reads that wait for confirmation outlive the leadership they were asked under',
  lease_over_pause: 'the lease is measured in ticks, which stand still while the process is paused',
  append_overwrites_committed: 'an append cuts the log behind its predecessor even where the entries agree',
  no_truncation_on_conflict: 'conflicting entries stay, only what lies behind them is appended',
  conflict_hint_off_by_one: 'after a rejection the leader probes one index too high, and again',
  ack_without_term: 'the acknowledgement of a write counts for entries that were overwritten since',
  commit_beyond_last: 'a follower takes over the commit index of a message beyond the entries it confirmed',
  learner_counted: 'learners count in quorums',
  joint_quorum_by_one_half: 'a joint configuration decides by the majority of its incoming half alone',
  two_changes_in_flight: 'a membership change is accepted while another is not committed',
  change_before_own_term_commit: 'a new leader accepts a membership change before it committed in its term',
  change_commit_not_durable: 'a membership change is applied before it is durable that it is committed',
  removed_node_votes: 'removed members vote, and their votes count',
  removed_leader_keeps_leading: 'a leader that is no voter any more does not step down',
  snapshot_without_configuration: 'an installed snapshot does not bring its membership along',
  gap_after_snapshot: 'the log after a snapshot begins one entry too late',
  older_snapshot_over_newer: 'a snapshot older than the commit index is installed',
  compaction_without_snapshot:
    'a follower that needs compacted entries gets what is left instead of a snapshot',
  lost_tail_not_noticed: 'a node that lost entries it had promised goes on voting and acknowledging',
  transfer_with_proposals: 'a transfer neither stops proposals nor waits until the target has everything',
  backpressure_off: 'no limit on what is proposed and not yet applied',
  quiesced_read_unconfirmed: 'a quiesced leader answers reads without waking up',
} as const;

export type Mutant = keyof typeof MUTANTS;

/** Which planted bugs are on. */
export type Bugs = Readonly<Record<Mutant, boolean>>;

export const MUTANT_NAMES: readonly Mutant[] = Object.keys(MUTANTS).filter(isMutant);

/** Whether `name` names a planted bug. */
export function isMutant(name: string): name is Mutant {
  return Object.hasOwn(MUTANTS, name);
}

/** A record for quick checks in hot code. */
export function bugsOf(mutants: ReadonlySet<Mutant>): Bugs {
  const on = (name: Mutant): boolean => mutants.has(name);
  return {
    send_before_sync: on('send_before_sync'),
    vote_not_persisted: on('vote_not_persisted'),
    vote_twice_after_restart: on('vote_twice_after_restart'),
    commit_old_term_by_count: on('commit_old_term_by_count'),
    no_noop: on('no_noop'),
    read_without_quorum: on('read_without_quorum'),
    question_confirms_alone: on('question_confirms_alone'),
    read_id_reused: on('read_id_reused'),
    pending_read_survives_term_change: on('pending_read_survives_term_change'),
    lease_over_pause: on('lease_over_pause'),
    append_overwrites_committed: on('append_overwrites_committed'),
    no_truncation_on_conflict: on('no_truncation_on_conflict'),
    conflict_hint_off_by_one: on('conflict_hint_off_by_one'),
    ack_without_term: on('ack_without_term'),
    commit_beyond_last: on('commit_beyond_last'),
    learner_counted: on('learner_counted'),
    joint_quorum_by_one_half: on('joint_quorum_by_one_half'),
    two_changes_in_flight: on('two_changes_in_flight'),
    change_before_own_term_commit: on('change_before_own_term_commit'),
    change_commit_not_durable: on('change_commit_not_durable'),
    removed_node_votes: on('removed_node_votes'),
    removed_leader_keeps_leading: on('removed_leader_keeps_leading'),
    snapshot_without_configuration: on('snapshot_without_configuration'),
    gap_after_snapshot: on('gap_after_snapshot'),
    older_snapshot_over_newer: on('older_snapshot_over_newer'),
    compaction_without_snapshot: on('compaction_without_snapshot'),
    lost_tail_not_noticed: on('lost_tail_not_noticed'),
    transfer_with_proposals: on('transfer_with_proposals'),
    backpressure_off: on('backpressure_off'),
    quiesced_read_unconfirmed: on('quiesced_read_unconfirmed'),
  };
}
