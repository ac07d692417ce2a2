/** What the scope @thingsdb of a ThingsDB holds: users with their rights, collections, procedures, tasks, and modules. */
import type { Value } from '../value/value.js';

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
  /** Of its files in the store; null for one that only changes tell of. */
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
  readonly args: readonly Value[];
}

/** Who may do what where, by the ids of users: bits as those of `Privilege`. */
export type ThingsdbAccess = Map<number, number>;

export interface ThingsdbRoot {
  readonly users: Map<number, ThingsdbUser>;
  readonly collections: Map<number, ThingsdbCollectionInfo>;
  /** By the scope: 0 is @thingsdb, 1 is @node, others are ids of collections. */
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
