import type { DiskLevel } from '../../between/protocol.js';

export interface DiskWatchOptions {
  /** Less free space than this is `low`; 0 to look at nothing but failed writes. */
  readonly lowBytes: number;
  readonly changed: (level: DiskLevel, freeBytes: number) => void;
}

/**
 * Judges the room on the disk from what is free and from what the log says. A disk that was low is well again
 * only when twice as much is free, so that the reserve can be taken again and that the node does not waver.
 */
export class DiskWatch {
  private blocked = false;
  private low = false;
  private free = Number.POSITIVE_INFINITY;
  private said: DiskLevel = 'ok';

  constructor(private readonly options: DiskWatchOptions) {}

  get level(): DiskLevel {
    return this.said;
  }

  /** Free bytes when last looked; infinite when never. */
  get freeBytes(): number {
    return this.free;
  }

  /** So much is free now. */
  noteFree(bytes: number): void {
    const { lowBytes } = this.options;
    this.free = bytes;
    if (bytes < lowBytes) this.low = true;
    else if (bytes >= 2 * lowBytes) this.low = false;
    this.judge();
  }

  /** A write of the log had no room, or has room again. */
  noteBlocked(blocked: boolean): void {
    this.blocked = blocked;
    // The disk was filled since the last look.
    if (blocked && this.options.lowBytes > 0) this.low = true;
    this.judge();
  }

  private judge(): void {
    const level = this.blocked ? 'full' : this.low ? 'low' : 'ok';
    if (level === this.said) return;
    this.said = level;
    this.options.changed(level, this.free);
  }
}
