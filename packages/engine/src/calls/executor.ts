/**
 * The steps of every part of a call, be it a query, a future or the run of a task: it begins with a transaction, and ends with a
 * packed value, with a change, or with nothing done. One part runs at a time; the buffers are shared by all.
 */
import type { Changes } from '@althing/language';
import { Access } from '../admin/access.js';
import type { Target } from '../admin/access-lists.js';
import type { RootGroup } from '../admin/root-group.js';
import { ByteWriter } from '../bytes.js';
import { ErrorCode, operationError, QueryError } from '../error.js';
import { extensionsOf } from '../functions/conversion.js';
import { type InfoFields, writeFields } from '../pack/info.js';
import { JSON_NESTING_MAX, JsonWriter } from '../pack/json-writer.js';
import { packRequest } from '../pack/module-answer.js';
import { MsgpackWriter } from '../pack/msgpack-writer.js';
import { MSGPACK_NESTING_MAX, type PackOptions, pack, type Sink } from '../pack/walk.js';
import { type Format, type WireOptions, wireOptions } from '../pack/wire-values.js';
import { computeIn } from '../run/computed.js';
import { type Freshness, GroupNeeded, HashNeeded, NO_IDS, PositionsNeeded } from '../run/execution.js';
import { storeTouched } from '../run/late.js';
import type { QueryLimits } from '../run/limits.js';
import { SliceOver } from '../run/meter.js';
import type { Runtime } from '../run/runtime.js';
import { CollectionGroup } from '../state/collection-group.js';
import type { Group } from '../state/group.js';
import type { Ids } from '../state/ids.js';
import { JobEditor } from '../state/parts/jobs.js';
import type { Procedure } from '../state/parts/procedures.js';
import type { Scope } from '../state/scope.js';
import { NS_PER_UNDO } from '../state/transaction/undo-costs.js';
import { Transaction } from '../state/transaction.js';
import type { Closure } from '../value/closure.js';
import type { Future } from '../value/future.js';
import type { Value } from '../value/value.js';
import { type Call, type Change, type Failure, type Hashes, NO_CHARGE, type Start } from './call.js';

/** Surroundings of an execution. */
export interface ExecutorOptions {
  readonly root: RootGroup;
  readonly runtime: Runtime;
  readonly limits: QueryLimits;
  /** The scope of a target; undefined for a collection that is not open. */
  readonly scope: (target: Target) => Scope | undefined;
  /** Results of a scope have this depth unless the query sets another. */
  readonly defaultDeep: (target: Target) => number;
  /** Monotonic time, in milliseconds. */
  readonly monotonic: () => number;
  /** Reports a defect of the engine itself. */
  readonly onInternalError: (error: unknown) => void;
}

export class Executor {
  readonly root: RootGroup;
  readonly runtime: Runtime;
  readonly limits: QueryLimits;
  readonly scope: ExecutorOptions['scope'];
  readonly defaultDeep: ExecutorOptions['defaultDeep'];
  readonly monotonic: () => number;
  /** The options by which values that came with a request are read. */
  readonly wire: WireOptions;
  /** Queries that were ended by a limit. */
  readonly stops = { time: 0, memory: 0, result: 0, depth: 0 };
  readonly charge = (units: number): void => this.runtime.charge(units);
  private readonly onInternalError: (error: unknown) => void;
  private readonly effects = new ByteWriter(4096);
  /** The options by which the present result is packed. */
  private readonly packing: { -readonly [K in keyof PackOptions]: PackOptions[K] };
  private readonly packed = new MsgpackWriter(new ByteWriter(4096));

  constructor(options: ExecutorOptions) {
    const { root, runtime, limits, scope, defaultDeep, monotonic, onInternalError } = options;
    this.root = root;
    this.runtime = runtime;
    this.limits = limits;
    this.scope = scope;
    this.defaultDeep = defaultDeep;
    this.monotonic = monotonic;
    this.onInternalError = onInternalError;
    this.packing = {
      deep: 1,
      ids: true,
      store: null,
      sizeMax: 0,
      nestingMax: 0,
      charge: this.charge,
      compute: computeIn(runtime),
    };
    this.wire = wireOptions(runtime.shapes, (count) => runtime.step(count), extensionsOf(runtime));
  }

  /**
   * Prepares the runtime for what is to be a change of its own, if it changes anything.
   *
   * @param source text of the query; null for none
   * @param limits what it may use; default: as much as its user may
   */
  begin(
    start: Start,
    target: Target,
    writable: boolean,
    deep: number,
    source: string | null,
    limits = this.limitsOf(start, null),
  ): Transaction {
    const {
      scope,
      user,
      spentMs = 0,
      sliceMs = Number.POSITIVE_INFINITY,
      hashes = NO_HASHES,
      fresh = NOTHING_FRESH,
      run = null,
      outlet = null,
      readOnly = false,
    } = start;
    this.effects.rewind();
    const transaction = new Transaction(scope.store, writable, this.effects, this.charge);
    listen(scope.group, writable);
    const access = new Access(this.root, user, target, readOnly);
    transaction.reader = access;
    this.runtime.begin({
      scope,
      transaction,
      access,
      limits,
      spentMs,
      sliceMs,
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
   * The limits of a call of a user: no more than the node allows, and no more time than its procedure, or else the user, is given.
   *
   * @param procedure that is called; null for other calls
   */
  limitsOf({ scope, user }: Pick<Start, 'scope' | 'user'>, procedure: Procedure | null): QueryLimits {
    const { limits, root } = this;
    // Limits of users and procedures bound how long others wait, and nobody waits for a read of a snapshot.
    if (this.runtime.isSnapshot) return limits;
    const own = procedure?.durationMs ?? null;
    const durationMs = own ?? root.limitIn(scope.kind, user.id).durationMs;
    if (durationMs === null || durationMs >= limits.durationMs) return limits;
    const durationSource = own === null ? 'set_limit() of the user' : 'the duration of the procedure';
    return { ...limits, durationMs, durationSource };
  }

  /** A transaction for a change that no query makes. */
  transactionOf(group: Group): Transaction {
    const store = group instanceof CollectionGroup ? group.store : null;
    listen(group, true);
    this.effects.rewind();
    return new Transaction(store, true, this.effects, NO_CHARGE);
  }

  /** Ends a change of a group's state; null when nothing changed. */
  changeOf(group: Group | null, transaction: Transaction): Change | null {
    if (group instanceof CollectionGroup) {
      if (group.store === this.runtime.store) storeTouched(this.runtime);
      const editor = new JobEditor(group.jobs, transaction);
      editor.noteRewritten();
      editor.noteGiven();
    }
    listen(group, false);
    const effects = transaction.finish();
    if (effects === null || group === null) return null;
    group.noteChange(effects.length);
    transaction.onUndo(() => {
      group.changeCount -= 1;
    }, NS_PER_UNDO);
    const { collectionEvents, events } = this.root;
    return {
      effects,
      undo: transaction.inverse,
      collectionEvents: collectionEvents.splice(0),
      events: events.splice(0),
      roomEvents: transaction.roomEvents,
    };
  }

  /**
   * Packs the value of what runs now, as its flags and its depth say.
   *
   * @param isKept whether the result may be kept: those of changes are, for requests that come again
   */
  pack(value: Value, format: Format, scope: Scope, isKept = true): string | Uint8Array {
    if (format === 'json') {
      const sink = new JsonWriter();
      this.packInto(sink, value, scope, JSON_NESTING_MAX);
      return sink.take();
    }
    this.packed.out.rewind();
    this.packInto(this.packed, value, scope, MSGPACK_NESTING_MAX);
    return isKept ? this.packed.out.take() : this.packed.out.takeBriefly();
  }

  /**
   * Packs a map with a value and what there is to tell of it.
   *
   * @param told gives the other fields, `count` of them, when the value is packed
   */
  packTold(
    value: Value,
    { format, scope }: Pick<Call, 'format' | 'scope'>,
    count: number,
    told: () => InfoFields,
  ): string | Uint8Array {
    const isText = format === 'json';
    const sink = isText ? new JsonWriter() : new MsgpackWriter();
    sink.beginMap(count + 1);
    sink.key('result');
    const nestingMax = (isText ? JSON_NESTING_MAX : MSGPACK_NESTING_MAX) - 1;
    const { profile } = this.runtime;
    if (profile === null) this.packInto(sink, value, scope, nestingMax);
    else profile.within(profile.packing, () => this.packInto(sink, value, scope, nestingMax));
    writeFields(sink, told());
    sink.endMap();
    return sink instanceof JsonWriter ? sink.take() : sink.out.take();
  }

  private packInto(sink: Sink, value: Value, scope: Scope, nestingMax: number): void {
    const { runtime: rt, packing } = this;
    packing.deep = rt.deep;
    packing.ids = (rt.flags & NO_IDS) === 0;
    packing.store = scope.store;
    packing.nestingMax = nestingMax;
    packing.sizeMax = this.limits.resultBytes;
    pack(value, sink, packing);
  }

  /** Packs what is asked of a module. */
  packRequest(request: NonNullable<Future['request']>, scope: Scope): Uint8Array {
    return packRequest(request, { ...this.packing, sizeMax: this.limits.resultBytes, store: scope.store });
  }

  private countStop({ code, fatal }: QueryError): void {
    if (code === ErrorCode.TIMEOUT) this.stops.time += 1;
    else if (code === ErrorCode.RESULT_TOO_LARGE) this.stops.result += 1;
    else if (code === ErrorCode.MAX_QUOTA && fatal) this.stops.memory += 1;
  }

  /** Takes back what was done, and what would have been told of it. */
  takeBack(transaction: Transaction): void {
    transaction.rollback();
    listen(this.runtime.scope.group, false);
    this.root.collectionEvents.length = 0;
    this.root.events.length = 0;
  }

  /** Takes back what was done, and says why it ended. */
  failed(error: unknown, transaction: Transaction): Failure {
    const sources = idsOf(this.runtime.scope).map((ids) => ({ ids, idFloor: ids.idFloor }));
    this.takeBack(transaction);
    // Nobody hears of the ids of a run that comes again.
    const comesAgain = error instanceof SliceOver || !(error instanceof QueryError);
    if (comesAgain) for (const { ids, idFloor } of sources) ids.idFloor = idFloor;
    if (error instanceof SliceOver) return SLICE_OVER;
    if (error instanceof QueryError) {
      this.countStop(error);
      return { kind: 'error', error };
    }
    if (error instanceof HashNeeded) return { kind: 'hash', password: error.password };
    if (error instanceof PositionsNeeded) return { kind: 'positions' };
    if (error instanceof GroupNeeded) return { kind: 'behind', collection: error.collection };
    if (error instanceof RangeError && error.message.includes('call stack')) {
      this.stops.depth += 1;
      return { kind: 'error', error: operationError('the query is nested too deeply') };
    }
    this.onInternalError(error);
    return {
      kind: 'error',
      error: new QueryError(ErrorCode.INTERNAL, 'internal error; see the log of the node'),
    };
  }
}

/**
 * The failure itself, or that this node is behind, as long as it may lack rights that were given elsewhere: of a call that nobody checked before, the
 * refusal counts only once the node has all that was acknowledged in the root scope.
 */
export function doubted(failure: Failure, fresh: Freshness | undefined): Failure {
  const isRefusal = failure.kind === 'error' && failure.error.code === ErrorCode.FORBIDDEN;
  return isRefusal && fresh?.isFresh(ROOT_GROUP) === false ? BEHIND_ROOT : failure;
}

/** The group of the root scope. */
const ROOT_GROUP = 0;

const SLICE_OVER: Failure = { kind: 'slice_over' };

const BEHIND_ROOT: Failure = { kind: 'behind', collection: ROOT_GROUP };

export const NOTHING_FRESH: Freshness = { isFresh: () => false };

const NO_HASHES: Hashes = new Map();

/** Secrets of one query of which something is said. */
const HINTS_MAX = 10;

/** The hint in place of a result that may hold secrets; null when it holds none. */
export function secretOf(secrets: readonly string[]): string | null {
  return secrets.length === 0 ? null : secrets.slice(0, HINTS_MAX).join('; ');
}

/** Begins to note which instances a change rewrites, where a job wants to know it; or ends that. */
function listen(group: Group | null, writes: boolean): void {
  if (!(group instanceof CollectionGroup)) return;
  const { jobs, store } = group;
  const isFilling = writes && jobs.fills.length > 0;
  store.rewritten = isFilling || (writes && jobs.successions.length > 0) ? new Set() : null;
  store.given = isFilling ? new Map() : null;
}

/** The sources of ids of a scope. */
function idsOf({ group, store }: Scope): readonly Ids[] {
  const own = group === null ? [] : [group.tasks.ids];
  return store === null ? own : [...own, store.schema.typeIds, store.schema.enumIds];
}

/** Effects of running a closure. */
export function changesOf(rt: Runtime, closure: Closure): Changes {
  const unit = rt.unitOf(closure);
  return closure.isStored ? unit.changesAlone : unit.changes;
}
