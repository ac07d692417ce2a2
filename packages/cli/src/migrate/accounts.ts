/** Users of a ThingsDB, with what they may do, in a cluster. */
import { isWireList, isWireMap, type WireValue, wireMap } from '@althing/client';
import { type Connection, runQuery } from '../connection.js';
import type { ThingsdbRoot, ThingsdbUser } from '../node.js';
import type { Report } from './report.js';
import { NODE_SCOPE, THINGSDB_SCOPE } from './source.js';

const ROOT = '@thingsdb';

/** A user of the cluster, as far as a migration must know it. */
export interface ClusterUser {
  readonly id: number;
  readonly hasPassword: boolean;
  /** Names of the whitelists that it has. */
  readonly whitelists: ReadonlySet<string>;
  /** Scopes with the texts of its rights. */
  readonly access: readonly (readonly [scope: string, privileges: string])[];
}

/** The users of the cluster, by name. */
export async function clusterUsers(connection: Connection): Promise<Map<string, ClusterUser>> {
  const users = new Map<string, ClusterUser>();
  const infos = await runQuery(connection, ROOT, 'users_info();');
  for (const info of isWireList(infos) ? infos : []) {
    if (!isWireMap(info)) continue;
    const whitelists = info.get('whitelists');
    const access = info.get('access');
    users.set(String(info.get('name')), {
      id: Number(info.get('user_id')),
      hasPassword: info.get('has_password') === true,
      whitelists: new Set(isWireMap(whitelists) ? whitelists.keys() : []),
      access: (isWireList(access) ? access : []).flatMap((one) =>
        isWireMap(one) ? [[String(one.get('scope')), String(one.get('privileges'))] as const] : [],
      ),
    });
  }
  return users;
}

/** Makes the users, with passwords and tokens; those that are there keep their passwords. */
export async function bringUsers(
  connection: Connection,
  { users }: ThingsdbRoot,
  report: Report,
  isDryRun: boolean,
): Promise<void> {
  const known = await clusterUsers(connection);
  for (const user of users.values()) {
    const there = known.get(user.name);
    const password = passwordDetail(user, there);
    const tokens = `${user.tokens.length} tokens`;
    if (!isDryRun) {
      const made = await runQuery(connection, ROOT, 'import_user(name, user);', {
        name: user.name,
        user: accountOf(user),
      });
      const isNew =
        isWireMap(made) &&
        [...made.values()].some((value) => value === true || (typeof value === 'bigint' && value > 0n));
      await report.add('user', user.name, isNew ? 'made' : 'there', `${password}, ${tokens}`);
    } else {
      await report.add('user', user.name, there === undefined ? 'made' : 'there', `${password}, ${tokens}`);
    }
  }
}

/** Gives the users their whitelists and their rights on @thingsdb, @node and these collections. */
export async function bringRights(
  connection: Connection,
  root: ThingsdbRoot,
  collections: ReadonlySet<number>,
  report: Report,
): Promise<void> {
  const before = await clusterUsers(connection);
  for (const user of root.users.values()) {
    const vars: Record<string, WireValue> = { name: user.name };
    const statements = [
      ...grantsOf(root, user, collections, vars),
      ...whitelistsOf(user, before.get(user.name)?.whitelists ?? new Set(), vars),
    ];
    if (statements.length > 0) await runQuery(connection, ROOT, `${statements.join('\n')}\nnil;`, vars);
  }
  const after = await clusterUsers(connection);
  for (const { name } of root.users.values()) {
    const [was, is] = [before.get(name), after.get(name)];
    const isSame = was !== undefined && is !== undefined && rightsText(was) === rightsText(is);
    await report.add('rights', name, isSame ? 'there' : 'made', is === undefined ? '' : rightsText(is));
  }
}

function grantsOf(
  root: ThingsdbRoot,
  user: ThingsdbUser,
  collections: ReadonlySet<number>,
  vars: Record<string, WireValue>,
): string[] {
  return [...root.access].flatMap(([scope, access]) => {
    const mask = access.get(user.id) ?? 0;
    const name = scopeName(root, scope, collections);
    if (mask === 0 || name === null) return [];
    vars[`scope${scope}`] = name;
    return [`grant(scope${scope}, name, ${mask});`];
  });
}

/** @param present the lists that the user has here, which stay as they are */
function whitelistsOf(
  user: ThingsdbUser,
  present: ReadonlySet<string>,
  vars: Record<string, WireValue>,
): string[] {
  return (['rooms', 'procedures'] as const).flatMap((list) => {
    const rules = user[list];
    if (rules === null || present.has(list)) return [];
    const added = rules.map((rule, place) => {
      const end = rule.startsWith('/') ? rule.lastIndexOf('/') : 0;
      const value = `${list}${place}`;
      vars[value] = end > 0 ? rule.slice(1, end) : rule;
      if (end === 0) return `whitelist_add(name, '${list}', ${value});`;
      vars[`${list}_flags${place}`] = rule.slice(end + 1);
      return `whitelist_add(name, '${list}', regex(${value}, ${list}_flags${place}));`;
    });
    return [`whitelist_add(name, '${list}');`, ...added];
  });
}

function rightsText({ access, whitelists }: ClusterUser): string {
  const rights = access.map(([scope, privileges]) => `${scope} ${privileges}`);
  return [...rights, ...[...whitelists].map((list) => `whitelist of ${list}`)].join(', ');
}

function passwordDetail(user: ThingsdbUser, there: ClusterUser | undefined): string {
  if (there?.hasPassword === true) return 'keeps the password that it has here';
  if (!user.hasPassword) return 'no password';
  return user.passwordHash === undefined ? 'WITHOUT its password' : 'with its password';
}

function accountOf({ createdAt, passwordHash, tokens }: ThingsdbUser): WireValue {
  return wireMap({
    created_at: BigInt(createdAt),
    password_hash: passwordHash ?? null,
    tokens: tokens.map((token) =>
      wireMap({
        key: token.key,
        created_at: BigInt(token.createdAt),
        expires_at: token.expiresAt === null ? null : BigInt(token.expiresAt),
        description: token.description,
      }),
    ),
  });
}

/** The name of a scope here; null for that of a collection that did not come. */
function scopeName({ collections }: ThingsdbRoot, scope: number, came: ReadonlySet<number>): string | null {
  if (scope === THINGSDB_SCOPE) return '@thingsdb';
  if (scope === NODE_SCOPE) return '@node';
  const collection = collections.get(scope);
  return collection === undefined || !came.has(scope) ? null : `//${collection.name}`;
}
