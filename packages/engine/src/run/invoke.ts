/**
 * Calls of closures. Scoping is dynamic with shallow binding (see `symbols.ts`): a call saves the cells of its
 * parameters, binds them, runs the body, and puts everything back, whichever way the body ends. Locals are saved when
 * they are first assigned, since until then their names mean what they mean at the caller.
 */
import { operationError } from '../error.js';
import type { Procedure } from '../state/parts/procedures.js';
import { ACTIVATIONS_MAX, type Closure } from '../value/closure.js';
import { share } from '../value/containers.js';
import type { Value } from '../value/value.js';
import { Jump, Signal } from './jump.js';
import { assertArguments } from './parameters.js';
import { placed } from './place.js';
import { makeRoom, walkMark } from './room.js';
import type { Runtime } from './runtime.js';
import type { Cell } from './symbols.js';
import { type SavedValue, UNTOUCHED } from './symbols.js';
import type { Code, Unit } from './unit.js';

/** The compiled body of a closure, after checking that this query may run it. */
export function unitOf(rt: Runtime, closure: Closure): Unit {
  let { unit } = closure;
  if (unit === null || unit.onlyIn !== rt.profile) unit = rt.unitOf(closure);
  if (unit.mayChange && !rt.transaction.writable && rt.needsChange(closure)) {
    throw operationError('the closure makes changes, but this query has no change: use wse(...)');
  }
  return unit;
}

/** Calls a closure with argument expressions; those beyond its parameters are not evaluated. */
export function callClosure(rt: Runtime, closure: Closure, args: readonly Code[]): Value {
  const unit = unitOf(rt, closure);
  const params = unit.params;
  if (params.length === 1) {
    const code = args[0];
    return call1(rt, closure, unit, code === undefined ? null : code());
  }
  const values: Value[] = [];
  for (let i = 0; i < params.length; i++) {
    const code = args[i];
    values.push(code === undefined ? null : code());
  }
  return run(rt, closure, unit, values);
}

/** Calls a procedure with argument expressions. */
export function callProcedure(
  rt: Runtime,
  { name, closure }: Pick<Procedure, 'name' | 'closure'>,
  args: readonly Code[],
): Value {
  assertArguments(name, unitOf(rt, closure), args.length);
  return callClosure(rt, closure, args);
}

/** Calls a closure with values; missing ones are nil, surplus ones are ignored. */
export function invoke(rt: Runtime, closure: Closure, values: readonly Value[]): Value {
  const unit = unitOf(rt, closure);
  const { length } = unit.params;
  if (unit.simple && length === 2) return call2(rt, closure, unit, values[0] ?? null, values[1] ?? null);
  if (unit.simple && length === 1) return call1(rt, closure, unit, values[0] ?? null);
  return run(rt, closure, unit, values);
}

function run(rt: Runtime, closure: Closure, unit: Unit, values: readonly Value[]): Value {
  const params = unit.params;
  const hidden: (Value | undefined)[] = [];
  enter(rt, closure, unit);
  const outer = rt.saved;
  const saved = localsOf(unit);
  rt.saved = saved;
  for (let i = 0; i < params.length; i++) {
    const cell = params[i]!;
    const value = i < values.length ? (values[i] as Value) : null;
    hidden.push(cell.value);
    share(value);
    cell.value = value;
  }
  try {
    return body(rt, unit);
  } catch (error) {
    throw placed(error, unit.place);
  } finally {
    restoreLocals(unit, saved);
    for (let i = params.length - 1; i >= 0; i--) params[i]!.value = hidden[i];
    rt.saved = outer;
    leave(rt, closure, unit);
  }
}

/** Calls a closure with one parameter. */
export function call1(rt: Runtime, closure: Closure, unit: Unit, value: Value): Value {
  if (!unit.simple) return run(rt, closure, unit, [value]);
  const cell = unit.params[0]!;
  enter(rt, closure, unit);
  const hidden = cell.value;
  if (typeof value === 'object') share(value);
  cell.value = value;
  try {
    return unit.body();
  } catch (error) {
    throw placed(error, unit.place);
  } finally {
    cell.value = hidden;
    leave(rt, closure, unit);
  }
}

/** Calls a closure with two parameters. */
export function call2(rt: Runtime, closure: Closure, unit: Unit, first: Value, second: Value): Value {
  if (!unit.simple) return run(rt, closure, unit, [first, second]);
  const [a, b] = unit.params as readonly [Cell, Cell];
  enter(rt, closure, unit);
  const hiddenA = a.value;
  const hiddenB = b.value;
  if (typeof first === 'object') share(first);
  if (typeof second === 'object') share(second);
  a.value = first;
  b.value = second;
  try {
    return unit.body();
  } catch (error) {
    throw placed(error, unit.place);
  } finally {
    b.value = hiddenB;
    a.value = hiddenA;
    leave(rt, closure, unit);
  }
}

/**
 * A closure that a built-in function calls again and again: what its parameters hide is saved once. `end` must be
 * called when the function ends, however it ends; `withCallback` sees to that.
 */
export class Callback {
  private readonly unit: Unit;
  private readonly first: Cell | undefined;
  private readonly second: Cell | undefined;
  private readonly third: Cell | undefined;
  private readonly hidden: (Value | undefined)[];
  private readonly outer: SavedValue[];
  private readonly mark: number;
  private saved: SavedValue[];
  /** True if a call has nothing to do but bind up to two parameters and run the body. */
  private readonly simple: boolean;

  constructor(
    private readonly rt: Runtime,
    private readonly closure: Closure,
  ) {
    const unit = unitOf(rt, closure);
    enter(rt, closure, unit);
    this.unit = unit;
    [this.first, this.second, this.third] = unit.params;
    this.hidden = unit.params.map((cell) => cell.value);
    for (let i = 3; i < unit.params.length; i++) unit.params[i]!.value = null;
    this.outer = rt.saved;
    this.saved = localsOf(unit);
    rt.saved = this.saved;
    this.simple = unit.simple && unit.params.length <= 2;
    this.mark = walkMark(rt);
  }

  /** The same as `call` for values that are never lists or sets of their own, such as the items of a list. */
  callItem(item: Value, second: Value): Value {
    if (!this.simple) return this.call(item, second);
    const rt = this.rt;
    if (--rt.steps < 0) rt.check();
    if (rt.isFull) makeRoom(rt, this.mark);
    if (this.first !== undefined) {
      this.first.value = item;
      if (this.second !== undefined) this.second.value = second;
    }
    return this.unit.body();
  }

  /** The same for the steps of a reduction, whose result so far may be any value. */
  callStep(result: Value, item: Value, third: Value): Value {
    if (!this.simple) return this.call(result, item, third);
    share(result);
    return this.callItem(result, item);
  }

  /** Calls the closure; it sees as many values as it has parameters. */
  call(a: Value, b: Value = null, c: Value = null): Value {
    const rt = this.rt;
    if (--rt.steps < 0) rt.check();
    if (rt.isFull) makeRoom(rt, this.mark);
    if (this.first !== undefined) {
      share(a);
      this.first.value = a;
      if (this.second !== undefined) {
        share(b);
        this.second.value = b;
        if (this.third !== undefined) {
          share(c);
          this.third.value = c;
        }
      }
    }
    const value = body(rt, this.unit);
    if (this.saved.length > 0) {
      restoreLocals(this.unit, this.saved);
      this.saved = localsOf(this.unit);
      rt.saved = this.saved;
    }
    return value;
  }

  /** An error of a call, with its place. */
  placed(error: unknown): unknown {
    return placed(error, this.unit.place);
  }

  end(): void {
    const params = this.unit.params;
    restoreLocals(this.unit, this.saved);
    for (let i = params.length - 1; i >= 0; i--) params[i]!.value = this.hidden[i];
    this.rt.saved = this.outer;
    leave(this.rt, this.closure, this.unit);
  }
}

/** Runs `work` with a callback and ends it afterwards. */
export function withCallback<T>(rt: Runtime, closure: Closure, work: (callback: Callback) => T): T {
  const callback = new Callback(rt, closure);
  try {
    return work(callback);
  } catch (error) {
    throw callback.placed(error);
  } finally {
    callback.end();
  }
}

/** Runs the body of a query: the outermost frame. */
export function runQuery(rt: Runtime, unit: Unit): Value {
  rt.enter(unit.height);
  try {
    return body(rt, unit);
  } catch (error) {
    throw placed(error, unit.place);
  } finally {
    for (const cell of unit.locals) cell.value = undefined;
    rt.leave(unit.height);
  }
}

function body(rt: Runtime, unit: Unit): Value {
  if (!unit.throwsJumps) {
    const value = unit.body();
    return unit.returns && rt.signal === Signal.RETURN ? takeReturned(rt) : value;
  }
  try {
    const value = unit.body();
    return rt.signal === Signal.RETURN ? takeReturned(rt) : value;
  } catch (error) {
    if (error !== Jump.RETURN) throw error;
    return takeReturned(rt);
  }
}

function takeReturned(rt: Runtime): Value {
  const value = rt.returned;
  rt.signal = Signal.NONE;
  rt.returned = null;
  return value;
}

function enter(rt: Runtime, closure: Closure, unit: Unit): void {
  if (--rt.steps < 0) rt.check();
  if (closure.active >= ACTIVATIONS_MAX) {
    throw operationError(`a closure can run inside itself at most ${ACTIVATIONS_MAX} times`);
  }
  rt.enter(unit.height);
  closure.active += 1;
}

function leave(rt: Runtime, closure: Closure, unit: Unit): void {
  closure.active -= 1;
  rt.leave(unit.height);
}

const NO_LOCALS: SavedValue[] = [];

function localsOf(unit: Unit): SavedValue[] {
  const count = unit.locals.length;
  return count === 0 ? NO_LOCALS : new Array<SavedValue>(count).fill(UNTOUCHED);
}

function restoreLocals(unit: Unit, saved: readonly SavedValue[]): void {
  for (let i = 0; i < saved.length; i++) {
    const value = saved[i];
    if (value !== UNTOUCHED) unit.locals[i]!.value = value;
  }
}
