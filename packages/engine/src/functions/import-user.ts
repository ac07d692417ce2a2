/** Taking over users of ThingsDB, with the secrets that they have there. */
import { shortToken, TOKEN_LENGTH, TOKEN_PREFIX_LENGTH, type Token, type User } from '../admin/user.js';
import { existsError, quotaError, valueError } from '../error.js';
import { CHANGES_ROOT, type Entry, func, GRANT } from '../run/builtin.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import { List } from '../value/containers.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { checkUserName, EXPIRY_MAX, keyHash } from './users.js';

const SALT_LENGTH = 10;
const DESCRIPTION_LENGTH_MAX = 4096;

export const IMPORT_USER: readonly Entry[] = [
  func('import_user', {
    doc:
      'Takes over a user of ThingsDB: `created_at`, `password_hash` as ThingsDB keeps it, and `tokens` with `key`, `created_at`, `expires_at` and `description`. ' +
      'A user who is there keeps the password, and gets the tokens that are new. Gives what was made: `user`, `password`, and the number of `tokens`.',
    changes: CHANGES_ROOT,
    needs: GRANT,
    params: [p.str('name'), p.thing('user')],
    run: (rt, name, given) => {
      checkUserName(name);
      const wanted = read(rt, given);
      const known = rt.root.usersByName.get(name);
      if (known === undefined && rt.root.users.size >= rt.quotas.users) {
        throw quotaError(`there are ${rt.root.users.size} users, the most that max_users allows`);
      }
      const user: User = known ?? {
        id: rt.editor.nextId(),
        name,
        createdAt: wanted.createdAt ?? rt.seconds(),
        password: null,
        tokens: [],
      };
      const tokens = wanted.tokens.filter((token) => isNew(rt, user, token));
      if (user.tokens.length + tokens.length > rt.quotas.tokensPerUser) {
        throw quotaError(`user '${name}' would have more tokens than max_tokens_per_user allows`);
      }
      const isPasswordNew = user.password === null && wanted.passwordHash !== null;
      const password = isPasswordNew ? passwordOf(rt, wanted.passwordHash ?? '') : user.password;
      if (known === undefined || isPasswordNew || tokens.length > 0)
        rt.editor.putUser({ ...user, password, tokens: [...user.tokens, ...tokens] });
      const made = new Thing(0, rt.shapes.empty(), []);
      made.put('user', known === undefined);
      made.put('password', isPasswordNew);
      made.put('tokens', tokens.length);
      return made;
    },
  }),
];

/** A user of ThingsDB, as the argument describes it. */
interface Wanted {
  readonly createdAt: number | null;
  readonly passwordHash: string | null;
  readonly tokens: readonly Token[];
}

/** @throws QueryError value_err or type_err for what can't be */
function read(rt: Runtime, given: Thing): Wanted {
  let createdAt: number | null = null;
  let passwordHash: string | null = null;
  let tokens: readonly Token[] = [];
  for (const [key, value] of entriesOf(rt, given)) {
    if (key === 'created_at') createdAt = timeOf(value, key);
    else if (key === 'password_hash') passwordHash = value === null ? null : hashOf(value);
    else if (key === 'tokens') tokens = listOf(value, key).map((token) => tokenOf(rt, token));
    else throw valueError(`there is no option '${key}'; known: created_at, password_hash, tokens`);
  }
  if (new Set(tokens.map(({ prefix }) => prefix)).size < tokens.length)
    throw valueError('two of the tokens begin with the same characters');
  return { createdAt, passwordHash, tokens };
}

function tokenOf(rt: Runtime, given: Value): Token {
  if (!(given instanceof Thing)) throw valueError('a token is a thing with a `key`');
  let key = '';
  let createdAt = rt.seconds();
  let expiresAt: number | null = null;
  let description = '';
  for (const [name, value] of entriesOf(rt, given)) {
    if (name === 'key') key = textOf(value, name);
    else if (name === 'created_at') createdAt = timeOf(value, name);
    else if (name === 'expires_at') expiresAt = value === null ? null : timeOf(value, name);
    else if (name === 'description') description = textOf(value, name);
    else throw valueError(`a token has no '${name}'; known: key, created_at, expires_at, description`);
  }
  if (key.length !== TOKEN_LENGTH || !/^[\x21-\x7e]+$/.test(key))
    throw valueError(`the key of a token has ${TOKEN_LENGTH} visible ASCII characters`);
  if (description.length > DESCRIPTION_LENGTH_MAX) throw valueError('the description of a token is too long');
  return { prefix: key.slice(0, TOKEN_PREFIX_LENGTH), hash: keyHash(key), createdAt, expiresAt, description };
}

/** True if a user lacks a token. Throws lookup_err when another one begins with the same characters, by which tokens are found. */
function isNew(rt: Runtime, user: User, token: Token): boolean {
  const found = rt.root.tokenByPrefix(token.prefix);
  if (found === undefined) return true;
  const isSame = Buffer.compare(found.token.hash, token.hash) === 0;
  if (isSame && found.user.id === user.id) return false;
  throw existsError(`there is a token ${shortToken(token)} already, of user '${found.user.name}'`);
}

function passwordOf(rt: Runtime, hash: string) {
  return { ...rt.hashOf(hash), thingsdbSalt: hash.slice(0, SALT_LENGTH) };
}

function entriesOf(rt: Runtime, thing: Thing): [string, Value][] {
  rt.store?.load(thing);
  rt.charge(thing.slots.length);
  return thing.entries();
}

function hashOf(value: Value): string {
  const text = textOf(value, 'password_hash');
  if (!/^[./0-9a-zA-Z]{8}\$1[./0-9a-zA-Z]{53}$/.test(text))
    throw valueError('`password_hash` is none of ThingsDB');
  return text;
}

function listOf(value: Value, name: string): readonly Value[] {
  if (!(value instanceof List)) throw valueError(`\`${name}\` is a list`);
  return value.items;
}

function textOf(value: Value, name: string): string {
  if (typeof value !== 'string') throw valueError(`\`${name}\` is a str`);
  return value;
}

function timeOf(value: Value, name: string): number {
  if (typeof value !== 'number' || value < 0 || value > EXPIRY_MAX)
    throw valueError(`\`${name}\` is a time in seconds since 1970`);
  return value;
}
