/** Statements one after another. */
import type { Span } from '@althing/language';
import type { Value } from '../../value/value.js';
import { Signal } from '../jump.js';
import { type Place, placed } from '../place.js';
import type { Runtime } from '../runtime.js';
import type { Code } from '../unit.js';

/** Where a statement stands, by its number. */
export type PlaceOf = (i: number) => Place;

/** Never used: there is a statement for each code. */
export const WHOLE: Span = { start: 0, end: 0 };

export function inTurn(first: Code, second: Code, placeOf: PlaceOf): Code {
  return () => {
    let i = 0;
    try {
      first();
      i = 1;
      return second();
    } catch (error) {
      throw placed(error, placeOf(i));
    }
  };
}

/** Runs one or more after each other; the value is that of the last. */
export function allInTurn(codes: readonly Code[], placeOf: PlaceOf): Code {
  const end = codes.length - 1;
  return () => {
    let i = 0;
    try {
      for (; i < end; i++) codes[i]!();
      return codes[end]!();
    } catch (error) {
      throw placed(error, placeOf(i));
    }
  };
}

/**
 * The same, where a jump may come out of some of them: it ends the rest.
 *
 * @param jumps whether one may come out of the statement
 */
export function untilJump(
  rt: Runtime,
  codes: readonly Code[],
  jumps: readonly boolean[],
  placeOf: PlaceOf,
): Code {
  return () => {
    let value: Value = null;
    let i = 0;
    try {
      for (; i < codes.length; i++) {
        value = codes[i]!();
        if (jumps[i] && rt.signal !== Signal.NONE) return null;
      }
    } catch (error) {
      throw placed(error, placeOf(i));
    }
    return value;
  };
}

/** A statement of the query itself. */
export function statementOf(rt: Runtime, code: Code): Code {
  return () => {
    rt.beginStatement();
    return code();
  };
}
