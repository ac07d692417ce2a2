/** Where a request goes. Pure decisions: what they rest on is handed in, nothing is looked up here, and nothing is changed. */
import type { QueryError } from '@althing/engine';
import type { NodeId } from '../between/protocol.js';

export type Route =
  /** Runs here: its answer depends on no state that is replicated. */
  | { readonly kind: 'run' }
  /** Runs here, on a state that is fresh enough. */
  | { readonly kind: 'read' }
  /** Runs here once a majority has confirmed that the state has all that was acknowledged. */
  | { readonly kind: 'confirm' }
  /** Runs here at once, on the node that leads its group; meanwhile a majority confirms that it does. */
  | { readonly kind: 'read_as_leader' }
  /** Runs here, on the node that leads its group. */
  | { readonly kind: 'lead' }
  | { readonly kind: 'forward'; readonly to: NodeId }
  /** Waits until this node knows another leader, or leads. */
  | { readonly kind: 'wait' }
  /** Another node sent it to this one, which does not lead: that node finds the one that does. */
  | { readonly kind: 'elsewhere'; readonly leader: NodeId }
  /** The state can't be read for as long as the disk has no room. */
  | { readonly kind: 'refuse'; readonly error: QueryError };

const RUN: Route = { kind: 'run' };
const READ: Route = { kind: 'read' };
const CONFIRM: Route = { kind: 'confirm' };
const READ_AS_LEADER: Route = { kind: 'read_as_leader' };
const LEAD: Route = { kind: 'lead' };
const WAIT: Route = { kind: 'wait' };

/** The group of a request, as this node sees it. */
export interface RoutedGroup {
  /** True if this node leads it: it may run calls. */
  readonly leading: boolean;
  /** True if it leads it, and the state holds everything that was proposed before. */
  readonly proposes: boolean;
  /** The node that leads, as far as this one knows; 0 for none. */
  readonly leader: NodeId;
  /** True if the state can be read now. */
  readonly readable: boolean;
  /** Why it can't be read for long; null when it can, or soon. */
  readonly outage: QueryError | null;
}

/** The nodes, as this one sees them. */
export interface RoutingNode {
  readonly nodeId: NodeId;
  /** Nodes that can't be reached. */
  readonly down: ReadonlySet<NodeId>;
}

/**
 * The route of a request as far as the state here decides it.
 *
 * @param group undefined where it is not open on this node; null for what depends on none
 * @returns null when the state can be read here
 */
export function routeToState(group: RoutedGroup | null | undefined): Route | null {
  if (group === undefined) return WAIT;
  if (group === null) return null;
  if (group.outage !== null) return { kind: 'refuse', error: group.outage };
  return group.readable ? null : WAIT;
}

/**
 * Where a call goes that only the leader of its group may carry out.
 *
 * @param isForwarded whether another node sent it here
 */
export function routeToLeader(group: RoutedGroup, isForwarded: boolean, node: RoutingNode): Route {
  const { leading, leader } = group;
  if (leading) return LEAD;
  if (isForwarded) return { kind: 'elsewhere', leader };
  const canSend = leader !== 0 && leader !== node.nodeId && !node.down.has(leader);
  return canSend ? { kind: 'forward', to: leader } : WAIT;
}

/** The version of what a group lets a request do here: another number means that another attempt may succeed. */
export function versionOf({
  roleVersion,
  readable,
}: {
  readonly roleVersion: number;
  readonly readable: boolean;
}): number {
  return readable ? roleVersion * 2 : roleVersion * 2 + 1;
}

/** A call, as far as it decides where it goes. */
export interface RoutedCall {
  /** True if its answer depends on stored state. */
  readonly usesState: boolean;
  /** True if only the leader of its group may carry it out. */
  readonly needsLeader: boolean;
  /** True if another node sent it here. */
  readonly isForwarded: boolean;
  /** True if the state here has all that was acknowledged before it came, or need not. */
  readonly isFresh: boolean;
  /** True if the leader answers sooner, since what was acknowledged takes long to come into the state here. */
  readonly prefersLeader: boolean;
}

/** Where a call goes. @param group null where there is no replicated state */
export function routeCall(call: RoutedCall, group: RoutedGroup | null, node: RoutingNode): Route {
  if (group === null || !call.usesState) return RUN;
  if (call.needsLeader) return routeToLeader(group, call.isForwarded, node);
  if (call.isFresh) return READ;
  if (call.prefersLeader) {
    const route = routeToLeader(group, call.isForwarded, node);
    if (route.kind === 'forward') return route;
  }
  return group.proposes ? READ_AS_LEADER : CONFIRM;
}
