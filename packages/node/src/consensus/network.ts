import type { Command, Event, JoinAnswer, Joiner, NodeId, PeerAddress } from '../between/protocol.js';
import type { InviteAnswer } from '../peers/formation/formation.js';
import type { Sender } from '../peers/links.js';

/** Where a node is to be called from, and the number of its invitation. */
export type InvitedPlace = Pick<Extract<Command, { readonly kind: 'invite' }>, 'number' | 'host' | 'port'>;

/** Connections to the other nodes, as the consensus side uses them. */
export interface Network extends Sender {
  isUp(node: NodeId): boolean;
  /** True if a node is up, and all signs of life that were due of it have come. */
  isWell(node: NodeId): boolean;
  /**
   * Tells whom to be connected with.
   *
   * @param gone nodes that were removed, and are told so when they come
   */
  setMembers(members: readonly PeerAddress[], gone: readonly NodeId[]): void;
  /**
   * Asks a node outside of the cluster to join it.
   *
   * @param secret the one-time secret that it was started with; null: it has that of the cluster
   */
  invite(place: InvitedPlace, secret: string | null): Promise<InviteAnswer>;
  /** Takes other certificates for connections to come. */
  renewTls(command: Extract<Command, { kind: 'renew_tls' }>): void;
  close(): Promise<void>;
}

/** The events of a network, from its making on. */
export interface NetworkEvents {
  readonly frame: (from: NodeId, kind: number, payload: Uint8Array) => void;
  /** Another node can be reached, or can't any more. The version of its software is empty while it is not known. */
  readonly peer: (node: NodeId, up: boolean, version: string) => void;
  /** The connection to a node is a new one: what was on its way by the former one may not arrive. */
  readonly broke: (node: NodeId) => void;
  /** Little waits for a node any more. */
  readonly low: (node: NodeId) => void;
  /** A node outside of the cluster wants to join. */
  readonly askedToJoin: (joiner: Joiner) => Promise<JoinAnswer>;
  /**
   * Events that go to the engine side unchanged: the cluster that this node belongs to, and lines for people.
   */
  readonly emit: (event: Event) => void;
}
