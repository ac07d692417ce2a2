/** Changes of the root scope, as the audit log tells them: who may do what, and which nodes and collections there are. */

import type { Target } from './access-lists.js';
import type { ModuleInfo } from './modules.js';
import { privilegeText } from './privileges.js';
import type { RootGroup } from './root-group.js';
import { isSameHash, type UserSession } from './sessions.js';
import { shortToken, type User } from './user.js';
import type { UserLimit } from './user-limits.js';
import type { WhitelistName, WhitelistRule } from './whitelist.js';

export interface RootEvent {
  readonly event:
    | 'user_made'
    | 'user_deleted'
    | 'user_renamed'
    | 'password_set'
    | 'password_removed'
    | 'token_made'
    | 'token_deleted'
    | 'session_begun'
    | 'sessions_ended'
    | 'access_set'
    | 'whitelist_set'
    | 'limits_set'
    | 'feed_set'
    | 'collection_made'
    | 'collection_renamed'
    | 'collection_deleted'
    | 'node_invited'
    | 'invitation_deleted'
    | 'node_joined'
    | 'node_leaving'
    | 'node_removed'
    | 'level_raised'
    | 'module_made'
    | 'module_changed'
    | 'module_deployed'
    | 'module_deleted';
  /** Never a secret. */
  readonly fields: Readonly<Record<string, string | number>>;
}

/** Events of a change of a user. */
export function userEvents(old: User | undefined, user: User): RootEvent[] {
  const { name } = user;
  if (old === undefined) return [{ event: 'user_made', fields: { name } }];
  const events: RootEvent[] = [];
  if (old.name !== name) events.push({ event: 'user_renamed', fields: { name: old.name, to: name } });
  // With the salt, the password is the same: its hash is another.
  if (old.password?.salt !== user.password?.salt) {
    events.push({ event: user.password === null ? 'password_removed' : 'password_set', fields: { name } });
  }
  const before = new Set(old.tokens.map(({ prefix }) => prefix));
  for (const token of user.tokens) {
    if (before.has(token.prefix)) continue;
    const expires = token.expiresAt === null ? 'never' : new Date(token.expiresAt * 1000).toISOString();
    events.push({ event: 'token_made', fields: { name, token: shortToken(token), expires } });
  }
  const after = new Set(user.tokens.map(({ prefix }) => prefix));
  for (const token of old.tokens) {
    if (after.has(token.prefix)) continue;
    events.push({ event: 'token_deleted', fields: { name, token: shortToken(token) } });
  }
  return events;
}

/** The limits of a user that are set, in words. */
export function limitFields({ durationMs, share, rate }: UserLimit): RootEvent['fields'] {
  return {
    ...(durationMs === null ? {} : { duration_ms: durationMs }),
    ...(share === null ? {} : { share }),
    ...(rate === null ? {} : { rate }),
  };
}

/** Events of the sessions of a user: those that begin, and how many end. A renewal is no event. */
export function sessionEvents(
  { name }: User,
  old: readonly UserSession[],
  sessions: readonly UserSession[],
): RootEvent[] {
  const isAmong = (all: readonly UserSession[], one: UserSession): boolean =>
    all.some(({ hash }) => isSameHash(hash, one.hash));
  const events: RootEvent[] = [];
  for (const session of sessions) {
    if (isAmong(old, session)) continue;
    const fields = { name, access: session.readOnly ? 'read_only' : 'full' };
    events.push({ event: 'session_begun', fields });
  }
  const ended = old.filter((session) => !isAmong(sessions, session)).length;
  if (ended > 0) events.push({ event: 'sessions_ended', fields: { name, sessions: ended } });
  return events;
}

/** @param mask the new privileges; null for none any more */
export function accessEvent(root: RootGroup, target: Target, userId: number, mask: number | null): RootEvent {
  const scope =
    typeof target === 'string' ? `@${target}` : `@collection:${root.collections.get(target)?.name ?? target}`;
  const name = root.users.get(userId)?.name ?? String(userId);
  return { event: 'access_set', fields: { name, scope, privileges: privilegeText(mask ?? 0) } };
}

/** The event of a change of a module. Its configuration may be secret. */
export function moduleEvent(old: ModuleInfo | undefined, { name, source }: ModuleInfo): RootEvent {
  if (old === undefined) return { event: 'module_made', fields: { name, source } };
  return { event: 'module_changed', fields: old.name === name ? { name } : { name: old.name, to: name } };
}

/** @param rules the rules from now on; null for no list any more */
export function whitelistEvent(
  root: RootGroup,
  userId: number,
  list: WhitelistName,
  rules: readonly WhitelistRule[] | null,
): RootEvent {
  const name = root.users.get(userId)?.name ?? String(userId);
  return { event: 'whitelist_set', fields: { name, list, rules: rules === null ? 'none' : rules.length } };
}
