/** The content of the scope @thingsdb of a ThingsDB: users with their rights, collections, procedures, tasks, and modules. */
import { List } from '../value/containers.js';
import { Bytes, Float } from '../value/scalars.js';
import type { Value } from '../value/value.js';

/** An argument of a task, as clients send values: an int is a bigint, a float a number. */
export type PlainArgument = null | boolean | bigint | number | string | Uint8Array | readonly PlainArgument[];

export interface ThingsdbToken {
  /** All of its characters. */
  readonly key: string;
  /** Unix seconds; null for never. */
  readonly expiresAt: number | null;
  readonly createdAt: number;
  readonly description: string;
}

export interface ThingsdbUser {
  readonly id: number;
  readonly name: string;
  readonly createdAt: number;
  /** As ThingsDB keeps it; null for none, undefined where it is not known. */
  readonly passwordHash: string | null | undefined;
  readonly hasPassword: boolean;
  readonly tokens: readonly ThingsdbToken[];
  /** Whitelists: names, and regular expressions with their slashes; null for none. */
  readonly rooms: readonly string[] | null;
  readonly procedures: readonly string[] | null;
}

export interface ThingsdbCollectionInfo {
  readonly id: number;
  readonly name: string;
  readonly createdAt: number;
  readonly timeZone: string;
  readonly deep: number;
  /** The folder of its files in the store; null for one that only changes tell of. */
  readonly folder: string | null;
  /** The id of its root, for one that only changes tell of. */
  readonly rootId: number;
}

export interface ThingsdbProcedure {
  readonly name: string;
  readonly createdAt: number;
  readonly source: string;
}

export interface ThingsdbTask {
  readonly id: number;
  /** Unix seconds; 0 when it is not scheduled. */
  readonly startAt: number;
  /** The id of a user. */
  readonly owner: number;
  readonly source: string;
  /** Null when one of them is none that a client can send. */
  readonly args: readonly PlainArgument[] | null;
}

/** Rights on a scope by the ids of users: bits as those of `Privilege`. */
export type ThingsdbAccess = Map<number, number>;

export interface ThingsdbRoot {
  readonly users: Map<number, ThingsdbUser>;
  readonly collections: Map<number, ThingsdbCollectionInfo>;
  /** Access by the scope: 0 is @thingsdb, 1 is @node, others are ids of collections. */
  readonly access: Map<number, ThingsdbAccess>;
  readonly procedures: Map<string, ThingsdbProcedure>;
  readonly tasks: Map<number, ThingsdbTask>;
  readonly modules: Set<string>;
  /** Scopes that keep a commit history. */
  readonly histories: Set<number>;
}

export const THINGSDB_SCOPE = 0;
export const NODE_SCOPE = 1;

/** The rights of one scope, made when there are none. */
export function accessOf(root: ThingsdbRoot, scope: number): ThingsdbAccess {
  let access = root.access.get(scope);
  if (access === undefined) root.access.set(scope, (access = new Map()));
  return access;
}

/** Arguments in the form in which clients send them; null when one has none. */
export function plainArguments(values: readonly Value[]): readonly PlainArgument[] | null {
  const plain: PlainArgument[] = [];
  for (const value of values) {
    const argument = plainArgument(value);
    if (argument === undefined) return null;
    plain.push(argument);
  }
  return plain;
}

function plainArgument(value: Value): PlainArgument | undefined {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'bigint') return BigInt(value);
  if (value instanceof Float) return value.value;
  if (value instanceof Bytes) return value.data;
  return value instanceof List ? (plainArguments(value.items) ?? undefined) : undefined;
}
