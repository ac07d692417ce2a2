import type { Changes } from '@althing/language';
import { Access } from './admin/access.js';
import { Privilege } from './admin/privileges.js';
import type { RootEvent } from './admin/root-event.js';
import { type CollectionEvent, RootGroup, type Target } from './admin/root-group.js';
import type { PasswordHash, User } from './admin/user.js';
import { ByteWriter } from './bytes.js';
import type { Environment } from './environment.js';
import { ErrorCode, forbiddenError, operationError, QueryError } from './error.js';
import { CONSTANTS } from './functions/constants.js';
import { extensionsOf } from './functions/conversion.js';
import { builtIns } from './functions/index.js';
import { type EmitBody, emitRequest, type FindRoomsBody, findRooms } from './functions/room-requests.js';
import { JSON_NESTING_MAX, JsonWriter } from './pack/json-writer.js';
import { packRequest, readAnswer } from './pack/module-answer.js';
import { MsgpackWriter } from './pack/msgpack-writer.js';
import { MSGPACK_NESTING_MAX, type PackOptions, pack } from './pack/walk.js';
import {
  type Format,
  readArguments,
  readVariables,
  toMsgpack,
  type WireOptions,
  type WireValues,
  wireOptions,
} from './pack/wire-values.js';
import { computeIn } from './run/computed.js';
import { invoke, runQuery } from './run/invoke.js';
import { assertLoose, Continuation, closureOf, failureOf, resultOf, valuesOf } from './run/later.js';
import type { QueryLimits } from './run/limits.js';
import { compileStored, compileText, type Prepared, prepare } from './run/program.js';
import { ProgramCache } from './run/program-cache.js';
import {
  type Freshness,
  GroupNeeded,
  HashNeeded,
  NO_IDS,
  type Outlet,
  type Quotas,
  Runtime,
  share,
  type TaskRun,
} from './run/runtime.js';
import { CollectionScope, NodeScope, RootScope } from './run/scopes.js';
import { FunctionTable } from './run/table.js';
import { CollectionGroup } from './state/collection-group.js';
import type { RoomEvent } from './state/events.js';
import { Evictor } from './state/evictor.js';
import type { Group } from './state/group.js';
import { Marking } from './state/marking.js';
import type { Procedure } from './state/parts/procedures.js';
import { TaskEditor } from './state/parts/tasks.js';
import type { RecordSource } from './state/records.js';
import type { Scope } from './state/scope.js';
import { Transaction, type Undo } from './state/transaction.js';
import type { Closure } from './value/closure.js';
import type { Future } from './value/future.js';
import { ErrorValue } from './value/scalars.js';
import { Task } from './value/task.js';
import type { Value } from './value/value.js';

/** One request, routed and checked as far as that is possible without running it. */
export interface Call {
  readonly scope: Scope;
  readonly user: User;
  readonly body: QueryBody | ProcedureBody | RoomBody;
  readonly format: Format;
  readonly hashes?: Hashes;
  /** Collections of which this node was told that it has all that was acknowledged. */
  readonly fresh?: Freshness;
  /** Milliseconds that the request took before it runs, which count towards its time. */
  readonly spentMs?: number;
  /** Whether it may tell clients of events here, which takes the leader. If not, one that does ends with `needs_change`. */
  readonly mayEmit?: boolean;
  /** Takes what code says by `log`; null for nobody. */
  readonly outlet?: Outlet | null;
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
  /** By position or by name; null for none. Read when the procedure runs, unless they are values already. */
  readonly args: WireValues | readonly Value[] | ReadonlyMap<string, Value> | null;
}

/** A request about rooms that is no program. */
export type RoomBody = EmitBody | FindRoomsBody;

/** What a part of a call starts with. */
interface Start extends Pick<Call, 'scope' | 'user' | 'spentMs' | 'hashes' | 'fresh' | 'outlet'> {
  /** The run of a task that it is a part of. */
  readonly run?: TaskRun | null;
}

/** How a run of a task begins. */
export type TaskOptions = Pick<ResumeOptions, 'hashes' | 'fresh'>;

/** What came of a run of a task, or of its beginning. */
export type TaskOutcome =
  /** It has run, or failed to; what became of the task is in the change, which is null when the task is gone. */
  | {
      readonly kind: 'done';
      readonly change: Change | null;
      readonly error: QueryError | null;
      /** Null when there was none. */
      readonly run: TaskRun | null;
    }
  | Extract<Outcome, { readonly kind: 'more' | 'hash' | 'behind' }>;

/** How a call with futures goes on. */
export interface ResumeOptions {
  /** Whether futures may make changes here; if not, the first that wants to ends with `needs_change`. */
  readonly mayChange: boolean;
  /** Monotonic time, in milliseconds, at which others get their turn. */
  readonly until: number;
  /** Hashes of the passwords that futures set. */
  readonly hashes?: Hashes;
  /** As of a call. */
  readonly fresh?: Freshness;
}

type Hashes = ReadonlyMap<string, PasswordHash>;

/** A change that the state holds and that is to be replicated. */
export interface Change {
  readonly effects: Uint8Array;
  /** The way back, until the effects are committed. */
  readonly undo: readonly Undo[];
  /** Collections that came or went. */
  readonly collectionEvents: readonly CollectionEvent[];
  /** What it does to the root scope. */
  readonly events: readonly RootEvent[];
  /** What clients are to be told of when it is committed; nothing when it is not there. */
  readonly roomEvents?: readonly RoomEvent[];
}

/** What came of a call. */
export type Outcome =
  | {
      readonly kind: 'value';
      /** The packed result: text for JSON, bytes for MessagePack. */
      readonly result: string | Uint8Array;
      /** Null when nothing changed. */
      readonly change: Change | null;
      /** The result may hold a secret, and must not be kept; this may be said instead. Null for none. */
      readonly secret: string | null;
    }
  /** The call goes on: it has futures that are still to run, by `resume`. */
  | {
      readonly kind: 'more';
      /** What was done up to here; null when nothing changed. */
      readonly change: Change | null;
      readonly rest: Continuation;
    }
  /** A future asks a module. The answer is taken by `rest.take`; the call goes on at once, by `resume`. */
  | { readonly kind: 'asks'; readonly ask: ModuleAsk; readonly rest: Continuation }
  /** Nothing is left to do before a module answers. */
  | { readonly kind: 'waits'; readonly rest: Continuation }
  | { readonly kind: 'error'; readonly error: QueryError }
  /** What comes next makes a change, which is not allowed here. Nothing was done of it. */
  | { readonly kind: 'needs_change' }
  /** The call changed nothing; it can be run again with the hash of this password. */
  | { readonly kind: 'hash'; readonly password: string }
  /** The call changed nothing; it can be run again once this node has all that was acknowledged in this collection. */
  | { readonly kind: 'behind'; readonly collection: number };

/** A request to a module. */
export interface ModuleAsk {
  /** That the answer comes with. */
  readonly number: number;
  /** Id of the module. */
  readonly module: number;
  /** One map, packed. */
  readonly data: Uint8Array;
}

export interface EngineFigures {
  readonly programs: { readonly hits: number; readonly misses: number; readonly bytes: number };
  readonly things: {
    readonly hits: number;
    readonly misses: number;
    readonly evictions: number;
    readonly bytes: number;
  };
  readonly garbage: number;
  /** Queries that were ended by a limit. */
  readonly stops: {
    readonly time: number;
    readonly memory: number;
    readonly result: number;
    readonly depth: number;
  };
}

interface OpenCollection {
  readonly scope: CollectionScope;
  readonly group: CollectionGroup;
  readonly evictor: Evictor;
}

export interface EngineOptions {
  readonly environment: Environment;
  readonly limits: QueryLimits;
  readonly quotas: Quotas;
  /** Memory for compiled programs. */
  readonly programCacheBytes: number;
  /** The highest level of a cluster that the node takes, for tests of upgrades; default: that of the software. */
  readonly knownLevel?: number | undefined;
  /** Reports a defect of the engine itself. */
  readonly onInternalError: (error: unknown) => void;
}

/**
 * The state of a node's scopes, and the machine that runs queries on it. Synchronous: a call runs to completion. Which
 * calls may run, and what happens to their effects, is for the caller to decide.
 */
export class Engine {
  readonly root: RootGroup;
  readonly runtime: Runtime;
  /** Things that were removed because only circles of garbage held them. */
  garbageCount = 0;
  /** What was counted in collections that are closed. */
  private readonly goneCounts = { hits: 0, misses: 0, evictions: 0 };
  private readonly stops = { time: 0, memory: 0, result: 0, depth: 0 };
  private readonly options: EngineOptions;
  private readonly programs: ProgramCache;
  private readonly collections = new Map<number, OpenCollection>();
  /** Programs that told clients of events. */
  private readonly emitters = new WeakSet<object>();
  private readonly rootScope: RootScope;
  private readonly nodeScope: NodeScope;
  private readonly effects = new ByteWriter(4096);
  private readonly charge = (units: number): void => this.runtime.charge(units);
  private readonly wire: WireOptions;
  /** How the present result is packed. */
  private readonly packing: { -readonly [K in keyof PackOptions]: PackOptions[K] };
  private readonly packed = new MsgpackWriter(new ByteWriter(4096));

  constructor(options: EngineOptions) {
    this.options = options;
    this.root = new RootGroup(options.knownLevel);
    this.rootScope = new RootScope(this.root);
    this.nodeScope = new NodeScope(this.root);
    this.programs = new ProgramCache(options.programCacheBytes);
    this.runtime = new Runtime(
      new FunctionTable(builtIns(), CONSTANTS),
      options.environment,
      { collection: (id) => this.collections.get(id)?.group },
      options.quotas,
      { compileStored, compileText },
    );
    this.packing = {
      deep: 1,
      ids: true,
      store: null,
      sizeMax: options.limits.resultBytes,
      nestingMax: 0,
      charge: this.charge,
      compute: computeIn(this.runtime),
    };
    this.wire = wireOptions(
      this.runtime.shapes,
      (count) => this.runtime.step(count),
      extensionsOf(this.runtime),
    );
  }

  /** Makes the state of a collection's group, empty but for what `source` has. */
  openCollection(id: number, source: RecordSource): CollectionGroup {
    const group = new CollectionGroup(id, this.runtime.shapes, source, this.root);
    const scope = new CollectionScope(this.root, group);
    this.closeCollection(id);
    this.collections.set(id, { scope, group, evictor: new Evictor(group.store) });
    return group;
  }

  closeCollection(id: number): void {
    const store = this.collections.get(id)?.group.store;
    if (store === undefined) return;
    this.goneCounts.hits += store.hits;
    this.goneCounts.misses += store.misses;
    this.goneCounts.evictions += store.evictions;
    this.collections.delete(id);
  }

  /** How often the compiled form of a text was at hand. */
  get programHits(): number {
    return this.programs.hits;
  }

  /** Number of texts whose compiled form is at hand. */
  get cachedPrograms(): number {
    return this.programs.size;
  }

  /** What the caches do, and what limits end, counted from the start on. */
  get figures(): EngineFigures {
    let { hits, misses, evictions } = this.goneCounts;
    for (const { group } of this.collections.values()) {
      hits += group.store.hits;
      misses += group.store.misses;
      evictions += group.store.evictions;
    }
    return {
      programs: { hits: this.programs.hits, misses: this.programs.misses, bytes: this.programs.bytes },
      things: { hits, misses, evictions, bytes: this.thingBytes },
      garbage: this.garbageCount,
      stops: this.stops,
    };
  }

  /** Estimated bytes that things take in memory. */
  get thingBytes(): number {
    let bytes = 0;
    for (const { evictor } of this.collections.values()) bytes += evictor.bytes;
    return bytes;
  }

  /**
   * Takes things out of memory that were not used for a while, until there are few enough or the time is up.
   *
   * @param bytesMax what things may take in memory
   * @param until end of the time, by the environment's monotonic clock
   * @returns whether there is more to do
   */
  evict(bytesMax: number, until: number): boolean {
    const { monotonic } = this.options.environment;
    for (const { evictor, group } of this.collections.values()) {
      // A step is a page of things, so the clock may be looked at after each.
      while (this.thingBytes > bytesMax && !group.dirty.freezing && evictor.step(true)) {
        if (monotonic() >= until) return true;
      }
    }
    return false;
  }

  /** Number of things in a collection that may be part of circles of garbage. */
  suspectsOf(collection: number): number {
    return this.collections.get(collection)?.group.store.suspects.size ?? 0;
  }

  /** Starts to search a collection for circles of garbage; one search at a time. */
  searchGarbage(collection: number): Marking {
    const open = this.collections.get(collection);
    if (open === undefined || open.group.store.marking !== null) throw new Error('no search can be started');
    return new Marking(open.group.store);
  }

  /** Ends a search in which everything is marked, and removes what it found; null when it found nothing. */
  removeGarbage(collection: number, marking: Marking): Change | null {
    const group = this.collections.get(collection)?.group;
    const garbage = marking.finish();
    // The state may have been replaced meanwhile, by a snapshot.
    if (group === undefined || !marking.isOf(group.store) || garbage.length === 0) return null;
    this.garbageCount += garbage.length;
    this.effects.rewind();
    const transaction = new Transaction(group.store, true, this.effects, NO_CHARGE);
    transaction.removeGarbage(garbage);
    return this.changeOf(group, transaction);
  }

  /** The scope of a target; undefined for a collection that is not open. */
  scope(target: Target): Scope | undefined {
    if (target === 'thingsdb') return this.rootScope;
    return target === 'node' ? this.nodeScope : this.collections.get(target)?.scope;
  }

  /** Results of a scope have this depth unless the query sets another. */
  defaultDeep(target: Target): number {
    if (typeof target === 'string') return this.root.defaults[target].deep;
    return this.root.collections.get(target)?.deep ?? 1;
  }

  /**
   * The compiled form of a query text.
   *
   * @throws QueryError syntax_err and what else makes a text unfit to run
   */
  prepare(code: string): Prepared {
    const { codeLength } = this.options.limits;
    if (code.length > codeLength) {
      throw new QueryError(
        ErrorCode.BAD_DATA,
        `the code has ${code.length} characters; code_size_limit allows ${codeLength}`,
      );
    }
    return this.programs.get(code, (text) => prepare(this.runtime, text));
  }

  /** Whether a call may change the state of its scope, so that it needs the leader and the privilege CHANGE. */
  mayWrite({ scope, body }: Pick<Call, 'scope' | 'body'>): boolean {
    if (body.kind === 'query') return scope.isAmong(body.prepared.unit.changes);
    if (body.kind !== 'run') return false;
    return scope.isAmong(this.runtime.unitOf(body.procedure.closure).changesAlone);
  }

  /** Whether a call tells clients of events, as far as is known: it did before, or is a request to do so. Then it takes the leader. */
  mayEmit({ body }: Pick<Call, 'body'>): boolean {
    if (body.kind === 'emit') return true;
    return body.kind !== 'find_rooms' && this.emitters.has(emitterOf(body));
  }

  /** Runs a call. It changes everything it says, or, when it ends in an error, nothing. */
  run(call: Call): Outcome {
    const { runtime: rt } = this;
    const { scope } = call;
    const target = targetOf(scope);
    const source = call.body.kind === 'query' ? call.body.prepared.code : null;
    const transaction = this.begin(call, target, this.mayWrite(call), this.defaultDeep(target), source);
    try {
      const value = this.evaluate(call);
      if (transaction.outbox !== null && this.mustNotEmit(call, transaction)) return NEEDS_CHANGE;
      if (rt.futures.length > 0) return this.suspend(call, target, value, transaction);
      const result = this.pack(value, call.format, scope);
      const change = this.changeOf(scope.group, transaction);
      return { kind: 'value', result, change, secret: secretOf(rt.secrets) };
    } catch (error) {
      return this.failed(error, transaction);
    } finally {
      rt.end();
    }
  }

  /**
   * Goes on with a call that has futures: runs them in their turn, up to the first that makes a change. Each changes everything it
   * says, or, when it ends in an error, nothing; and then the call has ended with that error.
   */
  resume(rest: Continuation, options: ResumeOptions): Outcome {
    const { until } = options;
    const { monotonic } = this.options.environment;
    rest.unpin(rest.scope.store);
    const begun = monotonic();
    for (;;) {
      const outcome = this.step(rest, options);
      const now = monotonic();
      if (outcome === null && now < until) continue;
      rest.spentMs += now - begun;
      if (outcome?.kind === 'value' || outcome?.kind === 'error') this.drop(rest);
      else rest.pin(rest.scope.store, NO_CHARGE);
      return outcome ?? { kind: 'more', change: null, rest };
    }
  }

  /**
   * Runs a task that there is. What its closure changes and what becomes of the task is one change; if the closure fails, only the
   * error and the next start are. With futures, what becomes of the task is in the change of the last one, by `resume`.
   */
  runTask(target: Target, id: number, options: TaskOptions): TaskOutcome {
    const { runtime: rt, root } = this;
    const scope = this.scope(target);
    const state = scope?.group?.tasks.find(id);
    const user = state === undefined ? undefined : root.users.get(state.owner);
    if (scope === undefined || state === undefined || user === undefined) return NOTHING_RUN;
    const run: TaskRun = { id, next: null, isCancelled: false };
    const { closure } = state;
    const writes = scope.isAmong(changesOf(rt, closure));
    const start = { ...options, scope, user, run };
    const transaction = this.begin(start, target, writes, this.defaultDeep(target), null);
    try {
      if (writes) rt.access.require(Privilege.CHANGE);
      const value = invoke(rt, closure, [new Task(id, scope.group?.tasks ?? null), ...state.args.items]);
      if (rt.futures.length > 0) {
        return this.suspend({ scope, user, format: 'json' }, target, value, transaction);
      }
      this.endRun(scope, run, transaction);
      return { kind: 'done', change: this.changeOf(scope.group, transaction), error: null, run };
    } catch (error) {
      const outcome = this.failed(error, transaction);
      return outcome.kind === 'error' ? this.failTask(target, run, outcome.error) : outcome;
    } finally {
      rt.end();
    }
  }

  /** Notes that a run of a task failed: the change has the error and the next start, and nothing of what the closure did. */
  failTask(
    target: Target,
    run: TaskRun,
    { code, message }: QueryError,
  ): TaskOutcome & { readonly kind: 'done' } {
    const error = new QueryError(code, message);
    const group = this.scope(target)?.group ?? null;
    const state = group?.tasks.find(run.id);
    if (group === null || state === undefined) return { kind: 'done', change: null, error, run };
    const transaction = this.transactionOf(group);
    const startAt = run.next ?? 0;
    const kept = new ErrorValue(code, message);
    new TaskEditor(group.tasks, transaction).schedule(state, { startAt, status: 'err', error: kept });
    return { kind: 'done', change: this.changeOf(group, transaction), error, run };
  }

  /** Removes the tasks of a scope whose owners are gone; null when there are none. */
  removeOrphanedTasks(target: Target): Change | null {
    const group = this.scope(target)?.group ?? null;
    const orphans = group?.tasks.orphans() ?? [];
    if (group === null || orphans.length === 0) return null;
    const transaction = this.transactionOf(group);
    const editor = new TaskEditor(group.tasks, transaction);
    for (const state of orphans) editor.delete(state);
    return this.changeOf(group, transaction);
  }

  /** A transaction for a change that no query makes. */
  private transactionOf(group: Group): Transaction {
    const store = group instanceof CollectionGroup ? group.store : null;
    this.effects.rewind();
    return new Transaction(store, true, this.effects, NO_CHARGE);
  }

  /** Ends a run that went well: the task is gone, or scheduled again. */
  private endRun({ group }: Scope, run: TaskRun, transaction: Transaction): void {
    const state = group?.tasks.find(run.id);
    if (group === null || state === undefined) return;
    const editor = new TaskEditor(group.tasks, transaction);
    if (run.next === null) editor.delete(state);
    else editor.schedule(state, { startAt: run.next, status: 'ok', error: null });
  }

  /** Gives up what is left of a call. */
  drop(rest: Continuation): void {
    this.runtime.waitingFutures -= rest.count;
    rest.clear();
    rest.unpin(rest.scope.store);
  }

  /** Runs one future, or packs the answer when there is none; null when there is nothing to tell of it. */
  private step(rest: Continuation, options: ResumeOptions): Outcome | null {
    const { runtime: rt } = this;
    const { scope, next } = rest;
    const user = this.root.users.get(rest.userId);
    if (this.scope(rest.target) !== scope) return { kind: 'error', error: STATE_GONE };
    if (user === undefined) return { kind: 'error', error: USER_GONE };
    if (rest.spentMs > this.options.limits.durationMs) return { kind: 'error', error: FUTURES_TOO_LONG };
    if (rest.isIdle) return { kind: 'waits', rest };
    if (next !== undefined && next.request !== null && next.answered === null) {
      return next.answer === null
        ? this.ask(rest, next, user, options)
        : this.receive(rest, next, user, options);
    }
    const failure = next === undefined ? null : failureOf(next);
    if (failure !== null) return { kind: 'error', error: failure };
    const closure = next === undefined ? null : closureOf(next);
    if (next !== undefined && closure === null) {
      this.settle(rest, resultOf(next));
      return rest.next === undefined ? this.step(rest, options) : null;
    }
    const writes = closure !== null && scope.isAmong(changesOf(rt, closure));
    if (writes && !options.mayChange) return { kind: 'needs_change' };
    const start = { ...options, scope, user, spentMs: rest.spentMs, run: rest.run, outlet: rest.outlet };
    const transaction = this.begin(start, rest.target, writes, rest.deep, null);
    try {
      if (next !== undefined && closure !== null) {
        if (writes) this.assertMayChange(next, closure);
        this.settle(rest, invoke(rt, closure, valuesOf(next)));
        if (transaction.outbox !== null && !options.mayChange) {
          transaction.rollback();
          return NEEDS_CHANGE;
        }
        rest.add(rt.futures);
        rt.waitingFutures += rt.takeFutures().length;
        rest.secrets.push(...rt.secrets);
      }
      if (rest.count > 0) {
        const change = this.changeOf(scope.group, transaction);
        return change === null ? null : { kind: 'more', change, rest };
      }
      rt.deep = rest.deep;
      rt.flags = rest.flags;
      // Nobody gets the value of a task.
      const result = rest.run === null ? this.pack(rest.answer, rest.format, scope) : '';
      if (rest.run !== null) this.endRun(scope, rest.run, transaction);
      const change = this.changeOf(scope.group, transaction);
      return { kind: 'value', result, change, secret: secretOf(rest.secrets) };
    } catch (error) {
      return this.failed(error, transaction);
    } finally {
      rt.end();
    }
  }

  /**
   * Has a request sent to a module. Once that is done the call must not run a second time, so whatever may yet make a change
   * is decided before.
   */
  private ask(rest: Continuation, future: Future, user: User, options: ResumeOptions): Outcome | null {
    const { request } = future;
    if (request === null) throw new Error('a future without a request asks nobody');
    const { scope } = rest;
    if (!options.mayChange && scope.group !== null && rest.hasClosures) return { kind: 'needs_change' };
    const { runtime: rt, packing } = this;
    const start = { ...options, scope, user, spentMs: rest.spentMs, outlet: rest.outlet };
    const transaction = this.begin(start, rest.target, false, rest.deep, null);
    try {
      const data = packRequest(request, { ...packing, store: scope.store });
      return { kind: 'asks', ask: { number: rest.ask(), module: request.module.id, data }, rest };
    } catch (error) {
      if (!(error instanceof QueryError) || error.code !== ErrorCode.MAX_QUOTA || error.fatal)
        return this.failed(error, transaction);
      future.answered = { ok: false, error };
      return null;
    } finally {
      rt.end();
    }
  }

  /** Reads what a module answered. */
  private receive(rest: Continuation, future: Future, user: User, options: ResumeOptions): Outcome | null {
    const { answer, request } = future;
    if (answer === null || request === null) throw new Error('there is no answer to read');
    future.answer = null;
    if (!answer.ok) {
      future.answered = answer;
      return null;
    }
    const { scope } = rest;
    const start = { ...options, scope, user, spentMs: rest.spentMs, outlet: rest.outlet };
    const transaction = this.begin(start, rest.target, false, rest.deep, null);
    try {
      this.charge(answer.data.length);
      future.answered = { ok: true, value: readAnswer(answer.data, request.load, this.wire) };
      return null;
    } catch (error) {
      if (!(error instanceof QueryError) || error.fatal) return this.failed(error, transaction);
      future.answered = { ok: false, error };
      return null;
    } finally {
      this.runtime.end();
    }
  }

  /** Whether a call that tells clients of events may not do so here. It is known from then on. */
  private mustNotEmit({ body, mayEmit }: Call, transaction: Transaction): boolean {
    if (body.kind === 'query' || body.kind === 'run') this.emitters.add(emitterOf(body));
    if (mayEmit === true) return false;
    transaction.rollback();
    return true;
  }

  /** Ends the future whose turn it is. */
  private settle(rest: Continuation, result: Value): void {
    rest.settle(result);
    this.runtime.waitingFutures -= 1;
  }

  /** Throws unless the closure of a future may make a change now, with what it gets. */
  private assertMayChange(future: Future, closure: Closure): void {
    const { runtime: rt } = this;
    rt.access.require(Privilege.CHANGE);
    assertLoose(rt, closure, future.args);
  }

  /** Makes a continuation of a call of which the own statements are done. */
  private suspend(
    { scope, user, format }: Pick<Call, 'scope' | 'user' | 'format'>,
    target: Target,
    value: Value,
    transaction: Transaction,
  ): Outcome & { readonly kind: 'more' } {
    const { runtime: rt } = this;
    const { deep, flags, run, outlet } = rt;
    const rest = new Continuation({
      scope,
      target,
      userId: user.id,
      format,
      value,
      deep,
      flags,
      run,
      outlet,
    });
    rest.secrets.push(...rt.secrets);
    rest.add(rt.futures);
    rest.pin(scope.store, this.charge);
    const change = this.changeOf(scope.group, transaction);
    rt.waitingFutures += rt.takeFutures().length;
    return { kind: 'more', change, rest };
  }

  /**
   * Prepares the runtime for what is to be a change of its own, if it changes anything.
   *
   * @param source text of the query; null for none
   */
  private begin(
    start: Start,
    target: Target,
    writable: boolean,
    deep: number,
    source: string | null,
  ): Transaction {
    const {
      scope,
      user,
      spentMs = 0,
      hashes = NO_HASHES,
      fresh = NOTHING_FRESH,
      run = null,
      outlet = null,
    } = start;
    this.effects.rewind();
    const transaction = new Transaction(scope.store, writable, this.effects, this.charge);
    const access = new Access(this.root, user, target);
    const { limits } = this.options;
    this.runtime.begin({
      scope,
      transaction,
      access,
      limits,
      spentMs,
      deep,
      hashes,
      source,
      fresh,
      run,
      outlet,
    });
    return transaction;
  }

  /**
   * The values of a request as MessagePack, for another node. Takes as much time and memory as a query may.
   *
   * @throws QueryError
   */
  toMsgpack(values: WireValues): Uint8Array {
    const { runtime: rt } = this;
    rt.startClock(this.options.limits);
    return toMsgpack(values, this.wire, this.charge);
  }

  /** Ends a change of a group's state; null when nothing changed. */
  private changeOf(group: Group | null, transaction: Transaction): Change | null {
    const effects = transaction.finish();
    if (effects === null || group === null) return null;
    group.changeCount += 1;
    transaction.onUndo(() => {
      group.changeCount -= 1;
    });
    const { collectionEvents, events } = this.root;
    return {
      effects,
      undo: transaction.inverse,
      collectionEvents: collectionEvents.splice(0),
      events: events.splice(0),
      roomEvents: transaction.roomEvents,
    };
  }

  private evaluate({ body }: Call): Value {
    const { runtime: rt } = this;
    if (body.kind === 'run') {
      const { closure } = body.procedure;
      return invoke(rt, closure, this.argumentsOf(body));
    }
    if (body.kind === 'emit') return emitRequest(rt, body, this.wire);
    if (body.kind === 'find_rooms') return findRooms(rt, body);
    if (body.vars === null) return runQuery(rt, body.prepared.unit);
    const vars = 'format' in body.vars ? readVariables(body.vars, this.wire) : body.vars;
    const cells = [...vars].map(([name, value]) => {
      const cell = rt.symbols.cell(name);
      share(value);
      cell.value = value;
      return cell;
    });
    try {
      return runQuery(rt, body.prepared.unit);
    } finally {
      for (const cell of cells) cell.value = undefined;
    }
  }

  private argumentsOf({ procedure, args }: ProcedureBody): readonly Value[] {
    if (args === null) return [];
    const { runtime: rt } = this;
    const values = 'format' in args ? readArguments(args, this.wire) : args;
    if ('length' in values) return values;
    return rt.unitOf(procedure.closure).params.map(({ name }) => values.get(name) ?? null);
  }

  private pack(value: Value, format: Format, scope: Scope): string | Uint8Array {
    const { runtime: rt, packing } = this;
    packing.deep = rt.deep;
    packing.ids = (rt.flags & NO_IDS) === 0;
    packing.store = scope.store;
    if (format === 'json') {
      const sink = new JsonWriter();
      packing.nestingMax = JSON_NESTING_MAX;
      pack(value, sink, packing);
      return sink.take();
    }
    this.packed.out.rewind();
    packing.nestingMax = MSGPACK_NESTING_MAX;
    pack(value, this.packed, packing);
    return this.packed.out.take();
  }

  private countStop({ code, fatal }: QueryError): void {
    if (code === ErrorCode.TIMEOUT) this.stops.time += 1;
    else if (code === ErrorCode.RESULT_TOO_LARGE) this.stops.result += 1;
    else if (code === ErrorCode.MAX_QUOTA && fatal) this.stops.memory += 1;
  }

  /** Takes back what was done, and says why it ended. */
  private failed(error: unknown, transaction: Transaction): Failure {
    transaction.rollback();
    this.root.collectionEvents.length = 0;
    this.root.events.length = 0;
    if (error instanceof QueryError) {
      this.countStop(error);
      return { kind: 'error', error };
    }
    if (error instanceof HashNeeded) return { kind: 'hash', password: error.password };
    if (error instanceof GroupNeeded) return { kind: 'behind', collection: error.collection };
    if (error instanceof RangeError && error.message.includes('call stack')) {
      this.stops.depth += 1;
      return { kind: 'error', error: operationError('the query is nested too deeply') };
    }
    this.options.onInternalError(error);
    return {
      kind: 'error',
      error: new QueryError(ErrorCode.INTERNAL, 'internal error; see the log of the node'),
    };
  }
}

/** Secrets of one query of which something is said. */
const HINTS_MAX = 10;

/** How a call that did not end well goes on, if at all. */
type Failure = Extract<Outcome, { readonly kind: 'error' | 'hash' | 'behind' }>;

const NOTHING_FRESH: Freshness = { isFresh: () => false };

const NO_HASHES: Hashes = new Map();

const NO_CHARGE = (): void => {};

/** The task is gone, or has no owner. */
const NOTHING_RUN: TaskOutcome = { kind: 'done', change: null, error: null, run: null };

const NEEDS_CHANGE: Outcome = { kind: 'needs_change' };

const STATE_GONE = new QueryError(
  ErrorCode.CANCELLED,
  'the futures of the query were ended: the collection is gone, or its state was replaced',
);

const USER_GONE = forbiddenError('the futures of the query were ended: the user was deleted');

const FUTURES_TOO_LONG = new QueryError(
  ErrorCode.TIMEOUT,
  'the futures of the query together took longer than query_duration_limit_ms',
);

function secretOf(secrets: readonly string[]): string | null {
  return secrets.length === 0 ? null : secrets.slice(0, HINTS_MAX).join('; ');
}

/** What is known to tell clients of events: the text of a query, or a procedure. */
function emitterOf(body: QueryBody | ProcedureBody): object {
  return body.kind === 'query' ? body.prepared : body.procedure;
}

/** What running a closure changes. */
function changesOf(rt: Runtime, closure: Closure): Changes {
  const unit = rt.unitOf(closure);
  return closure.isStored ? unit.changesAlone : unit.changes;
}

function targetOf(scope: Scope): Target {
  return scope instanceof CollectionScope ? scope.group.id : scope.kind === 'node' ? 'node' : 'thingsdb';
}
