import { type Invitation, LevelError, type MemberInfo, type RootGroup } from '@althing/engine';
import { isRemoved, type Membership } from 'raft-ts';
import type { JoinAnswer, Joiner, NodeId } from '../between/protocol.js';
import { isPlace } from './hello.js';

/** The facts on which the leader of the root group decides when a node asks to join. */
export interface JoinSituation {
  readonly self: NodeId;
  readonly root: RootGroup;
  /** The membership of the root group. */
  readonly membership: Membership;
  readonly isUp: (node: NodeId) => boolean;
  /** Time for which a node has not been reachable, in milliseconds; 0 while it is. */
  readonly downFor: (node: NodeId) => number;
  /** Time that a node must not have been reachable before another one of its name and port takes its place. */
  readonly replaceAfterMs: number;
}

export type JoinDecision =
  | JoinAnswer
  /** To be put into the list of members; accepted when that is committed. */
  | {
      readonly kind: 'admit';
      readonly member: MemberInfo;
      /** The member whose place it takes. */
      readonly replaces: MemberInfo | null;
      readonly invitation: Invitation | null;
    };

/**
 * Decides if a node may join. Name and port tell whether it stands for a member whose data were lost: it gets
 * that one's place when that one is surely gone, and never before: where a network is cut, the old one may
 * still run.
 */
export function decideJoin(joiner: Joiner, situation: JoinSituation): JoinDecision {
  const { root, membership, self, isUp } = situation;
  const { nodeId, name, host, port } = joiner;
  if (!isPlace(name, host, port)) {
    return refused(`the name '${name}' or the address ${host}:${port} makes no sense`);
  }
  if (isRemoved(membership, nodeId)) return { kind: 'removed' };
  const known = root.members.get(nodeId);
  if (known !== undefined) return known.leaving ? { kind: 'removed' } : { kind: 'accepted' };
  if (joiner.level < root.level) return refused(new LevelError(root.level, joiner.level).message);
  if (root.members.size === 0) return wait('the cluster is just being made');
  const others = [...root.members.values()];
  const namesake = others.find((other) => other.name === name && other.port === port);
  if (namesake !== undefined) return replace(joiner, namesake, situation);
  const neighbour = others.find((other) => other.host === host && other.port === port);
  if (neighbour !== undefined) {
    return refused(`node ${neighbour.number} (${neighbour.name}) has the address ${host}:${port} already`);
  }
  if (!isHealthy(membership, (node) => node === self || isUp(node))) {
    return wait('too few members can be reached');
  }
  const invitation = invitationOf(joiner, situation);
  if (invitation === null && joiner.invitation !== undefined) return refused('its invitation was called off');
  const number = invitation?.number ?? root.freeNumber();
  if (number === null) return refused('there are 64 nodes, the most that a cluster can have');
  return { kind: 'admit', member: memberOf(joiner, number), replaces: null, invitation };
}

function replace(joiner: Joiner, old: MemberInfo, situation: JoinSituation): JoinDecision {
  const { membership, self, isUp, downFor, replaceAfterMs } = situation;
  const who = `node ${old.number}, which is '${old.name}' with port ${old.port} too,`;
  if (old.leaving) return wait(`${who} is being removed`);
  if (old.nodeId === self || isUp(old.nodeId)) {
    return wait(`${who} is up: give this node another name or listen_node_port, or stop that one`);
  }
  const left = replaceAfterMs - downFor(old.nodeId);
  if (left > 0) {
    return wait(
      `${who} can not be reached; its place is free in ${Math.ceil(left / 1000)} s (replace_after_ms)`,
    );
  }
  const rest = (node: NodeId): boolean => node !== old.nodeId && (node === self || isUp(node));
  if (!isHealthy(membership, rest))
    return wait(`${who} can not be replaced: too few other members can be reached`);
  return { kind: 'admit', member: memberOf(joiner, old.number), replaces: old, invitation: null };
}

/** The invitation by which a node comes: the one that it names, or that to its address. */
function invitationOf({ host, port, invitation }: Joiner, { root }: JoinSituation): Invitation | null {
  const named = invitation === undefined ? undefined : root.invitations.get(invitation);
  if (named !== undefined) return named;
  const all = [...root.invitations.values()];
  return all.find((each) => each.host === host && each.port === port) ?? null;
}

function memberOf({ nodeId, name, host, port }: Joiner, number: number): MemberInfo {
  return { nodeId, number, name, host, port, leaving: false };
}

/** True if a majority of the voters can be reached. */
export function isHealthy({ voters }: Membership, canReach: (node: NodeId) => boolean): boolean {
  return voters.filter(canReach).length > voters.length / 2;
}

function wait(reason: string): JoinAnswer {
  return { kind: 'wait', reason };
}

function refused(reason: string): JoinAnswer {
  return { kind: 'refused', reason };
}
