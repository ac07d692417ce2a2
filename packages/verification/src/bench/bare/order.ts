/** The order that tells a node of the bare path its role. */
import { Follower } from './follower.js';
import { Leader } from './leader.js';
import { BareLog } from './log.js';
import type { Replica } from './replica.js';

export const SHAPES = ['one', 'split'] as const;
/** Everything in one thread; or the door in one, log and peers in another. */
export type Shape = (typeof SHAPES)[number];

export interface ReplicaOrder {
  readonly leads: boolean;
  /** Where the leader listens to followers. */
  readonly peerPort: number;
  readonly logFile: string;
}

export interface NodeOrder extends ReplicaOrder {
  readonly shape: Shape;
}

/** The report of a node once it can be asked. */
export interface NodeReport {
  /** Of its door. */
  readonly port: number;
}

/** @param onReady is called when followers can come, or when the leader was found */
export function makeReplica({ leads, peerPort, logFile }: ReplicaOrder, onReady: () => void): Replica {
  const log = new BareLog(logFile);
  return leads ? new Leader(log, peerPort, onReady) : new Follower(log, peerPort, onReady);
}
