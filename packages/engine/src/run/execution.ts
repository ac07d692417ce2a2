/** The surroundings that a query is given, and the errors by which it asks to be run again with more. */
import type { Access } from '../admin/access.js';
import type { SessionLimits } from '../admin/sessions.js';
import type { PasswordHash } from '../admin/user.js';
import type { CollectionGroup } from '../state/collection-group.js';
import type { Scope } from '../state/scope.js';
import type { Transaction } from '../state/transaction.js';
import type { Closure } from '../value/closure.js';
import type { QueryLimits } from './limits.js';
import type { Runtime } from './runtime.js';
import type { Unit } from './unit.js';

/** The surroundings of a running query. */
export interface Execution {
  readonly scope: Scope;
  readonly transaction: Transaction;
  readonly access: Access;
  readonly limits: QueryLimits;
  /** Milliseconds of the time limit that were spent before. */
  readonly spentMs: number;
  /** Milliseconds after which it is given up, to run again when it has more time: see `SliceOver`. */
  readonly sliceMs: number;
  /** Depth of the result, until the query sets another one. */
  readonly deep: number;
  /** The text of the query; null where something else runs. */
  readonly source: string | null;
  /** Collections whose state here was confirmed for the query: see `GroupNeeded`. */
  readonly fresh: Freshness;
  /** Hashes of passwords that the query sets, made beforehand: see `HashNeeded`. */
  readonly hashes: ReadonlyMap<string, PasswordHash>;
  /** The run of a task that it is a part of; null for none. */
  readonly run: TaskRun | null;
  /** Takes what code says by `log`, besides the log of the node; null for nobody. */
  readonly outlet: Outlet | null;
}

/** Takes what code says to who asked for it to run. */
export interface Outlet {
  log(text: string): void;
  /** Takes a line of the answer, as JSON; nothing where the answer is one value. */
  line?(text: string): void;
}

/** A run of a task, as the functions of tasks know it. */
export interface TaskRun {
  /** The task. */
  readonly id: number;
  /** When it shall run again, in Unix seconds; null when it was not said. */
  next: number | null;
  /** True if it cancelled itself. */
  isCancelled: boolean;
}

/** Tells of which collections this node is known to have all that was acknowledged. */
export interface Freshness {
  isFresh(collection: number): boolean;
}

/** Collections of this node, for the functions of the root scope that look into them. */
export interface Collections {
  collection(id: number): CollectionGroup | undefined;
}

/** Makes code of texts; see `program.ts`. */
export interface Compiler {
  compileStored(rt: Runtime, closure: Closure): Unit;
  compileText(rt: Runtime, source: string): Closure;
}

/** The largest numbers allowed. */
export interface Quotas {
  readonly tokensPerUser: number;
  readonly users: number;
  readonly collections: number;
  readonly procedures: number;
  /** Tasks of each scope. */
  readonly tasks: number;
  /** Times that sessions last, of which there are `SESSIONS_PER_USER`. */
  readonly sessions: SessionLimits;
}

/** Thrown by a query that tells how far the logs of the groups are: the node has to find out first, and the query is run again then. */
export class PositionsNeeded {}

/**
 * Thrown by a query that sets a password. Hashing takes tens of milliseconds, so it is done elsewhere, and the query,
 * which has changed nothing, is run again with the hash.
 */
export class HashNeeded {
  constructor(readonly password: string) {}
}

/**
 * Thrown by a query of the root scope that reads a collection. This node has to hear first that it has all that was acknowledged
 * there; the query, which has changed nothing, is run again then.
 */
export class GroupNeeded {
  constructor(readonly collection: number) {}
}

/** Bit of `return v, deep, flags` that leaves ids out of the result. */
export const NO_IDS = 32;
