/** Calls, how they go on, and their outcomes: the words between the engine and its callers. */

import type { RootEvent } from '../admin/root-event.js';
import type { CollectionEvent } from '../admin/root-group.js';
import type { PasswordHash, User } from '../admin/user.js';
import type { QueryError } from '../error.js';
import type { EmitBody, FindRoomsBody } from '../functions/room-requests.js';
import type { SessionBody } from '../functions/session-requests.js';
import type { RestoreOrder } from '../node-view.js';
import type { Format, WireValues } from '../pack/wire-values.js';
import type { Freshness, Outlet, TaskRun } from '../run/execution.js';
import type { Continuation } from '../run/later.js';
import type { Prepared } from '../run/program.js';
import type { RoomEvent } from '../state/events.js';
import type { Procedure } from '../state/parts/procedures.js';
import type { Scope } from '../state/scope.js';
import type { Undo } from '../state/transaction.js';
import type { Value } from '../value/value.js';

/** One request, routed and checked as far as that is possible without running it. */
export interface Call {
  readonly scope: Scope;
  readonly user: User;
  readonly body: QueryBody | ProcedureBody | RoomBody | SessionBody;
  readonly format: Format;
  readonly hashes?: Hashes;
  /** Collections of which this node was told that it has all that was acknowledged. */
  readonly fresh?: Freshness;
  /** Milliseconds that the request took before it runs, which count towards its time. */
  readonly spentMs?: number;
  /**
   * Milliseconds that it may run now, where that is less than its time limit: if it takes longer, it ends with `slice_over`. As
   * long as the limit when not given.
   */
  readonly sliceMs?: number;
  /** True if it may tell clients of events here, which takes the leader. If not, one that does ends with `needs_change`. */
  mayEmit?: boolean;
  /**
   * True if it may order that a backup is restored: only where it was asked, since the file lies there. It runs on a state that only
   * the leader changes then, so what changes something else ends with `needs_change`.
   */
  readonly mayRestore?: boolean;
  /** Takes what code says by `log`; null for nobody. */
  readonly outlet?: Outlet | null;
  /** True if it runs as if its user had neither CHANGE nor GRANT, on any scope; default: no. */
  readonly readOnly?: boolean;
  /** True if it is only tried out: what it changes is counted, and taken back (`dry-run.ts`), explained on top or not; default: no. */
  readonly dryRun?: boolean | 'explain';
  /** The name by which the log knows the request; nothing for none. */
  readonly requestId?: string | undefined;
}

export interface QueryBody {
  readonly kind: 'query';
  readonly prepared: Prepared;
  /** Read when the query runs, unless they are values already. */
  readonly vars: WireValues | ReadonlyMap<string, Value> | null;
}

export interface ProcedureBody {
  readonly kind: 'run';
  readonly procedure: Procedure;
  /** Arguments by position or by name; null for none. They are read when the procedure runs, unless they are values already. */
  readonly args: WireValues | readonly Value[] | ReadonlyMap<string, Value> | null;
}

/** A request about rooms that is no program. */
export type RoomBody = EmitBody | FindRoomsBody;

/** The user and the scope of a call, which bound its time. */
export type Asker = Pick<Call, 'scope' | 'user'>;

/** The start of a part of a call. */
export interface Start
  extends Pick<Call, 'scope' | 'user' | 'spentMs' | 'sliceMs' | 'hashes' | 'fresh' | 'outlet' | 'readOnly'> {
  /** The run of a task that it is a part of. */
  readonly run?: TaskRun | null;
}

/** The beginning of a run of a task. */
export type TaskOptions = Pick<ResumeOptions, 'hashes' | 'fresh'>;

/** The outcome of a run of a task, or of its beginning. */
export type TaskOutcome =
  /** It has run, or failed to; what became of the task is in the change, which is null when the task is gone. */
  | {
      readonly kind: 'done';
      readonly change: Change | null;
      readonly error: QueryError | null;
      /** Null when there was none. */
      readonly run: TaskRun | null;
    }
  | Extract<Outcome, { readonly kind: 'more' | 'hash' | 'behind' | 'positions' | 'slice_over' }>;

/** The next step of a call with futures. */
export interface ResumeOptions {
  /** True if futures may make changes here; if not, the first that wants to ends with `needs_change`. */
  readonly mayChange: boolean;
  /** Monotonic time, in milliseconds, at which others get their turn. */
  readonly until: number;
  /** Hashes of the passwords that futures set. */
  readonly hashes?: Hashes;
  /** As of a call. */
  readonly fresh?: Freshness;
}

export type Hashes = ReadonlyMap<string, PasswordHash>;

/** A change that the state holds and that is to be replicated. */
export interface Change {
  readonly effects: Uint8Array;
  /** The way back, until the effects are committed. */
  readonly undo: readonly Undo[];
  /** Collections that came or went. */
  readonly collectionEvents: readonly CollectionEvent[];
  /** Its changes of the root scope. */
  readonly events: readonly RootEvent[];
  /** Events for clients when it is committed; none when it is not there. */
  readonly roomEvents?: readonly RoomEvent[];
}

export type Outcome =
  | {
      readonly kind: 'value';
      /** The packed result: text for JSON, bytes for MessagePack. */
      readonly result: string | Uint8Array;
      /** Null when nothing changed. */
      readonly change: Change | null;
      /** The result may hold a secret, and must not be kept; this may be said instead. Null for none. */
      readonly secret: string | null;
      /** A backup that is to be restored before this is the answer; nothing changed then. Nothing when it is not there. */
      readonly restore?: RestoreOrder;
    }
  /** The call goes on: it has futures that are still to run, by `resume`. */
  | {
      readonly kind: 'more';
      /** The change up to here; null for none. */
      readonly change: Change | null;
      readonly rest: Continuation;
    }
  /** A future asks a module. The answer is taken by `rest.take`; the call goes on at once, by `resume`. */
  | { readonly kind: 'asks'; readonly ask: ModuleAsk; readonly rest: Continuation }
  /** Nothing is left to do before a module answers. */
  | { readonly kind: 'waits'; readonly rest: Continuation }
  | { readonly kind: 'error'; readonly error: QueryError }
  /** The next step makes a change, which is not allowed here. Nothing was done of it. */
  | { readonly kind: 'needs_change' }
  /** Its slice of time was too short. The call changed nothing; it can be run again with more time. */
  | { readonly kind: 'slice_over' }
  /** The call changed nothing; it can be run again with the hash of this password. */
  | { readonly kind: 'hash'; readonly password: string }
  /** The call changed nothing; it can be run again once this node has all that was acknowledged in this collection, or in the root scope (0). */
  | { readonly kind: 'behind'; readonly collection: number }
  /** The call changed nothing; it can be run again once the node has found out how far the logs of its groups are. */
  | { readonly kind: 'positions' };

export interface ModuleAsk {
  /** The number that the answer comes with. */
  readonly number: number;
  /** Id of the module. */
  readonly module: number;
  /** Id of the user whose call asks. */
  readonly user: number;
  /** One map, packed. */
  readonly data: Uint8Array;
}

/** The next step of a call that did not end well, if there is one. */
export type Failure = Extract<
  Outcome,
  { readonly kind: 'error' | 'hash' | 'behind' | 'positions' | 'slice_over' }
>;

/** The outcome of what can go on once this node has all that was acknowledged in another scope. */
export type Behind = Extract<Outcome, { readonly kind: 'behind' }>;

export const NEEDS_CHANGE: Outcome = { kind: 'needs_change' };

export const NO_CHARGE = (): void => {};
