import type { Event } from '../../between/protocol.js';

/**
 * The time for which the disk of this node has lacked an entry of a group that is committed: so long ago others had
 * it on theirs. A majority that has slow disks as well commits nothing before, and makes nobody look slow.
 */
export class OutrunWatch {
  private lacking = 0;
  private lackingTicks = 0;

  /** Ticks; 0 while nothing is lacking. */
  get ticks(): number {
    return this.lackingTicks;
  }

  tick(commitIndex: number, stableIndex: number): void {
    if (this.lacking > stableIndex) {
      this.lackingTicks += 1;
      return;
    }
    // The write that was missing is done. If another one is missing, its time begins.
    this.lacking = commitIndex;
    this.lackingTicks = 0;
  }
}

export interface SlowDiskOptions {
  /** Ticks for which the disk lacks what others have, from which on it is slow. */
  readonly slowTicks: number;
  /** Ticks without a slow write until it is well again. */
  readonly wellTicks: number;
  readonly changed: (isSlow: boolean) => void;
}

/** Notices that the disk of this node is slow: in comparison with others, now or a while ago. */
export class SlowDisk {
  private slow = false;
  private quickTicks = 0;

  constructor(private readonly options: SlowDiskOptions) {}

  get isSlow(): boolean {
    return this.slow;
  }

  /** @param outrunTicks of the group that is worst */
  tick(outrunTicks: number): void {
    const { slowTicks, wellTicks } = this.options;
    this.quickTicks = outrunTicks >= slowTicks ? 0 : this.quickTicks + 1;
    if (this.quickTicks === 0) this.set(true);
    else if (this.quickTicks >= wellTicks) this.set(false);
  }

  private set(isSlow: boolean): void {
    if (isSlow === this.slow) return;
    this.slow = isSlow;
    this.options.changed(isSlow);
  }
}

/** The line for people about a change of it. */
export function slowDiskNews(isSlow: boolean): Event {
  return isSlow
    ? {
        kind: 'log',
        level: 'warn',
        event: 'slow_disk',
        message: 'the disk is slower than those of other nodes: they are to lead in place of this one',
      }
    : { kind: 'log', level: 'info', event: 'disk_quick', message: 'the disk is as quick as others again' };
}
