/** The surroundings of a session: what it is handed, and what it reports. */
import type { CollectionEvent, Preparation, RoomEvent } from '@althing/engine';
import type { Consensus, Event, NodeId } from '../between/protocol.js';
import type { GroupSession } from './group-session.js';

export interface SessionContext {
  readonly consensus: Pick<Consensus, 'send'>;
  /** Wall clock in milliseconds. */
  readonly now: () => number;
  /** A clock in milliseconds that does not leap. */
  readonly monotonic: () => number;
  /** Calls back in the next turn of the event loop. */
  readonly soon: (work: () => void) => void;
  /** Ends the node, of whose state nobody can say any more what is in it. */
  readonly failed: (error: unknown) => void;
  /** Brings into memory what entries of other leaders are about. */
  readonly preparation: Preparation;
  /** Calls back when the session leads, follows, or applied something. */
  readonly changed: (session: GroupSession) => void;
  /** True if this node is the only one of its cluster, so that nothing can happen behind its back. */
  readonly alone: () => boolean;
  /** Called when collections came or went for good. */
  readonly collectionsChanged: (events: readonly CollectionEvent[]) => void;
  /** Called with what clients in rooms are to be told of, which is committed, before the change is answered. */
  readonly roomEvents: (session: GroupSession, events: readonly RoomEvent[]) => void;
  /** Called with what becomes of a snapshot that arrived, and which other node needs one. */
  readonly snapshots: SnapshotEvents;
}

/** The events of snapshots that a session passes on. */
export interface SnapshotEvents {
  send(session: GroupSession, to: NodeId, message: Uint8Array): void;
  install(session: GroupSession, index: number): void;
  refused(session: GroupSession): void;
}

export interface SessionStart {
  /** True if nothing of the group is stored yet. */
  readonly isNew: boolean;
  /** True if this node calls the first election. */
  readonly campaign: boolean;
}

/** True if the log declines something because it does not know of the group: not yet, or not any more. */
export function isDecline(event: Event): boolean {
  switch (event.kind) {
    case 'read':
      return event.index === null;
    case 'mark_lost':
    case 'install_refused':
      return true;
    default:
      return false;
  }
}
