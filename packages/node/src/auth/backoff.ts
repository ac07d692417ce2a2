/** How failed logins are slowed down. */
export interface BackoffLimits {
  /** Delay of the answer to the first failure. */
  readonly delayMs: number;
  /** Longest delay. */
  readonly delayMaxMs: number;
  /** Failures of one key that may wait for their answer at once; more are refused without a check. */
  readonly waitingMax: number;
  /** Keys that are remembered. */
  readonly keysMax: number;
}

interface Failures {
  count: number;
  waiting: number;
  lastAt: number;
}

/**
 * Slows failed logins down. The answer to each failure of the same key (an address, with or without a user name) takes
 * twice as long as the one before, up to a limit; a success is never delayed and forgets the failures. Nobody is locked
 * out: other addresses are not affected, and old failures are forgotten.
 */
export class Backoff {
  private readonly limits: BackoffLimits;
  private readonly now: () => number;
  private readonly failures = new Map<string, Failures>();

  /** @param now a clock in milliseconds */
  constructor(limits: BackoffLimits, now: () => number) {
    this.limits = limits;
    this.now = now;
  }

  /** Whether a login under this key may be tried now. */
  admits(key: string): boolean {
    return (this.failures.get(key)?.waiting ?? 0) < this.limits.waitingMax;
  }

  /** Notes a failure; returns the milliseconds to wait with the answer. `answered` must be called then. */
  failed(key: string): number {
    const { delayMs, delayMaxMs } = this.limits;
    const now = this.now();
    const known = this.failures.get(key);
    const failures = known !== undefined && now - known.lastAt < 10 * delayMaxMs ? known : noFailures(now);
    const delay = Math.min(delayMs * 2 ** Math.min(failures.count, 30), delayMaxMs);
    failures.count += 1;
    failures.waiting += 1;
    failures.lastAt = now;
    // Moves the key to the end: the first one is the oldest.
    this.failures.delete(key);
    this.failures.set(key, failures);
    this.forgetOldest();
    return delay;
  }

  answered(key: string): void {
    const failures = this.failures.get(key);
    if (failures !== undefined) failures.waiting = Math.max(0, failures.waiting - 1);
  }

  succeeded(key: string): void {
    this.failures.delete(key);
  }

  private forgetOldest(): void {
    if (this.failures.size <= this.limits.keysMax) return;
    const [oldest] = this.failures.keys();
    if (oldest !== undefined) this.failures.delete(oldest);
  }
}

function noFailures(now: number): Failures {
  return { count: 0, waiting: 0, lastAt: now };
}
