import { type QueryError, typeError, valueError } from '../error.js';
import { Closure } from '../value/closure.js';
import { List } from '../value/containers.js';
import { DateTimeValue } from '../value/datetime-value.js';
import { isInt } from '../value/numbers.js';
import { RegexValue } from '../value/regex-value.js';
import { Bytes, Float, MpData } from '../value/scalars.js';
import { Thing } from '../value/thing.js';
import { typeName, type Value } from '../value/value.js';
import { DEEP_MAX } from './limits.js';
import type { Code } from './unit.js';

/** One parameter of a built-in function. */
export interface Param<T> {
  readonly name: string;
  /** The accepted values, in words for error messages and the reference. */
  readonly type: string;
  readonly optional: boolean;
  /** True if the function gets the code of the argument, to run it when and if it wants. */
  readonly lazy: boolean;
  /** The check of a lazy argument when the function asks for its value; without, the function gets the bare code. */
  readonly later?: Param<unknown>;
  /**
   * Checks an argument right after it was evaluated.
   *
   * @param where gives the name of the function and the position of the argument, for the message
   * @throws QueryError type_err, or value_err where a range is part of the parameter
   */
  accept(value: Value, where: Where): T;
}

/** The place of an argument in a call. */
export interface Where {
  readonly function: string;
  /** The number of the argument, counted from 1. */
  readonly position: number;
}

/** A parameter of one kind of value. */
export function param<T>(
  name: string,
  type: string,
  accepts: (value: Value) => value is Value & T,
): Param<T> {
  return {
    name,
    type,
    optional: false,
    lazy: false,
    accept(value, where) {
      if (!accepts(value)) throw wrongType(value, where, name, type);
      return value;
    },
  };
}

export function wrongType(value: Value, where: Where, name: string, type: string): QueryError {
  return typeError(
    `argument ${where.position} (${name}) of ${where.function}() must be ${type}, not ${typeName(value)}`,
  );
}

/** The same parameter, which may be left out; the function gets undefined then. */
export function optional<T>(of: Param<T>): Param<T | undefined> {
  return { ...of, optional: true };
}

/**
 * The same parameter, evaluated and checked when the function asks for it: after checks of its own that come first. The function gets
 * what gives the argument.
 */
export function later<T>(of: Param<T>): Param<() => T> {
  return { ...of, later: of, lazy: true, accept: unasked };
}

/** An argument whose code the function gets, to evaluate it as often as it wants, or never. */
export function lazy(name: string): Param<Code> {
  return { ...any(name), lazy: true, accept: unasked };
}

function unasked(): never {
  throw new Error('a lazy argument is never evaluated before the call');
}

/** The same parameter, of which the function gets what a further check gives. */
export function checked<T, Checked>(of: Param<T>, check: (value: T) => Checked): Param<Checked> {
  return { ...of, accept: (value, where) => check(of.accept(value, where)) };
}

export function any(name: string): Param<Value> {
  return { name, type: 'anything', optional: false, lazy: false, accept: (value) => value };
}

export function str(name: string): Param<string> {
  return param(name, 'a str', (value) => typeof value === 'string');
}

export function int(name: string): Param<number | bigint> {
  return param(name, 'an int', isInt);
}

/** A number of levels of things. */
export function depth(name: string): Param<number> {
  return intBetween(name, 0, DEEP_MAX);
}

/** An int within bounds; value_err outside. */
export function intBetween(name: string, min: number, max: number): Param<number> {
  const { accept } = int(name);
  return {
    ...int(name),
    type: `an int from ${min} to ${max}`,
    accept(value, where) {
      const given = accept(value, where);
      if (given >= min && given <= max) return Number(given);
      throw valueError(
        `argument ${where.position} (${name}) of ${where.function}() must be from ${min} to ${max}, not ${given}`,
      );
    },
  };
}

export function bool(name: string): Param<boolean> {
  return param(name, 'a bool', (value) => typeof value === 'boolean');
}

/** An int or a float. */
export function number(name: string): Param<number | bigint | Float> {
  return param(name, 'an int or float', (value) => isInt(value) || value instanceof Float);
}

export function closure(name: string): Param<Closure> {
  return param(name, 'a closure', (value) => value instanceof Closure);
}

export function thing(name: string): Param<Thing> {
  return param(name, 'a thing', (value) => value instanceof Thing);
}

/** A list or a tuple. */
export function array(name: string): Param<List> {
  return param(name, 'a list or tuple', (value) => value instanceof List);
}

export function bytes(name: string): Param<Bytes> {
  return param(name, 'bytes', (value) => value instanceof Bytes);
}

/** A datetime or timeval. */
export function datetime(name: string): Param<DateTimeValue> {
  return param(name, 'a datetime or timeval', (value) => value instanceof DateTimeValue);
}

export function momentOrNil(name: string): Param<DateTimeValue | null> {
  return param(
    name,
    'a datetime, timeval or nil',
    (value) => value instanceof DateTimeValue || value === null,
  );
}

export function strOrNil(name: string): Param<string | null> {
  return param(name, 'a str or nil', (value) => typeof value === 'string' || value === null);
}

export function strOrRegex(name: string): Param<string | RegexValue> {
  return param(name, 'a str or regex', (value) => typeof value === 'string' || value instanceof RegexValue);
}

export function strOrClosure(name: string): Param<string | Closure> {
  return param(name, 'a str or closure', (value) => typeof value === 'string' || value instanceof Closure);
}

/** A str, bytes or mpdata. */
export function raw(name: string): Param<string | Bytes | MpData> {
  return param(
    name,
    'a str, bytes or mpdata',
    (value) => typeof value === 'string' || value instanceof Bytes || value instanceof MpData,
  );
}

/** A number of levels of things that somebody asked for by another way than an argument. */
export function checkedDeep(deep: Value): number {
  if (typeof deep !== 'number' && typeof deep !== 'bigint') {
    throw typeError(`deep must be an int, not ${typeName(deep)}`);
  }
  if (deep < 0 || deep > DEEP_MAX) throw valueError(`deep must be from 0 to ${DEEP_MAX}, not ${deep}`);
  return Number(deep);
}
