import type { LogView } from '@althing/storage';
import type { InstallSnapshot, Message, RaftConfig, RaftNode, RaftOptions } from 'raft-ts';
import type { Event, GroupId, NodeId, PreparedAnswer } from '../between/protocol.js';
import type { GroupWatch } from './group-figures.js';
import type { LogWriter } from './log-writer.js';

/** Additions of a harness to the core of a group. */
export interface Observation extends Pick<RaftConfig, 'trace'> {
  /** Another core in place of the sound one. */
  readonly nodeClass?: typeof RaftNode;
}

/** The host that drives a group, as the group sees it. */
export interface GroupContext {
  readonly nodeId: number;
  readonly view: (group: GroupId) => LogView;
  readonly writer: LogWriter;
  readonly options: Partial<RaftOptions>;
  readonly observe: (group: GroupId) => Observation;
  /** Counts the events of a group. */
  readonly watch: (group: GroupId) => GroupWatch | undefined;
  /** A source of random 32-bit integers. */
  readonly random: () => number;
  /** A number that was never given before. */
  readonly nextEpoch: () => number;
  /** Hands an event over to the engine side. */
  readonly emit: (event: Event) => void;
  /** Sends the answer to a call of another node. */
  readonly answer: (answer: PreparedAnswer) => void;
  /** Sends messages to other nodes. */
  readonly transmit: (group: GroupId, messages: readonly Message[]) => void;
  /** True if entries may be sent to a node now. */
  readonly hasRoom: (group: GroupId, to: NodeId) => boolean;
  /** Sends a snapshot of the state to another node; the command `snapshot_sent` is due afterwards. */
  readonly sendSnapshot: (group: GroupId, message: InstallSnapshot) => void;
  /** The log of a group was cut: its core must know, whichever that is by then. */
  readonly cut: (group: GroupId) => void;
  /** True if another node can be reached. */
  readonly isUp: (node: NodeId) => boolean;
  /** Something happened in a group, so that it may not be asleep, or sleep for other reasons. */
  readonly wake: (group: GroupId) => void;
  /** Runs what must not fail: an error ends the node. */
  readonly guarded: (work: () => void) => void;
}
