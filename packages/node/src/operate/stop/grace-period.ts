import { backgroundClock, pause } from '../../base/clock.js';

/**
 * The time that a node that stops waits for what would be good to have: until a deadline, or until it is to stop
 * at once.
 */
export class GracePeriod {
  private readonly deadline: number;
  private isLost = false;
  private stopWaiting: (() => void) | null = null;

  /** @param ms all in all, in milliseconds */
  constructor(ms: number) {
    this.deadline = performance.now() + ms;
  }

  /** True if the node is to stop at once. */
  get lost(): boolean {
    return this.isLost;
  }

  /** The node is to stop at once. */
  lose(): void {
    if (this.isLost) return;
    this.isLost = true;
    this.stopWaiting?.();
  }

  /**
   * Waits for something as long as the grace period lasts, and from then on no longer than for a while, in
   * milliseconds.
   */
  async wait(work: Promise<unknown>, whileMs = 0): Promise<void> {
    const end = this.pause(this.deadline - performance.now()).then(() => pause(backgroundClock, whileMs));
    await Promise.race([work, end]);
  }

  /** Waits for some time, unless the node is to stop at once. */
  pause(ms: number): Promise<void> {
    if (this.isLost || ms <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.stopWaiting = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
