/**
 * The rest of a call when its own statements are done: its futures, each of which is a change of its own. Other calls may
 * run in between, so what the rest knows of stored things is kept in memory, where it stays the one object for its id.
 */
import type { Target } from '../admin/access-lists.js';
import { operationError, type QueryError } from '../error.js';
import type { Format } from '../pack/wire-values.js';
import type { Scope } from '../state/scope.js';
import type { Store } from '../state/store.js';
import type { UserShares } from '../user-shares.js';
import type { Closure } from '../value/closure.js';
import { chargeFill, List, listOf, ThingSet } from '../value/containers.js';
import { Future, type ModuleAnswer } from '../value/future.js';
import { ErrorValue } from '../value/scalars.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { Wrap } from '../value/wrap.js';
import type { Outlet, TaskRun } from './execution.js';
import type { Runtime } from './runtime.js';

/** Most futures of one node that wait for their turn. */
export const FUTURES_MAX = 2000;

/** Most futures of one closure in one run. */
export const FUTURES_OF_CLOSURE_MAX = 255;

/** Longest chain of futures that make futures: one of them that has no end is found out at once. */
export const FUTURES_DEPTH_MAX = 255;

/** The state of a call when its own statements are done. */
export interface Beginning {
  readonly scope: Scope;
  readonly target: Target;
  readonly userId: number;
  readonly format: Format;
  /** The value of the call: the answer, or the future whose result is. */
  readonly value: Value;
  readonly deep: number;
  readonly flags: number;
  /** The run of a task that it is; null for a call. */
  readonly run: TaskRun | null;
  /** Takes what code says by `log`; null for nobody. */
  readonly outlet: Outlet | null;
  /** The procedure and the request that it began with, for the log; null for none. */
  readonly procedureName: string | null;
  readonly requestId: string | null;
  /** True if it runs without CHANGE and GRANT. */
  readonly readOnly: boolean;
}

/** A call of which futures are still to run. */
export class Continuation {
  /** The hint in place of secrets that the call made. */
  readonly secrets: string[] = [];
  /** Milliseconds that the futures took until now. */
  spentMs = 0;
  private waiting: Future[] = [];
  /** Requests to modules that were sent, by the number that the answer comes with. */
  private readonly asked = new Map<number, Future>();
  private lastAsked = 0;
  private readonly pinned: Thing[] = [];

  /** @param allAsked counts those that wait for modules */
  constructor(
    readonly call: Beginning,
    private readonly allAsked: UserShares,
  ) {}

  /** The future whose turn it is. */
  get next(): Future | undefined {
    return this.waiting[0];
  }

  /** Futures that are not done. */
  get count(): number {
    return this.waiting.length + this.asked.size;
  }

  /** Takes up futures in the order in which they were made: the last starts first, behind those that wait already. */
  add(futures: readonly Future[]): void {
    this.waiting.push(...futures.toReversed());
  }

  /** True if nothing can be done before a module answers. */
  get isIdle(): boolean {
    return this.waiting.length === 0 && this.asked.size > 0;
  }

  /** True if a future that has not begun has a closure. */
  get hasClosures(): boolean {
    return this.waiting.some(({ onResult, onFailure }) => onResult !== null || onFailure !== null);
  }

  /** The request of the future whose turn it is leaves; gives the number that its answer comes with. */
  ask(): number {
    const future = this.waiting.shift();
    if (future === undefined) throw new Error('no future asks');
    this.lastAsked += 1;
    this.asked.set(this.lastAsked, future);
    this.allAsked.add(this.call.userId, 1);
    return this.lastAsked;
  }

  /** Takes the answer to a request; one that nobody waits for is dropped. */
  take(number: number, answer: ModuleAnswer): void {
    const future = this.asked.get(number);
    if (future === undefined) return;
    this.asked.delete(number);
    this.allAsked.add(this.call.userId, -1);
    future.answer = answer;
    this.waiting.push(future);
  }

  /** Ends the future whose turn it is. */
  settle(result: Value): void {
    const future = this.waiting.shift();
    if (future !== undefined) future.result = result;
  }

  /** Forgets all futures that have not begun. */
  clear(): void {
    this.waiting = [];
    this.allAsked.add(this.call.userId, -this.asked.size);
    this.asked.clear();
  }

  /** The answer, as far as it is known. A future that has a future for its result has the result of that. */
  get answer(): Value {
    let { value } = this.call;
    while (value instanceof Future) value = value.result ?? null;
    return value;
  }

  /** The futures that are not done, and the value of the call. */
  get values(): readonly Value[] {
    return [this.call.value, ...this.waiting, ...this.asked.values()];
  }

  /** Keeps what the rest knows of stored things in memory, until `unpin`. */
  pin(store: Store | null, charge: (units: number) => void): void {
    if (store === null) return;
    const note = (thing: Thing): void => {
      store.pin(thing);
      this.pinned.push(thing);
    };
    try {
      eachStored(this.values, note, charge);
    } catch (error) {
      this.unpin(store);
      throw error;
    }
  }

  unpin(store: Store | null): void {
    for (const thing of this.pinned) store?.unpin(thing);
    this.pinned.length = 0;
  }
}

/** Arguments of a closure when the turn of its future has come. */
export function valuesOf({ isCall, args, answered }: Future): readonly Value[] {
  if (isCall) return args;
  if (answered?.ok === false) return [new ErrorValue(answered.error.code, answered.error.message), ...args];
  return [answered === null ? null : answered.value, ...args];
}

/** The closure that runs for a future now, after an error of its module the one for that; null for none. */
export function closureOf({ answered, onResult, onFailure }: Future): Closure | null {
  return answered?.ok === false ? onFailure : onResult;
}

/** The error of its module that nothing is there for; null for none. */
export function failureOf({ answered, onFailure }: Future): QueryError | null {
  return answered?.ok === false && onFailure === null ? answered.error : null;
}

/** The result of a future without a closure. */
export function resultOf(future: Future): Value {
  return listOf(valuesOf(future));
}

/**
 * Throws operation_err for what a closure that makes a change may not get: things that are stored, which others may change or
 * remove before its turn comes.
 */
export function assertLoose(rt: Runtime, closure: Closure, args: readonly Value[]): void {
  if (!rt.needsChange(closure)) return;
  eachStored(args, refuse, (units) => rt.charge(units), 'things');
}

function refuse({ id }: Thing): void {
  throw operationError(
    `the closure of a future makes a change, and must not be given thing ${id}, which is stored: give it the id`,
  );
}

/**
 * Calls `visit` with each stored thing that some values are or hold, directly or in what is not stored itself.
 *
 * @param wanted whether the owner of a stored list or set counts as well
 */
function eachStored(
  values: readonly Value[],
  visit: (thing: Thing) => void,
  charge: (units: number) => void,
  wanted: 'owners' | 'things' = 'owners',
): void {
  const seen = new Set<Value>();
  const open = [...values];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value !== 'object' || value === null || seen.has(value)) continue;
    seen.add(value);
    charge(UNITS_PER_VALUE);
    if (value instanceof Thing) {
      if (value.id !== 0) visit(value);
      else
        value.forEach((_, property) => {
          open.push(property);
        });
    } else if (value instanceof Wrap) {
      open.push(value.thing);
    } else if (value instanceof Future) {
      open.push(...value.args, ...(value.request?.holds ?? []));
      if (value.answered?.ok === true) open.push(value.answered.value);
      if (value.result !== undefined) open.push(value.result);
    } else if (value instanceof List || value instanceof ThingSet) {
      const isStored = value.owner !== null && value.owner.id !== 0;
      if (isStored && wanted === 'owners') visit(value.owner as Thing);
      else {
        chargeFill(value, charge);
        pushAll(open, value instanceof List ? value.items : value.members, charge);
      }
    }
  }
}

function pushAll(open: Value[], values: Iterable<Value>, charge: (units: number) => void): void {
  let count = 0;
  for (const value of values) {
    count += 1;
    if (typeof value === 'object' && value !== null) open.push(value);
  }
  charge(count);
}

/** Units charged for looking at a value. */
const UNITS_PER_VALUE = 64;
