/**
 * Planted bugs: what would be wrong, and the lines that would have to be different for it. Nothing of them is
 * in the core: `planting.ts` makes a copy of the compiled package in which the lines are different. A test
 * harness runs against such a copy to show that it would notice the bug.
 */
import type { PlantedBug } from './planting.js';

export const MUTANTS = {
  send_before_sync: {
    what: 'votes and acknowledgements leave before what they promise is durable',
    edits: [{ file: 'core', code: 'this.gated.push(message)', bug: 'this.outbox.push(message)' }],
  },
  vote_not_persisted: {
    what: 'the vote is left out of the hard state that is written',
    edits: [
      {
        file: 'readying',
        code: 'return { term, vote, commit: log.commit };',
        bug: 'return { term, vote: 0, commit: log.commit };',
      },
    ],
  },
  vote_twice_after_restart: {
    what: 'a restarted node has forgotten whom it voted for',
    edits: [{ file: 'core', code: 'isLost ? id : hardState.vote', bug: 'NO_NODE' }],
  },
  commit_old_term_by_count: {
    what: 'entries of earlier terms are committed by counting replicas (figure 8)',
    edits: [{ file: 'replication', code: 'reached < core.termStart', bug: 'false' }],
  },
  no_noop: {
    what: 'a new leader appends no entry of its own term',
    edits: [{ file: 'roles', code: "appendOwn(core, 'noop', [EMPTY]);", bug: '' }],
  },
  read_without_quorum: {
    what: 'a read index is given without asking a quorum',
    edits: [
      { file: 'readindex', code: 'return !core.tracker.isAlone && !holdsLease(core);', bug: 'return false;' },
    ],
  },
  question_confirms_alone: {
    what: 'the question of a follower confirms the leader where the two are no quorum',
    edits: [{ file: 'readindex', code: 'tracker.isQuorumWith(asker)', bug: 'true' }],
  },
  read_id_reused: {
    what: 'a repeated round of read confirmation uses the id of the one before',
    edits: [
      {
        file: 'reads',
        code: 'this.lastRound += 1;',
        bug: `if (this.underWay) {
        for (const read of this.queue) read.round = Math.min(read.round, this.lastRound);
        return this.lastRound;
      }
      this.lastRound += 1;`,
      },
      {
        file: 'reads',
        code: "assert(this.count > 0, 'A question without a reader');",
        bug: 'const isRepeated = this.underWay.length > 0;',
      },
      { file: 'reads', code: 'this.lastId += 1;', bug: 'if (!isRepeated) this.lastId += 1;' },
    ],
  },
  pending_read_survives_term_change: {
    what: 'reads that wait for confirmation outlive the leadership they were asked under',
    edits: [
      {
        file: 'roles',
        code: 'const dropped = core.reads.takeAll()',
        bug: `return;
      const dropped = core.reads.takeAll()`,
      },
    ],
  },
  lease_over_pause: {
    what: 'the lease is measured in ticks, which stand still while the process is paused',
    edits: [
      {
        file: 'core',
        code: 'new Lease(settings.lease.clock_ms, settings.lease_ms)',
        bug: 'new Lease(() => this.now, settings.electionTicks)',
      },
      { file: 'lease', code: 'latest.at_ms + this.duration_ms', bug: 'this.clock_ms() + this.duration_ms' },
    ],
  },
  append_overwrites_committed: {
    what: 'an append cuts the log behind its predecessor even where the entries agree',
    edits: [
      { file: 'replication', code: 'prevIndex < log.commit', bug: 'false' },
      { file: 'replication', code: 'const known = countKnown(core, entries);', bug: 'const known = 0;' },
      {
        file: 'replication',
        code: 'known < entries.length ? prevIndex + known + 1 : 0',
        bug: 'prevIndex + known + 1',
      },
      {
        file: 'log',
        code: "assert(index > this.commitIndex, 'A committed entry is to be overwritten', index, this.commitIndex);",
        bug: '',
      },
    ],
  },
  no_truncation_on_conflict: {
    what: 'conflicting entries stay, only what lies behind them is appended',
    edits: [
      { file: 'replication', code: 'conflict > 0 && conflict <= log.last', bug: 'false' },
      {
        file: 'replication',
        code: 'take(core, entries, known);',
        bug: 'take(core, entries, Math.max(known, log.last - (entries[0]?.index ?? 0) + 1));',
      },
    ],
  },
  conflict_hint_off_by_one: {
    what: 'after a rejection the leader probes one index too high, and again',
    edits: [
      { file: 'progress', code: 'Math.min(rejected, hint + 1)', bug: 'Math.min(rejected + 1, hint + 2)' },
    ],
  },
  ack_without_term: {
    what: 'the acknowledgement of a write counts for entries that were overwritten since',
    edits: [
      {
        file: 'readying',
        code: 'log.stableTo(done.lastIndex);',
        bug: 'log.stableTo(Math.min(done.lastIndex, log.handed));',
      },
      { file: 'replication', code: 'core.writes.cutFrom(from);', bug: '' },
    ],
  },
  commit_beyond_last: {
    what: 'a follower takes over the commit index of a message beyond the entries it confirmed',
    edits: [
      { file: 'heartbeats', code: 'Math.min(peer.match, log.commit)', bug: 'log.commit' },
      {
        file: 'heartbeats',
        code: 'const { commit } = message;',
        bug: 'const commit = Math.min(message.commit, log.last);',
      },
      {
        file: 'replication',
        code: 'Math.min(message.commit, lastNew)',
        bug: 'Math.min(message.commit, log.last)',
      },
    ],
  },
  learner_counted: {
    what: 'learners count in quorums',
    edits: [
      {
        file: 'tracker',
        code: 'membership.voters.map(progressOf)',
        bug: '[...membership.voters, ...membership.learners].map(progressOf)',
      },
    ],
  },
  joint_quorum_by_one_half: {
    what: 'a joint configuration decides by the majority of its incoming half alone',
    edits: [{ file: 'tracker', code: 'membership.outgoing.map(progressOf)', bug: '[]' }],
  },
  two_changes_in_flight: {
    what: 'a membership change is accepted while another is not committed',
    edits: [{ file: 'configuration', code: 'log.firstPendingChange > 0', bug: 'false' }],
  },
  change_before_own_term_commit: {
    what: 'a new leader accepts a membership change before it committed in its term',
    edits: [{ file: 'configuration', code: 'log.commit < termStart', bug: 'false' }],
  },
  change_commit_not_durable: {
    what: 'a membership change is applied before it is durable that it is committed',
    edits: [
      { file: 'readying', code: 'return membershipIndex > handedCommit;', bug: 'return false;' },
      { file: 'readying', code: 'if (membershipHistory.length === 0)', bug: 'if (true)' },
    ],
  },
  removed_node_votes: {
    what: 'removed members vote, and their votes count',
    edits: [
      { file: 'election', code: 'isRemoved(membership, core.id)', bug: 'false' },
      { file: 'election', code: '!isVoter(core.tracker.membership, message.from)', bug: 'false' },
      { file: 'step', code: 'isRemoved(core.tracker.membership, message.from)', bug: 'false' },
      {
        file: 'tracker',
        code: 'return verdictOf(voters.length, granted, refused);',
        bug: `for (const id of this.inForce.removed) {
        if (this.votesByNode.get(id) === true && granted + refused < voters.length) granted += 1;
      }
      return verdictOf(voters.length, granted, refused);`,
      },
    ],
  },
  removed_leader_keeps_leading: {
    what: 'a leader that is no voter any more does not step down',
    edits: [{ file: 'configuration', code: 'voters.includes(id) || outgoing.includes(id)', bug: 'true' }],
  },
  snapshot_without_configuration: {
    what: 'an installed snapshot does not bring its membership along',
    edits: [
      {
        file: 'snapshots',
        code: 'tracker.switchTo(snapshot.membership',
        bug: `return;
      tracker.switchTo(snapshot.membership`,
      },
    ],
  },
  gap_after_snapshot: {
    what: 'the log after a snapshot begins one entry too late',
    edits: [{ file: 'log', code: 'const { index } = snapshot;', bug: 'const index = snapshot.index + 1;' }],
  },
  older_snapshot_over_newer: {
    what: 'a snapshot older than the commit index is installed',
    edits: [
      { file: 'snapshots', code: 'index <= log.commit)', bug: 'false)' },
      { file: 'snapshots', code: 'log.matches(index, term)', bug: 'false' },
    ],
  },
  compaction_without_snapshot: {
    what: 'a follower that needs compacted entries gets what is left instead of a snapshot',
    edits: [{ file: 'replication', code: 'return sendSnapshot(core, peer);', bug: 'peer.next = log.first;' }],
  },
  lost_tail_not_noticed: {
    what: 'a node that lost entries it had promised goes on voting and acknowledging',
    edits: [
      { file: 'heartbeats', code: 'core.lostTail = commit;', bug: '' },
      { file: 'node', code: 'recall(core, config.promised);', bug: ';' },
    ],
  },
  transfer_with_proposals: {
    what: 'a transfer neither stops proposals nor waits until the target has everything',
    edits: [
      { file: 'transfer', code: 'peer.match < log.last', bug: 'false' },
      { file: 'proposals', code: 'core.transfer !== null', bug: 'false' },
    ],
  },
  backpressure_off: {
    what: 'no limit on what is proposed and not yet applied',
    edits: [
      { file: 'proposals', code: "return tooMany || tooMuch ? 'overloaded' : null;", bug: 'return null;' },
    ],
  },
  quiesced_read_unconfirmed: {
    what: 'a quiesced leader answers reads without waking up',
    edits: [
      {
        file: 'readindex',
        code: 'core.reads.count + core.readResults.length >= maxPendingReads',
        bug: `core.quiesced) {
        core.readResults.push({ outcome: 'ready', context, index: core.log.commit });
        return ACCEPTED;
      }
      if (core.reads.count + core.readResults.length >= maxPendingReads`,
      },
    ],
  },
  silence_without_quorum: {
    what: 'a group falls silent with a minority',
    edits: [{ file: 'quiescence', code: '(away.has(id) ? 0 : 1)', bug: '1' }],
  },
  sleeps_through_return: {
    what: 'a group that sleeps without a member sleeps on when that one is back',
    edits: [
      { file: 'quiescence', code: "core.role === 'leader' && core.asleepWithout.has(node)", bug: 'false' },
    ],
  },
  silent_learner_promoted: {
    what: 'a learner that has not been heard of for long is made a voter',
    edits: [
      {
        file: 'promotion',
        code: 'core.now - peer.lastActive < core.settings.electionTicks',
        bug: 'true',
      },
    ],
  },
} as const satisfies Readonly<Record<string, PlantedBug>>;

/** The name of a planted bug. */
export type Mutant = keyof typeof MUTANTS;

export const MUTANT_NAMES: readonly Mutant[] = Object.keys(MUTANTS).filter(isMutant);

/** True if `name` names a planted bug. */
export function isMutant(name: string): name is Mutant {
  return Object.hasOwn(MUTANTS, name);
}
