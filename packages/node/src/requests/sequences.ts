/**
 * Numbers for the requests that this node sends to groups, and which of them still wait: one count for each
 * group, since each group remembers the answers by itself.
 */

/**
 * Requests of one group between the oldest that waits and the newest at most. The group keeps as many
 * answers.
 */
export const SEQUENCES_MAX = 50_000;

export class Sequences {
  private readonly counts = new Map<number, Count>();

  /** The next number for a request to a group; 0 when too many wait already. */
  take(group: number): number {
    let count = this.counts.get(group);
    if (count === undefined) {
      count = new Count();
      this.counts.set(group, count);
    }
    return count.take();
  }

  /** The smallest number that still waits: the group may forget the answers to smaller ones. */
  low(group: number): number {
    return this.counts.get(group)?.low ?? 1;
  }

  /** A request waits no more, and is never sent again. */
  release(group: number, sequence: number): void {
    this.counts.get(group)?.release(sequence);
  }
}

class Count {
  low = 1;
  private next = 1;
  /** Numbers above `low` that wait no more. */
  private readonly released = new Set<number>();

  take(): number {
    if (this.next - this.low >= SEQUENCES_MAX) return 0;
    return this.next++;
  }

  release(sequence: number): void {
    if (sequence !== this.low) {
      this.released.add(sequence);
      return;
    }
    this.low += 1;
    while (this.released.delete(this.low)) this.low += 1;
  }
}
