/**
 * Password hashes: scrypt (RFC 7914) with N = 2^15, r = 8, p = 1 and a salt of 16 bytes, computed in the
 * thread pool. Each takes 32 MB and tens of milliseconds, so few run at once, and the queue for them is
 * bounded. Of a password that came from ThingsDB, it is the hash of the hash that it had there, which is weak by itself.
 */
import { scrypt, timingSafeEqual } from 'node:crypto';
import type { PasswordHash } from '@althing/engine';
import { newSalt, SALT_BYTES } from '../base/password-salts.js';
import { DEFAULT_PASSWORD } from '../config/index.js';
import { FairQueue } from './fair-queue.js';
import { thingsdbHash } from './thingsdb-hash.js';

const LOG_N = 15;
const R = 8;
const P = 1;
const HASH_BYTES = 32;
/** Node refuses these parameters under its default limit of 32 MB. */
const MEMORY_BYTES_MAX = 128 * 1024 * 1024;

/** Thrown when too many passwords wait to be checked. */
export class TooManyLoginsError extends Error {}

/** A caller that wants to have a password checked. */
export interface LoginSender {
  /** As `networkOf` gives it. */
  readonly network: string;
  /** True if logins from there failed lately. */
  readonly isSuspect: boolean;
}

type HashParameters = Pick<PasswordHash, 'salt' | 'logN' | 'r' | 'p'>;

type Derive = (password: string, parameters: HashParameters) => Promise<Buffer>;

interface WaitingHash {
  readonly go: () => void;
  readonly giveUp: () => void;
  /** When it has waited too long, by a monotonic clock in milliseconds. */
  readonly end: number;
}

/** Longest wait of a check for its turn: who asked does not wait much longer. */
const WAIT_MS = 10_000;

/**
 * Few hashes are computed at once. New passwords come first; then checks of the node itself, which are never given up; then checks for
 * clients, for one address after the other; then checks for addresses where logins failed lately, which never take the last place. So
 * nobody keeps others from logging in by sending many wrong passwords.
 */
export class PasswordHasher {
  private readonly suspectsMax: number;
  private running = 0;
  private runningSuspects = 0;
  private hurrying = false;
  private readonly toHash: WaitingHash[] = [];
  /** Checks for the node itself, which asks for the next one when it has the last one. */
  private readonly toVerifyOwn: (() => void)[] = [];
  private readonly toVerify: FairQueue<WaitingHash>;
  private readonly toVerifySuspects: FairQueue<WaitingHash>;
  /** Hashes that are known to be of the default password, which is no secret: a new node would compute each several times. */
  private readonly ofDefault = new Set<string>();

  /**
   * @param runningMax hashes that are computed at once
   * @param waitingMax new passwords that may wait for that, and checks that may; of checks for suspects a
   *   quarter
   * @param derive computes a hash, beside the thread that asks for it
   */
  constructor(
    private readonly runningMax = 2,
    private readonly waitingMax = 64,
    private readonly derive: Derive = deriveInPool,
  ) {
    this.suspectsMax = Math.max(1, runningMax - 1);
    this.toVerify = new FairQueue(waitingMax);
    this.toVerifySuspects = new FairQueue(Math.ceil(waitingMax / 4));
  }

  /**
   * The hash of a new password.
   *
   * @param saltKey see `Request`
   */
  hash(password: string, saltKey: Uint8Array | null = null): Promise<PasswordHash> {
    return this.hashWith(password, newSalt(saltKey));
  }

  /** The hash of a password with a salt, which no other password must have. */
  async hashWith(password: string, salt: Uint8Array): Promise<PasswordHash> {
    await this.enter(null);
    try {
      const hash = await this.derive(password, { salt, logN: LOG_N, r: R, p: P });
      if (password === DEFAULT_PASSWORD) this.noteDefault(hash);
      return { salt, hash, logN: LOG_N, r: R, p: P };
    } finally {
      this.leave(false);
    }
  }

  /**
   * True if a password is the one that a hash was made of. Without a hash the same work is done, for nothing.
   *
   * @param sender for whom
   * @throws TooManyLoginsError
   */
  async verify(password: string, expected: PasswordHash | null, sender: LoginSender): Promise<boolean> {
    await this.enter(sender);
    return this.check(password, expected, sender.isSuspect);
  }

  /** As `verify`, for the node itself: it waits for its turn only, however many clients log in. */
  async verifyOwn(password: string, expected: PasswordHash | null): Promise<boolean> {
    if (this.running < this.runningMax) this.begin(false);
    else await new Promise<void>((resolve) => this.toVerifyOwn.push(resolve));
    return this.check(password, expected, false);
  }

  /**
   * Gives up all checks that wait, and those to come unless they can begin at once: there is no time left.
   */
  hurry(): void {
    this.hurrying = true;
    for (const queue of [this.toVerify, this.toVerifySuspects])
      for (let next = queue.take(); next !== undefined; next = queue.take()) next.giveUp();
  }

  private async check(password: string, expected: PasswordHash | null, isSuspect: boolean): Promise<boolean> {
    try {
      const isDefault = password === DEFAULT_PASSWORD;
      if (isDefault && expected !== null && this.ofDefault.has(latin1(expected.hash))) return true;
      const salt = expected?.thingsdbSalt;
      const hashed = salt === undefined ? password : (thingsdbHash(password, salt) ?? password);
      const hash = await this.derive(hashed, expected ?? { salt: NO_SALT, logN: LOG_N, r: R, p: P });
      const matches = expected !== null && timingSafeEqual(hash, expected.hash);
      if (matches && isDefault) this.noteDefault(hash);
      return matches;
    } finally {
      this.leave(isSuspect);
    }
  }

  private noteDefault(hash: Uint8Array): void {
    if (this.ofDefault.size >= DEFAULTS_MAX) this.ofDefault.clear();
    this.ofDefault.add(latin1(hash));
  }

  /** @param sender null: a new password */
  private async enter(sender: LoginSender | null): Promise<void> {
    const isSuspect = sender?.isSuspect === true;
    if (this.running < this.runningMax && (!isSuspect || this.runningSuspects < this.suspectsMax)) {
      this.begin(isSuspect);
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const giveUp = (): void => reject(new TooManyLoginsError('too many passwords wait for their hash'));
      this.wait(sender, { go: resolve, giveUp, end: performance.now() + WAIT_MS });
    });
  }

  private wait(sender: LoginSender | null, waiting: WaitingHash): void {
    if (sender !== null && this.hurrying) waiting.giveUp();
    else if (sender !== null) {
      const queue = sender.isSuspect ? this.toVerifySuspects : this.toVerify;
      queue.add(sender.network, waiting)?.giveUp();
    } else if (this.toHash.length < this.waitingMax) this.toHash.push(waiting);
    else waiting.giveUp();
  }

  private begin(isSuspect: boolean): void {
    this.running += 1;
    if (isSuspect) this.runningSuspects += 1;
  }

  private leave(wasSuspect: boolean): void {
    this.running -= 1;
    if (wasSuspect) this.runningSuspects -= 1;
    const next = this.toHash.shift()?.go ?? this.toVerifyOwn.shift() ?? nextOf(this.toVerify)?.go;
    if (next !== undefined) {
      this.begin(false);
      next();
    }
    if (this.running >= this.runningMax || this.runningSuspects >= this.suspectsMax) return;
    const suspect = nextOf(this.toVerifySuspects);
    if (suspect === undefined) return;
    this.begin(true);
    suspect.go();
  }
}

/** The next check that has not waited too long; those that have are given up. */
function nextOf(queue: FairQueue<WaitingHash>): WaitingHash | undefined {
  const now = performance.now();
  for (let next = queue.take(); next !== undefined; next = queue.take()) {
    if (next.end > now) return next;
    next.giveUp();
  }
  return undefined;
}

function deriveInPool(password: string, { salt, logN, r, p }: HashParameters): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const options = { N: 2 ** logN, r, p, maxmem: MEMORY_BYTES_MAX };
    scrypt(password, salt, HASH_BYTES, options, (error, key) => (error ? reject(error) : resolve(key)));
  });
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

/** Hashes of the default password that are remembered. */
const DEFAULTS_MAX = 1000;

const NO_SALT = new Uint8Array(SALT_BYTES);
