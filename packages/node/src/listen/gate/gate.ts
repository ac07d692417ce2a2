import type { QueryError } from '@althing/engine';
import { type Clock, pause } from '../../base/clock.js';
import { keptFor } from '../../base/descriptors.js';
import type { EngineMetrics } from '../../telemetry/engine-metrics.js';
import { ByteBudget } from '../limits/byte-budget.js';
import { Strangers } from '../limits/strangers.js';

export interface GateOptions {
  /** Bytes that requests may take that are still coming, and answers that are not taken, all together. */
  readonly memoryMax: number;
  readonly connectionsMax: number;
  /** Requests at once that wait for their answer. */
  readonly pendingMax: number;
  /** Null while requests are served, else why not. */
  readonly refusal: () => QueryError | null;
  /** Why nobody can be logged in, for now; null: they can. */
  readonly stale: () => QueryError | null;
  readonly figures: Pick<EngineMetrics, 'rejected'>;
  readonly clock: Pick<Clock, 'after'>;
}

/** The gate in front of all doors of a node: what they may take together, whether they serve, and the end of it. */
export class Gate {
  /** Memory for requests that are still coming, and for answers that are not taken. */
  readonly memory: ByteBudget;
  /** Memory for requests of senders that are not logged in, on top of the other. */
  readonly strangers: Strangers;
  readonly connectionsMax: number;
  private openConnections = 0;
  private openRequests = 0;
  private isClosing = false;
  private onAnswered: (() => void) | null = null;

  constructor(private readonly options: GateOptions) {
    this.memory = new ByteBudget(options.memoryMax);
    this.strangers = new Strangers(options.memoryMax * STRANGERS_PART);
    this.connectionsMax = options.connectionsMax;
  }

  get connections(): number {
    return this.openConnections;
  }

  /** Requests that are not answered. */
  get pending(): number {
    return this.openRequests;
  }

  /** Bytes that are taken. */
  get bytes(): number {
    return this.memory.used + this.strangers.bytes;
  }

  /** True if clients are asked to go elsewhere. */
  get isLeaving(): boolean {
    return this.isClosing;
  }

  /** Why nobody can be logged in, for now; null: they can. */
  get stale(): QueryError | null {
    return this.options.stale();
  }

  /** Null while requests are served, else why not. */
  get refusal(): QueryError | null {
    return this.options.refusal();
  }

  /** True if more requests wait for their answer than may. */
  get isQueueFull(): boolean {
    return this.openRequests > this.options.pendingMax;
  }

  /**
   * Connections that one network may have of those that are not known to be a user's. While half of the places are free it has no limit
   * here; then it is an eighth of the free ones, so that a few networks never take all, and newcomers get in.
   */
  get strangersOfNetworkMax(): number {
    const free = this.connectionsMax - this.openConnections;
    return free > this.connectionsMax / 2 ? Number.POSITIVE_INFINITY : Math.ceil(free / NETWORK_PART);
  }

  /**
   * Decides about a connection that is not counted yet; a refusal is counted in the metrics.
   *
   * @param isLocal whether it comes from this machine: some places are kept for those
   * @param isNetworkFull whether its network has as many as it may
   */
  admits(isLocal: boolean, isNetworkFull: boolean): boolean {
    const kept = isLocal ? 0 : keptFor(this.connectionsMax);
    const fits = this.openConnections < this.connectionsMax - kept;
    if (fits && !isNetworkFull) return true;
    this.options.figures.rejected(fits ? 'connections_per_address' : 'connections');
    return false;
  }

  /** Counts connections that were opened, or closed where the number is negative. */
  connected(change: number): void {
    this.openConnections += change;
  }

  /** A request waits for its answer from now on. */
  begin(): void {
    this.openRequests += 1;
  }

  /** A request was answered, or its client went away. */
  done(): void {
    this.openRequests -= 1;
    if (this.openRequests === 0 && this.onAnswered !== null) this.considerIdle();
  }

  /** Begins to ask clients to go elsewhere. */
  leave(): void {
    this.isClosing = true;
  }

  /**
   * Settles when every request is answered, and time has passed for the last answers to leave, and for clients to ask that were just
   * told to go.
   *
   * @param isBusy whether requests wait that were not begun
   */
  async idle(isBusy: () => boolean = () => false): Promise<void> {
    do {
      if (this.openRequests > 0) {
        await new Promise<void>((resolve) => {
          this.onAnswered = resolve;
        });
      }
      if (this.openConnections > 0) {
        await pause(this.options.clock, LAST_WORDS_MS);
      }
    } while (this.openRequests > 0 || isBusy());
  }

  private considerIdle(): void {
    // The answer is not on its way yet, and the next request of its connection may begin now.
    setImmediate(() => {
      if (this.openRequests === 0) this.onAnswered?.();
    });
  }
}

/** A network may have one of so many free places, when less than half are free. */
const NETWORK_PART = 8;

/** The part of the memory for those who are not logged in. */
const STRANGERS_PART = 1 / 8;

/** Time that connections stay behind the last answer, in milliseconds. */
const LAST_WORDS_MS = 100;
