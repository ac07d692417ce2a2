/** A ThingsDB that runs, asked by its own protocol: it tells everything but the hashes of passwords. */
import {
  decodeMessagePack,
  isWireBytes,
  isWireList,
  isWireMap,
  SocketClient,
  SocketError,
  type WireValue,
} from '@althing/client';
import { CommandError } from '../input.js';
import type * as Node from '../node.js';
import { messageOf } from '../system-error.js';
import { type MigrationSource, NODE_SCOPE, THINGSDB_SCOPE } from './source.js';

/** The login: a token, or a name with a password. */
export type SourceCredentials = string | { readonly user: string; readonly password: string };

/**
 * Connects to it, and reads users and settings.
 *
 * @throws CommandError
 */
export async function openRunningSource(
  node: typeof Node,
  place: { readonly host: string; readonly port: number },
  credentials: SourceCredentials,
): Promise<MigrationSource> {
  const where = `the ThingsDB at ${place.host}:${place.port}`;
  const client = await SocketClient.connect(place).catch((error: unknown) => {
    throw new CommandError(`${where} can't be reached: ${messageOf(error)}`);
  });
  const ask = async (scope: string, code: string): Promise<WireValue> => {
    try {
      return await client.query(scope, code, {});
    } catch (error) {
      const hint = error instanceof SocketError && error.code === FORBIDDEN ? GRANT_HINT : '';
      throw new CommandError(`${where}: ${scope}: ${messageOf(error)}${hint}`);
    }
  };
  try {
    await client.login(credentials).catch((error: unknown) => {
      throw new CommandError(`${where}: ${messageOf(error)}`);
    });
    const root = await readRoot(ask);
    const ids = new Map(Array.from(root.users.values(), ({ id, name }) => [name, id]));
    return {
      root,
      gaps: [
        'the hashes of passwords are in no answer of a running ThingsDB: users who have one get new ones by set_password(), or come from a backup archive',
      ],
      read: async ({ name }) => {
        const dump = await ask(`//${name}`, 'export({dump: true});');
        if (!isWireBytes(dump)) throw new CommandError(`${where}: //${name} gave no dump`);
        const tasks = rows(await ask(`//${name}`, 'tasks().map(|t| [t.id(), t.owner()]);'));
        const taskOwners = new Map<number, number>();
        for (const [id, owner] of tasks) {
          const user = ids.get(textOf(owner));
          if (user !== undefined) taskOwners.set(intOf(id), user);
        }
        return { group: node.readDump(dump), taskOwners };
      },
      close: () => client.close(),
    };
  } catch (error) {
    client.close();
    throw error;
  }
}

/** Code of `forbidden_err`. */
const FORBIDDEN = -55;

const GRANT_HINT =
  ": the user needs all rights on @thingsdb and on each collection; an administrator can give them: grant('//NAME', 'USER', FULL)";

type Ask = (scope: string, code: string) => Promise<WireValue>;

async function readRoot(ask: Ask): Promise<Node.ThingsdbRoot> {
  const infos = async (code: string): Promise<Fields[]> =>
    listOf(await ask('@thingsdb', code)).map((item) => new Fields(item));
  const root: Node.ThingsdbRoot = {
    users: new Map(),
    collections: new Map(),
    access: new Map(),
    procedures: new Map(),
    tasks: new Map(),
    modules: new Set(),
    histories: new Set(),
  };
  const scopes = new Map([
    ['@thingsdb', THINGSDB_SCOPE],
    ['@node', NODE_SCOPE],
  ]);
  for (const info of await infos('collections_info();')) {
    const id = info.int('collection_id');
    const name = info.text('name');
    scopes.set(`@collection:${name}`, id);
    root.collections.set(id, {
      id,
      name,
      createdAt: info.int('created_at'),
      timeZone: info.text('time_zone', 'UTC'),
      deep: info.int('default_deep', 1),
      folder: null,
      rootId: 0,
    });
    if (info.text('commit_history', 'disabled') !== 'disabled') root.histories.add(id);
  }
  for (const info of await infos('users_info();')) readUser(root, scopes, info);
  for (const info of await infos('procedures_info();')) {
    const name = info.text('name');
    root.procedures.set(name, { name, createdAt: info.int('created_at'), source: info.text('definition') });
  }
  for (const info of await infos('modules_info();')) root.modules.add(info.text('name'));
  const owners = new Map(Array.from(root.users.values(), ({ id, name }) => [name, id]));
  const tasks = 'tasks().map(|t| [t.id(), str(t.at()), str(t.closure()), t.args(), t.owner()]);';
  for (const [id, at, closure, args, owner] of rows(await ask('@thingsdb', tasks))) {
    const startAt = Date.parse(textOf(at)) / 1000;
    root.tasks.set(intOf(id), {
      id: intOf(id),
      startAt: Number.isFinite(startAt) ? startAt : 0,
      owner: owners.get(textOf(owner)) ?? 0,
      source: textOf(closure),
      args: plainArguments(args),
    });
  }
  return root;
}

function readUser(root: Node.ThingsdbRoot, scopes: ReadonlyMap<string, number>, info: Fields): void {
  const id = info.int('user_id');
  const whitelists = new Fields(info.value('whitelists') ?? new Map());
  const hasPassword = info.value('has_password') === true;
  root.users.set(id, {
    id,
    name: info.text('name'),
    createdAt: info.int('created_at'),
    passwordHash: hasPassword ? undefined : null,
    hasPassword,
    tokens: info.list('tokens').map((item) => {
      const token = new Fields(item);
      return {
        key: token.text('key'),
        expiresAt: timeOf(token.text('expiration_time', 'never')),
        createdAt: timeOf(token.text('created_on', '')) ?? 0,
        description: token.text('description', ''),
      };
    }),
    rooms: whitelists.texts('rooms'),
    procedures: whitelists.texts('procedures'),
  });
  for (const item of info.list('access')) {
    const access = new Fields(item);
    const scope = scopes.get(access.text('scope'));
    if (scope === undefined) continue;
    const known = root.access.get(scope) ?? new Map<number, number>();
    known.set(id, maskOf(access.text('privileges')));
    root.access.set(scope, known);
  }
}

/** Names of rights, in the texts of information functions; EVENT and WATCH are those of older versions. */
const MASKS: ReadonlyMap<string, number> = new Map([
  ['QUERY', 1],
  ['CHANGE', 2],
  ['EVENT', 2],
  ['GRANT', 4],
  ['JOIN', 8],
  ['WATCH', 8],
  ['RUN', 16],
  ['USER', 27],
  ['FULL', 31],
]);

/** The bits of rights whose names stand one behind the other, with `|` in between; names that are not known have none. */
export function maskOf(privileges: string): number {
  return privileges.split('|').reduce((mask, name) => mask | (MASKS.get(name.trim()) ?? 0), 0);
}

/** Unix seconds of a time in ISO 8601; null for `never`. */
function timeOf(text: string): number | null {
  const ms = Date.parse(text);
  return Number.isFinite(ms) ? Math.floor(ms / 1000) : null;
}

/** Arguments that are no things, rooms and the like. */
function plainArguments(value: WireValue | undefined): readonly Node.PlainArgument[] | null {
  const list = listOf(value);
  const isPlain = (item: WireValue): item is Node.PlainArgument =>
    isWireList(item) ? item.every(isPlain) : !isWireMap(item);
  return list.every(isPlain) ? list : null;
}

/** A map that a function tells, whose values are of known kinds. */
class Fields {
  private readonly map: ReadonlyMap<string, WireValue>;

  constructor(value: WireValue) {
    // Information comes as bytes of MessagePack where it is inside something else.
    const map = isWireBytes(value) ? decodeMessagePack(value) : value;
    this.map = isWireMap(map) ? map : new Map();
  }

  value(key: string): WireValue | undefined {
    return this.map.get(key);
  }

  text(key: string, none?: string): string {
    const value = this.map.get(key);
    if (typeof value === 'string') return value;
    if (none !== undefined && value === undefined) return none;
    return value === null || value === undefined ? this.missing(key) : String(value);
  }

  int(key: string, none?: number): number {
    const value = this.map.get(key);
    if (typeof value === 'bigint') return Number(value);
    return none ?? this.missing(key);
  }

  list(key: string): readonly WireValue[] {
    return listOf(this.map.get(key));
  }

  texts(key: string): readonly string[] | null {
    return this.map.has(key) ? this.list(key).map(textOf) : null;
  }

  private missing(key: string): never {
    throw new CommandError(`the ThingsDB told no \`${key}\`: is it a version below 1.5?`);
  }
}

function rows(value: WireValue): (readonly WireValue[])[] {
  return listOf(value).map(listOf);
}

function listOf(value: WireValue | undefined): readonly WireValue[] {
  return isWireList(value) ? value : [];
}

function textOf(value: WireValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

function intOf(value: WireValue | undefined): number {
  return typeof value === 'bigint' ? Number(value) : 0;
}
