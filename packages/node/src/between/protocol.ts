/**
 * The protocol between the two threads of a node. The engine thread sends commands, the consensus thread
 * events; both arrive in the order in which they were sent. Everything is plain data that can be copied
 * between threads.
 */

import type { ClusterRecord } from './cluster-record.js';

/** The number of a Raft group: 0 for the root scope, else the id of the collection. */
export type GroupId = number;

export const ROOT_GROUP: GroupId = 0;

/** A log position of a group up to which a state holds every effect. */
export interface Applied {
  readonly index: number;
  readonly term: number;
  /** Chain hash of the entry at `index`. */
  readonly hash: number;
  /** The membership in force there, encoded. */
  readonly membership: Uint8Array;
}

export type Command =
  /**
   * Starts a group from where the state of this node stands; `isNew` says that nothing of it is stored yet,
   * `campaign` that this node shall call the first election.
   */
  | {
      readonly kind: 'open';
      readonly group: GroupId;
      readonly applied: Applied;
      readonly isNew: boolean;
      readonly campaign: boolean;
    }
  /** The group is gone, with its log, whether it was opened or not. */
  | { readonly kind: 'drop'; readonly group: GroupId }
  /** The only groups that exist with a number below `below`: the logs of others are left over, and go. */
  | { readonly kind: 'retain'; readonly groups: readonly GroupId[]; readonly below: GroupId }
  /** Proposes payloads, in order, all in the epoch that the sender holds; dropped if that has ended. */
  | {
      readonly kind: 'propose';
      readonly group: GroupId;
      readonly epoch: number;
      readonly payloads: readonly Uint8Array[];
      /**
       * The answer to the call of another node that waits for each payload, or null; missing: none waits. It
       * is sent as soon as the payload is committed, before `committed` tells that; never, if it is dropped or lost.
       */
      readonly answers?: readonly (PreparedAnswer | null)[];
    }
  /** Asks for the place behind everything that was proposed before: `marked` or `mark_lost` tells it. */
  | { readonly kind: 'mark'; readonly group: GroupId; readonly epoch: number; readonly id: number }
  /** Asks for an index at which a read may be served. */
  | { readonly kind: 'read'; readonly group: GroupId; readonly id: number }
  /**
   * Reads what lies in the log behind an index and up to another one, which must be committed; `log_read` tells it.
   *
   * `bytes` are those that the payloads may have together; the first one may have more.
   */
  | {
      readonly kind: 'read_log';
      readonly group: GroupId;
      readonly id: number;
      readonly after: number;
      readonly upTo: number;
      readonly bytes: number;
    }
  /** The state holds everything up to here, of what came by `entries`. */
  | { readonly kind: 'applied'; readonly group: GroupId; readonly index: number }
  /** Everything up to here is durable in the state: the log may be cut. */
  | {
      readonly kind: 'checkpointed';
      readonly group: GroupId;
      readonly applied: Applied;
      /** The index behind which the log is kept for those who follow changes; missing: that of the checkpoint before. */
      readonly keptFrom?: number | undefined;
    }
  /** Where the members of the cluster are, this node included, and who was removed from it. */
  | { readonly kind: 'peers'; readonly peers: readonly PeerAddress[] }
  /** Asks how far the logs are: `positions` tells it. */
  | { readonly kind: 'describe_groups' }
  /** Sends a message to the engine side of another node: there it is `called`. */
  | {
      readonly kind: 'call';
      readonly to: NodeId;
      readonly id: number;
      readonly payload: Uint8Array;
      /** The end of a payload that is large, which is given away with the whole buffer that it lies in. */
      readonly rest?: Uint8Array<ArrayBuffer>;
    }
  /** Answers what was `called`: there it is `returned`. */
  | { readonly kind: 'return'; readonly to: NodeId; readonly id: number; readonly payload: Uint8Array }
  /** Answers `asked_to_join`. */
  | { readonly kind: 'join_answer'; readonly id: number; readonly answer: JoinAnswer }
  /**
   * Asks a node outside of the cluster to join it; `invited` tells what it said. With a one-time secret it is
   * given the cluster's first, unless it has that.
   */
  | {
      readonly kind: 'invite';
      readonly id: number;
      /** The number of the invitation. */
      readonly number: number;
      readonly host: string;
      readonly port: number;
      readonly secret: string | null;
    }
  /** Changes the membership of a group that this node leads; `membership_answer` follows. */
  | {
      readonly kind: 'change_membership';
      readonly group: GroupId;
      readonly id: number;
      readonly steps: readonly MembershipStep[];
    }
  /**
   * Gives the leadership of a group, or of all that this node leads (null), to others; `handed_over` follows.
   */
  | {
      readonly kind: 'hand_over';
      readonly group: GroupId | null;
      readonly id: number;
      /** 0: to whom is furthest. */
      readonly to: NodeId;
      /** True if this node goes on to give away what it may come to lead. */
      readonly stay: boolean;
    }
  /** Answers `giving_away`: no call is done in part any more. */
  | { readonly kind: 'release'; readonly group: GroupId; readonly epoch: number }
  /** A snapshot that was to be sent has arrived there, or not. */
  | {
      readonly kind: 'snapshot_sent';
      readonly group: GroupId;
      readonly to: NodeId;
      readonly arrived: boolean;
    }
  /**
   * All of a snapshot has come, and is verified: is it to be installed? `install` or `install_refused`
   * follows.
   */
  | { readonly kind: 'snapshot_arrived'; readonly group: GroupId; readonly message: Uint8Array }
  /** The state of the group is that of the snapshot now. */
  | { readonly kind: 'installed'; readonly group: GroupId; readonly applied: Applied }
  /**
   * The snapshot that was to be installed is not the state, and won't be: the group goes on from where its
   * state stands and its log on the disk, as after a restart.
   */
  | { readonly kind: 'not_installed'; readonly group: GroupId; readonly applied: Applied }
  /** Takes other certificates (PEM) for connections to come. What had no TLS before, has none afterwards. */
  | {
      readonly kind: 'renew_tls';
      readonly cert: string;
      readonly key: string;
      readonly ca: string | null;
      readonly apiClientCa: string | null;
    }
  /** Says whose tokens may end what runs, in the place of those that it said before. */
  | { readonly kind: 'operators'; readonly tokens: readonly OperatorToken[] }
  /** Says how large the groups are, in the place of what it said before. */
  | { readonly kind: 'sizes'; readonly sizes: readonly GroupSize[] }
  /** Stops: what was proposed is finished, then `stopped` follows. */
  | { readonly kind: 'stop' };

/** Bytes of a group on the disk of this node, about, and of what it has in memory. */
export interface GroupSize {
  readonly group: GroupId;
  readonly diskBytes: number;
  readonly memoryBytes: number;
}

/** A token of a user who may end requests of others. */
export interface OperatorToken {
  readonly user: string;
  /** SHA-256 of the key. */
  readonly hash: Uint8Array;
  /** Unix seconds; null for never. */
  readonly expiresAt: number | null;
}

/** The answer to a call of another node, but for the place in the log of what it waits for. */
export interface PreparedAnswer {
  readonly to: NodeId;
  readonly id: number;
  /** The index of the entry is put behind its first `ANSWER_HEAD_BYTES` bytes, as a varint. */
  readonly payload: Uint8Array;
}

export const ANSWER_HEAD_BYTES = 3;

/** The id of a node: random, and made with its data folder. */
export type NodeId = number;

/** Where a node listens for others. */
export interface NetworkAddress {
  /** Name or IP address. */
  readonly host: string;
  readonly port: number;
}

export interface PeerAddress extends NetworkAddress {
  readonly nodeId: NodeId;
}

export interface MembershipStep {
  /**
   * `addLearner` promotes to voter as soon as the node has caught up; `rest` makes a member one that does not vote, or
   * adds it as such, until `addLearner` gives it a vote.
   */
  readonly action: 'addLearner' | 'rest' | 'remove';
  readonly node: NodeId;
}

/** A node that wants to join. */
export interface Joiner extends PeerAddress {
  readonly name: string;
  /** The highest level of a cluster that its software knows. */
  readonly level: number;
  /** The number of the invitation that it got; missing for none, and where a node is older. */
  readonly invitation?: number;
}

export type JoinAnswer =
  | { readonly kind: 'accepted' }
  /** Ask there: this is the leader of the root group. */
  | { readonly kind: 'redirect'; readonly host: string; readonly port: number }
  | { readonly kind: 'wait' | 'refused'; readonly reason: string }
  | { readonly kind: 'removed' };

/** The position of a group in its log. */
export interface GroupPosition {
  readonly group: GroupId;
  readonly term: number;
  readonly commit: number;
  readonly last: number;
  /** On the leader, the other members; null on others. */
  readonly members:
    | readonly { readonly node: NodeId; readonly match: number; readonly state: string }[]
    | null;
}

export interface CommittedEntry extends LogPosition {
  readonly payload: Uint8Array;
}

export interface LogPart {
  /** The entry behind which it was asked for; null where the log does not hold what lies behind it. */
  readonly before: LogPosition | null;
  /** The entry behind which the log can be read from its beginning. */
  readonly oldest: LogPosition;
  /** The entries that hold changes. */
  readonly entries: readonly CommittedEntry[];
  /** The last one that was passed, whatever it holds. */
  readonly last: LogPosition;
}

/** The room that a node has on its disk, in three levels. */
export type DiskLevel =
  /** Enough. */
  | 'ok'
  /** Less is free than the reserve's size: data must not grow any more. */
  | 'low'
  /** The log can't be written. */
  | 'full';

/** The reason for which a node ends. */
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
      readonly last: LogPosition;
      /** The one in force from `last` on, if it changed there; `membership` follows all the same. */
      readonly membership?: Uint8Array;
    }
  /** The membership changed with the entry at this index. */
  | {
      readonly kind: 'membership';
      readonly group: GroupId;
      readonly index: number;
      readonly membership: Uint8Array;
    }
  /**
   * This node leads, and everything before was handed over. Each time it begins to lead it gets a *leadership
   * incarnation*, a number that was never used before: a term may see several.
   */
  | { readonly kind: 'leading'; readonly group: GroupId; readonly epoch: number }
  /**
   * This node leads, but can't take changes: what it proposed and was not told as committed must be taken
   * back now. It comes as `entries` if it takes effect after all. `leading` follows, or `following`.
   */
  | { readonly kind: 'suspended'; readonly group: GroupId }
  /**
   * The leadership is about to go to another node: calls that are done in part are to be finished, others of that kind
   * wait. `release` says that it is done. `following` comes then, or `suspended`, or `kept`.
   */
  | { readonly kind: 'giving_away'; readonly group: GroupId; readonly epoch: number }
  /** The leadership could not be given away. */
  | { readonly kind: 'kept'; readonly group: GroupId; readonly epoch: number }
  /** This node does not lead (any more); what it proposed and was not told as committed may or may not be. */
  | { readonly kind: 'following'; readonly group: GroupId; readonly term: number; readonly leader: number }
  /** The next `count` of this node's own proposals are committed. */
  | {
      readonly kind: 'committed';
      readonly group: GroupId;
      readonly count: number;
      readonly last: LogPosition;
    }
  /**
   * A mark lies behind the entry with this index, which may not be committed yet. `marked` or `mark_lost`
   * follows.
   */
  | { readonly kind: 'mark_placed'; readonly group: GroupId; readonly id: number; readonly index: number }
  | { readonly kind: 'marked'; readonly group: GroupId; readonly id: number; readonly applied: Applied }
  | { readonly kind: 'mark_lost'; readonly group: GroupId; readonly id: number }
  /** A read may be served once the state holds everything up to `index`; null: ask again. */
  | { readonly kind: 'read'; readonly group: GroupId; readonly id: number; readonly index: number | null }
  /** A part of the log that was asked for; null: it can't be had now. */
  | {
      readonly kind: 'log_read';
      readonly group: GroupId;
      readonly id: number;
      readonly part: LogPart | null;
    }
  /** This node belongs to a cluster from now on. Comes once, before anything of a group. */
  | {
      readonly kind: 'formed';
      readonly record: ClusterRecord;
      /** Higher at each start of the node. */
      readonly incarnation: number;
    }
  /** Another member can be reached, or can't any more. */
  | {
      readonly kind: 'peer';
      readonly node: NodeId;
      readonly up: boolean;
      readonly version: string;
    }
  | {
      readonly kind: 'called';
      readonly from: NodeId;
      readonly id: number;
      readonly payload: Uint8Array;
      /** The buffer that the payload lies in, where nothing else does that anybody needs. */
      readonly own?: ArrayBuffer;
    }
  /** The answer to a call; null: the other node can't be reached, and may or may not have got the call. */
  /** The buffer of the end of a large call, which has been sent: it may be filled again. */
  | { readonly kind: 'given_back'; readonly buffer: ArrayBuffer }
  | { readonly kind: 'returned'; readonly id: number; readonly payload: Uint8Array | null }
  | { readonly kind: 'asked_to_join'; readonly id: number; readonly joiner: Joiner }
  /** The outcome of an invitation; null: the node takes it and will ask to join; else the node that declined, if it is known. */
  | { readonly kind: 'invited'; readonly id: number; readonly problem: string | null; readonly node?: NodeId }
  /** A change of the membership is in force (null), or why not. */
  | {
      readonly kind: 'membership_answer';
      readonly group: GroupId;
      readonly id: number;
      readonly problem: string | null;
    }
  /** The leaderships that could be given away are. */
  | { readonly kind: 'handed_over'; readonly id: number; readonly left: number }
  /**
   * A member needs a snapshot of a group; `message` is Raft's, to be sent along, with what the snapshot
   * really is.
   */
  | {
      readonly kind: 'send_snapshot';
      readonly group: GroupId;
      readonly to: NodeId;
      readonly message: Uint8Array;
    }
  /** The snapshot that arrived is to become the state of the group, which is behind it. */
  | { readonly kind: 'install'; readonly group: GroupId; readonly index: number }
  | { readonly kind: 'install_refused'; readonly group: GroupId }
  /** Something that people should know. */
  | {
      readonly kind: 'log';
      readonly level: 'info' | 'warn' | 'error';
      readonly event: string;
      readonly message: string;
    }
  /** The positions of all groups that are open. */
  | { readonly kind: 'positions'; readonly groups: readonly GroupPosition[] }
  /** The room on the disk is another one than before. */
  | { readonly kind: 'disk'; readonly level: DiskLevel; readonly freeBytes: number }
  /** The cluster has removed this node. */
  | { readonly kind: 'removed' }
  | { readonly kind: 'failed'; readonly failure: Failure }
  | { readonly kind: 'stopped' };

/** Events for the engine side once the node has a cluster; the rest is for the node itself. */
export type NodeEvent = Exclude<
  Event,
  { readonly kind: 'removed' | 'failed' | 'stopped' | 'formed' | 'log' }
>;

/** An entry's place without its content. */
export interface LogPosition {
  readonly index: number;
  readonly term: number;
  readonly hash: number;
}

/** The consensus side of a node, as the engine side sees it. */
export interface Consensus {
  /** Sends a command. Commands of one turn of the event loop may travel together. */
  send(command: Command): void;
  /** Sends at once what need not wait for more: what this thread does next may take long. */
  sendReady(): void;
  onEvent: (event: Event) => void;
}
