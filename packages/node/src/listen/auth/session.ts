import {
  authError,
  keyHash,
  type PasswordHash,
  type QueryError,
  type RootGroup,
  SESSION_KEY_PREFIX,
  type User,
  type UserSession,
} from '@althing/engine';
import { isSaltOf, newSaltKey } from '../../base/password-salts.js';
import { ORDINARY_TERMS, type Terms } from '../../groups/request.js';
import { parseAuthorization } from './credentials.js';

/** The part of the root state by which logins are judged. */
export interface SessionRoot extends Pick<RootGroup, 'users' | 'accessVersion' | 'isLoading'> {
  readonly sessions: Pick<RootGroup['sessions'], 'byHashOfKey'>;
}

/** The login of a connection, or of a feed over HTTP. */
type Credential =
  | {
      readonly kind: 'password';
      readonly password: PasswordHash | null;
      /** The key that makes salts of the passwords that its requests set. */
      readonly saltKey: Uint8Array;
    }
  | { readonly kind: 'token'; readonly hash: Uint8Array }
  | { readonly kind: 'session'; readonly hash: Uint8Array };

/**
 * The login of a connection: its user, and the password, token or session. It holds as long as the user is there, and has what it was
 * begun with, or a password that a request of this connection has set.
 */
export class Session {
  private readonly credential: Credential;
  private readonly readOnly: boolean;
  /** Unix milliseconds from which on it is over; null for never. */
  private expiresAt: number | null;
  /** The version of users, tokens and sessions at which it was looked at last. */
  private version: number;

  /** @param authorization the credentials, as a header has them */
  static of(root: SessionRoot, user: User, authorization: string): Session {
    const credentials = parseAuthorization(authorization);
    return new Session(root, user, credentials?.kind === 'token' ? credentials.key : null);
  }

  /** @param key the token, or that of the session, that it was begun with; null for a password */
  constructor(
    private readonly root: SessionRoot,
    private user: User,
    key: string | null,
  ) {
    this.credential = credentialOf(user, key);
    // One that is gone already ends with the first request.
    this.readOnly = this.sessionIn(root)?.readOnly ?? false;
    this.expiresAt = this.expiryIn(user);
    this.version = root.accessVersion;
  }

  /** The mark that a request carries which may set the own password; null for none. */
  get ownPassword(): { readonly saltKey: Uint8Array } | null {
    const { credential } = this;
    return credential.kind === 'password' ? { saltKey: credential.saltKey } : null;
  }

  /** The terms of a request of this connection: what a read-only session asks for may change nothing, whatever its options say. */
  termsFor(terms: Terms | null): Terms | null {
    return this.readOnly ? { ...(terms ?? ORDINARY_TERMS), readOnly: true } : terms;
  }

  get userId(): number {
    return this.user.id;
  }

  /**
   * The user, as it is now.
   *
   * @param now wall clock in milliseconds
   * @returns an error when it is not logged in any more
   */
  check(now: number): User | QueryError {
    const { root, credential } = this;
    // While a snapshot is being read, a user who is not there yet is nobody who was deleted.
    if (root.accessVersion !== this.version && !root.isLoading) {
      const user = root.users.get(this.user.id);
      if (user === undefined) return USER_GONE;
      if (!this.holds(user)) return ENDS[credential.kind];
      this.user = user;
      this.expiresAt = this.expiryIn(user);
      this.version = root.accessVersion;
    }
    return this.expiresAt !== null && this.expiresAt <= now ? EXPIRED : this.user;
  }

  private holds(user: User): boolean {
    const { credential } = this;
    if (credential.kind === 'token') return user.tokens.some(({ hash }) => isSame(hash, credential.hash));
    if (credential.kind === 'session') {
      return this.root.sessions.byHashOfKey(credential.hash)?.userId === user.id;
    }
    const { password, saltKey } = credential;
    if (password === null || user.password === null) return false;
    const { hash, salt } = user.password;
    // One that came as a hash of ThingsDB gets another hash of itself with the first login, and keeps the salt.
    const isOwnNow = password.thingsdbSalt !== undefined && isSame(password.salt, salt);
    return isSame(password.hash, hash) || isOwnNow || isSaltOf(salt, saltKey);
  }

  private sessionIn({ sessions }: SessionRoot): UserSession | null {
    const { credential } = this;
    if (credential.kind !== 'session') return null;
    return sessions.byHashOfKey(credential.hash)?.session ?? null;
  }

  private expiryIn({ tokens }: User): number | null {
    const { credential } = this;
    if (credential.kind === 'password') return null;
    if (credential.kind === 'session') {
      return this.sessionIn(this.root)?.expiresAt ?? 0;
    }
    const expiresAt = tokens.find(({ hash }) => isSame(hash, credential.hash))?.expiresAt ?? null;
    return expiresAt === null ? null : (expiresAt + 1) * 1000;
  }
}

function credentialOf(user: User, key: string | null): Credential {
  if (key === null) return { kind: 'password', password: user.password, saltKey: newSaltKey() };
  return { kind: key.startsWith(SESSION_KEY_PREFIX) ? 'session' : 'token', hash: keyHash(key) };
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

const USER_GONE = authError('the user of this connection was deleted: connect and log in as another one');
const PASSWORD_CHANGED = authError(
  'the password of the user was changed since this connection logged in: connect and log in again',
);
const TOKEN_GONE = authError(
  'the token that this connection logged in with was deleted: connect and log in with another one',
);
const SESSION_GONE = authError(
  'the session that this connection logged in with was ended: connect and log in again',
);
const EXPIRED = authError(
  'the token or session that this connection logged in with has expired: connect and log in with another one',
);

const ENDS: Readonly<Record<Credential['kind'], QueryError>> = {
  password: PASSWORD_CHANGED,
  token: TOKEN_GONE,
  session: SESSION_GONE,
};
