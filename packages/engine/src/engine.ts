import type { Target } from './admin/access-lists.js';
import { Privilege } from './admin/privileges.js';
import { RootGroup } from './admin/root-group.js';
import {
  type Asker,
  type Call,
  NEEDS_CHANGE,
  type Outcome,
  type ProcedureBody,
  type QueryBody,
} from './calls/call.js';
import { Collections } from './calls/collections.js';
import { beginDryRun, endDryRun, explainFailure } from './calls/dry-run.js';
import { compiledFor, evaluate, preparedFor } from './calls/evaluate.js';
import { Executor, secretOf } from './calls/executor.js';
import { Futures } from './calls/futures.js';
import { TaskRuns } from './calls/tasks.js';
import { Upkeep } from './calls/upkeep.js';
import type { Environment } from './environment.js';
import { ErrorCode, operationError, QueryError } from './error.js';
import { CONSTANTS } from './functions/constants.js';
import { builtIns } from './functions/index.js';
import { toMsgpack, type WireValues } from './pack/wire-values.js';
import type { Quotas } from './run/execution.js';
import type { QueryLimits } from './run/limits.js';
import { compileStored, compileText, type Prepared } from './run/program.js';
import { ProgramCache } from './run/program-cache.js';
import { Runtime } from './run/runtime.js';
import { CollectionScope, NodeScope, RootScope } from './run/scopes.js';
import { FunctionTable } from './run/table.js';
import type { Scope } from './state/scope.js';
import type { Transaction } from './state/transaction.js';

export interface EngineFigures {
  readonly programs: { readonly hits: number; readonly misses: number; readonly bytes: number };
  readonly things: {
    readonly hits: number;
    readonly misses: number;
    readonly evictions: number;
    readonly bytes: number;
  };
  readonly indexes: { readonly lookUps: number };
  readonly garbage: number;
  /** Queries that were ended by a limit. */
  readonly stops: {
    readonly time: number;
    readonly memory: number;
    readonly result: number;
    readonly depth: number;
  };
}

export interface EngineOptions {
  readonly environment: Environment;
  readonly limits: QueryLimits;
  readonly quotas: Quotas;
  /** Memory for compiled programs. */
  readonly programCacheBytes: number;
  /** Bytes that things may take, in an engine that runs snapshot reads alone; missing in one that changes its state. */
  readonly readingBytes?: number;
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
  readonly collections: Collections;
  readonly upkeep: Upkeep;
  readonly futures: Futures;
  readonly taskRuns: TaskRuns;
  private readonly programs: ProgramCache;
  /** Programs that told clients of events. */
  private readonly emitters = new WeakSet<object>();
  private hasEmitters = false;
  private readonly rootScope: RootScope;
  private readonly nodeScope: NodeScope;
  private readonly executor: Executor;

  constructor(private readonly options: EngineOptions) {
    this.root = new RootGroup(options.knownLevel);
    this.rootScope = new RootScope(this.root);
    this.nodeScope = new NodeScope(this.root);
    this.programs = new ProgramCache(options.programCacheBytes);
    const { environment } = options;
    const monotonic = (): number => environment.monotonic();
    this.runtime = new Runtime(
      new FunctionTable(builtIns(), CONSTANTS),
      environment,
      { collection: (id) => this.collections.get(id)?.group },
      options.quotas,
      { compileStored, compileText },
    );
    this.runtime.isSnapshot = options.readingBytes !== undefined;
    this.collections = new Collections({
      root: this.root,
      runtime: this.runtime,
      readingBytes: options.readingBytes,
      monotonic,
    });
    this.executor = new Executor({
      root: this.root,
      runtime: this.runtime,
      limits: options.limits,
      scope: (target) => this.scope(target),
      defaultDeep: (target) => this.defaultDeep(target),
      monotonic,
      onInternalError: options.onInternalError,
    });
    this.futures = new Futures(this.executor);
    this.taskRuns = new TaskRuns(this.executor, this.futures);
    this.upkeep = new Upkeep(this.executor, this.collections, () => environment.now());
  }

  /** The number of times the compiled form of a text was at hand. */
  get programHits(): number {
    return this.programs.hits;
  }

  /** Number of texts whose compiled form is at hand. */
  get cachedPrograms(): number {
    return this.programs.size;
  }

  /** Figures of the caches and of ended calls, counted from the start on. */
  get figures(): EngineFigures {
    const { lookUps, ...things } = this.collections.counts;
    return {
      programs: { hits: this.programs.hits, misses: this.programs.misses, bytes: this.programs.bytes },
      things: { ...things, bytes: this.collections.bytes },
      indexes: { lookUps },
      garbage: this.upkeep.garbageCount,
      stops: this.executor.stops,
    };
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

  /** The checked form of a query text. Throws as `preparedFor`. */
  prepare(code: string, asker: Asker | null = null): Prepared {
    const { codeLength } = this.options.limits;
    if (code.length > codeLength) {
      throw new QueryError(
        ErrorCode.BAD_DATA,
        `the code has ${code.length} characters; code_size_limit allows ${codeLength}`,
      );
    }
    return this.programs.get(code, (text) => preparedFor(this.executor, text, asker));
  }

  /** The compiled form of a query text that came before; null where `prepare` has to make it. */
  known(code: string): Prepared | null {
    return code.length > this.options.limits.codeLength ? null : this.programs.known(code);
  }

  /** Compiles a procedure that is about to run, unless it was: a part of the time of that run. Throws as `compiledFor`. */
  compile(body: ProcedureBody, asker: Asker): void {
    compiledFor(this.executor, body, asker);
  }

  /** True if a call may change the state of its scope, so that it needs the leader and the privilege CHANGE. Throws as `compiledFor`. */
  mayWrite({ scope, body }: Pick<Call, 'scope' | 'body'>): boolean {
    if (body.kind === 'query') return scope.isAmong(body.prepared.changes);
    if (body.kind !== 'run') return body.kind === 'session';
    return scope.isAmong(compiledFor(this.executor, body, null).changesAlone);
  }

  /** True if a call tells clients of events, as far as is known: it did before, or is a request to do so. Then it takes the leader. */
  mayEmit({ body }: Pick<Call, 'body'>): boolean {
    if (body.kind === 'emit') return true;
    if (body.kind === 'find_rooms' || body.kind === 'session') return false;
    return this.hasEmitters && this.emitters.has(emitterOf(body));
  }

  /** True if a call restores a backup, as far as its text tells: it runs where it was asked, see `Call.mayRestore`. */
  mayRestore({ scope, body }: Pick<Call, 'scope' | 'body'>): boolean {
    if (scope.kind !== 'thingsdb') return false;
    if (body.kind === 'query') return body.prepared.isLocal;
    return body.kind === 'run' && compiledFor(this.executor, body, null).isLocal;
  }

  /** Runs a call. It changes everything it says, or, when it ends in an error, nothing. */
  run(call: Call): Outcome {
    const { runtime: rt, executor } = this;
    const { scope } = call;
    const target = targetOf(scope);
    const source = call.body.kind === 'query' ? call.body.prepared.code : null;
    const writes = this.mayWrite(call);
    const limits = executor.limitsOf(call, call.body.kind === 'run' ? call.body.procedure : null);
    const transaction = executor.begin(call, target, writes, this.defaultDeep(target), source, limits);
    try {
      // Other calls had their privilege checked before.
      if (writes && call.readOnly === true) rt.access.require(Privilege.CHANGE);
      rt.procedureName = call.body.kind === 'run' ? call.body.procedure.name : null;
      rt.requestId = call.requestId ?? null;
      rt.mayRestore = call.mayRestore === true;
      if (call.dryRun) beginDryRun(executor, call, transaction);
      const value = evaluate(executor, call);
      if (rt.mayRestore && transaction.changed) return this.changesElsewhere(transaction);
      if (transaction.outbox !== null && this.mustNotEmit(call, transaction)) return NEEDS_CHANGE;
      if (transaction.tally !== null) return endDryRun(executor, call, value, transaction, transaction.tally);
      if (rt.restore !== null && rt.futures.length > 0) throw FUTURES_BEHIND_RESTORE;
      if (rt.futures.length > 0) return this.futures.suspend(call, target, value, transaction);
      const result = executor.pack(value, call.format, scope, transaction.changed);
      const change = executor.changeOf(scope.group, transaction);
      const secret = secretOf(rt.secrets);
      if (rt.restore !== null) return { kind: 'value', result, change, secret, restore: rt.restore };
      return { kind: 'value', result, change, secret };
    } catch (error) {
      const explained = rt.profile === null ? null : explainFailure(executor, call, error, transaction);
      const failure = executor.failed(error, transaction);
      return explained ?? failure;
    } finally {
      // A slow call is known by its program, which must be the same when its text comes again.
      if (rt.wasLong && call.body.kind === 'query') this.programs.keep(call.body.prepared);
      rt.end();
    }
  }

  /**
   * The values of a request as MessagePack, for another node. Takes as much time and memory as a query may.
   *
   * @throws QueryError
   */
  toMsgpack(values: WireValues): Uint8Array {
    const { runtime: rt } = this;
    rt.startClock(this.options.limits);
    return toMsgpack(values, this.executor.wire, this.executor.charge);
  }

  /** Takes back what a call changed where only a restore may be ordered: it has to run on the leader. */
  private changesElsewhere(transaction: Transaction): Outcome {
    if (this.runtime.restore !== null) {
      throw operationError('restore() has to be the only change of its query');
    }
    this.executor.takeBack(transaction);
    return NEEDS_CHANGE;
  }

  /** True if a call that tells clients of events may not do so here. It is known from then on. */
  private mustNotEmit({ body, mayEmit }: Call, transaction: Transaction): boolean {
    if (body.kind === 'query') this.programs.keep(body.prepared);
    if (body.kind === 'query' || body.kind === 'run') this.emitters.add(emitterOf(body));
    this.hasEmitters = true;
    if (mayEmit === true) return false;
    transaction.rollback();
    return true;
  }
}

/** The programs that are known to make events: the text of a query, or a procedure. */
function emitterOf(body: QueryBody | ProcedureBody): object {
  return body.kind === 'query' ? body.prepared : body.procedure;
}

function targetOf(scope: Scope): Target {
  return scope instanceof CollectionScope ? scope.group.id : scope.kind === 'node' ? 'node' : 'thingsdb';
}

const FUTURES_BEHIND_RESTORE = operationError('a query that restores a backup can make no futures');
