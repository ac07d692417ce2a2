/**
 * Watches the answers of the disk: for how long the oldest of what it was asked to do has been waiting. Writes of
 * the log tell of the disk; looks at the free space tell, also while nothing is written, whether the threads
 * that do such work are all stuck.
 */
export class StorageBeat {
  private writingSince: number | null = null;
  private lookingSince: number | null = null;

  /** @param now monotonic milliseconds */
  constructor(private readonly now: () => number) {}

  writeBegan(): void {
    this.writingSince ??= this.now();
  }

  /** A write ended, well or not: the disk answers. */
  writeEnded(areMoreUnderWay: boolean): void {
    this.writingSince = areMoreUnderWay ? this.now() : null;
  }

  /** Takes a look, unless the last one has not ended. */
  async look(work: () => Promise<void>): Promise<void> {
    if (this.lookingSince !== null) return;
    this.lookingSince = this.now();
    try {
      await work();
    } finally {
      this.lookingSince = null;
    }
  }

  /** Milliseconds for which there has been no answer; 0 when nothing waits for one. */
  silence(): number {
    const oldest = Math.min(
      this.writingSince ?? Number.POSITIVE_INFINITY,
      this.lookingSince ?? Number.POSITIVE_INFINITY,
    );
    return oldest === Number.POSITIVE_INFINITY ? 0 : this.now() - oldest;
  }
}
