import type { Event, GroupId, InviteAnswer, InvitedPlace, NodeId, StateCheck } from '@althing/node/parts';
import type { Message, TraceEvent } from 'raft-ts';
import type { Frame } from './connections.js';
import type { Machine } from './machine.js';
import type { Planted } from './mutants.js';
import type { Process } from './process.js';
import type { Draw } from './random.js';
import type { Scheduler } from './scheduler.js';
import type { Swarm } from './swarm.js';
import type { Thread } from './thread.js';

/** The world around a process. */
export interface Surroundings {
  readonly scheduler: Scheduler;
  readonly swarm: Swarm;
  /** Random numbers of a machine, for one purpose. */
  readonly drawFor: (machine: Machine, purpose: string) => Draw;
  readonly planted: Planted;
  /** True if an error that ends a task is none of the node's. */
  readonly tasksMayFail: boolean;
  /** Makes the thread of a process that runs queries. */
  readonly engineThread: () => Thread;
  readonly send: (from: Process, to: NodeId, frame: Frame) => void;
  readonly nodes: () => readonly NodeId[];
  /** The start of another node that can be heard from here now; null for none. */
  readonly heard: (by: Process, from: NodeId) => number | null;
  /** Asks a cluster to take a node in; resolves when it did. */
  readonly join: (process: Process) => Promise<void>;
  /** Calls a node outside of the cluster for another one. */
  readonly invite: (from: Process, place: InvitedPlace) => Promise<InviteAnswer>;
  /** Called with each transition of a group's core. */
  readonly onTrace: (process: Process, group: GroupId, event: TraceEvent) => void;
  /** Called when the core of a group begins: at a start, and behind a snapshot that did not become the state. */
  readonly onBegin: (process: Process, group: GroupId) => void;
  /** Called with each event before the engine side gets it. */
  readonly onEvent: (process: Process, event: Event) => void;
  /** Called before messages leave. */
  readonly onReached: (place: string) => void;
  /** Everything of a process is open. */
  readonly onOpen: (process: Process) => void;
  readonly onTransmit: (process: Process, group: GroupId, messages: readonly Message[]) => void;
  /** Called with each checkpoint that is durable, before another one of the group can begin. */
  readonly onCheckpoint: (process: Process, group: GroupId) => void;
  /** Called with each comparison of states. */
  readonly onStateCheck: (process: Process, check: StateCheck) => void;
  /** The process can't go on. */
  readonly onFailure: (process: Process, what: string, error: unknown) => void;
}
