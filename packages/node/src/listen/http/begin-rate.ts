/**
 * Limits how often the users of a node begin sessions. That takes no privilege, and each is a change of the cluster: who begins and ends them in
 * a loop would fill its log.
 */
interface Allowance {
  /** Sessions that may begin now; a part of one counts when it is whole. */
  left: number;
  at: number;
}

/** Sessions that a user may begin in a row, and milliseconds until there is one more. */
const BURST = 60;
const REFILL_MS = 1000;

/** Users that are remembered; one that is forgotten may begin as many as at first. */
const USERS_MAX = 10_000;

export class BeginRate {
  private readonly allowances = new Map<number, Allowance>();

  /** @param now a clock in milliseconds */
  constructor(private readonly now: () => number) {}

  /** True if a user may begin a session now; counts it then. */
  takes(userId: number): boolean {
    const now = this.now();
    const known = this.allowances.get(userId) ?? { left: BURST, at: now };
    const left = Math.min(BURST, known.left + (now - known.at) / REFILL_MS);
    // Moves the user to the end: the first one is the oldest.
    this.allowances.delete(userId);
    this.allowances.set(userId, { left: left < 1 ? left : left - 1, at: now });
    this.forgetOldest();
    return left >= 1;
  }

  private forgetOldest(): void {
    if (this.allowances.size <= USERS_MAX) return;
    const [oldest] = this.allowances.keys();
    if (oldest !== undefined) this.allowances.delete(oldest);
  }
}
