/**
 * Calls of built-in functions and methods: the code for one call in the text, made for its number of arguments.
 *
 * Order of checks: scope, privilege, number of arguments, then (for a modifying method) whether the receiver may be
 * modified and is free, then the arguments from left to right, each checked before the next is evaluated.
 */
import { argumentsError, lookupError, operationError } from '../error.js';
import { List, ThingSet, WRITE_LOCKED } from '../value/containers.js';
import { Task } from '../value/task.js';
import { Thing, ThingBit } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { type Entry, In } from './builtin.js';
import { chargeLong } from './charge.js';
import { needCommit } from './commit.js';
import { loosen } from './gone.js';
import type { Where } from './params.js';
import { type Place, placed } from './place.js';
import type { Runtime } from './runtime.js';
import type { Code } from './unit.js';

export function compileFunctionCall(rt: Runtime, entry: Entry, args: readonly Code[], place: Place): Code {
  const run = entry.run;
  const wrongCount = countError(entry, args.length);
  if (wrongCount !== null) {
    return () => {
      try {
        enterFunction(rt, entry);
        throw wrongCount;
      } catch (error) {
        throw placed(error, place);
      }
    };
  }
  const read = args.map((code, i) => argumentReader(rt, entry, code, i));
  const restricted = entry.in !== In.ALL || entry.needs !== null || entry.changes?.definitions === true;
  if (entry.rest !== null) {
    return () => {
      try {
        if (restricted) enterFunction(rt, entry);
        return run(rt, ...collect(entry, read));
      } catch (error) {
        throw placed(error, place);
      }
    };
  }
  const [a, b, c] = read;
  if (a === undefined) {
    return () => {
      try {
        if (restricted) enterFunction(rt, entry);
        return run(rt);
      } catch (error) {
        throw placed(error, place);
      }
    };
  }
  if (b === undefined) {
    return () => {
      try {
        if (restricted) enterFunction(rt, entry);
        return run(rt, a());
      } catch (error) {
        throw placed(error, place);
      }
    };
  }
  if (c === undefined) {
    return () => {
      try {
        if (restricted) enterFunction(rt, entry);
        return run(rt, a(), b());
      } catch (error) {
        throw placed(error, place);
      }
    };
  }
  return () => {
    try {
      if (restricted) enterFunction(rt, entry);
      return run(rt, ...collect(entry, read));
    } catch (error) {
      throw placed(error, place);
    }
  };
}

/** Code of a call of a method, given its receiver. */
export function compileMethodCall(rt: Runtime, entry: Entry, args: readonly Code[]): (self: Value) => Value {
  const wrongCount = countError(entry, args.length);
  if (wrongCount !== null) {
    return () => {
      throw wrongCount;
    };
  }
  const call = entry.fills ? fillingCall(rt, methodCall(rt, entry, args)) : methodCall(rt, entry, args);
  switch (entry.lock) {
    case 'read':
      return (self) => {
        lockForReading(self);
        try {
          return call(self);
        } finally {
          unlockReading(self);
        }
      };
    case 'write':
      return (self) => {
        lockForWriting(rt, self);
        try {
          return call(self);
        } finally {
          unlockWriting(self);
        }
      };
    default:
      return call;
  }
}

function fillingCall(rt: Runtime, call: (self: Value) => Value): (self: Value) => Value {
  return (self) => {
    if (self instanceof List ? self.backing !== null : self instanceof ThingSet) rt.chargeFill(self);
    return call(self);
  };
}

function methodCall(rt: Runtime, entry: Entry, args: readonly Code[]): (self: Value) => Value {
  const run = entry.run;
  const read = args.map((code, i) => argumentReader(rt, entry, code, i));
  const [a, b] = read;
  if (entry.rest !== null) {
    if (a !== undefined && b === undefined && entry.params.length === 0) {
      const { runOne } = entry;
      return runOne === null ? (self) => run(rt, self, [a()]) : (self) => runOne(rt, self, a());
    }
    return (self) => run(rt, self, ...collect(entry, read));
  }
  if (a === undefined) return (self) => run(rt, self);
  if (b === undefined) return (self) => run(rt, self, a());
  if (read.length === 2) return (self) => run(rt, self, a(), b());
  return (self) => run(rt, self, ...collect(entry, read));
}

type ArgumentReader = () => unknown;

function argumentReader(rt: Runtime, entry: Entry, code: Code, i: number): ArgumentReader {
  const param = entry.params[i] ?? entry.rest;
  if (!param) throw new Error(`${entry.name} has no parameter ${i}`);
  const of = param.later ?? param;
  if (of.lazy) return () => code;
  const take = argumentTaker(rt, entry, i);
  const read = (): unknown => take(code());
  return param.later === undefined ? read : () => read;
}

/** The step behind the evaluation of an argument: its value is charged and checked. */
export function argumentTaker(rt: Runtime, entry: Entry, i: number): (value: Value) => unknown {
  const param = entry.params[i] ?? entry.rest;
  if (!param) throw new Error(`${entry.name} has no parameter ${i}`);
  const of = param.later ?? param;
  const where: Where = { function: entry.name, position: i + 1 };
  return (value) => {
    chargeLong(rt, value);
    return of.accept(value, where);
  };
}

/** Evaluates arguments in order; those beyond the parameters become one array. */
function collect(entry: Entry, read: readonly ArgumentReader[]): unknown[] {
  const fixed = entry.params.length;
  const values: unknown[] = [];
  for (let i = 0; i < fixed; i++) values.push(read[i]?.());
  if (entry.rest !== null) {
    const rest: unknown[] = [];
    for (let i = fixed; i < read.length; i++) rest.push(read[i]!());
    values.push(rest);
  }
  return values;
}

function enterFunction(rt: Runtime, entry: Entry): void {
  if ((entry.in & rt.scope.bit) === 0) {
    throw lookupError(`the function ${entry.name}() does not exist in the scope ${rt.scope.name}`);
  }
  if (entry.needs !== null) rt.access.require(entry.needs.privilege, entry.needs.on);
  if (entry.changes?.definitions === true) needCommit(rt);
}

function countError(entry: Entry, count: number): ReturnType<typeof argumentsError> | null {
  if (count >= entry.min && count <= entry.max) return null;
  return argumentsError(`${entry.name}() takes ${countText(entry)}, not ${count}`);
}

function countText({ min, max }: Entry): string {
  if (max === 0) return 'no arguments';
  if (min === max) return min === 1 ? '1 argument' : `${min} arguments`;
  if (max === Number.POSITIVE_INFINITY) return min === 1 ? '1 argument or more' : `${min} arguments or more`;
  return `${min} to ${max} arguments`;
}

/** Keeps a thing, list or set from being modified; may be nested. */
export function lockForReading(self: Value): void {
  if (self instanceof Thing) {
    self.bits += ThingBit.READ_LOCK;
    if (self.shape.type !== null) self.shape.type.locks += 1;
  } else if (self instanceof List || self instanceof ThingSet) self.lock += 1;
}

export function unlockReading(self: Value): void {
  if (self instanceof Thing) {
    self.bits -= ThingBit.READ_LOCK;
    if (self.shape.type !== null) self.shape.type.locks -= 1;
  } else if (self instanceof List || self instanceof ThingSet) self.lock -= 1;
}

/**
 * Takes the exclusive lock of a modification.
 *
 * @throws QueryError operation_err when the query may not modify the value, or when it is in use
 */
export function lockForWriting(rt: Runtime, self: Value): void {
  if (self instanceof Thing) {
    rt.transaction.assertWritable(self);
    if (self.locked) throw inUse('thing');
    self.bits |= ThingBit.WRITE_LOCK;
    if (self.shape.type !== null) self.shape.type.locks += 1;
  } else if (self instanceof List || self instanceof ThingSet) {
    assertUnlocked(rt, self);
    self.lock = WRITE_LOCKED;
  } else if (self instanceof Task && self.stored) {
    rt.transaction.assertWritable(self);
    if (self.locked) throw operationError('the task is being modified already');
    self.lock(true);
  }
}

/** Throws what `lockForWriting` throws of a list or set. */
export function assertUnlocked(rt: Runtime, self: List | ThingSet): void {
  loosen(rt, self);
  rt.transaction.assertWritable(self);
  if (self.lock !== 0) throw inUse(self instanceof List ? 'list' : 'set');
}

export function unlockWriting(self: Value): void {
  if (self instanceof Thing) {
    self.bits &= ~ThingBit.WRITE_LOCK;
    if (self.shape.type !== null) self.shape.type.locks -= 1;
  } else if (self instanceof List || self instanceof ThingSet) self.lock -= WRITE_LOCKED;
  else if (self instanceof Task) self.lock(false);
}

export function inUse(what: string): ReturnType<typeof operationError> {
  return operationError(`the ${what} is in use: it is being iterated or modified`);
}
