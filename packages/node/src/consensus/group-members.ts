/** Decisions of a leader about the members of its group. */
import {
  type changeOf,
  isMember,
  isRemoved,
  MAX_VOTERS,
  type Membership,
  membersOf,
  type RaftNode,
} from 'raft-ts';
import { canGoOnWithout, isResting } from '../between/membership.js';
import type { MembershipStep, NodeId } from '../between/protocol.js';

/**
 * The next step of a group towards having the same members as another one; null when there is none now.
 *
 * @param own the membership of the group that is led, as Raft has it
 * @param isUp whether another node can be reached: nobody is removed whom the others could not go on without
 * @returns `go` when this node is the one to be removed, or to rest: then it must give the leadership away first
 */
export function stepTowards(
  wanted: Membership,
  own: Membership,
  self: NodeId,
  isUp: (node: NodeId) => boolean,
): MembershipStep | 'go' | null {
  const { voters, learners, removed } = wanted;
  const missing = [...voters, ...learners].find((node) => !isMember(own, node) && !isRemoved(own, node));
  if (missing !== undefined)
    return { action: isResting(wanted, missing) ? 'rest' : 'addLearner', node: missing };
  const isReached = (node: NodeId): boolean => node === self || isUp(node);
  const votes = (node: NodeId): boolean => voters.includes(node) || wanted.promote.includes(node);
  // Votes are given before others are taken, where there is room for both: fewer voters tolerate fewer losses.
  const promoted = own.learners.find((node) => isResting(own, node) && votes(node));
  const isFull = own.voters.length + own.promote.length >= MAX_VOTERS;
  if (promoted !== undefined && !isFull) return { action: 'addLearner', node: promoted };
  const mayVoteLess = own.promote.length === 0 || own.voters.length >= MAX_VOTERS;
  const demoted = [...(mayVoteLess ? own.voters : []), ...own.promote].find(
    (node) => isResting(wanted, node) && canGoOnWithout(node, own, isReached),
  );
  if (demoted !== undefined) return demoted === self ? 'go' : { action: 'rest', node: demoted };
  // This node may know an old membership of the other group only, and who is removed can never come back: so
  // it is not enough that somebody is not among those members.
  const extra = membersOf(own).filter((node) => removed.includes(node));
  const first = extra.find((node) => node !== self);
  if (first === undefined) return extra.length === 0 ? null : 'go';
  return canGoOnWithout(first, own, isReached) ? { action: 'remove', node: first } : null;
}

/** The voter that is furthest, of those that can be reached; 0 for none. */
export function successorOf(
  { membership, peers }: ReturnType<RaftNode['status']>,
  isUp: (node: NodeId) => boolean,
): NodeId {
  let best: NodeId = 0;
  let bestMatch = -1;
  for (const { node, match } of peers) {
    if (match <= bestMatch || !membership.voters.includes(node) || !isUp(node)) continue;
    best = node;
    bestMatch = match;
  }
  return best;
}

/** A step as Raft takes it. */
export function changeStepOf({ action, node }: MembershipStep): Parameters<typeof changeOf>[number] {
  if (action === 'remove') return { action, node };
  return { action: 'addLearner', node, promote: action === 'addLearner' };
}
