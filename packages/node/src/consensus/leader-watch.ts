/** Whether a leader has been missing for too long. */
export class LeaderWatch {
  private readonly patience: number;
  /** Ticks since a leader was known. */
  private missing = Number.POSITIVE_INFINITY;

  /** @param patience ticks that may pass without a leader; before the first one, none may */
  constructor(patience: number) {
    this.patience = patience;
  }

  /** @param leader 0 while none is known */
  tick(leader: number): void {
    this.missing = leader === 0 ? this.missing + 1 : 0;
  }

  get isMissing(): boolean {
    return this.missing > this.patience;
  }
}
