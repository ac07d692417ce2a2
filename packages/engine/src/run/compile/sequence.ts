/** Statements one after another. */
import type { Span } from '@althing/language';
import { type Place, placed } from '../place.js';
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
