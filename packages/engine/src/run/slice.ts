import { typeError, valueError } from '../error.js';
import { isInt } from '../value/numbers.js';
import { typeName } from '../value/value.js';
import type { Code } from './unit.js';

/** The three parts of a slice in the text; null where one is left out. */
export interface SliceCode {
  readonly from: Code | null;
  readonly to: Code | null;
  readonly step: Code | null;
}

/** Positions `start`, `start + step`, ... up to but not including `stop`. */
export interface Range {
  readonly start: number;
  readonly stop: number;
  readonly step: number;
}

/** An int as a number; what lies beyond the safe range is beyond any length too. */
export function toNumber(value: number | bigint): number {
  return Number(value);
}

/**
 * Evaluates the parts of a slice of something with `length` elements.
 *
 * @throws QueryError type_err for a part that is neither int nor nil, value_err for a step of 0
 */
export function rangeOf(code: SliceCode, length: number): Range {
  const from = part(code.from);
  const to = part(code.to);
  const step = part(code.step) ?? 1;
  if (step === 0) throw valueError('the step of a slice must not be 0');
  if (step > 0) {
    return {
      start: from === null ? 0 : clamp(from < 0 ? from + length : from, length),
      stop: to === null ? length : clamp(to < 0 ? to + length : to, length),
      step,
    };
  }
  return {
    start: from === null ? length - 1 : clamp(from < 0 ? from + length : from, length - 1),
    stop: to === null ? -1 : clamp(to < 0 ? to + length : to, length),
    step,
  };
}

/** The elements of a range, in its order. */
export function pick<T>(elements: ArrayLike<T>, { start, stop, step }: Range): T[] {
  const picked: T[] = [];
  if (step > 0) for (let i = start; i < stop; i += step) picked.push(elements[i] as T);
  else for (let i = start; i > stop; i += step) picked.push(elements[i] as T);
  return picked;
}

function part(code: Code | null): number | null {
  if (code === null) return null;
  const value = code();
  if (value === null) return null;
  if (!isInt(value)) throw typeError(`the parts of a slice must be int or nil, not ${typeName(value)}`);
  return toNumber(value);
}

function clamp(value: number, max: number): number {
  return Math.min(Math.max(value, 0), max);
}
