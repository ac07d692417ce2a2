/**
 * Where an error came from. Calls, links of chains, statements and closures note it on the way out, the innermost first, so what succeeds
 * pays nothing. Where the error leaves a stored closure for the code that called it, the place of that call is noted too.
 */
import { type ErrorPlace, QueryError } from '../error.js';

/** A part of a source text: offsets in UTF-16 units, end exclusive. */
export interface Place {
  readonly source: string;
  readonly start: number;
  readonly end: number;
}

/** Places that an error tells at most: closures call each other deeper than anybody reads. */
const PLACES_MAX = 20;

/**
 * An error with the place of the code that failed, unless a place in the same text is known already.
 *
 * @param callee name of the stored closure that is called at the place, if it is one
 */
export function placed(error: unknown, place: Place, callee: string | null = null): unknown {
  if (!(error instanceof QueryError)) return error;
  const { places } = error;
  const last = places.at(-1);
  if (last === undefined) return error.withPlaces([{ ...place, callee: null }]);
  if (last.source === place.source || places.length === PLACES_MAX) return error;
  return error.withPlaces([...calledBy(places, callee), { ...place, callee: null }]);
}

/** An error of a procedure that a request runs: whatever has no name is in it. */
export function placedIn(error: unknown, callee: string): unknown {
  if (!(error instanceof QueryError) || error.places.length === 0) return error;
  return error.withPlaces(calledBy(error.places, callee));
}

function calledBy(places: readonly ErrorPlace[], callee: string | null): readonly ErrorPlace[] {
  const last = places.at(-1);
  if (last === undefined || last.callee !== null) return places;
  return [...places.slice(0, -1), { ...last, callee: callee ?? UNNAMED }];
}

/** A stored closure that was called as a value. */
const UNNAMED = 'closure';
