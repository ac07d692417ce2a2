import { ByteBudget } from '../limits/byte-budget.js';
import { Strangers } from '../limits/strangers.js';

export interface SharedLimitsOptions {
  /** Bytes that requests may take that are still coming, and answers that are not taken, all together. */
  readonly memoryMax: number;
  /** Connections at once. */
  readonly connectionsMax: number;
  /** Requests at once that wait for their answer. */
  readonly pendingMax: number;
}

/** What all doors of a node may take together, and what they take now. */
export class SharedLimits {
  /** Memory for requests that are still coming, and for answers that are not taken. */
  readonly memory: ByteBudget;
  /** The same for those who are not logged in. It comes on top. */
  readonly strangers: Strangers;
  readonly connectionsMax: number;
  readonly pendingMax: number;
  connections = 0;
  pending = 0;

  constructor({ memoryMax, connectionsMax, pendingMax }: SharedLimitsOptions) {
    this.memory = new ByteBudget(memoryMax);
    this.strangers = new Strangers(memoryMax * STRANGERS_PART);
    this.connectionsMax = connectionsMax;
    this.pendingMax = pendingMax;
  }

  /** Whether more requests wait for their answer than may. */
  get isQueueFull(): boolean {
    return this.pending > this.pendingMax;
  }

  /**
   * Connections that one network may have of those that are not known to be a user's. While half of the places are free it has no limit
   * here; then it is an eighth of the free ones, so that a few networks never take all, and newcomers get in.
   */
  get strangersOfNetworkMax(): number {
    const free = this.connectionsMax - this.connections;
    return free > this.connectionsMax / 2 ? Number.POSITIVE_INFINITY : Math.ceil(free / NETWORK_PART);
  }

  /** Bytes that are taken. */
  get bytes(): number {
    return this.memory.used + this.strangers.bytes;
  }
}

/** A network may have one of so many free places, when less than half are free. */
const NETWORK_PART = 8;

/** The part of the memory for those who are not logged in. */
const STRANGERS_PART = 1 / 8;
