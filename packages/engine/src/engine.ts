import { Access } from './admin/access.js';
import type { RootEvent } from './admin/root-event.js';
import { type CollectionEvent, RootGroup, type Target } from './admin/root-group.js';
import type { PasswordHash, User } from './admin/user.js';
import { ByteWriter } from './bytes.js';
import type { Environment } from './environment.js';
import { ErrorCode, operationError, QueryError } from './error.js';
import { builtIns } from './functions/index.js';
import { FunctionTable } from './functions/table.js';
import { JSON_NESTING_MAX, JsonWriter } from './pack/json-writer.js';
import { MsgpackWriter } from './pack/msgpack-writer.js';
import { MSGPACK_NESTING_MAX, pack } from './pack/walk.js';
import { invoke, runQuery } from './run/invoke.js';
import type { QueryLimits } from './run/limits.js';
import { compileStored, type Prepared, prepare } from './run/program.js';
import { ProgramCache } from './run/program-cache.js';
import { HashNeeded, NO_IDS, type Quotas, Runtime, share } from './run/runtime.js';
import { CollectionScope, NodeScope, RootScope } from './run/scopes.js';
import { CollectionGroup } from './state/collection-group.js';
import { Evictor } from './state/evictor.js';
import type { Group } from './state/group.js';
import { Marking } from './state/marking.js';
import type { RecordSource } from './state/records.js';
import type { Procedure, Scope } from './state/scope.js';
import { Transaction, type Undo } from './state/transaction.js';
import { checkRestriction } from './value/restriction.js';
import type { Value } from './value/value.js';

export type Format = 'json' | 'msgpack';

/** One request, routed and checked as far as that is possible without running it. */
export interface Call {
  readonly scope: Scope;
  readonly user: User;
  readonly body: QueryBody | ProcedureBody;
  readonly format: Format;
  readonly hashes?: ReadonlyMap<string, PasswordHash>;
}

export interface QueryBody {
  readonly kind: 'query';
  readonly prepared: Prepared;
  readonly vars: ReadonlyMap<string, Value> | null;
}

export interface ProcedureBody {
  readonly kind: 'run';
  readonly procedure: Procedure;
  /** By position or by name. */
  readonly args: readonly Value[] | ReadonlyMap<string, Value>;
}

/** A change that the state holds and that is to be replicated. */
export interface Change {
  readonly effects: Uint8Array;
  /** The way back, until the effects are committed. */
  readonly undo: readonly Undo[];
  /** Collections that came or went. */
  readonly collectionEvents: readonly CollectionEvent[];
  /** What it does to the root scope. */
  readonly events: readonly RootEvent[];
}

/** What came of a call. */
export type Outcome =
  | {
      readonly kind: 'value';
      /** The packed result: text for JSON, bytes for MessagePack. */
      readonly result: string | Uint8Array;
      /** Null when nothing changed. */
      readonly change: Change | null;
    }
  | { readonly kind: 'error'; readonly error: QueryError }
  /** The call changed nothing; it can be run again with the hash of this password. */
  | { readonly kind: 'hash'; readonly password: string };

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
  /** Reports a defect of the engine itself. */
  readonly onInternalError: (error: unknown) => void;
}

/**
 * The state of a node's scopes, and the machine that runs queries on it. Synchronous: a call runs to completion. Which
 * calls may run, and what happens to their effects, is for the caller to decide.
 */
export class Engine {
  readonly root = new RootGroup();
  readonly runtime: Runtime;
  /** Things that were removed because only circles of garbage held them. */
  garbageCount = 0;
  /** What was counted in collections that are closed. */
  private readonly goneCounts = { hits: 0, misses: 0, evictions: 0 };
  private readonly stops = { time: 0, memory: 0, result: 0, depth: 0 };
  private readonly options: EngineOptions;
  private readonly programs: ProgramCache;
  private readonly collections = new Map<number, OpenCollection>();
  private readonly rootScope = new RootScope(this.root);
  private readonly nodeScope = new NodeScope(this.root);
  private readonly effects = new ByteWriter(4096);
  private readonly charge = (units: number): void => this.runtime.charge(units);
  private readonly packed = new MsgpackWriter(new ByteWriter(4096));

  constructor(options: EngineOptions) {
    this.options = options;
    this.programs = new ProgramCache(options.programCacheBytes);
    this.runtime = new Runtime(
      new FunctionTable(builtIns()),
      options.environment,
      { collection: (id) => this.collections.get(id)?.group },
      options.quotas,
      compileStored,
    );
  }

  /** Makes the state of a collection's group, empty but for what `source` has. */
  openCollection(id: number, source: RecordSource): CollectionGroup {
    const group = new CollectionGroup(id, this.runtime.shapes, source);
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
    const transaction = new Transaction(group.store, true, this.effects, checkRestriction, () => {});
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
    return scope.isAmong(this.runtime.unitOf(body.procedure.closure).changesAlone);
  }

  /** Runs a call. It changes everything it says, or, when it ends in an error, nothing. */
  run(call: Call): Outcome {
    const { runtime: rt, root } = this;
    const { scope, user } = call;
    const target = targetOf(scope);
    this.effects.rewind();
    const transaction = new Transaction(
      scope.store,
      this.mayWrite(call),
      this.effects,
      checkRestriction,
      this.charge,
    );
    rt.begin({
      scope,
      transaction,
      access: new Access(root, user, target),
      limits: this.options.limits,
      deep: this.defaultDeep(target),
      hashes: call.hashes ?? NO_HASHES,
    });
    try {
      const value = this.evaluate(call);
      const result = this.pack(value, call.format, scope);
      return { kind: 'value', result, change: this.changeOf(scope.group, transaction) };
    } catch (error) {
      transaction.rollback();
      root.collectionEvents.length = 0;
      root.events.length = 0;
      return this.failed(error);
    } finally {
      rt.end();
    }
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
    };
  }

  private evaluate({ body }: Call): Value {
    const { runtime: rt } = this;
    if (body.kind === 'run') {
      const { closure } = body.procedure;
      return invoke(rt, closure, argumentsOf(rt, body));
    }
    const { vars } = body;
    if (vars === null) return runQuery(rt, body.prepared.unit);
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

  private pack(value: Value, format: Format, scope: Scope): string | Uint8Array {
    const { runtime: rt } = this;
    const options = {
      deep: rt.deep,
      ids: (rt.flags & NO_IDS) === 0,
      store: scope.store,
      sizeMax: this.options.limits.resultBytes,
    };
    if (format === 'json') {
      const sink = new JsonWriter();
      pack(value, sink, { ...options, nestingMax: JSON_NESTING_MAX });
      return sink.take();
    }
    this.packed.out.rewind();
    pack(value, this.packed, { ...options, nestingMax: MSGPACK_NESTING_MAX });
    return this.packed.out.take();
  }

  private countStop({ code, fatal }: QueryError): void {
    if (code === ErrorCode.TIMEOUT) this.stops.time += 1;
    else if (code === ErrorCode.RESULT_TOO_LARGE) this.stops.result += 1;
    else if (code === ErrorCode.MAX_QUOTA && fatal) this.stops.memory += 1;
  }

  private failed(error: unknown): Outcome {
    if (error instanceof QueryError) {
      this.countStop(error);
      return { kind: 'error', error };
    }
    if (error instanceof HashNeeded) return { kind: 'hash', password: error.password };
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

const NO_HASHES: ReadonlyMap<string, PasswordHash> = new Map();

function targetOf(scope: Scope): Target {
  return scope instanceof CollectionScope ? scope.group.id : scope.kind === 'node' ? 'node' : 'thingsdb';
}

function argumentsOf(rt: Runtime, { procedure, args }: ProcedureBody): readonly Value[] {
  if (Array.isArray(args)) return args as readonly Value[];
  const named = args as ReadonlyMap<string, Value>;
  return rt.unitOf(procedure.closure).params.map(({ name }) => named.get(name) ?? null);
}
