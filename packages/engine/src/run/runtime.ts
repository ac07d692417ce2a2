import type { Rules } from '@althing/language';
import type { Access } from '../admin/access.js';
import type { ModuleInfo } from '../admin/modules.js';
import { RootEditor } from '../admin/root-editor.js';
import type { RootGroup } from '../admin/root-group.js';
import type { PasswordHash, User } from '../admin/user.js';
import type { Environment } from '../environment.js';
import { forbiddenError, lookupError, operationError, quotaError, typeError } from '../error.js';
import type { NodeView, RestoreOrder } from '../node-view.js';
import { Catalog } from '../schema/catalog.js';
import type { Definition } from '../schema/definition.js';
import type { Field } from '../schema/type.js';
import type { Group } from '../state/group.js';
import type { Procedure } from '../state/parts/procedures.js';
import { SchemaEditor } from '../state/parts/schema.js';
import type { Scope } from '../state/scope.js';
import type { Store } from '../state/store.js';
import type { Transaction } from '../state/transaction.js';
import { UserShares } from '../user-shares.js';
import type { Closure } from '../value/closure.js';
import type { Future } from '../value/future.js';
import { ShapeTree } from '../value/shape.js';
import type { Thing } from '../value/thing.js';
import { typeName, type Value } from '../value/value.js';
import { defaultOf } from './defaults.js';
import {
  type Collections,
  type Compiler,
  type Execution,
  type Freshness,
  GroupNeeded,
  HashNeeded,
  NO_IDS,
  type Outlet,
  type Quotas,
  type TaskRun,
} from './execution.js';
import { Signal } from './jump.js';
import { lateValue, type Making } from './late.js';
import { FUTURES_DEPTH_MAX, FUTURES_MAX, FUTURES_OF_CLOSURE_MAX } from './later.js';
import { HOT_RUNS, INDEXED_AT_ONCE_MAX } from './limits.js';
import { Meter } from './meter.js';
import type { FirstTier } from './operators.js';
import { checkedDeep } from './params.js';
import type { Profile } from './profile.js';
import { rulesOf } from './rules.js';
import { type SavedValue, Symbols } from './symbols.js';
import type { FunctionTable } from './table.js';
import { GONE, type Unit } from './unit.js';

/**
 * The machine that runs compiled code. One for each engine thread: code is compiled for its runtime and finds
 * everything about the running query here. Queries run one after another, each to completion.
 */
export class Runtime extends Meter {
  readonly symbols = new Symbols();
  readonly shapes = new ShapeTree();
  private readonly noSchema = new Catalog(this.shapes, { load: () => {} });
  /** The default of a property of an instance: a value of its own each time. */
  readonly makeDefault = (definition: Definition): Value => defaultOf(this, definition);
  /** The value of a property that a job has still to give to an instance. */
  readonly makeLate = (thing: Thing, field: Field): Value => lateValue(this, thing, field);
  /** Instances whose values are being made, the innermost last. */
  readonly making: Making[] = [];
  /** Compiled operators that came by. */
  readonly operators = new Map<string, FirstTier>();
  /** Rules of the functions for the analysis of a text. */
  readonly rules: Rules;

  scope!: Scope;
  /** The things of the running query's collection; null in the root and node scopes. */
  store: Store | null = null;
  /** The types and enums of the running query's collection; empty in other scopes. */
  schema: Catalog;
  procedures: ReadonlyMap<string, Procedure> = NO_PROCEDURES;
  transaction!: Transaction;
  access!: Access;
  deep = 1;
  /** Depth of the result where the query sets no other. */
  defaultDeep = 1;
  flags = 0;
  /** Rises with every query; tells what belongs to an earlier one. */
  epoch = 0;
  /** The text of the query; null where something else runs. */
  source: string | null = null;
  /** True if the query announced a change of definitions with `commit`. */
  isCommitted = false;
  /** Collections whose state here was confirmed for the query. */
  fresh: Freshness = { isFresh: () => false };
  /** True if a sort is running: sorts don't nest. */
  sorting = false;

  /** The run of a task that the query is a part of; null for none. */
  run: TaskRun | null = null;
  /** Takes what code says by `log`, besides the log of the node. */
  outlet: Outlet | null = null;
  /** The procedure that a request asked for, and the request's name; null where there is none. For the log. */
  procedureName: string | null = null;
  requestId: string | null = null;

  /** True if the query may order that a backup is restored: it runs on the node that was asked. */
  mayRestore = false;
  /** The backup that is to be restored when the query has ended well; null for none. */
  restore: RestoreOrder | null = null;

  /** Futures that the query made, in that order. */
  futures: Future[] = [];
  /** The rest of the call while one of its futures runs: those behind it, and the answer. */
  pending: readonly Value[] = [];
  /** The depth of the future whose closure runs; 0 where none does. */
  futureDepth = 0;
  /** Futures of other queries that wait for their turn. */
  waitingFutures = 0;
  /** Futures that wait for modules, which may let them wait long. */
  readonly askedFutures = new UserShares(FUTURES_MAX);

  /** The hint in place of a result with secrets that the query made. */
  readonly secrets: string[] = [];

  /** True if queries run beside those who change the state, on one that is older: nothing may come of them but their answers. */
  isSnapshot = false;
  /** True if things have to leave memory at the next turn of a walk: see `room.ts`. */
  isFull = false;

  /** The counters of a run that is explained; null for any other run. */
  profile: Profile | null = null;

  /** Set by a jump in statement position. */
  signal: Signal = Signal.NONE;
  /** Value of a `return` on its way out. */
  returned: Value = null;
  /** Values that the locals of the running closure hide: see `invoke.ts`. */
  saved: SavedValue[] = [];
  /** Depth and length of the effects when the present statement of the query itself began. */
  private statementDepth = -1;
  private statementEffects = -1;
  /** Runs after which a piece of code moves to the second tier; decided when it is compiled. */
  hotRuns = HOT_RUNS;
  /** Instances of a type at most whose index is built at once, by the query that makes it. */
  indexedAtOnce = INDEXED_AT_ONCE_MAX;
  /** The closure that a text is the source of. */
  readonly compileText: (source: string) => Closure;
  private readonly compileClosure: (closure: Closure) => Unit;

  /** Code of closures that was made for the running query alone. */
  private readonly passingUnits: Unit[] = [];
  private hashes: ReadonlyMap<string, PasswordHash> = new Map();

  constructor(
    readonly functions: FunctionTable,
    environment: Environment,
    readonly catalog: Collections,
    readonly quotas: Quotas,
    compiler: Compiler,
  ) {
    super(environment);
    this.schema = this.noSchema;
    this.rules = rulesOf(functions);
    this.compileClosure = (closure) => compiler.compileStored(this, closure);
    this.compileText = (source) => compiler.compileText(this, source);
  }

  /** The user that the query runs as. */
  get user(): User {
    return this.access.user;
  }

  /** The state of the root scope, as far as this node knows it. */
  get root(): RootGroup {
    return this.access.root;
  }

  /** The state that the query may change. */
  get group(): Group {
    const { group } = this.scope;
    if (group === null) throw new Error('the scope of a node has no state to change');
    return group;
  }

  /** The node that the query runs on. Nobody knows how much it gathers before it tells of it, so the clock is looked at each time. */
  get node(): NodeView {
    const { node } = this.environment;
    if (node === null) throw operationError('this engine runs without a node');
    this.check();
    return node;
  }

  /** Makes changes of the root scope's state. */
  get editor(): RootEditor {
    return new RootEditor(this.root, this.transaction);
  }

  /** Makes changes of the collection's types and enums. */
  get schemaEditor(): SchemaEditor {
    if (this.store === null) throw new Error('there are types in collections only');
    return new SchemaEditor(this.store, this.transaction);
  }

  /**
   * Takes up a future that the query makes.
   *
   * @throws QueryError max_quota_err or operation_err when too many wait, or were made by each other
   */
  addFuture(future: Future): Future {
    const { futures } = this;
    this.assertFutures();
    if (this.futureDepth >= FUTURES_DEPTH_MAX) {
      throw operationError(
        `futures make futures more than ${FUTURES_DEPTH_MAX} deep, the most that there may be`,
      );
    }
    future.depth = this.futureDepth + 1;
    const { onResult } = future;
    if (onResult !== null && futures.length >= FUTURES_OF_CLOSURE_MAX) {
      const same = futures.filter((other) => other.onResult === onResult).length;
      if (same >= FUTURES_OF_CLOSURE_MAX) {
        throw operationError(`${same} futures of the same closure wait, the most that there may be`);
      }
    }
    futures.push(future);
    return future;
  }

  /**
   * Throws operation_err in a snapshot read.
   *
   * @param what what is not done there, as in "futures are made"
   */
  assertNoSnapshot(what: string): void {
    if (this.isSnapshot)
      throw operationError(`no ${what} in a snapshot read: use the consistency linearizable or stale`);
  }

  /** Throws max_quota_err while as many futures wait as may. */
  assertFutures(): void {
    this.assertNoSnapshot('futures are made');
    if (this.futures.length + this.waitingFutures < FUTURES_MAX) return;
    throw quotaError(`${FUTURES_MAX} futures wait on this node, the most that there may be`);
  }

  /** The futures that were made since the query began, which are the caller's from now on. */
  takeFutures(): readonly Future[] {
    const { futures } = this;
    this.futures = [];
    return futures;
  }

  /** True if running a closure needs a change in the scope of the query. */
  needsChange(closure: Closure): boolean {
    const unit = this.unitOf(closure);
    return this.scope.isAmong(closure.isStored ? unit.changesAlone : unit.changes);
  }

  /** The wall clock in whole seconds. */
  seconds(): number {
    return Math.floor(this.environment.now() / 1000);
  }

  /** The hash of a password. Throws `HashNeeded` while it is not at hand. */
  hashOf(password: string): PasswordHash {
    const hash = this.hashes.get(password);
    if (hash === undefined) throw new HashNeeded(password);
    return hash;
  }

  /** The compiled body of a closure. */
  unitOf(closure: Closure): Unit {
    const { unit } = closure;
    if (unit !== null && unit.onlyIn === this.profile) return unit;
    const made =
      this.profile === null
        ? this.compileClosure(closure)
        : this.profile.replace(closure, this.compileClosure);
    closure.unit = made;
    return made;
  }

  /** Prepares for a query. */
  begin(execution: Execution): void {
    this.scope = execution.scope;
    this.store = execution.scope.store;
    this.schema = this.store?.schema ?? this.noSchema;
    this.schema.makeDefault = this.makeDefault;
    this.schema.makeLate = this.makeLate;
    this.procedures = execution.scope.group?.procedures.byName ?? NO_PROCEDURES;
    this.transaction = execution.transaction;
    this.access = execution.access;
    this.hashes = execution.hashes;
    this.source = execution.source;
    this.fresh = execution.fresh;
    this.isCommitted = false;
    this.run = execution.run;
    this.outlet = execution.outlet;
    this.procedureName = null;
    this.requestId = null;
    this.mayRestore = false;
    this.restore = null;
    this.deep = execution.deep;
    this.defaultDeep = execution.deep;
    this.flags = 0;
    this.epoch += 1;
    this.sorting = false;
    if (this.secrets.length > 0) this.secrets.length = 0;
    if (this.futures.length > 0) this.futures = [];
    this.pending = NOTHING_PENDING;
    this.futureDepth = 0;
    this.signal = Signal.NONE;
    this.returned = null;
    if (this.saved.length > 0) this.saved = [];
    this.depth = 0;
    this.statementDepth = -1;
    this.statementEffects = -1;
    this.isFull = false;
    this.store?.reading?.begin();
    this.startClock(execution.limits, execution.spentMs, execution.sliceMs, execution.transaction);
  }

  /**
   * Makes code for the running query alone: it is gone when the query ends, and a closure that outlives it is compiled again when it
   * is called.
   */
  compilePassing(compile: () => Unit): Unit {
    return this.symbols.whilePassing(compile);
  }

  /** Notes the unit of a closure. */
  noteUnit(unit: Unit): void {
    if (this.symbols.isPassing) this.passingUnits.push(unit);
  }

  /** Keeps code that was made for the running query: some of it runs later. */
  keepPassing(): void {
    this.symbols.keepPassing();
    this.passingUnits.length = 0;
  }

  private endPassing(): void {
    this.symbols.endPassing();
    if (this.passingUnits.length === 0) return;
    for (const unit of this.passingUnits) {
      unit.onlyIn = GONE;
      unit.body = gone;
    }
    this.passingUnits.length = 0;
  }

  /** Forgets the query, so that nothing of it stays alive. */
  end(): void {
    this.endPassing();
    this.stopClock();
    this.profile?.end();
    this.profile = null;
    this.returned = null;
    if (this.saved.length > 0) this.saved = [];
    this.pending = NOTHING_PENDING;
    this.store = null;
    this.schema = this.noSchema;
  }

  /** The root thing of the collection; what a leading dot means. */
  rootThing(): Thing {
    if (this.store === null)
      throw lookupError(`the scope ${this.scope.name} has no stored data: there is no '.'`);
    return this.store.root;
  }

  /** The meaning of a name that is no variable: a module, a procedure of the scope, then a constant. */
  nameWithoutVariable(name: string): Value {
    const { modules } = this.root;
    const module = modules.byName.get(name);
    if (module !== undefined) {
      this.assertCallable(module);
      return modules.valueOf(module);
    }
    const procedure = this.scope.procedure(name);
    if (procedure !== undefined) return procedure.closure;
    const constant = this.functions.constants.get(name);
    if (constant !== undefined) return constant;
    this.freshenModules();
    throw lookupError(`there is no variable, module, procedure or constant '${name}'`);
  }

  /** Makes sure that what this node knows of modules is all that was acknowledged; the query runs again if not. */
  freshenModules(): void {
    if (this.scope.kind !== 'thingsdb' && !this.fresh.isFresh(ROOT_GROUP)) throw new GroupNeeded(ROOT_GROUP);
  }

  /**
   * Makes sure that a user stays to which something in another group is going to refer: the change that made it may be lost though that
   * of the other group is not. The query runs again when this node has heard what is committed.
   */
  assertCommittedUser(id: number): void {
    if (this.scope.kind !== 'thingsdb' && !this.environment.isCommittedUser(id))
      throw new GroupNeeded(ROOT_GROUP);
  }

  /** Throws forbidden_err unless a module may be called in the scope of the query. */
  assertCallable({ name, scope: only }: ModuleInfo): void {
    const { scope } = this;
    if (only === null || only === (typeof only === 'number' ? scope.collectionId : scope.kind)) return;
    throw forbiddenError(`the module '${name}' can not be called in the scope ${scope.name}`);
  }

  /** Sets the depth of the result: the last one set anywhere in the query counts. */
  setDeep(value: Value): void {
    this.deep = checkedDeep(value);
  }

  /** Adds result flags; only NO_IDS counts. */
  addFlags(value: Value): void {
    if (typeof value !== 'number' && typeof value !== 'bigint') {
      throw typeError(`flags must be an int, not ${typeName(value)}`);
    }
    if ((BigInt(value) & BigInt(NO_IDS)) !== 0n) this.flags |= NO_IDS;
  }

  /** Called where a statement of the query itself begins, behind another one. */
  beginStatement(): void {
    this.statementDepth = this.depth;
    this.statementEffects = this.transaction.effects.length;
  }

  /** True if no closure is running, and the statement that runs has not changed anything. */
  get atStatement(): boolean {
    return this.depth === this.statementDepth && this.transaction.effects.length === this.statementEffects;
  }

  /** Makes sure that the properties of a thing are in memory. */
  load(thing: Thing): void {
    if (thing.id !== 0) this.store?.load(thing, this.charging);
    else if (thing.shape.stale !== null) thing.shape.stale.load(thing);
  }
}

/** Number of the root scope among the groups that a query needs the newest state of. */
const ROOT_GROUP = 0;

const NOTHING_PENDING: readonly Value[] = [];

/** The body of code that was made for a query that has ended. */
function gone(): never {
  throw new Error('code of a query is run that has ended');
}

const NO_PROCEDURES: ReadonlyMap<string, Procedure> = new Map();
