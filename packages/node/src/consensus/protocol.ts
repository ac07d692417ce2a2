/**
 * What the two threads of a node say to each other. The engine thread sends commands, the consensus thread events; both
 * arrive in the order in which they were sent. Everything is plain data that can be copied between threads.
 */

/** The number of a Raft group: 0 for the root scope, else the id of the collection. */
export type GroupId = number;

export const ROOT_GROUP: GroupId = 0;

/** A place in the log of a group up to which a state holds every effect. */
export interface Applied {
  readonly index: number;
  readonly term: number;
  /** Chain hash of the entry at `index`. */
  readonly hash: number;
  /** The membership in force there, encoded. */
  readonly membership: Uint8Array;
}

export type Command =
  /** Starts a group from where the state of this node stands. */
  | { readonly kind: 'open'; readonly group: GroupId; readonly applied: Applied }
  /** The group is gone, with its log. */
  | { readonly kind: 'drop'; readonly group: GroupId }
  /** Proposes payloads, in order, all in the term that the sender leads in; dropped if that has ended. */
  | {
      readonly kind: 'propose';
      readonly group: GroupId;
      readonly term: number;
      readonly payloads: readonly Uint8Array[];
    }
  /** Asks for the place behind everything that was proposed before: `marked` or `mark_lost` tells it. */
  | { readonly kind: 'mark'; readonly group: GroupId; readonly term: number; readonly id: number }
  /** Asks for an index at which a read may be served. */
  | { readonly kind: 'read'; readonly group: GroupId; readonly id: number }
  /** The state holds everything up to here, of what came by `entries`. */
  | { readonly kind: 'applied'; readonly group: GroupId; readonly index: number }
  /** Everything up to here is durable in the state: the log may be cut. */
  | { readonly kind: 'checkpointed'; readonly group: GroupId; readonly applied: Applied }
  /** Stops: what was proposed is finished, then `stopped` follows. */
  | { readonly kind: 'stop' };

export interface CommittedEntry {
  readonly index: number;
  readonly term: number;
  readonly payload: Uint8Array;
}

/** What can end a node. */
export interface Failure {
  readonly message: string;
  readonly exitCode: number;
}

export type Event =
  /** Committed entries that this node did not propose in the term it leads in: to be applied. */
  | {
      readonly kind: 'entries';
      readonly group: GroupId;
      readonly entries: readonly CommittedEntry[];
      readonly last: Place;
    }
  /** The membership changed with the entry at this index. */
  | {
      readonly kind: 'membership';
      readonly group: GroupId;
      readonly index: number;
      readonly membership: Uint8Array;
    }
  /** This node leads, and everything before its term was handed over. */
  | { readonly kind: 'leading'; readonly group: GroupId; readonly term: number }
  /** This node does not lead (any more); what it proposed and was not told as committed may or may not be. */
  | { readonly kind: 'following'; readonly group: GroupId; readonly term: number; readonly leader: number }
  /** The next `count` of this node's own proposals are committed. */
  | { readonly kind: 'committed'; readonly group: GroupId; readonly count: number; readonly last: Place }
  | { readonly kind: 'marked'; readonly group: GroupId; readonly id: number; readonly applied: Applied }
  | { readonly kind: 'mark_lost'; readonly group: GroupId; readonly id: number }
  /** A read may be served once the state holds everything up to `index`; null: ask again. */
  | { readonly kind: 'read'; readonly group: GroupId; readonly id: number; readonly index: number | null }
  | { readonly kind: 'disk_full'; readonly full: boolean }
  | { readonly kind: 'failed'; readonly failure: Failure }
  | { readonly kind: 'stopped' };

/** An entry's place without its content. */
export interface Place {
  readonly index: number;
  readonly term: number;
  readonly hash: number;
}

/** The consensus side of a node, as the engine side sees it. */
export interface Consensus {
  /** Sends a command. Commands of one turn of the event loop may travel together. */
  send(command: Command): void;
  /** Who gets the events. */
  onEvent: (event: Event) => void;
}
