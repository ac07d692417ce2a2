import {
  ErrorCode,
  type PasswordHash,
  QueryError,
  type RootGroup,
  type Token,
  type User,
} from '@althing/engine';
import { isSaltOf, newSaltKey } from '../../base/password-salts.js';

type SessionRoot = Pick<RootGroup, 'users' | 'accessVersion' | 'isLoading' | 'tokenByKey'>;

const BEARER = 'Bearer ';

/**
 * The login of a connection: its user, and the password or token. It holds as long as the user is there, and has the password
 * or the token that it was begun with, or a password that a request of this session has set.
 */
export class Session {
  private readonly root: Pick<RootGroup, 'users' | 'accessVersion' | 'isLoading'>;
  private user: User;
  /** Null for a token. */
  private readonly password: PasswordHash | null;
  private readonly token: Token | null;
  /** For the passwords that its requests set; null where the login does not depend on a password. */
  private readonly saltKey: Uint8Array | null;
  /** The version of users and tokens at which it was looked at last. */
  private version: number;

  /** @param authorization the credentials, as a header has them */
  static of(root: SessionRoot, user: User, authorization: string): Session {
    return new Session(
      root,
      user,
      authorization.startsWith(BEARER) ? authorization.slice(BEARER.length) : null,
    );
  }

  /** @param key the token that it was begun with; null for a password */
  constructor(root: SessionRoot, user: User, key: string | null) {
    this.root = root;
    this.user = user;
    this.password = key === null ? user.password : null;
    this.token = key === null ? null : (root.tokenByKey(key)?.token ?? null);
    this.saltKey = key === null ? newSaltKey() : null;
    this.version = root.accessVersion;
  }

  /** The mark that a request carries which may set the own password; null for none. */
  get ownPassword(): { readonly saltKey: Uint8Array } | null {
    return this.saltKey === null ? null : { saltKey: this.saltKey };
  }

  get userId(): number {
    return this.user.id;
  }

  /**
   * The user, as it is now.
   *
   * @param now wall clock in milliseconds
   * @returns an error when the session has ended
   */
  check(now: number): User | QueryError {
    const expiresAt = this.token?.expiresAt ?? null;
    if (expiresAt !== null && expiresAt < Math.floor(now / 1000)) return EXPIRED;
    // While a snapshot is being read, a user who is not there yet is nobody who was deleted.
    if (this.root.accessVersion === this.version || this.root.isLoading) return this.user;
    const user = this.root.users.get(this.user.id);
    if (user === undefined) return USER_GONE;
    if (!this.holds(user)) return this.token === null ? PASSWORD_CHANGED : TOKEN_GONE;
    this.user = user;
    this.version = this.root.accessVersion;
    return user;
  }

  private holds(user: User): boolean {
    const { token, password, saltKey } = this;
    if (token !== null) return user.tokens.some(({ hash }) => isSame(hash, token.hash));
    if (password === null || saltKey === null || user.password === null) return false;
    return isSame(password.hash, user.password.hash) || isSaltOf(user.password.salt, saltKey);
  }
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

const USER_GONE = new QueryError(
  ErrorCode.AUTH,
  'the user of this connection was deleted: connect and log in as another one',
);
const PASSWORD_CHANGED = new QueryError(
  ErrorCode.AUTH,
  'the password of the user was changed since this connection logged in: connect and log in again',
);
const TOKEN_GONE = new QueryError(
  ErrorCode.AUTH,
  'the token that this connection logged in with was deleted: connect and log in with another one',
);
const EXPIRED = new QueryError(
  ErrorCode.AUTH,
  'the token that this connection logged in with has expired: connect and log in with another one',
);
