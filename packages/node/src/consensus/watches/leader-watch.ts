/** Notices that a leader has been missing for too long. */
export class LeaderWatch {
  private missing: number | null = null;

  /** @param ticksMax ticks that may pass without a leader; before the first one, none may */
  constructor(private readonly ticksMax: number) {}

  /** @param leader 0 while none is known */
  tick(leader: number): void {
    if (leader !== 0) this.missing = 0;
    else if (this.missing !== null) this.missing += 1;
  }

  get isMissing(): boolean {
    return this.missing === null || this.missing > this.ticksMax;
  }

  /** Ticks since a leader was known; null before the first one. */
  get missingTicks(): number | null {
    return this.missing;
  }
}
