/**
 * Frees the space of generations that no group has any more: deletes their records, a slice at a time, and gives
 * the disk back what they took. What is left at the end of the process goes on at the next start.
 */
import type { KeyValueBatch, KeyValueStore } from '../kv/key-value-store.js';
import type { Journal } from './journal.js';
import { clearingKey, recordRange } from './keys.js';

/** A generation of a group whose records are garbage. */
export type Garbage = { readonly group: number; readonly generation: number };

export class Sweeper {
  private readonly waiting: Garbage[] = [];
  private sweeping: Promise<void> | undefined;
  private isOpen = true;

  constructor(
    private readonly store: KeyValueStore,
    private readonly journal: Journal,
  ) {}

  /** Generations whose records are not all gone yet. */
  get garbage(): readonly Garbage[] {
    return this.waiting;
  }

  /** Takes a generation in; {@link sweep} begins with it. */
  add(garbage: Garbage): void {
    this.waiting.push(garbage);
  }

  /** Begins to free what waits, unless that is under way. */
  sweep(): void {
    this.sweeping ??= this.sweepAll()
      .catch((error: unknown) => {
        this.journal.fail(error);
      })
      .finally(() => {
        this.sweeping = undefined;
      });
  }

  /** Resolves when all space that could be freed is. */
  async settled(): Promise<void> {
    await this.sweeping;
  }

  /** Ends at the next slice. */
  stop(): void {
    this.isOpen = false;
  }

  private async sweepAll(): Promise<void> {
    for (let next = this.waiting[0]; next !== undefined && this.isOpen; next = this.waiting[0]) {
      const edges = await this.sweepOne(next.group, next.generation);
      if (edges === null) return;
      this.waiting.shift();
      await this.reclaim(edges);
    }
  }

  /**
   * @returns keys that cut what was deleted into slices, the ends included; null if the store was closed
   * before the end
   */
  private async sweepOne(group: number, generation: number): Promise<readonly Uint8Array[] | null> {
    const range = recordRange(group, generation);
    const edges = [range.from];
    // One cursor for all: a new one would have to pass over everything that was deleted before it.
    const cursor = this.store.iterate(range, { keysOnly: true });
    try {
      for (let hasBulk = false; this.isOpen; hasBulk = true) {
        const pairs = await cursor.next(CLEARED_KEYS);
        const isLast = pairs.length < CLEARED_KEYS;
        if (isLast && hasBulk) await this.journal.flush();
        const changes = (batch: KeyValueBatch): number => {
          for (const [key] of pairs) batch.delete(key);
          if (isLast) batch.delete(clearingKey(generation));
          return pairs.length * 32;
        };
        if (isLast) {
          await this.journal.write(changes);
          return [...edges, range.to];
        }
        await this.journal.writeBulk(changes);
        edges.push(pairs[pairs.length - 1]?.[0] ?? range.to);
      }
      return null;
    } finally {
      await cursor.close();
    }
  }

  /**
   * Gives the disk back what a sweep deleted: without this that would lie there until so much else was
   * written that the store puts its files in order. In steps, so that closing does not wait for long; what is
   * left of it is no loss.
   */
  private async reclaim(edges: readonly Uint8Array[]): Promise<void> {
    let from = edges[0];
    for (const [i, to] of edges.entries()) {
      if (!this.isOpen || from === undefined) return;
      const bytes = await this.store.approximateBytes({ from, to });
      if (bytes < (i === edges.length - 1 ? WORTH_RECLAIMING_BYTES : RECLAIMED_BYTES)) continue;
      await this.store.compact({ from, to });
      from = to;
    }
  }
}

/** Room of deleted records is given back to the disk in steps of this size, */
const RECLAIMED_BYTES = 64 * 1024 * 1024;
/** and not if it is less than this. */
const WORTH_RECLAIMING_BYTES = 1024 * 1024;
const CLEARED_KEYS = 1000;
