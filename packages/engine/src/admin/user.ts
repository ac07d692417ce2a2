/**
 * Users as they are kept: with the hash of the password and the hashes of tokens, never with the secrets themselves.
 * A record is immutable; a change replaces it.
 */
import type { ByteReader, ByteWriter } from '../bytes.js';

/** A scrypt hash (RFC 7914) with its parameters. */
export interface PasswordHash {
  readonly salt: Uint8Array;
  readonly hash: Uint8Array;
  /** N = 2 ** logN. */
  readonly logN: number;
  readonly r: number;
  readonly p: number;
  /**
   * The salt of a hash of ThingsDB, for a password that came with one: the password itself is not known until its user logs in, so
   * `hash` is that of ThingsDB's hash, a text.
   */
  readonly thingsdbSalt?: string;
}

export interface Token {
  /** The first characters of the key: how information functions show it, and how it is found. */
  readonly prefix: string;
  /** SHA-256 of the whole key. */
  readonly hash: Uint8Array;
  /** Unix seconds. */
  readonly createdAt: number;
  /** Unix seconds; null for never. */
  readonly expiresAt: number | null;
  readonly description: string;
}

export interface User {
  readonly id: number;
  readonly name: string;
  /** Unix seconds. */
  readonly createdAt: number;
  readonly password: PasswordHash | null;
  readonly tokens: readonly Token[];
}

/** Characters of a token's key, and of the part that is shown. */
export const TOKEN_LENGTH = 22;
export const TOKEN_PREFIX_LENGTH = 6;

/** Random bytes as the text of a key: six bits of each. */
export function keyText(random: Uint8Array): string {
  return Array.from(random, (byte) => KEY_ALPHABET[byte & 63]).join('');
}

const KEY_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** The form in which a token is shown after it was made. */
export function shortToken(token: Token): string {
  return `${token.prefix}...`;
}

/**
 *   user    := id:varint name:text created:varint hasPassword:u8 password? count:varint token*     hasPassword: 0, 1, or 2 with `foreign`
 *   password:= salt:blob hash:blob logN:u8 r:varint p:varint foreign?
 *   foreign := salt:text                                                  `thingsdbSalt`
 *   token   := prefix:text hash:blob created:varint expires:varint (0: never, else time + 1) description:text
 */
export function writeUser(out: ByteWriter, user: User): void {
  out.varint(user.id);
  out.text(user.name);
  out.varint(user.createdAt);
  const { password } = user;
  out.u8(passwordForm(password));
  if (password !== null) {
    out.blob(password.salt);
    out.blob(password.hash);
    out.u8(password.logN);
    out.varint(password.r);
    out.varint(password.p);
    if (password.thingsdbSalt !== undefined) out.text(password.thingsdbSalt);
  }
  out.list(user.tokens, (token) => {
    out.text(token.prefix);
    out.blob(token.hash);
    out.varint(token.createdAt);
    out.varint(token.expiresAt === null ? 0 : token.expiresAt + 1);
    out.text(token.description);
  });
}

export function readUser(input: ByteReader): User {
  const id = input.varint();
  const name = input.text();
  const createdAt = input.varint();
  const form = input.u8();
  const password = form === 0 ? null : readPassword(input, form);
  return { id, name, createdAt, password, tokens: input.list(() => readToken(input)) };
}

function passwordForm(password: PasswordHash | null): number {
  if (password === null) return 0;
  return password.thingsdbSalt === undefined ? 1 : 2;
}

function readPassword(input: ByteReader, form: number): PasswordHash {
  const password = {
    salt: input.blob(),
    hash: input.blob(),
    logN: input.u8(),
    r: input.varint(),
    p: input.varint(),
  };
  return form === 1 ? password : { ...password, thingsdbSalt: input.text() };
}

function readToken(input: ByteReader): Token {
  const prefix = input.text();
  const hash = input.blob();
  const createdAt = input.varint();
  const expires = input.varint();
  return {
    prefix,
    hash,
    createdAt,
    expiresAt: expires === 0 ? null : expires - 1,
    description: input.text(),
  };
}
