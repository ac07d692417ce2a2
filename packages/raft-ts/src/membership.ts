/**
 * Membership as pure data: what a change does to it, and which changes are refused. Every node runs this on
 * the same entries and must come to the same result, so nothing here depends on configuration.
 */
import { assert, isNodeId } from './assert.js';
import { MAX_LEARNERS, MAX_REMOVED, MAX_VOTERS, type Membership, type NodeId } from './types.js';

/** One step of a membership change, for one node. */
export type ChangeStep =
  | { readonly action: 'addVoter'; readonly node: NodeId }
  /**
   * `promote`: the leader makes it a voter as soon as it has caught up; without effect on a voter, which is
   * demoted.
   */
  | { readonly action: 'addLearner'; readonly node: NodeId; readonly promote: boolean }
  | { readonly action: 'remove'; readonly node: NodeId };

/**
 * A membership change; {@link changeOf} makes one. More than one voter at a time makes the configuration
 * joint.
 */
export interface MembershipChange {
  /** The steps, taken together. Empty: leave the joint configuration. */
  readonly steps: readonly ChangeStep[];
  /**
   * `auto`: directly if at most one voter changes, else through a joint configuration. `joint`: always
   * through one.
   */
  readonly transition: 'auto' | 'joint';
  /**
   * The end of a joint configuration: by the leader itself (`auto`), or by the host, with an empty change.
   */
  readonly leave: 'auto' | 'explicit';
  /** Bytes of the host (addresses, names, ...) that travel with the change. */
  readonly context: Uint8Array;
}

/** Why a change does not fit a membership. */
export type ChangeProblem =
  | 'joint_in_force'
  | 'not_joint'
  | 'removed_id'
  | 'unknown_node'
  | 'duplicate_node'
  | 'no_effect'
  | 'no_voters'
  | 'too_many_voters'
  | 'too_many_learners'
  | 'too_many_removed'
  | 'too_many_steps'
  | 'bad_node_id';

export const MAX_CHANGE_STEPS = 32;

/** A membership without members: what a node starts with that is yet to be added. */
export const NO_MEMBERS: Membership = {
  voters: [],
  outgoing: [],
  learners: [],
  learnersNext: [],
  promote: [],
  removed: [],
  autoLeave: false,
};

/** A membership of these voters and learners, in any order. */
export function membershipOf(voters: readonly NodeId[], learners: readonly NodeId[] = []): Membership {
  return { ...NO_MEMBERS, voters: ascending(voters), learners: ascending(learners) };
}

/** True if two configurations are in force, and both have to agree. */
export function isJoint(membership: Membership): boolean {
  return membership.outgoing.length > 0;
}

/** True if `node` votes: in either half of a joint configuration. */
export function isVoter(membership: Membership, node: NodeId): boolean {
  return membership.voters.includes(node) || membership.outgoing.includes(node);
}

/** True if a node is sent everything, and does not count. */
export function isLearner(membership: Membership, node: NodeId): boolean {
  return membership.learners.includes(node);
}

/** True if a node belongs to the group, as a voter or as a learner. */
export function isMember(membership: Membership, node: NodeId): boolean {
  return isVoter(membership, node) || isLearner(membership, node);
}

/** True if a node was a member once. Its id is never used again. */
export function isRemoved(membership: Membership, node: NodeId): boolean {
  return membership.removed.includes(node);
}

/** Every member, ascending. */
export function membersOf(membership: Membership): NodeId[] {
  return ascending([...new Set([...membership.voters, ...membership.outgoing, ...membership.learners])]);
}

/** True if untrusted data is a membership that could have come about. */
export function isValidMembership(membership: Membership): boolean {
  const { voters, outgoing, learners, learnersNext, promote, removed } = membership;
  const lists = [voters, outgoing, learners, learnersNext, promote, removed];
  if (!lists.every(isAscendingIds)) return false;
  if (voters.length > MAX_VOTERS || outgoing.length > MAX_VOTERS) return false;
  if (learners.length > MAX_LEARNERS || removed.length > MAX_REMOVED) return false;
  if (voters.length === 0 && (outgoing.length > 0 || learners.length > 0)) return false;
  if (learners.some((node) => isVoter(membership, node))) return false;
  if (learnersNext.some((node) => voters.includes(node) || !outgoing.includes(node))) return false;
  if (promote.some((node) => !learners.includes(node))) return false;
  return !removed.some((node) => isMember(membership, node));
}

/** Why `change` can not be made in `membership`, or null if it can. */
export function changeProblem(membership: Membership, change: MembershipChange): ChangeProblem | null {
  const { steps } = change;
  if (steps.length === 0) return isJoint(membership) ? null : 'not_joint';
  if (isJoint(membership)) return 'joint_in_force';
  if (steps.length > MAX_CHANGE_STEPS) return 'too_many_steps';
  if (new Set(steps.map((step) => step.node)).size !== steps.length) return 'duplicate_node';
  for (const step of steps) {
    const problem = stepProblem(membership, step);
    if (problem !== null) return problem;
  }
  const next = changedMembership(membership, change);
  if (next.voters.length === 0) return 'no_voters';
  if (next.voters.length > MAX_VOTERS) return 'too_many_voters';
  if (next.learners.length + next.learnersNext.length > MAX_LEARNERS) return 'too_many_learners';
  if (leftMembership(next).removed.length > MAX_REMOVED) return 'too_many_removed';
  return null;
}

/** The membership after a change that has no {@link changeProblem}. */
export function changedMembership(membership: Membership, change: MembershipChange): Membership {
  if (change.steps.length === 0) return leftMembership(membership);
  const voters = new Set(membership.voters);
  const learners = new Set(membership.learners);
  const promote = new Set(membership.promote);
  const removed = new Set(membership.removed);
  for (const { action, node } of change.steps) {
    learners.delete(node);
    promote.delete(node);
    voters.delete(node);
    if (action === 'addVoter') voters.add(node);
    else if (action === 'addLearner') learners.add(node);
    else removed.add(node);
  }
  for (const step of change.steps) {
    const demoted = membership.voters.includes(step.node);
    if (step.action === 'addLearner' && step.promote && !demoted) promote.add(step.node);
  }
  const direct: Membership = {
    voters: ascending(voters),
    outgoing: [],
    learners: ascending(learners),
    learnersNext: [],
    promote: ascending(promote),
    removed: ascending(removed),
    autoLeave: false,
  };
  const single = votersChanged(membership.voters, direct.voters) <= 1;
  if (change.transition === 'auto' && single) return direct;
  return enteredJoint(membership, direct, change.leave === 'auto');
}

/** The number of voters that two configurations do not have in common. */
export function votersChanged(left: readonly NodeId[], right: readonly NodeId[]): number {
  const gone = left.filter((node) => !right.includes(node)).length;
  return gone + right.filter((node) => !left.includes(node)).length;
}

/**
 * Invariant I11: every majority of the one and every majority of the other have a node in common. So it is
 * between a configuration and the joint one that leads away from it, between a joint one and what it leads
 * to, and between two that differ by one voter (Raft dissertation, section 4.1).
 */
export function assertSafeStep(before: Membership, after: Membership): void {
  if (isJoint(after)) {
    assert(!isJoint(before), 'A joint configuration is followed by another');
    assert(
      votersChanged(before.voters, after.outgoing) === 0,
      'A joint configuration forgets the old voters',
    );
  } else if (isJoint(before)) {
    assert(
      votersChanged(before.voters, after.voters) === 0,
      'Leaving a joint configuration changes its voters',
    );
  } else if (before.voters.length > 0) {
    assert(votersChanged(before.voters, after.voters) <= 1, 'More than one voter changes in a single step');
  }
  assert(
    before.removed.every((node) => isRemoved(after, node)),
    'A removed id was forgotten',
  );
  assert(isValidMembership(after), 'A membership change gives an impossible membership');
}

function stepProblem(membership: Membership, step: ChangeStep): ChangeProblem | null {
  const { action, node } = step;
  if (!isNodeId(node)) return 'bad_node_id';
  if (isRemoved(membership, node)) return 'removed_id';
  if (action === 'remove') return isMember(membership, node) ? null : 'unknown_node';
  if (action === 'addVoter') return membership.voters.includes(node) ? 'no_effect' : null;
  const unchanged = isLearner(membership, node) && membership.promote.includes(node) === step.promote;
  return unchanged ? 'no_effect' : null;
}

/**
 * A node that the new configuration drops or demotes goes on voting in the outgoing half, so it is neither a
 * learner nor a tombstone before that half is left.
 */
function enteredJoint(before: Membership, direct: Membership, autoLeave: boolean): Membership {
  const stillVotes = (node: NodeId): boolean => before.voters.includes(node);
  return {
    voters: direct.voters,
    outgoing: before.voters,
    learners: direct.learners.filter((node) => !stillVotes(node)),
    learnersNext: direct.learners.filter(stillVotes),
    promote: direct.promote.filter((node) => !stillVotes(node)),
    removed: direct.removed.filter((node) => !stillVotes(node)),
    autoLeave,
  };
}

function leftMembership(membership: Membership): Membership {
  const { voters, outgoing, learners, learnersNext, promote, removed } = membership;
  const gone = outgoing.filter((node) => !voters.includes(node) && !learnersNext.includes(node));
  return {
    voters,
    outgoing: [],
    learners: ascending([...learners, ...learnersNext]),
    learnersNext: [],
    promote,
    removed: ascending([...removed, ...gone]),
    autoLeave: false,
  };
}

function isAscendingIds(nodes: readonly NodeId[]): boolean {
  return nodes.every((node, at) => isNodeId(node) && (at === 0 || nodes[at - 1]! < node));
}

function ascending(nodes: Iterable<NodeId>): NodeId[] {
  return [...nodes].sort((left, right) => left - right);
}
