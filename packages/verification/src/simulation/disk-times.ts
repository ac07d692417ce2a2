import type { Scheduler } from './scheduler.js';

/** An operation that has not ended yet. */
interface Operation {
  readonly complete: () => void;
  endsAt: number;
  cancel: () => void;
}

/**
 * When the operations of a machine's disks end. What is under way goes on at the speed of the moment: so a fault that makes a
 * disk slow is over when it is healed, and leaves no operation behind that would take minutes still.
 */
export class DiskTimes {
  /** In the order in which they began. */
  private readonly underWay = new Set<Operation>();
  private factor = 1;
  private lastOrderedEnd = 0;

  constructor(private readonly scheduler: Scheduler) {}

  /** Multiplies the time of each operation. */
  set slowness(slowness: number) {
    const { now } = this.scheduler;
    const change = slowness / this.factor;
    this.factor = slowness;
    if (change === 1) return;
    this.lastOrderedEnd = now + Math.max(0, this.lastOrderedEnd - now) * change;
    for (const operation of this.underWay) {
      operation.cancel();
      operation.endsAt = now + (operation.endsAt - now) * change;
      this.plan(operation);
    }
  }

  /** @param ms how long it takes on a disk that is not slow */
  after(ms: number, complete: () => void): void {
    this.begin(complete, this.scheduler.now + ms * this.factor);
  }

  /** As `after`, but not before the operations that began so before. */
  inOrder(ms: number, complete: () => void): void {
    this.lastOrderedEnd = Math.max(this.lastOrderedEnd, this.scheduler.now + ms * this.factor);
    this.begin(complete, this.lastOrderedEnd);
  }

  private begin(complete: () => void, endsAt: number): void {
    const operation = { complete, endsAt, cancel: () => {} };
    this.underWay.add(operation);
    this.plan(operation);
  }

  private plan(operation: Operation): void {
    operation.cancel = this.scheduler.at(operation.endsAt, () => {
      this.underWay.delete(operation);
      operation.complete();
    });
  }
}
