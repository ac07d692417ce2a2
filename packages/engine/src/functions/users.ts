import { createHash, timingSafeEqual } from 'node:crypto';
import type { Target } from '../admin/access-lists.js';
import { KEPT_PRIVILEGES, Privilege, privilegeText, withBringing, withBrought } from '../admin/privileges.js';
import type { RootGroup } from '../admin/root-group.js';
import { NODE_NUMBER_MAX, parseScope } from '../admin/scope-name.js';
import { sessionId, type UserSession } from '../admin/sessions.js';
import {
  keyText,
  shortToken,
  TOKEN_LENGTH,
  TOKEN_PREFIX_LENGTH,
  type Token,
  type User,
} from '../admin/user.js';
import type { UserLimit } from '../admin/user-limits.js';
import { WHITELISTS } from '../admin/whitelist.js';
import {
  existsError,
  forbiddenError,
  lookupError,
  operationError,
  quotaError,
  valueError,
} from '../error.js';
import { type Info, packInfo } from '../pack/info.js';
import { CHANGES_ROOT, type Entry, func, GRANT } from '../run/builtin.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import { List } from '../value/containers.js';
import type { DateTimeValue } from '../value/datetime-value.js';
import { Float, type MpData } from '../value/scalars.js';
import { endExpiredSessions } from './session-requests.js';

/** Latest time of expiry: the end of 32 bits. */
export const EXPIRY_MAX = 4_294_967_295;

/** Users, passwords, tokens and privileges. */
export const USERS: readonly Entry[] = [
  func('new_user', {
    doc: 'Makes a user without password, tokens and privileges.',
    changes: CHANGES_ROOT,
    needs: GRANT,
    params: [p.str('name')],
    run: (rt, name) => {
      checkUserName(name);
      if (rt.root.usersByName.has(name)) throw existsError(`there is a user '${name}' already`);
      if (rt.root.users.size >= rt.quotas.users) {
        throw quotaError(`there are ${rt.root.users.size} users, the most that max_users allows`);
      }
      rt.editor.putUser({
        id: rt.editor.nextId(),
        name,
        createdAt: rt.seconds(),
        password: null,
        tokens: [],
      });
      return name;
    },
  }),
  func('del_user', {
    doc: 'Deletes a user with its tokens and privileges.',
    changes: CHANGES_ROOT,
    needs: GRANT,
    params: [p.str('name')],
    run: (rt, name) => {
      const user = userByName(rt.root, name);
      if (user.id === rt.user.id) throw operationError('you can not delete your own account');
      rt.editor.deleteUser(user);
      return null;
    },
  }),
  func('rename_user', {
    doc: 'Gives a user another name.',
    changes: CHANGES_ROOT,
    needs: GRANT,
    params: [p.str('name'), p.later(p.str('new_name'))],
    run: (rt, name, to) => {
      const user = userByName(rt.root, name);
      const newName = to();
      checkUserName(newName);
      if (rt.root.usersByName.has(newName)) throw existsError(`there is a user '${newName}' already`);
      rt.editor.putUser({ ...user, name: newName });
      return null;
    },
  }),
  func('has_user', {
    doc: 'Whether there is a user of this name.',
    needs: GRANT,
    params: [p.str('name')],
    run: (rt, name) => rt.root.usersByName.has(name),
  }),
  func('set_password', {
    doc: 'Sets the password of a user; nil removes it. That of another user takes GRANT on `@thingsdb`.',
    changes: CHANGES_ROOT,
    params: [p.str('name'), p.later(p.strOrNil('password'))],
    run: (rt, name, given) => {
      const user = ownOrGranted(rt, name);
      const password = given();
      if (password !== null && !/^[\x20-\x7e]{1,127}$/.test(password)) {
        throw valueError('a password has 1 to 127 printable ASCII characters');
      }
      rt.editor.putUser({ ...user, password: password === null ? null : rt.hashOf(password) });
      return null;
    },
  }),
  func('user_info', {
    doc: 'What is known of a user; without argument of the one that asks. With a name it takes GRANT on `@thingsdb`, and is asked there.',
    params: [p.optional(p.any('name'))],
    readsState: true,
    run: (rt, name) => {
      if (name === undefined) return userInfo(rt, rt.root.users.get(rt.user.id) ?? rt.user);
      if (rt.scope.kind !== 'thingsdb') {
        throw forbiddenError('user_info() of others can only be called in the scope @thingsdb');
      }
      needGrant(rt);
      if (typeof name !== 'string') {
        throw p.wrongType(name, { function: 'user_info', position: 1 }, 'name', 'a str');
      }
      return userInfo(rt, userByName(rt.root, name));
    },
  }),
  func('users_info', {
    doc: 'What is known of every user.',
    needs: GRANT,
    run: (rt) => new List([...rt.root.users.values()].map((user) => userInfo(rt, user))),
  }),
  func('new_token', {
    doc: 'Makes a token for a user and gives its key, which is never shown again. For another user it takes GRANT on `@thingsdb`.',
    changes: CHANGES_ROOT,
    params: [p.str('user'), p.optional(p.later(p.momentOrNil('expiry'))), p.optional(p.str('description'))],
    run: (rt, name, until, description = '') => {
      const user = ownOrGranted(rt, name);
      if (user.tokens.length >= rt.quotas.tokensPerUser) {
        throw quotaError(
          `user '${name}' has ${user.tokens.length} tokens, the most that max_tokens_per_user allows`,
        );
      }
      const expiresAt = until === undefined ? null : expiresAtOf(rt, until());
      const key = newKey(rt);
      const token: Token = {
        prefix: key.slice(0, TOKEN_PREFIX_LENGTH),
        hash: keyHash(key),
        createdAt: rt.seconds(),
        expiresAt,
        description,
      };
      rt.editor.putUser({ ...user, tokens: [...user.tokens, token] });
      const short = shortToken(token);
      rt.secrets.push(`make another token, and delete ${short} by del_token('${short}')`);
      return key;
    },
  }),
  func('del_token', {
    doc: 'Deletes a token, given by its key or its shortened form; that of another user takes GRANT on `@thingsdb`.',
    changes: CHANGES_ROOT,
    params: [p.str('key')],
    run: (rt, key) => {
      const found = findToken(rt.root, key);
      const mine = found !== undefined && found.user.id === rt.user.id;
      if (found === undefined || (!mine && !rt.access.has(Privilege.GRANT, 'thingsdb'))) {
        throw lookupError('there is no such token');
      }
      const { user, token } = found;
      rt.editor.putUser({ ...user, tokens: user.tokens.filter((other) => other !== token) });
      return null;
    },
  }),
  func('has_token', {
    doc: 'Whether there is a token with this key or shortened form.',
    needs: GRANT,
    params: [p.str('key')],
    run: (rt, key) => findToken(rt.root, key) !== undefined,
  }),
  func('del_expired', {
    doc: 'Deletes all expired tokens and sessions of all users.',
    changes: CHANGES_ROOT,
    needs: GRANT,
    run: (rt) => {
      const now = rt.seconds();
      for (const user of rt.root.users.values()) {
        rt.step(STEPS_PER_LOOK + user.tokens.length);
        const tokens = user.tokens.filter(({ expiresAt }) => expiresAt === null || expiresAt >= now);
        if (tokens.length < user.tokens.length) rt.editor.putUser({ ...user, tokens });
        endExpiredSessions(rt.editor, user, rt.environment.now());
      }
      return null;
    },
  }),
  func('del_sessions', {
    doc:
      'Ends the sessions of a user, who has to log in again, or the one whose id user_info() shows; gives how many ' +
      'there were.',
    changes: CHANGES_ROOT,
    params: [p.str('user'), p.optional(p.str('session'))],
    run: (rt, name, id) => {
      const user = ownOrGranted(rt, name);
      const all = rt.root.sessions.of(user.id);
      const left = id === undefined ? [] : all.filter((session) => sessionId(session) !== id);
      if (left.length < all.length) rt.editor.setSessions(user, left);
      return all.length - left.length;
    },
  }),
  func('grant', {
    doc:
      'Gives a user privileges on a scope: QUERY, CHANGE, GRANT, JOIN, RUN, added with |, or USER (all but GRANT) or FULL. ' +
      'It takes GRANT on the scope, or on @thingsdb. On @thingsdb they make administrators of the cluster: QUERY with ' +
      'CHANGE deletes and renames any collection; GRANT, which brings CHANGE, makes and deletes users, sets the ' +
      'password of any of them, also of admin, gives itself privileges on any scope, and takes backups.',
    changes: CHANGES_ROOT,
    params: [p.str('scope'), p.later(p.str('user')), p.later(p.int('mask'))],
    run: (rt, scope, userName, privileges) => {
      const target = grantedTarget(rt, scope);
      const user = userByName(rt.root, userName());
      const granted = withBrought(maskOf(privileges()));
      rt.editor.setAccess(target, user.id, (rt.root.access.maskOf(target, user.id) ?? 0) | granted);
      return null;
    },
  }),
  func('revoke', {
    doc: 'Takes privileges on a scope away from a user; it takes GRANT on the scope, or on @thingsdb.',
    changes: CHANGES_ROOT,
    params: [p.str('scope'), p.later(p.str('user')), p.later(p.int('mask'))],
    run: (rt, scope, userName, privileges) => {
      const target = grantedTarget(rt, scope);
      const user = userByName(rt.root, userName());
      const revoked = withBringing(maskOf(privileges()));
      if (user.id === rt.user.id && (revoked & KEPT_PRIVILEGES) !== 0) {
        throw operationError('you can not take QUERY or GRANT away from yourself');
      }
      const present = rt.root.access.maskOf(target, user.id);
      if (present !== undefined) rt.editor.setAccess(target, user.id, present & ~revoked || null);
      return null;
    },
  }),
];

/** Hash under which the key of a token is kept. Keys are random, so a fast hash is enough. */
export function keyHash(key: string): Uint8Array {
  return createHash('sha256').update(key).digest();
}

/** The target that a scope names. Throws value_err for what is no scope or names a node by a text, lookup_err for an unknown collection. */
export function targetOf(root: RootGroup, scope: string): Target {
  const name = parseScope(scope);
  // One access list, depth and zone holds for all nodes: a number is ignored, and a name would be one more thing to get wrong.
  if (name.kind === 'node' && typeof name.id === 'string') {
    throw valueError(
      `a node is named by its number here, from 0 to ${NODE_NUMBER_MAX}; write /n for all nodes`,
    );
  }
  if (name.kind !== 'collection') return name.kind;
  const collection = root.collectionsByName.get(name.name);
  if (collection === undefined) throw lookupError(`there is no collection '${name.name}'`);
  return collection.id;
}

/** A text as ISO 8601 in UTC. */
export function timeText(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
}

function needGrant(rt: Runtime): void {
  rt.access.require(Privilege.GRANT, 'thingsdb');
}

/** @throws QueryError value_err for what can't be the name of a user */
export function checkUserName(name: string): void {
  if (!/^[\x21-\x7e]{1,127}$/.test(name)) {
    throw valueError('the name of a user has 1 to 127 visible ASCII characters');
  }
}

/** @throws QueryError lookup_err when there is no such user */
export function userByName(root: RootGroup, name: string): User {
  const user = root.usersByName.get(name);
  if (user === undefined) throw lookupError(`there is no user '${name}'`);
  return user;
}

/** The user of a name, when it is one's own account or one may administer others. */
function ownOrGranted(rt: Runtime, name: string): User {
  const user = userByName(rt.root, name);
  if (user.id !== rt.user.id) needGrant(rt);
  return user;
}

/** The target of a scope whose privileges the user may give and take. */
function grantedTarget(rt: Runtime, scope: string): Target {
  const target = targetOf(rt.root, scope);
  if (!rt.access.has(Privilege.GRANT, 'thingsdb')) rt.access.require(Privilege.GRANT, target);
  return target;
}

function maskOf(mask: number | bigint): number {
  return Number(BigInt.asUintN(64, BigInt(mask)) & BigInt(Privilege.FULL));
}

function expiresAtOf(rt: Runtime, value: DateTimeValue | null): number | null {
  if (value === null) return null;
  const { moment } = value.time;
  if (moment < rt.seconds()) throw valueError('a token can not expire in the past');
  if (moment > EXPIRY_MAX) throw valueError('a token can expire until 2106-02-07T06:28:15Z at the latest');
  return Number(moment);
}

/** A key whose beginning no other token has. */
function newKey(rt: Runtime): string {
  for (;;) {
    const key = keyText(rt.environment.randomBytes(TOKEN_LENGTH));
    if (rt.root.tokenByPrefix(key.slice(0, TOKEN_PREFIX_LENGTH)) === undefined) return key;
  }
}

/** The token of a key or shortened form. Throws value_err for what is neither. */
function findToken(root: RootGroup, key: string): { readonly user: User; readonly token: Token } | undefined {
  if (/^[A-Za-z0-9+/]{6}\.\.\.$/.test(key)) return root.tokenByPrefix(key.slice(0, TOKEN_PREFIX_LENGTH));
  if (!/^[\x21-\x7e]{22}$/.test(key)) {
    throw valueError(
      'a token is given by its 22 characters, or as user_info shows it: the first six and ...',
    );
  }
  const found = root.tokenByKey(key);
  return found !== undefined && timingSafeEqual(found.token.hash, keyHash(key)) ? found : undefined;
}

/** Steps that count for a look whether something of a user has expired, besides one for each token. */
const STEPS_PER_LOOK = 8;

function userInfo(rt: Runtime, user: User): MpData {
  // There may be rights in each of them.
  rt.step(rt.root.collections.size);
  const now = rt.environment.now();
  const sessions = rt.root.sessions.of(user.id).filter(({ expiresAt }) => expiresAt > now);
  // Without sessions and limits, the information is that of ThingsDB, field by field.
  return packInfo(rt, {
    user_id: user.id,
    name: user.name,
    created_at: user.createdAt,
    has_password: user.password !== null,
    access: rt.root.accessOf(user.id).map(([target, mask]) => ({
      scope: rt.access.nameOf(target),
      privileges: privilegeText(mask),
    })),
    tokens: user.tokens.map((token) => tokenInfo(token, rt.seconds())),
    sessions: sessions.length === 0 ? undefined : sessions.map(sessionInfo),
    limits: limitsInfo(rt.root.userLimits.of(user.id)),
    whitelists: whitelistsInfo(rt.root, user.id),
  });
}

function limitsInfo({ durationMs, share, rate }: UserLimit): Info | undefined {
  if (durationMs === null && share === null && rate === null) return undefined;
  const float = (limit: number | null): Float | null => (limit === null ? null : new Float(limit));
  return { duration: durationMs, share: float(share), rate: float(rate) };
}

/** The lists that the user has, each with the text of its rules. */
function whitelistsInfo(root: RootGroup, userId: number): Info {
  const lists = WHITELISTS.map((list) => {
    const rules = root.whitelists.of(userId, list);
    return [list, rules?.map((rule) => (typeof rule === 'string' ? rule : rule.text))] as const;
  });
  return Object.fromEntries(lists);
}

function sessionInfo(session: UserSession): Info {
  const { createdAt, expiresAt, readOnly } = session;
  return {
    id: sessionId(session),
    created_on: timeText(Math.floor(createdAt / 1000)),
    expiration_time: timeText(Math.floor(expiresAt / 1000)),
    read_only: readOnly,
  };
}

function tokenInfo(token: Token, now: number): Info {
  const { expiresAt, description } = token;
  return {
    key: shortToken(token),
    status: expiresAt === null || expiresAt > now ? 'OK' : 'EXPIRED',
    expiration_time: expiresAt === null ? 'never' : timeText(expiresAt),
    description: description === '' ? undefined : description,
    created_on: timeText(token.createdAt),
  };
}
