/** Slows failed logins down. */
export interface BackoffLimits {
  /** Delay of the answer to the first failure. */
  readonly delayMs: number;
  readonly delayMaxMs: number;
  /** Failures of one key that may wait for their answer at once; more logins are put off without a check. */
  readonly waitingMax: number;
  /** Logins of one key that may be checked at once; more are put off. */
  readonly checkingMax: number;
  readonly keysMax: number;
}

interface Failures {
  count: number;
  waiting: number;
  checking: number;
  lastAt: number;
}

/**
 * Slows failed logins down. The answer to each failure of the same key (an address, with or without a user
 * name) takes twice as long as the one before, up to a limit; a success is never delayed and forgets the
 * failures. Nobody is locked out: other addresses are not affected, and old failures are forgotten.
 */
export class Backoff {
  private readonly failures = new Map<string, Failures>();

  /** @param now a clock in milliseconds */
  constructor(
    private readonly limits: BackoffLimits,
    private readonly now: () => number,
  ) {}

  /** True if a login under this key may be checked now. */
  admits(key: string): boolean {
    const known = this.failures.get(key);
    if (known === undefined) return true;
    return known.waiting < this.limits.waitingMax && known.checking < this.limits.checkingMax;
  }

  /** True if logins under this key failed lately. */
  isSuspect(key: string): boolean {
    const known = this.failures.get(key);
    return known !== undefined && known.count > 0 && !this.isOld(known);
  }

  /** Notes that a login is being checked; `checked` must be called when it was. */
  checks(key: string): void {
    this.of(key).checking += 1;
  }

  /** Notes that the check is over, before `failed` or `succeeded`. */
  checked(key: string): void {
    const known = this.failures.get(key);
    if (known === undefined) return;
    known.checking = Math.max(0, known.checking - 1);
    this.forgetIfIdle(key, known);
  }

  /** Notes a failure; returns the milliseconds to wait with the answer. `answered` must be called then. */
  failed(key: string): number {
    const { delayMs, delayMaxMs } = this.limits;
    const failures = this.of(key);
    const delay = Math.min(delayMs * 2 ** Math.min(failures.count, 30), delayMaxMs);
    failures.count += 1;
    failures.waiting += 1;
    failures.lastAt = this.now();
    return delay;
  }

  answered(key: string): void {
    const failures = this.failures.get(key);
    if (failures !== undefined) failures.waiting = Math.max(0, failures.waiting - 1);
  }

  succeeded(key: string): void {
    const failures = this.failures.get(key);
    if (failures === undefined) return;
    failures.count = 0;
    this.forgetIfIdle(key, failures);
  }

  /** The entry of a key, which becomes the latest. */
  private of(key: string): Failures {
    const now = this.now();
    const known = this.failures.get(key) ?? { count: 0, waiting: 0, checking: 0, lastAt: now };
    if (this.isOld(known)) known.count = 0;
    // Moves the key to the end: the first one is the oldest.
    this.failures.delete(key);
    this.failures.set(key, known);
    this.forgetOldest();
    return known;
  }

  private isOld({ lastAt }: Failures): boolean {
    return this.now() - lastAt >= 10 * this.limits.delayMaxMs;
  }

  private forgetIfIdle(key: string, { count, waiting, checking }: Failures): void {
    if (count === 0 && waiting === 0 && checking === 0) this.failures.delete(key);
  }

  private forgetOldest(): void {
    if (this.failures.size <= this.limits.keysMax) return;
    const [oldest] = this.failures.keys();
    if (oldest !== undefined) this.failures.delete(oldest);
  }
}
