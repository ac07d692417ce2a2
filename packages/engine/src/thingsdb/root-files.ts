/**
 * The scope @thingsdb in the store of ThingsDB: files, each of which is {label: content}:
 *
 *   users       := [[id, name, hash or nil, created, [[key, expires, created, description]...], rooms or nil, procedures or nil]...]
 *   access      := [[user, mask]...]
 *   collections := [[folder, name, created, id, zone, deep]...]
 *   procedures  := [[name, created, closure]...]
 *   tasks       := [[id, run_at, user, closure, error, [nil, argument...]]...]
 *   modules     := [[name, ...]...]
 *
 * Old stores lack the last parts of users and collections. Whitelists hold names, and regular expressions.
 */
import { Buffer } from 'node:buffer';
import { ZONE_NAMES } from '@althing/datetime';
import { Privilege } from '../admin/privileges.js';
import { FormatError } from '../bytes.js';
import { START_MAX } from '../state/parts/tasks.js';
import type { Charge } from '../state/transaction.js';
import { RegexValue } from '../value/regex-value.js';
import { CollectionBuilder } from './builder.js';
import { located, type ReadFile } from './changes.js';
import { DataInput } from './input.js';
import {
  accessOf,
  NODE_SCOPE,
  plainArguments,
  THINGSDB_SCOPE,
  type ThingsdbCollectionInfo,
  type ThingsdbRoot,
  type ThingsdbToken,
  type ThingsdbUser,
} from './root.js';
import { readArguments } from './tasks.js';
import { ValueReader } from './values.js';

/** One file that is being read, behind its label. */
interface RootFile {
  readonly input: DataInput;
  readonly values: ValueReader;
}

/**
 * Reads them.
 *
 * @param read gives a file by its name within the store
 * @throws FormatError, with the file and the place
 */
export function readRootFiles(read: ReadFile, charge: Charge): ThingsdbRoot {
  const root: ThingsdbRoot = {
    users: new Map(),
    collections: new Map(),
    access: new Map(),
    procedures: new Map(),
    tasks: new Map(),
    modules: new Set(),
    histories: new Set(),
  };
  const rows = (name: string, row: (file: RootFile) => void, isNeeded = false): void => {
    const data = read(name);
    if (data === null) {
      if (isNeeded) throw new FormatError(`there is no ${name}`);
      return;
    }
    located(name, () => {
      const input = new DataInput(data, charge);
      const file = { input, values: new ValueReader(input, new CollectionBuilder(charge)) };
      if (input.map('a file') === 0) return;
      input.skip();
      for (let left = input.array('rows'); left > 0; left--) row(file);
    });
  };
  rows(
    'users.mp',
    (file) => {
      const user = readUser(file);
      root.users.set(user.id, user);
    },
    true,
  );
  const grants = (scope: number) => (file: RootFile) => readGrant(root, scope, file.input);
  rows('access_node.mp', grants(NODE_SCOPE));
  rows('access_thingsdb.mp', grants(THINGSDB_SCOPE));
  rows(
    'collections.mp',
    ({ input }) => {
      const collection = readCollection(input);
      root.collections.set(collection.id, collection);
    },
    true,
  );
  for (const { id, folder } of root.collections.values()) {
    rows(`${folder}/access.mp`, grants(id));
    if (hasHistory(read(`${folder}/commits.mp`))) root.histories.add(id);
  }
  rows('procedures.mp', ({ input, values }) => {
    input.parts(3, 'a procedure');
    const name = input.text('the name of a procedure');
    const createdAt = input.uint('a time');
    root.procedures.set(name, { name, createdAt, source: values.closure().store() });
  });
  rows('tasks.mp', ({ input, values }) => {
    input.parts(6, 'a task');
    const id = input.uint('the id of a task');
    const startAt = input.uint('a time', START_MAX);
    const owner = input.uint('the id of a user');
    const source = values.closure().store();
    values.read();
    root.tasks.set(id, {
      id,
      startAt,
      owner,
      source,
      args: plainArguments(readArguments(input, values).items),
    });
  });
  rows('modules.mp', ({ input }) => {
    const count = input.array('a module');
    root.modules.add(input.text('the name of a module'));
    for (let left = count - 1; left > 0; left--) input.skip();
  });
  if (hasHistory(read('commits.mp'))) root.histories.add(THINGSDB_SCOPE);
  return root;
}

/** Reads the number of the last change that a store has: {ccid, ...}. */
export function readLastChange(data: Uint8Array, charge: Charge): number {
  const input = new DataInput(data, charge);
  input.map('counters');
  input.skip();
  return input.uint('a change');
}

function readUser({ input, values }: RootFile): ThingsdbUser {
  const count = input.array('a user');
  const id = input.uint('the id of a user');
  const name = input.text('the name of a user');
  const passwordHash = readHash(input);
  const createdAt = input.uint('a time');
  const tokens = Array.from({ length: input.array('tokens') }, () => readToken(input));
  const lists = [1, 2].map((list) => (count > 4 + list ? readRules({ input, values }) : null));
  const [rooms = null, procedures = null] = lists;
  for (let left = count - 7; left > 0; left--) input.skip();
  return { id, name, createdAt, passwordHash, hasPassword: passwordHash !== null, tokens, rooms, procedures };
}

/** Reads the hash of a password, or nil. */
export function readHash(input: DataInput): string | null {
  if (input.token() === 'nil') return input.nil();
  const { offset } = input;
  const hash = input.text('the hash of a password');
  return /^[./0-9a-zA-Z]{8}\$1[./0-9a-zA-Z]{53}$/.test(hash)
    ? hash
    : input.fail('this is no hash of a password', offset);
}

function readToken(input: DataInput): ThingsdbToken {
  input.parts(4, 'a token');
  const key = input.text('the key of a token');
  const expires = input.uint('a time');
  const createdAt = input.uint('a time');
  const description = input.text('a description');
  return { key, expiresAt: expires === 0 ? null : expires, createdAt, description };
}

function readRules({ input, values }: RootFile): readonly string[] | null {
  if (input.token() === 'nil') return input.nil();
  return Array.from({ length: input.array('a whitelist') }, () => readRule(input, values));
}

/** Reads a rule of a whitelist: a name, or a regular expression, which becomes a text with its slashes. */
export function readRule(input: DataInput, values: ValueReader): string {
  const { offset } = input;
  const rule = values.read();
  if (rule instanceof RegexValue) return rule.text;
  return typeof rule === 'string' ? rule : input.fail('a rule is a name or a regular expression', offset);
}

function readGrant(root: ThingsdbRoot, scope: number, input: DataInput): void {
  input.parts(2, 'a right');
  const user = input.uint('the id of a user');
  accessOf(root, scope).set(user, input.uint('a mask') & Privilege.FULL);
}

/** True if a file of commits says that there is a history: without one it is an empty map. */
function hasHistory(data: Uint8Array | null): boolean {
  return data !== null && data.length > 1;
}

function readCollection(input: DataInput): ThingsdbCollectionInfo {
  const count = input.array('a collection');
  // The folder is a text of C, which ends with a zero.
  const bytes = input.token() === 'bin' ? input.bin() : input.strBytes();
  const { offset } = input;
  const folder = Buffer.from(bytes).toString('latin1').replace(/\0$/, '');
  if (!/^[0-9A-Za-z_-]{11}$/.test(folder)) input.fail(`'${folder}' is no folder of a collection`, offset);
  const name = input.text('the name of a collection');
  const createdAt = input.uint('a time');
  const given = count > 5 ? input.uint('the id of a collection') : null;
  const timeZone = count > 3 ? zoneName(input.uint('a time zone')) : 'UTC';
  const deep = count > 4 ? input.uint('a depth', 0xff) : 1;
  for (let left = count - 6; left > 0; left--) input.skip();
  // Before collections had ids of their own they were told by their roots, which their folders are named by.
  const id = given ?? idOfFolder(folder);
  return { id, name, createdAt, timeZone, deep, folder, rootId: id };
}

/** The name of a time zone by its place in the table of ThingsDB. */
export function zoneName(index: number): string {
  return ZONE_NAMES[index] ?? 'UTC';
}

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_';

function idOfFolder(folder: string): number {
  return [...folder].reduce((id, digit) => id * 64 + DIGITS.indexOf(digit), 0);
}
