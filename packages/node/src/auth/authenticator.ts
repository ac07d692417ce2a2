import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { PasswordHash, RootGroup, Token, User } from '@althing/engine';
import type { Backoff } from './backoff.js';
import { type Credentials, parseAuthorization } from './credentials.js';
import { type PasswordHasher, TooManyLoginsError } from './password.js';

/** What came of a login. */
export type Login =
  | { readonly kind: 'user'; readonly user: User }
  | { readonly kind: 'refused' }
  /** The credentials are unknown here, and others who may know them can't be asked. */
  | { readonly kind: 'unsure' }
  /** Too many failures or too much work; the answer is "not now". */
  | { readonly kind: 'busy' };

const REFUSED: Login = { kind: 'refused' };
const BUSY: Login = { kind: 'busy' };
const UNSURE: Login = { kind: 'unsure' };

/** A login that was checked, or the first use of a token. */
export interface LoginEvent {
  readonly method: Credentials['kind'];
  readonly outcome: 'ok' | 'failed' | 'held_off';
  /** Of the user, as far as it was told. */
  readonly name: string | null;
  readonly address: string;
}

export interface AuthenticatorOptions {
  readonly root: RootGroup;
  readonly hasher: PasswordHasher;
  readonly backoff: Backoff;
  /**
   * Sees to it that this node knows of every change of users that was acknowledged before: a token that was made a moment
   * ago at another node must work. False when that can't be had now.
   */
  readonly freshen: () => Promise<boolean>;
  /** How long a verified password is remembered. */
  readonly cacheMs: number;
  /** Told of each login that was checked, and of the first use of each token. */
  readonly onLogin?: (event: LoginEvent) => void;
  /** Wall clock in milliseconds. */
  readonly now: () => number;
  /** Calls back after some milliseconds. */
  readonly delay: (ms: number, callback: () => void) => void;
}

interface Verified {
  readonly userId: number;
  readonly name: string;
  /** The record that the password was checked against: another one means another password. */
  readonly password: PasswordHash;
  readonly until: number;
}

/** Verified passwords that are remembered at most. */
const CACHE_ENTRIES_MAX = 10_000;

/**
 * Tells who sends a request. A token costs one fast hash. A password costs a slow one the first time; then the header
 * is remembered for a while, under a keyed hash, as long as the user keeps that password.
 */
export class Authenticator {
  private readonly options: AuthenticatorOptions;
  private readonly cacheKey = randomBytes(32).toString('hex');
  private readonly verified = new Map<string, Verified>();
  /** Who waits for the outcome of a check, by a hash of address and header. */
  private readonly checking = new Map<string, ((login: Login) => void)[]>();
  /** Answers to failed logins that are still to come. */
  private readonly refusals = new Set<() => void>();
  private hurrying = false;
  /** Tokens that were used here before. */
  private readonly usedTokens = new WeakSet<Token>();

  constructor(options: AuthenticatorOptions) {
    this.options = options;
  }

  /**
   * The user of a header when that can be told at once, else null: then `login` tells.
   *
   * @param address of the client, asked for when a token is used for the first time
   */
  known(header: string, address?: () => string): User | null {
    // Tokens are by far the most frequent, so they are not looked up in the cache first.
    if (header.length <= TOKEN_HEADER_LENGTH_MAX) {
      const scheme = TOKEN_SCHEME.exec(header);
      if (scheme !== null) {
        const found = this.tokenOf(header.slice(scheme[0].length));
        if (found !== null && address !== undefined && !this.usedTokens.has(found.token))
          this.tellToken(found, address());
        return found?.user ?? null;
      }
    }
    const entry = this.verified.get(hash('sha256', this.cacheKey + header));
    if (entry === undefined || this.options.now() > entry.until) return null;
    const user = this.options.root.users.get(entry.userId);
    if (user === undefined || user.name !== entry.name) return null;
    return user.password === entry.password ? user : null;
  }

  /**
   * Checks a header that `known` did not know. The same header from the same address is checked once at a time, however
   * many requests bring it.
   *
   * @param address of the client, for slowing failures down
   */
  login(header: string, address: string, done: (login: Login) => void): void {
    const credentials = parseAuthorization(header);
    if (credentials === null) {
      done(REFUSED);
      return;
    }
    const id = hash('sha256', `${this.cacheKey}${address} ${header}`);
    const waiting = this.checking.get(id);
    if (waiting !== undefined) {
      waiting.push(done);
      return;
    }
    const keys = credentials.kind === 'token' ? [address] : [address, userKey(address, credentials.name)];
    const { backoff } = this.options;
    if (!keys.every((key) => backoff.admits(key))) {
      this.tell(credentials, 'held_off', address, null);
      done(BUSY);
      return;
    }
    const all = [done];
    this.checking.set(id, all);
    for (const key of keys) backoff.checks(key);
    this.outcome(header, credentials, address, keys).then((login) => {
      this.checking.delete(id);
      if (login.kind === 'user') this.tell(credentials, 'ok', address, login.user);
      else if (login.kind === 'refused') this.tell(credentials, 'failed', address, null);
      for (const callback of all) callback(login);
    });
  }

  private tellToken({ user, token }: { readonly user: User; readonly token: Token }, address: string): void {
    this.usedTokens.add(token);
    this.options.onLogin?.({ method: 'token', outcome: 'ok', name: user.name, address });
  }

  private tell(
    credentials: Credentials,
    outcome: LoginEvent['outcome'],
    address: string,
    user: User | null,
  ): void {
    const name = credentials.kind === 'password' ? credentials.name : (user?.name ?? null);
    this.options.onLogin?.({ method: credentials.kind, outcome, name, address });
  }

  private async outcome(
    header: string,
    credentials: Credentials,
    address: string,
    keys: readonly string[],
  ): Promise<Login> {
    const { backoff } = this.options;
    let user: User | null;
    try {
      user = await this.check(credentials);
      if (user === null) {
        const { root, freshen } = this.options;
        const version = root.accessVersion;
        if (!(await freshen())) return UNSURE;
        if (root.accessVersion !== version) user = await this.check(credentials);
      }
    } catch (error) {
      if (error instanceof TooManyLoginsError) return BUSY;
      throw error;
    } finally {
      for (const key of keys) backoff.checked(key);
    }
    if (user === null) return this.refusal(keys);
    // The address is not forgiven: others may share it, or one good account cover the search for another.
    if (credentials.kind === 'password') backoff.succeeded(userKey(address, credentials.name));
    this.remember(header, credentials, user);
    return { kind: 'user', user };
  }

  /** Answers all failed logins at once, from now on: nothing must wait for them any more. */
  hurry(): void {
    this.hurrying = true;
    for (const answer of [...this.refusals]) answer();
  }

  /** The answer to a failed login, when it is time. */
  private refusal(keys: readonly string[]): Promise<Login> {
    const { backoff, delay } = this.options;
    const ms = Math.max(...keys.map((key) => backoff.failed(key)));
    return new Promise((resolve) => {
      const answer = (): void => {
        if (!this.refusals.delete(answer)) return;
        for (const key of keys) backoff.answered(key);
        resolve(REFUSED);
      };
      this.refusals.add(answer);
      if (this.hurrying) answer();
      else delay(ms, answer);
    });
  }

  private async check(credentials: Credentials): Promise<User | null> {
    if (credentials.kind === 'token') return this.tokenOf(credentials.key)?.user ?? null;
    const { root, hasher } = this.options;
    const user = root.usersByName.get(credentials.name);
    const matches = await hasher.verify(credentials.password, user?.password ?? null);
    if (!matches || user === undefined) return null;
    // The user may have changed while the hash was computed.
    const now = root.users.get(user.id);
    return now?.password === user.password ? now : null;
  }

  private tokenOf(key: string): { readonly user: User; readonly token: Token } | null {
    const found = this.options.root.tokenByKey(key);
    if (found === undefined || !timingSafeEqual(found.token.hash, hash('sha256', key, 'buffer'))) return null;
    const { expiresAt } = found.token;
    return expiresAt === null || expiresAt >= Math.floor(this.options.now() / 1000) ? found : null;
  }

  private remember(header: string, credentials: Credentials, user: User): void {
    if (credentials.kind !== 'password' || user.password === null || this.options.cacheMs === 0) return;
    if (this.verified.size >= CACHE_ENTRIES_MAX) {
      const [oldest] = this.verified.keys();
      if (oldest !== undefined) this.verified.delete(oldest);
    }
    this.verified.set(hash('sha256', this.cacheKey + header), {
      userId: user.id,
      name: user.name,
      password: user.password,
      until: this.options.now() + this.options.cacheMs,
    });
  }
}

/** Longer headers can't hold a token of ours. */
const TOKEN_HEADER_LENGTH_MAX = 64;

const TOKEN_SCHEME = /^(?:bearer|token) /i;

function userKey(address: string, name: string): string {
  return `${address} ${name}`;
}
