/**
 * Password hashes: scrypt (RFC 7914) with N = 2^15, r = 8, p = 1 and a salt of 16 bytes, computed in the thread pool.
 * Each takes 32 MB and tens of milliseconds, so few run at once, and the queue for them is bounded.
 */
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import type { PasswordHash } from '@althing/engine';

const LOG_N = 15;
const R = 8;
const P = 1;
const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** Node refuses these parameters under its default limit of 32 MB. */
const MEMORY_BYTES_MAX = 128 * 1024 * 1024;

/** Thrown when too many passwords wait to be checked. */
export class TooManyLoginsError extends Error {}

export class PasswordHasher {
  private readonly runningMax: number;
  private readonly waitingMax: number;
  private running = 0;
  /** New passwords go before those that are only to be checked. */
  private readonly toHash: (() => void)[] = [];
  private readonly toVerify: (() => void)[] = [];

  /**
   * @param runningMax hashes that are computed at once
   * @param waitingMax new passwords that may wait for that, and passwords to be checked that may
   */
  constructor(runningMax = 2, waitingMax = 64) {
    this.runningMax = runningMax;
    this.waitingMax = waitingMax;
  }

  /** The hash of a new password. */
  async hash(password: string): Promise<PasswordHash> {
    const salt = randomBytes(SALT_BYTES);
    const hash = await this.derive(this.toHash, password, { salt, logN: LOG_N, r: R, p: P });
    return { salt, hash, logN: LOG_N, r: R, p: P };
  }

  /** Whether a password is the one that a hash was made of. Without a hash the same work is done, for nothing. */
  async verify(password: string, expected: PasswordHash | null): Promise<boolean> {
    const parameters = expected ?? { salt: NO_SALT, logN: LOG_N, r: R, p: P };
    const hash = await this.derive(this.toVerify, password, parameters);
    return expected !== null && timingSafeEqual(hash, expected.hash);
  }

  private async derive(
    queue: (() => void)[],
    password: string,
    { salt, logN, r, p }: Pick<PasswordHash, 'salt' | 'logN' | 'r' | 'p'>,
  ): Promise<Buffer> {
    await this.enter(queue);
    try {
      return await new Promise<Buffer>((resolve, reject) => {
        const options = { N: 2 ** logN, r, p, maxmem: MEMORY_BYTES_MAX };
        scrypt(password, salt, HASH_BYTES, options, (error, key) => (error ? reject(error) : resolve(key)));
      });
    } finally {
      this.leave();
    }
  }

  private async enter(queue: (() => void)[]): Promise<void> {
    if (this.running < this.runningMax) {
      this.running += 1;
      return;
    }
    if (queue.length >= this.waitingMax)
      throw new TooManyLoginsError('too many passwords wait for their hash');
    await new Promise<void>((resolve) => queue.push(resolve));
  }

  private leave(): void {
    const next = this.toHash.shift() ?? this.toVerify.shift();
    if (next === undefined) this.running -= 1;
    else next();
  }
}

const NO_SALT = new Uint8Array(SALT_BYTES);
