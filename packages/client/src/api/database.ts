/** The database that `connect` gives. */

import type { Code } from '../template.js';
import type { Value } from '../values/from-wire.js';
import type { Int } from '../values/numbers.js';
import type { Sendable } from '../values/to-wire.js';
import type { CallOptions, LoginOptions, LoginSession } from './options.js';
import type {
  DryRun,
  NamedCall,
  NamedTrial,
  ProcedureCalls,
  ProceduresOf,
  ProcedureTrials,
} from './schema.js';

/** Variables of a query, by name. With `exact`, values as on the wire. */
export type Variables = Readonly<Record<string, unknown>> | ReadonlyMap<string, unknown>;

/** Runs queries in one scope. */
export interface Query {
  /**
   * Runs code with values in it: each `${value}` becomes a variable, so no value becomes code. A `Date` becomes `datetime(v)`,
   * `ref(thing)` becomes `thing(v)`, a `Set` becomes `set(v)`; pieces made by `code` and `unsafeCode` are put in as code.
   *
   * @throws {QueryError} with what the node says; {@link ConnectionError}, {@link OutcomeUnknownError}, {@link AnswerLostError}, {@link ProtocolError},
   * {@link QueueFullError}, {@link AbortError}; TypeError and RangeError for values that can't be sent
   */
  <T = Value>(strings: TemplateStringsArray, ...values: readonly unknown[]): Promise<T>;
  /** Runs code, with variables by name. */
  <T = Value>(code: string | Code, vars?: Variables): Promise<T>;
}

/** Tries queries out in one scope; as `Query`. */
export interface QueryTrial {
  <T = Value>(strings: TemplateStringsArray, ...values: readonly unknown[]): Promise<DryRun<T>>;
  <T = Value>(code: string | Code, vars?: Variables): Promise<DryRun<T>>;
}

/** A scope whose calls are only tried out: each is run, answered with what it would change, and taken back. It takes CHANGE. */
export interface Trials<S = unknown> {
  readonly scope: string;
  readonly query: QueryTrial;
  readonly procs: ProcedureTrials<ProceduresOf<S>>;
  readonly call: NamedTrial<ProceduresOf<S>>;
}

/** The option by which calls are only tried out. */
export type DryRunOptions = CallOptions & { readonly dryRun: true | 'explain' };

/** The root scope `@thingsdb`, or the scope of a node. */
export interface Scope {
  /** As the node and its messages call it: `@:stuff`. */
  readonly scope: string;
  readonly query: Query;
  /** The same scope, with other options for its calls. */
  with(options: CallOptions): Scope;
}

/** A scope with procedures: `@thingsdb`, or a collection. */
export interface ProcedureScope<S = unknown> extends Scope {
  /** The procedures, called by position: `procs.add_guest('Ann', 31)`. */
  readonly procs: ProcedureCalls<ProceduresOf<S>>;
  /** Calls a procedure by the names of its parameters; one that is not given is nil. */
  readonly call: NamedCall<ProceduresOf<S>>;
  with(options: DryRunOptions): Trials<S>;
  with(options: CallOptions): ProcedureScope<S>;
}

/** A collection. */
export interface Collection<S = unknown> extends ProcedureScope<S> {
  /** @param room its name or id */
  room(room: string | Int): Room;
  with(options: DryRunOptions): Trials<S>;
  with(options: CallOptions): Collection<S>;
}

/** Something that happened in a room. */
export type RoomEvent =
  /** From here on events come; what was read before may be old. */
  | { readonly kind: 'joined'; readonly room: Int }
  | { readonly kind: 'emit'; readonly event: string; readonly args: readonly Value[] }
  /** Events may be missing here: read again what they would have told. */
  | { readonly kind: 'gap' }
  /** The room is no more. It is the last event. */
  | { readonly kind: 'deleted' };

/** A room of a collection. */
export interface Room {
  /**
   * Joins the room, and tells what happens in it until the iteration ends or `signal` aborts. When the connection ends it joins again,
   * at another node if need be, and tells a `gap` first.
   *
   * @throws {LookupErr} when there is no such room; {@link ForbiddenErr} without the privilege to join
   */
  events(options?: { readonly signal?: AbortSignal | undefined }): AsyncIterableIterator<RoomEvent>;
  /** Emits an event to all in the room. */
  emit(event: string, ...args: readonly Sendable[]): Promise<void>;
}

/** The members of a database that are no collections: their names begin with `$`, which no collection's can. */
export interface DatabaseMembers<S extends object> {
  /** The scope `@thingsdb`: users, collections, nodes. */
  readonly $root: ProcedureScope;
  /** The scope of a node, by its number or name; without one, of the node that is asked. */
  $node(node?: number | string): Scope;
  /** A collection by its name, also by one that no property can have. */
  $collection<C = unknown>(name: string): Collection<C>;
  /** Any scope, as people write it: `//stuff`, `@:stuff`, `@thingsdb`, `/n`, `@node:2`; a bare name is a collection. */
  $scope(text: string): Collection;
  /** The same database, with other options for its calls. */
  $with(options: CallOptions): Database<S>;
  /**
   * Exchanges a password for a session, with which all is asked from then on: the password is not kept. The session is renewed while
   * there are calls, or somebody listens to rooms, and `$close` ends it. It ends with the password, too, and after some hours
   * in any case (`session_max_ms`): calls fail with {@link AuthErr} then.
   *
   * @throws {AuthErr} for a wrong password, {@link ConnectionError} and what else calls throw
   */
  $login(user: string, password: string, options?: LoginOptions): Promise<LoginSession>;
  /**
   * Exchanges a token for a session in the same way; the token of a session goes on with that one, until `$close` ends it.
   *
   * @throws {AuthErr} for a token that is not known, or not any more
   */
  $login(token: { readonly token: string }, options?: LoginOptions): Promise<LoginSession>;
  /** Ends the session of `$login`, and all connections. Calls that are open fail with {@link AbortError}, and events end. */
  $close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A database: its collections are its properties. */
export type Database<S extends object = Readonly<Record<string, unknown>>> = DatabaseMembers<S> & {
  readonly [Name in keyof S]: Collection<S[Name]>;
};
