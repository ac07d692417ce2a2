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

  /** Bytes that are taken. */
  get bytes(): number {
    return this.memory.used + this.strangers.bytes;
  }
}

/** The part of the memory for those who are not logged in. */
const STRANGERS_PART = 1 / 8;
