/** Requests about logins, as those that begin, renew and end sessions: no programs, and open to every user, whatever its privileges. */
import type { RootEditor } from '../admin/root-editor.js';
import {
  isBackedBy,
  isSameHash,
  SESSIONS_PER_USER,
  type SessionLimits,
  type UserSession,
} from '../admin/sessions.js';
import type { User } from '../admin/user.js';
import { ErrorCode, QueryError, quotaError } from '../error.js';
import type { Runtime } from '../run/runtime.js';

/** The key of a session stays on the node that made it: here and in the log is its hash. */
export type SessionAsk = { readonly hash: Uint8Array } & (
  | {
      readonly act: 'begin';
      /** As `UserSession` has it. */
      readonly proof: Uint8Array;
      readonly readOnly: boolean;
    }
  | { readonly act: 'renew' | 'end' }
  /** The password is known now, which was kept as the hash of a hash of ThingsDB: `hash` is its own, with the same salt. */
  | { readonly act: 'rehash'; readonly proof: Uint8Array }
);

export interface SessionBody {
  readonly kind: 'session';
  readonly ask: SessionAsk;
}

/**
 * Carries one out. A session that is begun twice under the same hash is one.
 *
 * @returns Unix seconds at which the session ends unless it is renewed; null for one that was ended, or none
 * @throws QueryError auth_err when session, password or token are gone, max_quota_err when too many begin
 */
export function sessionRequest(rt: Runtime, { ask }: SessionBody): number | null {
  const user = rt.root.users.get(rt.user.id);
  if (user === undefined) throw GONE;
  if (ask.act === 'begin') return secondsOf(begin(rt, user, ask));
  if (ask.act === 'rehash') {
    const { password } = user;
    if (password?.thingsdbSalt !== undefined && isSameHash(password.salt, ask.proof)) {
      const { thingsdbSalt: _, ...kept } = password;
      rt.editor.putUser({ ...user, password: { ...kept, hash: ask.hash } });
    }
    return null;
  }
  const sessions = rt.root.sessions.of(user.id);
  const session = sessions.find(({ hash }) => isSameHash(hash, ask.hash));
  if (ask.act === 'end') {
    if (session !== undefined) rt.editor.setSessions(user, without(sessions, session));
    return null;
  }
  const now = Math.floor(rt.environment.now());
  if (session === undefined || session.expiresAt <= now) throw GONE;
  return secondsOf(renew(rt, user, session, now));
}

/** Ends what has expired of a user's sessions. */
export function endExpiredSessions(editor: RootEditor, user: User, now: number): void {
  const sessions = editor.root.sessions.of(user.id);
  const left = sessions.filter(({ expiresAt }) => expiresAt > now);
  if (left.length < sessions.length) editor.setSessions(user, left);
}

function begin(
  rt: Runtime,
  user: User,
  { hash, proof, readOnly }: Extract<SessionAsk, { readonly act: 'begin' }>,
): UserSession {
  const now = Math.floor(rt.environment.now());
  const live = rt.root.sessions.of(user.id).filter(({ expiresAt }) => expiresAt > now);
  const same = live.find((session) => isSameHash(session.hash, hash));
  if (same !== undefined) return same;
  if (!isBackedBy({ proof }, user)) throw GONE;
  const expiresAt = expiryOf(user, proof, now, now, rt.quotas.sessions);
  const session = { hash, proof, createdAt: now, expiresAt, readOnly };
  rt.editor.setSessions(user, [...withRoom(live, user, now), session]);
  return session;
}

/** The sessions that stay when another one begins: of too many the one ends that was not used for the longest time. */
function withRoom(live: readonly UserSession[], { name }: User, now: number): readonly UserSession[] {
  if (live.length < SESSIONS_PER_USER) return live;
  // Each begin is a log entry, which takes no privilege: so many can only come from a program that runs wild.
  if (live.every(({ createdAt }) => now - createdAt >= 0 && now - createdAt < WILD_MS)) {
    throw quotaError(
      `user '${name}' has begun ${live.length} sessions within a minute: end sessions that are not used any more, and wait`,
    );
  }
  return without(
    live,
    live.reduce((least, each) => (each.expiresAt < least.expiresAt ? each : least)),
  );
}

/** Gives a session as much time as a new one would get. Little more is not worth a log entry. */
function renew(rt: Runtime, user: User, session: UserSession, now: number): UserSession {
  const limits = rt.quotas.sessions;
  const expiresAt = expiryOf(user, session.proof, session.createdAt, now, limits);
  if (expiresAt - session.expiresAt < limits.idleMs * WORTH_RENEWING) return session;
  const renewed = { ...session, expiresAt };
  const sessions = rt.root.sessions.of(user.id);
  rt.editor.setSessions(
    user,
    sessions.map((each) => (each === session ? renewed : each)),
  );
  return renewed;
}

/** A session that was begun with a token ends when the token expires. */
function expiryOf(
  { tokens }: User,
  proof: Uint8Array,
  createdAt: number,
  now: number,
  { idleMs, maxMs }: SessionLimits,
): number {
  const token = tokens.find(({ hash }) => isSameHash(hash, proof));
  const tokenEnd = token?.expiresAt ?? null;
  const end = Math.min(now + idleMs, createdAt + maxMs);
  return tokenEnd === null ? end : Math.min(end, tokenEnd * 1000);
}

function secondsOf({ expiresAt }: UserSession): number {
  return Math.floor(expiresAt / 1000);
}

function without(sessions: readonly UserSession[], one: UserSession): UserSession[] {
  return sessions.filter((each) => each !== one);
}

const WILD_MS = 60_000;

/** Part of the time without renewal that a renewal has to bring. */
const WORTH_RENEWING = 1 / 6;

const GONE = new QueryError(
  ErrorCode.AUTH,
  'the session has ended, or the password or token that it is begun with is gone: log in again',
);
