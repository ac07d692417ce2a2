/**
 * Sessions as a part of the state of the root scope: each is begun in exchange for a password or a token, and carries a user's requests
 * for a while in its place. The keys are not kept, only their hashes.
 *
 *   effect   := 52 user:varint sessions          the sessions of a user from now on
 *   sessions := count:varint session*
 *   session  := hash:blob proof:blob created:varint expires:varint readOnly:u8      times in Unix milliseconds
 *
 * Record: SESSIONS (id of the user) holds `sessions`. The leader's clock decides when one begins and ends; other nodes take its times.
 * One that has expired stays in the state until its user begins another one, or `del_expired` removes it.
 */
import type { ByteReader, ByteWriter } from '../bytes.js';
import type { Dirty } from '../state/dirty.js';
import { type Format, setEffect, ValuesById } from '../state/parts/values-by-id.js';
import { RecordKind } from '../state/records.js';
import { one } from '../state/tally.js';
import type { User } from './user.js';

export interface UserSession {
  /** SHA-256 of the key. */
  readonly hash: Uint8Array;
  /** The proof that it was begun with: the salt of the password, or the hash of the token. It ends with that. */
  readonly proof: Uint8Array;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** Unix milliseconds. */
  readonly expiresAt: number;
  /** True if none of its requests may change anything. */
  readonly readOnly: boolean;
}

/** A session, with the user whose it is. */
export interface FoundSession {
  readonly userId: number;
  readonly session: UserSession;
}

/** Times that sessions last. */
export interface SessionLimits {
  /** Without a renewal, in milliseconds. */
  readonly idleMs: number;
  /** In all, in milliseconds. */
  readonly maxMs: number;
}

/** Sessions of one user at most. */
export const SESSIONS_PER_USER = 20;

/** The beginning of the key of a session: no key of a token has it. */
export const SESSION_KEY_PREFIX = 'ses_';

/** The sessions of each user, in the order in which they were begun. */
export class Sessions extends ValuesById<readonly UserSession[]> {
  /** Called when there are others than before. */
  changed: () => void = () => {};
  private readonly byHash = new Map<string, FoundSession>();

  constructor(dirty: Dirty) {
    super(dirty, RecordKind.SESSIONS, SESSIONS, SessionEffect);
  }

  of(userId: number): readonly UserSession[] {
    return this.all.get(userId) ?? [];
  }

  /** The session whose key has this hash, which may have expired. */
  byHashOfKey(hash: Uint8Array): FoundSession | undefined {
    return this.byHash.get(nameOf(hash));
  }

  /** Sets the sessions of a user, of which there may be none. */
  override set(userId: number, sessions: readonly UserSession[] | undefined): void {
    const before = this.of(userId);
    super.set(userId, sessions?.length === 0 ? undefined : sessions);
    this.index(userId, before);
  }

  override load(kind: RecordKind, userId: number, part: number, value: Uint8Array): void {
    const before = this.of(userId);
    super.load(kind, userId, part, value);
    this.index(userId, before);
  }

  override clear(): void {
    super.clear();
    this.byHash.clear();
    this.changed();
  }

  private index(userId: number, before: readonly UserSession[]): void {
    for (const { hash } of before) this.byHash.delete(nameOf(hash));
    for (const session of this.of(userId)) this.byHash.set(nameOf(session.hash), { userId, session });
    this.changed();
  }
}

const SESSIONS: Format<readonly UserSession[]> = { write: writeSessions, read: readSessions };

export const SessionEffect = {
  /** The sessions of a user from now on. */
  SET: setEffect(SESSIONS, { code: 0x52, cost: () => NS_PER_UNDO, counts: one('users') }),
};

/** The name of a session for people: the first 48 bits of its hash, which say nothing of its key. */
export function sessionId({ hash }: Pick<UserSession, 'hash'>): string {
  return Buffer.from(hash.subarray(0, 6)).toString('hex');
}

/** Nanoseconds that it takes to take a change of a user's sessions back. */
const NS_PER_UNDO = 20_000;

/** True if a user still has the password or the token that a session was begun with. */
export function isBackedBy({ proof }: Pick<UserSession, 'proof'>, { password, tokens }: User): boolean {
  if (password !== null && isSameHash(password.salt, proof)) return true;
  return tokens.some(({ hash }) => isSameHash(hash, proof));
}

/** True if two hashes, or salts, are the same. */
export function isSameHash(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}

function nameOf(hash: Uint8Array): string {
  return String.fromCharCode(...hash);
}

function writeSessions(out: ByteWriter, sessions: readonly UserSession[]): void {
  out.list(sessions, ({ hash, proof, createdAt, expiresAt, readOnly }) => {
    out.blob(hash);
    out.blob(proof);
    out.varint(createdAt);
    out.varint(expiresAt);
    out.u8(readOnly ? 1 : 0);
  });
}

function readSessions(input: ByteReader): UserSession[] {
  return input.list(() => ({
    hash: input.blob(),
    proof: input.blob(),
    createdAt: input.varint(),
    expiresAt: input.varint(),
    readOnly: input.u8() === 1,
  }));
}
