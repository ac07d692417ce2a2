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

/** Makes parameters of one kind of value out of their names. */
function ofKind<T>(type: string, accepts: (value: Value) => value is Value & T): (name: string) => Param<T> {
  return (name) => param(name, type, accepts);
}

export const str = ofKind<string>('a str', (value) => typeof value === 'string');
export const int = ofKind<number | bigint>('an int', isInt);
export const number = ofKind<number | bigint | Float>(
  'an int or float',
  (value) => isInt(value) || value instanceof Float,
);
export const bool = ofKind<boolean>('a bool', (value) => typeof value === 'boolean');
export const closure = ofKind<Closure>('a closure', (value) => value instanceof Closure);
export const thing = ofKind<Thing>('a thing', (value) => value instanceof Thing);
export const array = ofKind<List>('a list or tuple', (value) => value instanceof List);
export const bytes = ofKind<Bytes>('bytes', (value) => value instanceof Bytes);
export const datetime = ofKind<DateTimeValue>(
  'a datetime or timeval',
  (value) => value instanceof DateTimeValue,
);
export const momentOrNil = ofKind<DateTimeValue | null>(
  'a datetime, timeval or nil',
  (value) => value instanceof DateTimeValue || value === null,
);
export const strOrNil = ofKind<string | null>(
  'a str or nil',
  (value) => typeof value === 'string' || value === null,
);
export const strOrRegex = ofKind<string | RegexValue>(
  'a str or regex',
  (value) => typeof value === 'string' || value instanceof RegexValue,
);
export const strOrClosure = ofKind<string | Closure>(
  'a str or closure',
  (value) => typeof value === 'string' || value instanceof Closure,
);
export const raw = ofKind<string | Bytes | MpData>(
  'a str, bytes or mpdata',
  (value) => typeof value === 'string' || value instanceof Bytes || value instanceof MpData,
);

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

/** A number of levels of things that somebody asked for by another way than an argument. */
export function checkedDeep(deep: Value): number {
  if (typeof deep !== 'number' && typeof deep !== 'bigint') {
    throw typeError(`deep must be an int, not ${typeName(deep)}`);
  }
  if (deep < 0 || deep > DEEP_MAX) throw valueError(`deep must be from 0 to ${DEEP_MAX}, not ${deep}`);
  return Number(deep);
}
