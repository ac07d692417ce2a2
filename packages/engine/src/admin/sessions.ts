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
import { ByteReader, type ByteWriter, encoded } from '../bytes.js';
import type { Dirty } from '../state/dirty.js';
import { effect, effectsOn } from '../state/effect.js';
import type { GroupPart } from '../state/parts/part.js';
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

export class Sessions implements GroupPart {
  readonly effects = effectsOn(this, SessionEffect);
  readonly kinds = [RecordKind.SESSIONS];
  /** Called when there are others than before. */
  changed: () => void = () => {};
  private readonly byUser = new Map<number, readonly UserSession[]>();
  private readonly byHash = new Map<string, FoundSession>();

  constructor(private readonly dirty: Dirty) {}

  /** All sessions, by user. */
  get all(): ReadonlyMap<number, readonly UserSession[]> {
    return this.byUser;
  }

  /** The sessions of a user, in the order in which they were begun. */
  of(userId: number): readonly UserSession[] {
    return this.byUser.get(userId) ?? [];
  }

  /** The session whose key has this hash, which may have expired. */
  byHashOfKey(hash: Uint8Array): FoundSession | undefined {
    return this.byHash.get(nameOf(hash));
  }

  set(userId: number, sessions: readonly UserSession[]): void {
    if (sessions.length === 0 && !this.byUser.has(userId)) return;
    this.index(userId, sessions);
    if (sessions.length === 0) {
      this.dirty.put(RecordKind.SESSIONS, userId, 0, null);
      return;
    }
    this.dirty.put(RecordKind.SESSIONS, userId, 0, encoded(writeSessions, sessions));
  }

  load(_kind: RecordKind, id: number, _part: number, value: Uint8Array): void {
    this.index(id, readSessions(new ByteReader(value)));
  }

  clear(): void {
    this.byUser.clear();
    this.byHash.clear();
    this.changed();
  }

  /** A session is no data that would be in the way of a restore: it ends. */
  contents(): string | null {
    return null;
  }

  private index(userId: number, sessions: readonly UserSession[]): void {
    for (const { hash } of this.of(userId)) this.byHash.delete(nameOf(hash));
    for (const session of sessions) this.byHash.set(nameOf(session.hash), { userId, session });
    if (sessions.length === 0) this.byUser.delete(userId);
    else this.byUser.set(userId, sessions);
    this.changed();
  }
}

export const SessionEffect = {
  /** The sessions of a user from now on. */
  SET: effect<Sessions, [userId: number, sessions: readonly UserSession[]]>({
    code: 0x52,
    write: (out, userId, sessions) => {
      out.varint(userId);
      writeSessions(out, sessions);
    },
    read: (input) => [input.varint(), readSessions(input)],
    apply: (all, userId, sessions) => all.set(userId, sessions),
    inverse: (all, userId) => {
      const old = all.of(userId);
      return () => all.set(userId, old);
    },
    cost: () => NS_PER_UNDO,
    counts: one('users'),
  }),
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
