import type { GroupLog } from './group-log.js';

/**
 * Bounds the bytes of entries that all groups keep in memory: first in, first out over all groups, which is
 * what followers that are nearly up to date need.
 */
export class TailCache {
  private readonly maxBytes: number;
  private usedBytes = 0;
  private logs: GroupLog[] = [];
  private indexes: number[] = [];
  private head = 0;
  private sweepAt = SWEEP_MIN;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.usedBytes;
  }

  /** An entry of `log` was remembered. Lets the oldest go where the bound is passed. */
  added(log: GroupLog, index: number, bytes: number): void {
    this.usedBytes += bytes;
    this.logs.push(log);
    this.indexes.push(index);
    while (this.usedBytes > this.maxBytes && this.head < this.logs.length) {
      const slot = this.head++;
      this.usedBytes -= this.logs[slot]!.forgetUpTo(this.indexes[slot]!);
    }
    if (this.logs.length > this.sweepAt) this.sweep();
  }

  /** Bytes left the memory for another reason. */
  removed(bytes: number): void {
    this.usedBytes -= bytes;
  }

  /** Drops what has gone, at a cost that the additions since the last time have paid. */
  private sweep(): void {
    const logs: GroupLog[] = [];
    const indexes: number[] = [];
    for (let slot = this.head; slot < this.logs.length; slot++) {
      const log = this.logs[slot]!;
      const index = this.indexes[slot]!;
      if (log.remembered(index) === undefined) continue;
      logs.push(log);
      indexes.push(index);
    }
    this.logs = logs;
    this.indexes = indexes;
    this.head = 0;
    this.sweepAt = Math.max(SWEEP_MIN, logs.length * 2);
  }
}

const SWEEP_MIN = 4096;
