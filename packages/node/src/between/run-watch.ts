import type { SharedStatus } from './shared-status.js';

/** Numbers the calls that run for a while, and tells whether the one that runs is to end: the consensus thread knows both by `SharedStatus`. */
export class RunWatch {
  private begun = Number.NaN;
  private run = 0;

  constructor(private readonly status: Pick<SharedStatus, 'noteRun' | 'isCancelled'>) {}

  /** @param begun tells one call from the next */
  isCancelled(begun: number): boolean {
    if (begun !== this.begun) {
      this.begun = begun;
      this.run = this.status.noteRun();
    }
    return this.status.isCancelled(this.run);
  }
}
