import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import {
  type PasswordHash,
  type RootGroup,
  SESSION_KEY_PREFIX,
  type Token,
  type User,
} from '@althing/engine';
import type { Clock } from '../../base/clock.js';
import { networkOf } from '../../base/network-of.js';
import { type PasswordHasher, TooManyLoginsError } from '../../requests/password.js';
import type { LoginEvent } from '../../telemetry/audit-log.js';
import type { Backoff } from './backoff.js';
import { type Credentials, parseAuthorization } from './credentials.js';

/** The user that sends requests, and how. */
export interface Principal {
  readonly user: User;
  /** True if its requests may change nothing: by a session that was begun so. */
  readonly readOnly: boolean;
}

export type Login =
  | ({ readonly kind: 'user' } & Principal)
  | { readonly kind: 'refused' }
  /** The credentials are unknown here, and others who may know them can't be asked. */
  | { readonly kind: 'unsure' }
  /** Too many failures or too much work; the answer is "not now". */
  | { readonly kind: 'busy' };

const REFUSED: Login = { kind: 'refused' };
const BUSY: Login = { kind: 'busy' };
const UNSURE: Login = { kind: 'unsure' };

/** A caller that waits for the outcome of a login. */
export interface LoginListener {
  /** Called at once when the answer will be a refusal, which may have to wait. */
  readonly failed?: () => void;
  readonly done: (login: Login) => void;
  /** The way that the client speaks to the node; HTTP when it is not said. */
  readonly transport?: LoginEvent['transport'];
}

export interface AuthenticatorOptions {
  readonly root: RootGroup;
  readonly hasher: PasswordHasher;
  readonly backoff: Backoff;
  /**
   * Waits until this node knows of every change of users that was acknowledged before: a token that was
   * made a moment ago at another node must work. False when that can't be had now.
   */
  readonly freshen: () => Promise<boolean>;
  /** A password that nobody can log in with, since everybody knows it; null for none. */
  readonly refusedPassword?: string | null;
  /** Time for which a verified password is remembered. */
  readonly cacheMs: number;
  /** Called for each login that was checked, and at the first use of each token. */
  readonly onLogin?: (event: LoginEvent) => void;
  /** Called with a right password that is kept as the hash of a hash of ThingsDB: now it can have one of its own. */
  readonly onForeignHash?: (user: User, password: string) => void;
  /** Called with an error that is no outcome of a check; the login is put off. */
  readonly onDefect: (error: unknown) => void;
  /** Wall clock in milliseconds. */
  readonly now: () => number;
  readonly clock: Pick<Clock, 'after'>;
}

interface Verified {
  readonly userId: number;
  readonly name: string;
  /** The record that the password was checked against: another one means another password. */
  readonly password: PasswordHash;
  readonly until: number;
}

/** Verified passwords, and headers with tokens, that are remembered at most. */
const CACHE_ENTRIES_MAX = 10_000;

/** Headers with passwords that are remembered as they are, some 400 characters each: the time, in milliseconds, and the number. */
const RECENT_MS = 1000;
const RECENT_MAX = 1000;

/** The user that a key belongs to. */
interface Found extends Principal {
  /** Null for a session: that it was begun is told by the change that it is. */
  readonly token: Token | null;
  /** Unix milliseconds from which on it is no more; null for never. */
  readonly expiresAt: number | null;
}

/**
 * Tells who sends a request. A token costs one fast hash the first time; then the header is remembered, until
 * users or tokens change. It is in no other place than the memory of this process, where it comes with each
 * request anyway. A password costs a slow one the first time; then the header is remembered for a while,
 * under a keyed hash, as long as the user keeps that password; for a second also as it is, in which it would
 * be in memory anyway, since most come again and again.
 */
export class Authenticator {
  private readonly cacheKey = randomBytes(32).toString('hex');
  private readonly verified = new Map<string, Verified>();
  /**
   * Verified headers with a password that came within the last second: they are known again without a hash. The time that a look-up
   * takes tells nothing of them: what is compared first are hashes with a secret of this process.
   */
  private readonly recent = new Map<string, Verified>();
  /** True if it is planned to forget these. */
  private isForgetting = false;
  /** Callers that wait for the outcome of a check, by a hash of address and header. */
  private readonly checking = new Map<string, LoginListener[]>();
  /** Answers to failed logins that are still to come. */
  private readonly refusals = new Set<() => void>();
  private hurrying = false;
  /** Tokens that were used here before. */
  private readonly usedTokens = new WeakSet<Token>();
  /** Headers with a right token that was used before. */
  private readonly tokenHeaders = new Map<string, Found>();
  /** The version of users and tokens that `tokenHeaders` goes by. */
  private tokensVersion = 0;

  constructor(private readonly options: AuthenticatorOptions) {}

  /** The user of a header that came before and is remembered; null where `known` has to look. */
  remembered(header: string): Principal | null {
    if (header.length <= TOKEN_HEADER_LENGTH_MAX) {
      const found = this.rememberedToken(header);
      if (found !== undefined) return this.isExpired(found) ? null : found;
    }
    const entry = this.recent.get(header);
    return entry === undefined ? null : this.userOf(entry);
  }

  /**
   * The user of a header that needs no hash, else null: then `login` finds it.
   *
   * @param address of the client, asked for when a token is used for the first time
   * @param transport how the client speaks to the node
   */
  known(
    header: string,
    address?: () => string,
    transport: LoginEvent['transport'] = 'http',
  ): Principal | null {
    const remembered = this.remembered(header);
    if (remembered !== null) return remembered;
    const scheme = header.length <= TOKEN_HEADER_LENGTH_MAX ? TOKEN_SCHEME.exec(header) : null;
    if (scheme !== null) {
      const found = this.tokenOf(header.slice(scheme[0].length));
      if (found === null) return null;
      const { user, token } = found;
      if (token === null || this.usedTokens.has(token)) this.rememberToken(header, found);
      else if (address !== undefined) this.tellToken(user, token, address(), transport);
      return found;
    }
    const entry = this.verifiedBy(header);
    return entry === undefined ? null : this.userOf(entry);
  }

  /** The user of a verified password; null when that is out of date, or the user is another one now. */
  private userOf({ userId, name, password, until }: Verified): Principal | null {
    if (this.options.now() > until) return null;
    const user = this.options.root.users.get(userId);
    if (user === undefined || user.name !== name) return null;
    return user.password === password ? { user, readOnly: false } : null;
  }

  /**
   * Checks a header that `known` did not know. The same header from the same address is checked once at a
   * time, however many requests bring it.
   *
   * @param address of the client, for slowing failures down
   */
  login(header: string, address: string, listener: LoginListener): void {
    const credentials = parseAuthorization(header);
    if (credentials === null) {
      listener.done(REFUSED);
      return;
    }
    const id = hash('sha256', `${this.cacheKey}${address} ${header}`);
    const waiting = this.checking.get(id);
    if (waiting !== undefined) {
      waiting.push(listener);
      return;
    }
    const network = networkOf(address);
    const from = { address, transport: listener.transport ?? 'http' } as const;
    const keys = credentials.kind === 'token' ? [network] : [network, userKey(network, credentials.name)];
    const { backoff } = this.options;
    if (!keys.every((key) => backoff.admits(key))) {
      this.tell(credentials, 'held_off', from, null);
      listener.done(BUSY);
      return;
    }
    const all = [listener];
    this.checking.set(id, all);
    for (const key of keys) backoff.checks(key);
    const outcome = this.outcome(header, credentials, address, keys, () => {
      for (const { failed } of all) failed?.();
    }).catch((error: unknown): Login => {
      this.options.onDefect(error);
      return BUSY;
    });
    void outcome.then((login) => {
      this.checking.delete(id);
      if (login.kind === 'user') this.tell(credentials, 'ok', from, login.user);
      else if (login.kind === 'refused') this.tell(credentials, 'failed', from, null);
      for (const { done } of all) done(login);
    });
  }

  /** A header with a password, as it is remembered. */
  private verifiedBy(header: string): Verified | undefined {
    const { recent } = this;
    const known = recent.get(header);
    if (known !== undefined) return known;
    const entry = this.verified.get(hash('sha256', this.cacheKey + header));
    if (entry === undefined) return undefined;
    if (recent.size >= RECENT_MAX) recent.clear();
    recent.set(header, entry);
    this.forgetSoon();
    return entry;
  }

  /** Forgets headers with passwords after a second, whether more requests come or not. */
  private forgetSoon(): void {
    if (this.isForgetting) return;
    this.isForgetting = true;
    this.options.clock.after(RECENT_MS, () => {
      this.isForgetting = false;
      this.recent.clear();
    });
  }

  private rememberedToken(header: string): Found | undefined {
    const { accessVersion } = this.options.root;
    if (accessVersion !== this.tokensVersion) {
      this.tokenHeaders.clear();
      this.tokensVersion = accessVersion;
    }
    return this.tokenHeaders.get(header);
  }

  private rememberToken(header: string, found: Found): void {
    if (this.tokenHeaders.size >= CACHE_ENTRIES_MAX) this.tokenHeaders.clear();
    this.tokenHeaders.set(header, found);
  }

  private tellToken(user: User, token: Token, address: string, transport: LoginEvent['transport']): void {
    this.usedTokens.add(token);
    this.options.onLogin?.({ method: 'token', outcome: 'ok', name: user.name, address, transport });
  }

  private tell(
    credentials: Credentials,
    outcome: LoginEvent['outcome'],
    from: Pick<LoginEvent, 'address' | 'transport'>,
    user: User | null,
  ): void {
    const name = credentials.kind === 'password' ? credentials.name : (user?.name ?? null);
    this.options.onLogin?.({ method: credentials.kind, outcome, name, ...from });
  }

  private async outcome(
    header: string,
    credentials: Credentials,
    address: string,
    keys: readonly string[],
    failed: () => void,
  ): Promise<Login> {
    const { backoff, root, freshen } = this.options;
    let found: Principal | null;
    try {
      // As it is before the check: what comes while the hash is computed is not in its outcome.
      const version = root.accessVersion;
      found = await this.check(credentials, address);
      if (found === null) {
        if (!(await freshen())) return UNSURE;
        if (root.accessVersion !== version) found = await this.check(credentials, address);
      }
    } catch (error) {
      if (error instanceof TooManyLoginsError) return BUSY;
      throw error;
    } finally {
      for (const key of keys) backoff.checked(key);
    }
    if (found === null) {
      failed();
      return this.refusal(keys);
    }
    // The address is not forgiven: others may share it, or one good account cover the search for another.
    if (credentials.kind === 'password') backoff.succeeded(userKey(networkOf(address), credentials.name));
    const { user, readOnly } = found;
    this.remember(header, credentials, user);
    return { kind: 'user', user, readOnly };
  }

  /** Answers all failed logins at once, from now on: nothing must wait for them any more. */
  hurry(): void {
    this.hurrying = true;
    this.options.hasher.hurry();
    for (const answer of [...this.refusals]) answer();
  }

  /** The answer to a failed login, when it is time. */
  private refusal(keys: readonly string[]): Promise<Login> {
    const { backoff, clock } = this.options;
    const ms = Math.max(...keys.map((key) => backoff.failed(key)));
    return new Promise((resolve) => {
      const answer = (): void => {
        if (!this.refusals.delete(answer)) return;
        for (const key of keys) backoff.answered(key);
        resolve(REFUSED);
      };
      this.refusals.add(answer);
      if (this.hurrying) answer();
      else clock.after(ms, answer);
    });
  }

  private async check(credentials: Credentials, address: string): Promise<Principal | null> {
    if (credentials.kind === 'token') return this.tokenOf(credentials.key);
    const { root, hasher, backoff } = this.options;
    const user = root.usersByName.get(credentials.name);
    const network = networkOf(address);
    const sender = { network, isSuspect: backoff.isSuspect(network) };
    const matches = await hasher.verify(credentials.password, user?.password ?? null, sender);
    if (!matches || user === undefined || credentials.password === this.options.refusedPassword) return null;
    // The user may have changed while the hash was computed.
    const now = root.users.get(user.id);
    if (now?.password !== user.password) return null;
    if (user.password?.thingsdbSalt !== undefined) this.options.onForeignHash?.(user, credentials.password);
    return { user: now, readOnly: false };
  }

  private tokenOf(key: string): Found | null {
    const { root } = this.options;
    const keyHash = hash('sha256', key, 'buffer');
    if (key.startsWith(SESSION_KEY_PREFIX)) return this.sessionOf(keyHash);
    const found = root.tokenByKey(key);
    if (found === undefined || !timingSafeEqual(found.token.hash, keyHash)) return null;
    const { user, token } = found;
    // A token counts to the end of the second in which it expires.
    const expiresAt = token.expiresAt === null ? null : (token.expiresAt + 1) * 1000;
    const known = { user, readOnly: false, token, expiresAt };
    return this.isExpired(known) ? null : known;
  }

  private sessionOf(keyHash: Uint8Array): Found | null {
    const { sessions, users } = this.options.root;
    const found = sessions.byHashOfKey(keyHash);
    const user = found === undefined ? undefined : users.get(found.userId);
    if (found === undefined || user === undefined) return null;
    const { readOnly, expiresAt } = found.session;
    const known = { user, readOnly, token: null, expiresAt };
    return this.isExpired(known) ? null : known;
  }

  private isExpired({ expiresAt }: Found): boolean {
    return expiresAt !== null && expiresAt <= this.options.now();
  }

  private remember(header: string, credentials: Credentials, user: User): void {
    if (credentials.kind !== 'password' || user.password === null || this.options.cacheMs === 0) return;
    if (this.verified.size >= CACHE_ENTRIES_MAX) {
      const [oldest] = this.verified.keys();
      if (oldest !== undefined) this.verified.delete(oldest);
    }
    // An older entry may be of another password.
    this.recent.delete(header);
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

function userKey(network: string, name: string): string {
  return `${network} ${name}`;
}
