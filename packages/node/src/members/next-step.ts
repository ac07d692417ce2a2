import type { MemberInfo } from '@althing/engine';
import { isJoint, isMember, isRemoved, MAX_VOTERS, type Membership, membersOf } from 'raft-ts';
import { canGoOnWithout, isResting, votersWanted } from '../between/membership.js';
import type { MembershipStep, NodeId } from '../between/protocol.js';

/** The facts that the leader of the root group compares. */
export interface ClusterPicture {
  readonly self: NodeId;
  readonly members: ReadonlyMap<NodeId, MemberInfo>;
  /** The membership of the root group. */
  readonly membership: Membership;
  /** The memberships of all groups, as far as this node knows; null while it does not know all. */
  readonly memberships: () => readonly Membership[] | null;
  /** True if a member was asked already to give away what it leads, or can't be asked. */
  readonly isReadyToGo: (node: NodeId) => boolean;
  /** True if that was a moment ago, or it can't be asked now. */
  readonly wasJustAsked: (node: NodeId) => boolean;
  /** True if another member can be reached. */
  readonly isUp: (node: NodeId) => boolean;
  /** True if another member has not been reachable for so long that another one may vote in its place. */
  readonly isLost: (node: NodeId) => boolean;
  /** True if a member that can be reached is about to stop, or has not said yet how it is. */
  readonly isStopping: (node: NodeId) => boolean;
}

export type NextStep =
  /** Change the membership of the root group; the other groups follow it. */
  | { readonly kind: 'change'; readonly steps: readonly MembershipStep[] }
  /**
   * Ask a member to give away what it leads, since it is to be removed, or was removed from the root group
   * already.
   */
  | { readonly kind: 'ask_handover'; readonly node: NodeId }
  /** Let another one lead the root group, since this node is to be removed. */
  | { readonly kind: 'step_down' }
  /** Wait: those who would stay could not go on by themselves now. */
  | { readonly kind: 'wait'; readonly node: NodeId }
  /** Take members from the list that no group has any more. */
  | { readonly kind: 'forget'; readonly members: readonly MemberInfo[] };

/**
 * The next step on the way from the present memberships of the Raft groups to what the list of members says;
 * null when nothing is to be done. The list is replicated, so that whoever leads goes on where another one
 * stopped.
 *
 * A member that leaves stays in the list, so that it can be reached, until every group has let it go: in a
 * group of two its vote is needed for that.
 */
export function nextStep(picture: ClusterPicture): NextStep | null {
  const { members, membership } = picture;
  if (isJoint(membership) || members.size === 0) return null;
  return add(picture) ?? remove(picture) ?? demote(picture) ?? promote(picture) ?? forget(picture);
}

/** The first member that Raft does not know. A node whose place it takes goes in the same change. */
function add({ self, members, membership }: ClusterPicture): NextStep | null {
  const isNew = ({ nodeId, leaving }: MemberInfo): boolean =>
    !leaving && !isMember(membership, nodeId) && !isRemoved(membership, nodeId);
  const member = [...members.values()].find(isNew);
  if (member === undefined) return null;
  const isOld = ({ nodeId, number, leaving }: MemberInfo): boolean =>
    leaving && number === member.number && nodeId !== self && isMember(membership, nodeId);
  const old = [...members.values()].find(isOld)?.nodeId;
  const voters = [...membership.voters, ...membership.promote].filter((node) => node !== old);
  const staying = voters.filter((node) => members.get(node)?.leaving === false);
  const isSpare = staying.length >= wantedOf(members) || voters.length >= MAX_VOTERS;
  const steps: MembershipStep[] = [{ action: isSpare ? 'rest' : 'addLearner', node: member.nodeId }];
  if (old !== undefined) steps.unshift({ action: 'remove', node: old });
  return { kind: 'change', steps };
}

/**
 * When the removal was asked for, a majority of the others could be reached; since then some of them may be
 * gone.
 */
function remove({ self, members, membership, isReadyToGo, isUp }: ClusterPicture): NextStep | null {
  const goes = (node: NodeId): boolean => members.get(node)?.leaving ?? true;
  const [node] = membersOf(membership).filter((each) => goes(each) && each !== self);
  if (node === undefined) return members.get(self)?.leaving === true ? { kind: 'step_down' } : null;
  if (!canGoOnWithout(node, membership, (other) => other === self || isUp(other)))
    return { kind: 'wait', node };
  if (!isReadyToGo(node)) return { kind: 'ask_handover', node };
  return { kind: 'change', steps: [{ action: 'remove', node }] };
}

/**
 * Takes the vote of a member where more vote than should. One that is lost keeps its vote until the one in its place has it, where there
 * is room for both: it may be back when another one goes for good, and of fewer voters that would be one too many.
 */
function demote(picture: ClusterPicture): NextStep | null {
  const { self, membership, isUp } = picture;
  const node = superfluous(picture);
  if (node === undefined) return null;
  if (!canGoOnWithout(node, membership, (other) => other === self || isUp(other))) return null;
  return { kind: 'change', steps: [{ action: 'rest', node }] };
}

/** A member that is to vote no more, or not at all: of those that are lost first. */
function superfluous(picture: ClusterPicture): NodeId | undefined {
  const { self, members, membership, isLost } = picture;
  const { voters, promote } = membership;
  const wanted = wantedOf(members);
  const lostLearner = promote.find(isLost);
  if (lostLearner !== undefined) return lostLearner;
  const lost = lostOf(picture);
  const isReplaced =
    voters.length > wanted || (voters.length === MAX_VOTERS && spareOf(picture) !== undefined);
  if (lost !== undefined) return isReplaced ? lost : undefined;
  const chosen = [...voters, ...promote].filter((node) => node !== self);
  return voters.length + promote.length > wanted ? chosen.at(-1) : undefined;
}

/** Gives a vote to a spare, or back to a member that rested, where one is wanted. */
function promote(picture: ClusterPicture): NextStep | null {
  const { members, membership } = picture;
  const wanted = wantedOf(members) + (lostOf(picture) === undefined ? 0 : 1);
  if (membership.voters.length + membership.promote.length >= Math.min(wanted, MAX_VOTERS)) return null;
  const node = spareOf(picture);
  return node === undefined ? null : { kind: 'change', steps: [{ action: 'addLearner', node }] };
}

/** A voter that has been gone for so long that another one may vote in its place. */
function lostOf({ self, membership, isLost }: ClusterPicture): NodeId | undefined {
  return membership.voters.find((node) => node !== self && isLost(node));
}

/** A learner that could vote from now on. */
function spareOf({ members, membership, isUp, isStopping }: ClusterPicture): NodeId | undefined {
  const isReady = (node: NodeId): boolean =>
    isResting(membership, node) && members.get(node)?.leaving === false && isUp(node) && !isStopping(node);
  return membership.learners.find(isReady);
}

function wantedOf(members: ClusterPicture['members']): number {
  return votersWanted([...members.values()].filter(({ leaving }) => !leaving).length);
}

/**
 * A node that was out of reach when the root group let it go does not know that. It may have come back and
 * lead other groups, which then do not let it go: it is asked to give them away, again and again, since it
 * may not have heard it.
 */
function forget({ members, membership, memberships, wasJustAsked }: ClusterPicture): NextStep | null {
  const leaving = [...members.values()].filter((member) => member.leaving);
  const others = leaving.length === 0 ? null : memberships();
  // A node that is new knows nothing of a group before it is taken in there.
  if (others === null || others.some(({ voters }) => voters.length === 0)) return null;
  const all = [membership, ...others];
  const gone = leaving.filter(({ nodeId }) => !all.some((each) => isMember(each, nodeId)));
  if (gone.length > 0) return { kind: 'forget', members: gone };
  const back = leaving.find(({ nodeId }) => !isMember(membership, nodeId) && !wasJustAsked(nodeId));
  return back === undefined ? null : { kind: 'ask_handover', node: back.nodeId };
}
